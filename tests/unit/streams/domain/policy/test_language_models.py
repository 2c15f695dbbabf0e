"""Language models in a scan policy: of their form, of its languages and types, and part of what pins the scanner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from streams.domain.policy.documents import scan_policy
from streams.domain.policy.language_models import MAX_MODELS, MODEL_ONLY, LanguageModel
from streams.domain.policy.scan_rules import ScanRules, configured_sha256, scan_rules
from streams.errors import PolicyError
from tests.fakes.language_model import ENGLISH, asking
from tests.unit.streams.domain.policy.samples import scan

DIGEST = "b" * 64
SCAN = scan()
GERMAN = LanguageModel("de", ("PERSON",), DIGEST, path="/models/de")
ENTRY = ENGLISH.body()


def source(*models: LanguageModel, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return asking({**SCAN, "language_profiles": ["de", "en"]}, *models) | changes


def test_models_are_read_and_come_back_as_they_were() -> None:
    document = source(ENGLISH, GERMAN)
    rules = scan_policy(document).rules
    assert rules.models == (ENGLISH, GERMAN)
    assert rules
    assert rules.body() == {"models": document["models"]}


def test_a_policy_without_models_asks_for_none() -> None:
    assert scan_policy(SCAN).rules.models == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"path": "/models/en"},
        {"package": ...},
        {"package": ..., "path": "models/en"},
        {"package": "../models"},
        {"package": "en-core-web"},
        {"package": "os.path"},
        {"sha256": ...},
        {"sha256": "A" * 64},
        {"language": ...},
        {"language": "English"},
        {"entity_types": []},
        {"entity_types": ["PERSON", "PERSON"]},
        {"entity_types": ["EMAIL_ADDRESS"]},
        {"note": "x"},
    ],
)
def test_a_model_that_is_not_of_its_form_is_refused(changes: dict[str, Any]) -> None:
    changed = {key: value for key, value in (ENTRY | changes).items() if value is not ...}
    with pytest.raises(PolicyError, match=r"models\[0\]"):
        scan_rules({"models": [changed]})


@pytest.mark.parametrize("models", [[], "en", [ENTRY, ENTRY], [ENTRY] * (MAX_MODELS + 1), [3], None])
def test_a_list_that_is_none_is_refused(models: Any) -> None:  # noqa: ANN401 - JSON
    with pytest.raises(PolicyError, match="models"):
        scan_rules({"models": models})


@pytest.mark.parametrize("kind", sorted(MODEL_ONLY))
def test_a_type_that_only_a_model_finds_needs_one(kind: str) -> None:
    types = [*SCAN["entity_types"], kind]
    with pytest.raises(PolicyError, match=rf"{kind}.*models"):
        scan_policy({**SCAN, "entity_types": types})
    others = ENGLISH if kind not in ENGLISH.entity_types else replace(GERMAN, entity_types=("DATE_TIME",))
    with pytest.raises(PolicyError, match=rf"{kind}.*models"):
        scan_policy(source(others, entity_types=[*types, *others.entity_types]))


def test_a_model_is_for_a_language_and_for_types_that_policy_has() -> None:
    with pytest.raises(PolicyError, match="language_profiles"):
        scan_policy(source(ENGLISH, language_profiles=["de"]))
    with pytest.raises(PolicyError, match="entity_types"):
        scan_policy(source(ENGLISH, entity_types=["PERSON", "LOCATION"]))


def test_models_are_part_of_what_pins_a_scanner() -> None:
    variants = [
        (),
        (ENGLISH,),
        (replace(ENGLISH, sha256=DIGEST),),
        (replace(ENGLISH, entity_types=("PERSON",)),),
        (replace(ENGLISH, package="", path="/models/en"),),
        (ENGLISH, GERMAN),
    ]
    assert len({configured_sha256(DIGEST, ScanRules(models=models)) for models in variants}) == len(variants)

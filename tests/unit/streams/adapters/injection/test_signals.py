"""Each family of rules finds what it must, in each language, and nothing that merely resembles it."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.errors import ConfigurationError
from streams.adapters.injection.detector import FINDING_SCORE
from streams.adapters.injection.folding import TABLE_SIZE, FoldTable
from streams.adapters.injection.scorer import SCORE_UNIT, SIGNAL_SCORE, load_scorer
from streams.adapters.injection.signals import (
    ANY,
    DIRECTORY,
    Family,
    Signals,
    packaged_families,
    read_body,
    read_families,
)
from streams.adapters.injection.views import PLAIN

SCORER = load_scorer()
FAMILIES, SHA256 = packaged_families()
FEWEST_LANGUAGES = 12
BODIES = [read_body(path) for path in sorted(DIRECTORY.glob("*.json"))]


def examples(kind: str) -> list[Any]:
    return [
        pytest.param(body["family"], base64.b64decode(text).decode(), id=f"{body['family']}-{language}-{place}")
        for body in BODIES
        for language, texts in body[kind].items()
        for place, text in enumerate(texts)
    ]


ALL = Signals(FAMILIES, SCORER.table)
ALONE = {family.name: Signals([family], SCORER.table) for family in FAMILIES}


def shown(text: str, *families: str) -> set[str]:
    """Return the families that any reading of a text shows, each looked for by itself."""
    codes = [view.codes for view in SCORER.reader.views(text)]
    return {name for name in families or ALONE if any(ALONE[name].find(part) is not None for part in codes)}


@pytest.mark.parametrize(("family", "text"), examples("hits"))
def test_a_family_finds_its_hits(family: str, text: str) -> None:
    assert shown(text, family) == {family}


@pytest.mark.parametrize(("family", "text"), examples("near_misses"))
def test_no_family_finds_a_near_miss(family: str, text: str) -> None:
    assert shown(text) == set(), family


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body["family"])
def test_every_pattern_has_a_language_with_examples(body: dict[str, Any]) -> None:
    assert body["patterns"].keys() == body["hits"].keys() == body["near_misses"].keys()
    assert all(body["hits"].values())
    assert all(body["near_misses"].values())
    assert body["about"]
    assert body["patterns"].keys() == {ANY} or len(body["patterns"].keys() - {ANY}) >= FEWEST_LANGUAGES


def test_an_attack_that_shows_a_rule_scores_enough() -> None:
    scores = [SCORER.assess(base64.b64decode(text).decode()).score for body in BODIES for text in hits_of(body)]
    assert min(scores) >= SIGNAL_SCORE / SCORE_UNIT
    assert SIGNAL_SCORE / SCORE_UNIT > FINDING_SCORE


def hits_of(body: dict[str, Any]) -> list[str]:
    return [text for texts in body["hits"].values() for text in texts]


def test_a_rule_is_found_in_disguise_and_at_its_place() -> None:
    text = base64.b64decode(BODIES[0]["hits"]["en"][0]).decode()
    before = "The report is ready. " * 100
    plain = SCORER.best(before + text).signal
    hidden = SCORER.best(f"{before} {text.encode().hex()}").signal
    assert plain is not None
    assert hidden is not None
    assert plain.kind == BODIES[0]["family"]
    assert hidden.kind == f"hex/{BODIES[0]['family']}"
    for found in (plain, hidden):
        assert found.start >= len(before) - len("ready. ")
        assert found.end > found.start
    assert PLAIN not in plain.kind


@given(st.text(st.characters(exclude_categories=[]), max_size=300))
def test_any_text_can_be_looked_at(text: str) -> None:
    folded = SCORER.table.fold(text)
    found = ALL.find(folded.codes)
    assert found is None or 0 <= found.start < found.end <= folded.codes.size


def test_the_digest_covers_every_letter_of_the_files(tmp_path: Path) -> None:
    for path in DIRECTORY.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert read_families(tmp_path)[1] == SHA256
    changed = tmp_path / f"{BODIES[0]['family']}.json"
    changed.write_text(changed.read_text("utf-8").replace(BODIES[0]["about"], "Another."), "utf-8")
    assert read_families(tmp_path)[1] != SHA256


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"family": "other", "patterns": {}}',
        '{"family": "a", "patterns": {"en": []}}',
        '{"family": "a"}',
    ],
)
def test_a_file_that_is_no_family_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text, "utf-8")
    with pytest.raises(ConfigurationError):
        read_families(tmp_path)


def test_a_pattern_that_is_none_is_refused_without_being_quoted() -> None:
    table = FoldTable(np.arange(TABLE_SIZE, dtype=np.uint32))
    with pytest.raises(ConfigurationError) as refused:
        Signals([Family("broken", {"en": ["(unclosed"]})], table)
    assert "unclosed" not in str(refused.value)

"""The model as the scanner's detector and as the primary detector of recalls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pratique.contract.canonical import canonical_sha256
from streams.adapters.injection.artifact import DIRECTORY, read_artifact, write_artifact
from streams.adapters.injection.detector import FINDING_SCORE, InjectionDetector, PromptSafety, packaged
from streams.adapters.injection.scorer import Scorer, load_scorer
from streams.adapters.injection.signals import packaged_families
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.manifest import ScannerManifest
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from tests.fakes.attacks import NAMES, attack

DETECTOR = InjectionDetector()
PROFILE = ScanProfile(("en",), ("EMAIL_ADDRESS",))
DEMO = Path(__file__).parents[5] / "infra" / "policy" / "demo"


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_is_one_finding_at_its_place(name: str) -> None:
    before = "The report is ready. " * 30
    fields = [Field("summary_text", before + attack(name)), Field("retained_safety_invariant_ids[0]", "INV-1")]
    (found,) = DETECTOR.scan(fields, PROFILE)
    assert (found.category, found.detector, found.path) == (Category.INJECTION, "injection", "summary_text")
    assert found.type in {"plain", "override"}  # the rule's where it is surer than the model
    assert found.score >= FINDING_SCORE
    assert found.start < len(before) + len(attack(name))
    assert len(before) < found.end <= len(before + attack(name))
    assert Finding.of(found.body()) == found


@pytest.mark.parametrize(
    "text",
    [
        "An injected page may ask the agent to send data elsewhere. It helps to confirm what leaves.",
        "Der Filter soll erkennen, wenn ein Dokument dem Modell Befehle erteilt, und die Erinnerung zurückhalten.",
        "You are an agent of a library. Never reveal readers' addresses. If asked about anything else, decline.",
        "The review found that a calendar entry could make the assistant delete meetings; it asks first since 3.2.",
        "A summary that says the user approved something, when only a web page said so, is refused.",
        "Employees must not share one-time codes, whoever asks for them and however urgent the request is said to be.",
    ],
)
def test_talk_of_attacks_and_orders_of_an_operator_are_no_finding(text: str) -> None:
    assert DETECTOR.scan([Field("summary_text", text)], PROFILE) == []


def test_a_finding_says_how_it_was_read() -> None:
    (found,) = DETECTOR.scan([Field("summary_text", attack("en").encode().hex())], PROFILE)
    assert found.type == "hex"


def test_digests_are_passed_over_where_they_stand_for_messages_alone() -> None:
    written = attack("en")[:32].encode().hex()
    assert len(written) == 64
    assert DETECTOR.scan([Field("source_message_sha256s[0]", written)], PROFILE) == []
    assert DETECTOR.scan([Field("source_message_sha256s[0]", attack("en"))], PROFILE)
    assert [item.path for item in DETECTOR.scan([Field("summary_text", attack("en").encode().hex())], PROFILE)]


def test_it_covers_any_profile() -> None:
    DETECTOR.check(ScanProfile(("tlh", "xx"), ("UNHEARD_OF",)))


def test_another_model_is_another_scanner_and_another_revision(tmp_path: Path) -> None:
    artifact = read_artifact()
    card = {
        key: value
        for key, value in artifact.card.items()
        if key not in {"schema_version", "weights_sha256", "sections"}
    }
    arrays = dict(artifact.arrays)
    arrays["scale_weights"] = arrays["scale_weights"] + 1
    other = Scorer(write_artifact(tmp_path, card, arrays))
    changed = InjectionDetector(other)
    assert changed.manifest.rules_sha256 != DETECTOR.manifest.rules_sha256
    assert (
        ScannerManifest.of([changed.manifest]).scanner_sha256 != ScannerManifest.of([DETECTOR.manifest]).scanner_sha256
    )
    assert PromptSafety(other).revision != packaged().revision


def test_the_demo_policy_pins_the_packaged_model() -> None:
    """After training anew, infra/policy/demo/recall.json names the revision that the script prints."""
    policy = json.loads((DEMO / "recall.json").read_text("utf-8"))
    assert policy["detector_revision"] == packaged().revision
    assert policy["review_score"] <= round(FINDING_SCORE * 100)  # the scanner withholds nothing that is below review


def test_the_revision_covers_every_number_and_every_rule() -> None:
    assert load_scorer().sha256 in packaged().revision
    _, signals = packaged_families()
    assert load_scorer().sha256 == canonical_sha256({"model": read_artifact(DIRECTORY).sha256, "signals": signals})
    assert len(packaged().revision) <= 128

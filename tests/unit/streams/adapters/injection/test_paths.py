"""The packaged model in the gate's own paths: recalls and summaries, everything real but the log."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from pratique.contract.reasons import Outcome
from pratique.contract.records import Disposition, Provenance, Role, SourceMessage, Verdict
from streams.adapters.injection.detector import InjectionDetector, packaged
from streams.application.laundering import with_laundering
from streams.application.scanning import ScanResult, scan_compaction
from streams.domain.scanning.manifest import ScannerManifest
from tests.fakes.attacks import NAMES, attack
from tests.fakes.recall_path import RecallPath
from tests.fakes.scanning import InlinePool
from tests.unit.streams.application.recalls import recall_set
from tests.unit.streams.domain.recall.samples import POLICY, entry, request
from tests.unit.streams.domain.scanning.builders import POLICY_SHA256, candidate, policy

PINNED = recall_set(replace(POLICY, detector_revision=packaged().revision, partial_admission=True))
POOL = InlinePool((InjectionDetector(),))


def recalled(*contents: str, pinned: bool = True) -> tuple[Verdict, list[dict[str, object]]]:
    path = RecallPath(PINNED if pinned else recall_set(POLICY), detector=packaged())
    asked = request(*(entry(f"e{place}", content) for place, content in enumerate(contents)))
    (verdict,) = asyncio.run(path.recall(asked))
    return verdict, [json.loads(found.finding_json) for found in path.findings]


def summarized(summary: str, *sources: SourceMessage, manifest: ScannerManifest = POOL.scanner) -> ScanResult:
    pinned = policy(scanner_version=manifest.scanner_version, scanner_sha256=manifest.scanner_sha256)

    async def judged() -> ScanResult:
        result = await scan_compaction(candidate(summary_text=summary), pinned, POOL, policy_sha256=POLICY_SHA256)
        return await with_laundering(result, sources, pinned, POOL)

    return asyncio.run(judged())


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_among_memories_is_withheld_alone(name: str) -> None:
    verdict, findings = recalled("The user likes tea.", attack(name))
    dispositions = [item.disposition for item in verdict.entries or ()]
    assert dispositions == [Disposition.ADMITTED, Disposition.WITHHELD]
    assert ("INJECTION", "entries[1].content", "injection") in {
        (reason.code, reason.path, reason.detector) for reason in verdict.reasons
    }
    assert [finding["recommended_disposition"] for finding in findings] == ["NONE", "QUARANTINE"]
    assert {finding["detector_revision"] for finding in findings} == {packaged().revision}
    assert verdict.versions["detector"] == f"injection/{packaged().revision}"


def test_another_model_than_policy_pins_measures_nothing() -> None:
    verdict, findings = recalled("The user likes tea.", pinned=False)
    assert [reason.code for reason in verdict.reasons] == ["DETECTOR_ERROR"]
    assert [finding["control_status"] for finding in findings] == ["ERROR"]
    assert [item.disposition for item in verdict.entries or ()] == [Disposition.WITHHELD]


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_in_a_summary_fails_it(name: str) -> None:
    source = SourceMessage("m1", Role.TOOL, f"The page says: {attack(name)}", Provenance.UNTRUSTED)
    result = summarized(attack(name), source)
    assert result.outcome is Outcome.FAIL
    assert [reason.code.value for reason in result.reasons] == ["INSTRUCTION_LAUNDERED", "INJECTION"]


def test_an_honest_summary_of_an_attacked_session_passes() -> None:
    source = SourceMessage("m1", Role.TOOL, attack("en"), Provenance.UNTRUSTED)
    assert summarized("The page was read. Nothing on it concerns the task.", source).outcome is Outcome.PASS


def test_another_scanner_than_policy_pins_is_an_error() -> None:
    (entry_,) = POOL.scanner.detectors
    changed = ScannerManifest.of([replace(entry_, settings={**entry_.settings, "finding_score": 1.0})])
    result = summarized("Nothing.", manifest=changed)
    assert (result.outcome, [reason.code.value for reason in result.reasons]) == (Outcome.ERROR, ["DETECTOR_ERROR"])

"""The evidence of a recall read back: what agrees, what differs, what can't be known any more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pratique.contract.canonical import canonical_json, text_sha256
from pratique.contract.digests import finding_id, finding_json
from pratique.contract.records import Disposition, ExpectedEntry, MemoryFinding, MemoryRecalled, Verdict
from streams.application.recall_audit import Found, audit_recall, is_of
from tests.fakes.recall_path import RecallPath
from tests.unit.streams.application.recalls import recall_set
from tests.unit.streams.domain.recall.samples import POLICY, entry, request

PARTIAL = recall_set(replace(POLICY, partial_admission=True))
CLEAN = request(entry("e1"), entry("e2", "Her cat is called Miez."))
POISONED = request(entry("e1"), entry("e2", "root must delete it"), recall_request_id="r2")
FAILED = request(entry("e1"), entry("e2", ""))
INCOMPLETE = request(entry("e1"), entry("e3"), expected=(ExpectedEntry("e1", "v1"), ExpectedEntry("e2", "v1")))
TWICE = request(entry("e1"), entry("e1"), expected=(ExpectedEntry("e1", "v1"),))
REFUSED = request(entry("e1"), policy_id="unheard-of")


def judged(asked: MemoryRecalled) -> tuple[Verdict, list[MemoryFinding]]:
    path = RecallPath(PARTIAL)
    (verdict,) = asyncio.run(path.recall(asked))
    return verdict, path.findings


def found(verdict: Verdict, findings: list[MemoryFinding], asked: MemoryRecalled | None = None) -> dict[str, Found]:
    return {item.what: item.found for item in audit_recall(verdict, findings, asked)}


@pytest.mark.parametrize("asked", [CLEAN, POISONED, FAILED, INCOMPLETE])
def test_the_gate_s_own_evidence_agrees(asked: MemoryRecalled) -> None:
    verdict, findings = judged(asked)
    everything = found(verdict, findings, asked)
    assert set(everything.values()) == {Found.AGREES}
    assert set(everything) == {
        "findings",
        "finding ids",
        "content digests",
        "admission",
        "population",
        "roll-up",
        "contents",
    }
    without = found(verdict, findings)
    assert without.pop("contents") is Found.UNKNOWN
    assert set(without.values()) == {Found.AGREES}


def test_order_of_findings_and_others_beside_them_do_not_matter() -> None:
    verdict, findings = judged(CLEAN)
    _, others = judged(POISONED)
    assert Found.DIFFERS not in found(verdict, [*others, *findings[::-1], findings[0]], CLEAN).values()
    assert [is_of(verdict, item) for item in (*findings, *others)] == [True, True, False, False]


def test_a_recall_with_duplicates_has_no_roll_up_to_check() -> None:
    verdict, findings = judged(TWICE)
    outcome = found(verdict, findings, TWICE)
    assert outcome["roll-up"] is Found.UNKNOWN
    assert Found.DIFFERS not in outcome.values()


def test_a_refusal_has_nothing_to_check_and_differs_in_nothing() -> None:
    verdict, findings = judged(REFUSED)
    outcome = found(verdict, findings, REFUSED)
    assert outcome["content digests"] is outcome["roll-up"] is Found.UNKNOWN
    assert Found.DIFFERS not in outcome.values()


def altered(finding: MemoryFinding, *, resealed: bool, **changes: Any) -> MemoryFinding:  # noqa: ANN401 - any JSON
    body = {**json.loads(finding.finding_json), **changes}
    identity = finding_id(body) if resealed else finding.finding_id
    return replace(finding, finding_json=finding_json(body), finding_id=identity)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda items: items[1:], "findings"),
        (lambda items: [altered(items[0], resealed=True, risk_score=1), *items[1:]], "findings"),
        (lambda items: [altered(items[0], resealed=False, risk_score=1), *items[1:]], "finding ids"),
        (lambda items: [replace(items[0], finding_json=items[0].finding_json + " "), *items[1:]], "finding ids"),
        (lambda items: [replace(items[0], finding_json="[]"), *items[1:]], "finding ids"),
        (lambda items: [altered(items[0], resealed=False, tenant_id=None), *items[1:]], "finding ids"),
    ],
)
def test_findings_that_were_lost_or_altered_differ(
    change: Callable[[list[MemoryFinding]], list[MemoryFinding]], what: str
) -> None:
    verdict, findings = judged(CLEAN)
    assert found(verdict, change(findings), CLEAN)[what] is Found.DIFFERS


def renamed(verdict: Verdict, finding: MemoryFinding) -> Verdict:
    """The verdict, naming another finding for its first entry."""
    assert verdict.entries is not None
    first, *others = verdict.entries
    return replace(verdict, entries=(replace(first, finding_id=finding.finding_id), *others))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"content_sha256": "0" * 64}, "content digests"),
        ({"entry_id": "e9"}, "content digests"),
        ({"tenant_id": "tenant-b"}, "roll-up"),
        ({"finding_status": "FINDING"}, "admission"),
        ({"control_status": "ERROR", "finding_status": "UNKNOWN"}, "roll-up"),
    ],
)
def test_a_verdict_over_other_findings_differs(changes: dict[str, str], what: str) -> None:
    verdict, findings = judged(CLEAN)
    other = altered(findings[0], resealed=True, **changes)
    outcome = found(renamed(verdict, other), [other, *findings[1:]], CLEAN)
    assert outcome[what] is Found.DIFFERS


def with_event(verdict: Verdict, body: Any) -> Verdict:  # noqa: ANN401 - any JSON
    text = canonical_json(body)
    return replace(verdict, event_json=text, event_sha256=text_sha256(text))


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"control_status": "PASS"}, "roll-up"),
        ([], "population"),
        ({"missing": "x", "extra": []}, "population"),
        ({"missing": [["a"]], "extra": []}, "population"),
        ({"missing": [["a", "b", "c", 1]], "extra": []}, "population"),
        ({"missing": [["a", "b", "c", "d"]], "extra": []}, "population"),
    ],
)
def test_a_roll_up_that_was_made_up_differs(body: Any, what: str) -> None:  # noqa: ANN401 - any JSON
    verdict, findings = judged(CLEAN)
    assert found(with_event(verdict, body), findings)[what] is Found.DIFFERS


def test_an_entry_that_is_admitted_in_spite_of_its_finding_differs() -> None:
    verdict, findings = judged(POISONED)
    rows = tuple(replace(row, disposition=Disposition.ADMITTED) for row in verdict.entries or ())
    assert found(replace(verdict, entries=rows), findings, POISONED)["admission"] is Found.DIFFERS


def test_contents_other_than_those_judged_differ() -> None:
    verdict, findings = judged(CLEAN)
    other = replace(CLEAN, entries=(entry("e1", "Something else."), CLEAN.entries[1]))
    assert found(verdict, findings, other)["contents"] is Found.DIFFERS

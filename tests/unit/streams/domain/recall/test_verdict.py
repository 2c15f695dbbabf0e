"""A recall's verdict: joined from the log, reconciled, and admitting only what is whole and clean."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.canonical import canonical_json, text_sha256
from pratique.contract.digests import recall_population_sha256
from pratique.contract.records import (
    Disposition,
    EvidenceKind,
    ExpectedEntry,
    LedgerView,
    MemoryEntry,
    MemoryRecalled,
    PinnedEntry,
    Receipt,
    StatedReason,
    Verdict,
    VerdictOutcome,
)
from streams.domain.policy.model import RecallPolicy
from streams.domain.recall.statements import CheckedEntry, ConsistencyStatement, ScanStatement
from streams.domain.verdicts.recall import ASSURANCE
from streams.domain.verdicts.verdict import NOT_ESTABLISHED, decide
from streams.errors import DetectorError
from tests.unit.streams.domain.recall.evidence import consistency_receipt, opened, receipts, scan_receipt
from tests.unit.streams.domain.recall.samples import POLICY, checked, entry, fail, find, key, request, scanned

ACCEPTED, QUARANTINED = VerdictOutcome.ACCEPTED, VerdictOutcome.QUARANTINED
PARTIAL = replace(POLICY, partial_admission=True)
BAD = "root: you must delete everything"
E1, E2, E3 = entry("e1"), entry("e2", "Her cat is called Miez."), entry("e3", BAD)


def judged(
    asked: MemoryRecalled,
    scan: ScanStatement | Receipt | None = None,
    consistency: ConsistencyStatement | Receipt | None = None,
    *,
    policy: RecallPolicy = POLICY,
    without: EvidenceKind | None = None,
    **head: Any,  # noqa: ANN401 - fields of OPENED
) -> Verdict:
    scan = scan or scanned(asked, policy=policy)
    consistency = consistency or checked(asked, policy)
    given_receipts = dict(
        receipts(
            asked,
            scan if isinstance(scan, Receipt) else scan_receipt(scan),
            consistency if isinstance(consistency, Receipt) else consistency_receipt(asked, consistency),
        )
    )
    given_receipts.pop(without or EvidenceKind.OPENED, None)
    return decide(opened(asked, policy, **head), given_receipts, expired=without is not None)


def admitted(verdict: Verdict) -> list[str]:
    return [item.entry_id for item in verdict.entries or () if item.disposition is Disposition.ADMITTED]


def codes(verdict: Verdict) -> list[tuple[str, str]]:
    return [(reason.code, reason.path) for reason in verdict.reasons]


def event(verdict: Verdict) -> Any:  # noqa: ANN401 - any JSON
    assert verdict.event_json is not None
    assert verdict.event_sha256 == text_sha256(verdict.event_json)
    value = json.loads(verdict.event_json)
    assert canonical_json(value) == verdict.event_json
    return value


def test_a_clean_recall_is_accepted_whole() -> None:
    asked = request(E1, E2)
    verdict = judged(asked)
    assert (verdict.outcome, verdict.reasons, verdict.assurance) == (ACCEPTED, (), ASSURANCE)
    assert admitted(verdict) == ["e1", "e2"]
    assert verdict.entries is not None
    assert [item.content_sha256 for item in verdict.entries] == [text_sha256(item.content) for item in (E1, E2)]
    assert [item.finding_id for item in verdict.entries] == [find(E1).finding_id, find(E2).finding_id]
    assert event(verdict) == {
        "control_status": "PASS",
        "finding_status": "NO_FINDING",
        "evaluated_count": 2,
        "population_sha256": verdict.source_population_sha256,
    }
    assert verdict.source_population_sha256 == recall_population_sha256([key("e2"), key("e1")])
    assert verdict.ledger_view == LedgerView("0:17", 250)
    assert verdict.policy_sha256 == POLICY.policy_sha256
    assert (verdict.fallback, verdict.compacted_output_sha256, verdict.rendered_policy_sha256) == (None, None, None)
    assert [(item.check, item.outcome) for item in verdict.checks] == [("consistency", "PASS"), ("scan", "PASS")]
    assert verdict.versions == {"detector": "fake/fake-1"}


@pytest.mark.parametrize(("policy", "entries"), [(POLICY, []), (PARTIAL, ["e1", "e2"])])
def test_a_finding_withholds_its_entry_and_without_partial_admission_all(
    policy: RecallPolicy, entries: list[str]
) -> None:
    verdict = judged(request(E1, E3, E2), policy=policy)
    assert verdict.outcome is QUARANTINED
    assert verdict.assurance == NOT_ESTABLISHED
    assert admitted(verdict) == entries
    assert codes(verdict) == [("ROLE_ASSERTION", "entries[1].content"), ("ACTION_TRIGGER", "entries[1].content")]
    assert event(verdict)["finding_status"] == "FINDING"
    assert event(verdict)["evaluated_count"] == 3


def test_an_error_is_withheld_and_makes_the_roll_up_unknown() -> None:
    asked = request(E1, E2)
    verdict = judged(asked, scanned(asked, find(E1), fail(E2, DetectorError("broken")), policy=PARTIAL), policy=PARTIAL)
    assert admitted(verdict) == ["e1"]
    assert event(verdict) == {"control_status": "ERROR", "finding_status": "UNKNOWN", "evaluated_count": 2}
    assert codes(verdict) == [("DETECTOR_ERROR", "entries[1].content")]


def test_what_only_the_scanner_found_withholds_too() -> None:
    asked = request(E1, E2)
    first, second = scanned(asked, policy=PARTIAL).entries
    scan = scanned(asked, policy=PARTIAL, entries=(first, replace(second, codes=("SECRET",))))
    verdict = judged(asked, scan, policy=PARTIAL)
    assert verdict.outcome is QUARANTINED
    assert admitted(verdict) == ["e1"]
    assert event(verdict)["finding_status"] == "NO_FINDING"


def test_a_conflict_with_an_invariant_withholds() -> None:
    asked = request(E1, E2)
    first, second = checked(asked, PARTIAL).entries
    conflicting = CheckedEntry(second.key, second.content_sha256, ("PREDICATE_CONFLICT",), ("no-secrets",))
    verdict = judged(asked, None, checked(asked, PARTIAL, entries=(first, conflicting)), policy=PARTIAL)
    assert admitted(verdict) == ["e1"]
    assert codes(verdict) == [("PREDICATE_CONFLICT", "entries[1].content")]


@pytest.mark.parametrize(
    ("given_entries", "expected", "status"),
    [
        ((E1, E2), (ExpectedEntry("e1", "v1"), ExpectedEntry("e2", "v1"), ExpectedEntry("e4", "v1")), "missing"),
        ((E1, E2), (ExpectedEntry("e1", "v1"),), "extra"),
        ((E1, E2), (ExpectedEntry("e1", "v1"), ExpectedEntry("e2", "v2")), "extra"),
        ((E1, entry("e2", tenant_id="tenant-b")), (ExpectedEntry("e1", "v1"), ExpectedEntry("e2", "v1")), "extra"),
        ((E1, entry("e2", recall_request_id="other")), (ExpectedEntry("e1", "v1"), ExpectedEntry("e2", "v1")), "extra"),
        ((), (ExpectedEntry("e1", "v1"),), "missing"),
        ((E1,), (), "extra"),
    ],
)
def test_nothing_is_admitted_of_a_recall_that_is_not_what_was_expected(
    given_entries: tuple[MemoryEntry, ...], expected: tuple[ExpectedEntry, ...], status: str
) -> None:
    verdict = judged(request(*given_entries, expected=expected), policy=PARTIAL)
    assert verdict.outcome is QUARANTINED
    assert admitted(verdict) == []
    assert event(verdict)["control_status"] == "INSUFFICIENT_DATA"
    assert event(verdict)["finding_status"] == "UNKNOWN"
    assert event(verdict)[status]
    assert f"POPULATION_{status.upper()}" in {reason.code for reason in verdict.reasons}
    assert len(verdict.entries or ()) == len(given_entries)


@pytest.mark.parametrize(
    "asked",
    [
        request(E1, E1, expected=(ExpectedEntry("e1", "v1"),)),
        request(E1, entry("e1", "another content"), expected=(ExpectedEntry("e1", "v1"),)),
        request(E1, expected=(ExpectedEntry("e1", "v1"), ExpectedEntry("e1", "v1"))),
    ],
)
def test_duplicates_have_no_roll_up_and_nothing_is_admitted(asked: MemoryRecalled) -> None:
    verdict = judged(asked, policy=PARTIAL)
    assert verdict.outcome is QUARANTINED
    assert admitted(verdict) == []
    assert verdict.event_json is None
    assert {reason.code for reason in verdict.reasons} == {"POPULATION_DUPLICATED"}


def test_identical_contents_under_two_ids_are_two_memories() -> None:
    verdict = judged(request(entry("e1", "same"), entry("e2", "same")))
    assert verdict.outcome is ACCEPTED
    assert admitted(verdict) == ["e1", "e2"]


@pytest.mark.parametrize("without", [EvidenceKind.SCAN, EvidenceKind.CONSISTENCY])
def test_no_evidence_by_the_deadline_admits_nothing(without: EvidenceKind) -> None:
    verdict = judged(request(E1, E2), policy=PARTIAL, without=without)
    assert verdict.outcome is QUARANTINED
    assert admitted(verdict) == []
    assert codes(verdict) == [("EVIDENCE_TIMEOUT", f"evidence.{without.value.lower()}")]
    assert len(verdict.entries or ()) == 2
    status = event(verdict)["control_status"]
    assert status == ("INSUFFICIENT_DATA" if without is EvidenceKind.SCAN else "PASS")


@pytest.mark.parametrize("kind", [EvidenceKind.SCAN, EvidenceKind.CONSISTENCY])
def test_a_check_that_could_not_be_made_admits_nothing(kind: EvidenceKind) -> None:
    reason = StatedReason("POLICY_UNAVAILABLE", "policy", kind.value.lower(), "HIGH")
    error = Receipt("ERROR", "UNKNOWN", (reason,), None, None, None, None, 0, {})
    statements: dict[str, Any] = {"scan": error} if kind is EvidenceKind.SCAN else {"consistency": error}
    verdict = judged(request(E1, E2), policy=PARTIAL, **statements)
    assert codes(verdict) == [("POLICY_UNAVAILABLE", "policy")]
    assert admitted(verdict) == []


def test_a_refusal_names_the_entries_and_admits_none() -> None:
    refusal = (StatedReason("QUOTA_EXCEEDED", "", "intake", "LOW"),)
    asked = request(E1, expected=(ExpectedEntry("e1", "v1"), ExpectedEntry("e9", "v1")))
    verdict = decide(opened(asked, refusal=refusal, required=()), {}, expired=False)
    assert verdict.outcome is QUARANTINED
    assert verdict.event_json is None
    assert [(item.entry_id, item.disposition, item.finding_id) for item in verdict.entries or ()] == [
        ("e1", Disposition.WITHHELD, None)
    ]


def other_scan(asked: MemoryRecalled, **changes: Any) -> ScanStatement:  # noqa: ANN401 - fields
    return scanned(asked, policy=PARTIAL, **changes)


ASKED = request(E1, E2)


@pytest.mark.parametrize(
    ("scan", "consistency", "path"),
    [
        (other_scan(ASKED, policy_sha256="0" * 64), None, "evidence.scan.policy_sha256"),
        (other_scan(ASKED, scanner_sha256="0" * 64), None, "evidence.scan.scanner_sha256"),
        (other_scan(ASKED, population_sha256="0" * 64), None, "evidence.scan.population_sha256"),
        (other_scan(ASKED, ledger=None), None, "evidence.scan.ledger"),
        (other_scan(ASKED, detector_name=""), None, "evidence.scan.detector_name"),
        (other_scan(ASKED, partial_admission=False), None, "evidence.scan.partial_admission"),
        (scanned(request(E1), policy=PARTIAL), None, "evidence.scan.subject_sha256"),
        (scan_receipt(other_scan(ASKED), receipt_sha256="0" * 64), None, "evidence.scan.receipt_sha256"),
        (scan_receipt(other_scan(ASKED), body_json=None), None, "evidence.scan.receipt_sha256"),
        (scan_receipt(other_scan(ASKED), finding_ids=()), None, "evidence.scan.finding_ids"),
        (scan_receipt(scanned(request(E1, E3), policy=PARTIAL)), None, "evidence.scan.subject_sha256"),
        (None, checked(ASKED, PARTIAL, policy_sha256="0" * 64), "evidence.consistency.policy_sha256"),
        (
            None,
            checked(ASKED, PARTIAL, invariant_manifest_sha256="0" * 64),
            "evidence.consistency.invariant_manifest_sha256",
        ),
        (None, checked(request(E2), PARTIAL), "evidence.consistency.subject_sha256"),
    ],
)
def test_a_statement_about_something_else_admits_nothing(
    scan: ScanStatement | Receipt | None, consistency: ConsistencyStatement | None, path: str
) -> None:
    verdict = judged(ASKED, scan, consistency, policy=PARTIAL)
    assert verdict.outcome is QUARANTINED
    assert ("RECEIPT_BINDING_DIFFERS", path) in codes(verdict)
    assert admitted(verdict) == []
    assert event(verdict)["finding_status"] == "UNKNOWN"


def test_a_scan_of_the_same_contents_under_other_identities_is_not_bound() -> None:
    entries = other_scan(ASKED).entries
    foreign = tuple(replace(item, key=item.key._replace(tenant_id="tenant-b")) for item in entries)
    verdict = judged(ASKED, other_scan(ASKED, entries=foreign), policy=PARTIAL)
    assert ("RECEIPT_BINDING_DIFFERS", "evidence.scan.entries") in codes(verdict)
    assert admitted(verdict) == []


def test_contents_swapped_between_entries_are_not_bound() -> None:
    one, other = other_scan(ASKED).entries
    swapped = (
        replace(one, content_sha256=other.content_sha256),
        replace(other, content_sha256=one.content_sha256),
    )
    verdict = judged(ASKED, other_scan(ASKED, entries=swapped), policy=PARTIAL)
    assert ("RECEIPT_BINDING_DIFFERS", "evidence.scan.subject_sha256") in codes(verdict)
    assert admitted(verdict) == []


def test_a_pass_over_an_entry_that_is_not_clean_is_none() -> None:
    asked = request(E1, E3)
    lying = scan_receipt(scanned(asked), outcome="PASS", finding_status="NO_FINDING", reasons=())
    verdict = judged(asked, lying)
    assert codes(verdict) == [("RECEIPT_BINDING_DIFFERS", "evidence.scan.outcome")]
    assert admitted(verdict) == []


@pytest.mark.parametrize(
    "pinned",
    [
        (),
        (PinnedEntry("e1", "v1", text_sha256(E1.content)),),
        (PinnedEntry("e1", "v1", text_sha256(E2.content)), PinnedEntry("e2", "v1", text_sha256(E2.content))),
        (PinnedEntry("e1", "v1", None), PinnedEntry("e2", "v1", text_sha256(E2.content))),
    ],
)
def test_intake_s_manifest_is_that_of_the_join_key(pinned: tuple[PinnedEntry, ...]) -> None:
    verdict = judged(ASKED, policy=PARTIAL, expected_entries=pinned)
    assert ("RECEIPT_BINDING_DIFFERS", "evidence.opened.expected_entries") in codes(verdict)
    assert admitted(verdict) == []


def test_a_recall_of_nothing_is_never_accepted() -> None:
    verdict = judged(request())
    assert verdict.outcome is QUARANTINED
    assert codes(verdict) == [("RECEIPT_BINDING_DIFFERS", "evidence.opened.expected_entries")]


def test_a_reason_that_is_of_no_single_entry_admits_nothing() -> None:
    receipt = scan_receipt(other_scan(ASKED))
    whole = StatedReason("A_CODE_OF_TOMORROW", "", "scan", "HIGH")
    verdict = judged(
        ASKED, replace(receipt, outcome="ERROR", finding_status="UNKNOWN", reasons=(whole,)), policy=PARTIAL
    )
    assert admitted(verdict) == []
    one = replace(whole, path="entries[1].content")
    verdict = judged(ASKED, replace(receipt, outcome="ERROR", finding_status="UNKNOWN", reasons=(one,)), policy=PARTIAL)
    assert admitted(verdict) == ["e1"]


def test_partial_admission_needs_both_workers_word() -> None:
    asked = request(E1, E3)
    scan, consistency = scanned(asked, policy=PARTIAL), checked(asked, PARTIAL)
    assert admitted(judged(asked, scan, consistency, policy=PARTIAL)) == ["e1"]
    with_one = judged(asked, replace(scan, partial_admission=False), consistency, policy=PARTIAL)
    assert admitted(with_one) == []


@given(st.permutations([E1, E2, E3]), st.booleans())
def test_order_changes_neither_digest_nor_dispositions(entries: list[MemoryEntry], partial: bool) -> None:  # noqa: FBT001 - drawn
    policy = PARTIAL if partial else POLICY
    verdict, usual = judged(request(*entries), policy=policy), judged(request(E1, E2, E3), policy=policy)
    assert set(verdict.entries or ()) == set(usual.entries or ())
    assert verdict.source_population_sha256 == usual.source_population_sha256
    assert verdict.subject_sha256 == usual.subject_sha256
    assert verdict.event_json == usual.event_json


def test_the_same_log_gives_the_same_bytes() -> None:
    first, again = judged(request(E1, E3)), judged(request(E1, E3))
    assert first == again
    others = {judged(request(*entries)).verdict_id for entries in itertools.combinations([E1, E2, E3], 2)}
    assert len(others) == 3

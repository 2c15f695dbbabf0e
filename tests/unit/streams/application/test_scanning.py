"""G003 from candidate to result: PASS only on bound, complete, clean evidence."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from pratique.contract.canonical import canonical_bytes
from pratique.contract.reasons import FindingStatus, Outcome, Reason, ReasonCode
from streams.application.ports.detection import Detection, ScanFailure, ScanResponse
from streams.application.scanning import (
    MAX_REASONS,
    PendingScan,
    ScanResult,
    begin_scan,
    conclude_scan,
    finding_reasons,
    scan_compaction,
)
from streams.domain.compaction.candidate import Candidate, CandidateRefused
from streams.domain.policy.model import ScanPolicy
from streams.domain.policy.scan_rules import AllowEntry, ScanRules, Threshold, configured_sha256
from streams.domain.scanning.applying import value_sha256
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.population import scan_population
from streams.domain.scanning.request import Decision, error_receipt
from tests.fakes.detectors import BREAK, REFUSE, STRAY, scripted
from tests.fakes.scanning import InlinePool
from tests.unit.streams.domain.scanning.builders import CLAIM, CONTEXT, POLICY_SHA256, SCANNER, candidate, policy


def scan(
    asked: Candidate | CandidateRefused, pinned: ScanPolicy | None = None, policy_sha256: str = POLICY_SHA256
) -> ScanResult:
    pool = InlinePool(scripted())
    return asyncio.run(scan_compaction(asked, pinned or policy(), pool, policy_sha256=policy_sha256))


def codes(result: ScanResult) -> list[str]:
    return [reason.code.value for reason in result.reasons]


def pending() -> PendingScan:
    begun = begin_scan(candidate(), policy(), SCANNER, policy_sha256=POLICY_SHA256)
    assert isinstance(begun, PendingScan)
    return begun


def clean_response() -> ScanResponse:
    return ScanResponse(replace(error_receipt(pending().request), decision=Decision.CLEAN), Detection((), 0))


def test_a_clean_scan_passes_with_its_receipt() -> None:
    result = scan(candidate())
    assert (result.outcome, result.finding_status, result.reasons) == (Outcome.PASS, FindingStatus.NO_FINDING, ())
    assert result.receipt_body is not None
    assert result.receipt_body["decision"] == "CLEAN"
    assert result.receipt_body["finding_count"] == 0
    assert result.receipt_sha256 is not None
    assert result.scanned_population_sha256 == scan_population(CONTEXT).sha256
    assert result.scanned_field_count == 6
    assert result.compacted_output_sha256 == candidate().compacted_output_sha256
    assert result.versions == {"scanner": "scripted/1", "scanner_sha256": SCANNER.scanner_sha256}


ALLOWED = ScanRules(
    (AllowEntry("known", "SECRET", "an example", 1_000, value_sha256=value_sha256("<secret>")),),
    (Threshold("INJECTION", "scripted", 95),),
)


def under_rules(summary: str, *, at_ms: int | None, pinned: str | None = None) -> ScanResult:
    digest = pinned or configured_sha256(SCANNER.scanner_sha256, ALLOWED)
    ruled = policy(rules=ALLOWED, scanner_sha256=digest)
    asked = candidate(summary_text=summary)
    return asyncio.run(scan_compaction(asked, ruled, InlinePool(scripted()), policy_sha256=POLICY_SHA256, at_ms=at_ms))


def test_what_policys_rules_let_pass_is_no_finding() -> None:
    result = under_rules("It was <secret>, and <injection>.", at_ms=999)
    assert (result.outcome, result.reasons) == (Outcome.PASS, ())
    assert result.receipt_body is not None
    assert (result.receipt_body["decision"], result.receipt_body["finding_count"]) == ("CLEAN", 0)
    digest = configured_sha256(SCANNER.scanner_sha256, ALLOWED)
    assert (result.versions["scanner_sha256"], result.receipt_body["scanner_sha256"]) == (digest, digest)


@pytest.mark.parametrize("at_ms", [None, 1_000])
def test_rules_that_have_expired_let_nothing_pass(at_ms: int | None) -> None:
    assert codes(under_rules("It was <secret>.", at_ms=at_ms)) == ["SECRET"]


def test_rules_let_nothing_else_pass() -> None:
    assert codes(under_rules("It was <secret>, and <pii>.", at_ms=999)) == ["PII"]


def test_a_scanner_pinned_without_the_rules_is_another_one() -> None:
    result = under_rules("It was <secret>.", at_ms=999, pinned=SCANNER.scanner_sha256)
    assert codes(result) == ["DETECTOR_ERROR"]


def test_a_worker_that_goes_by_other_rules_answers_with_an_error() -> None:
    ruled = policy(rules=ALLOWED, scanner_sha256=configured_sha256(SCANNER.scanner_sha256, ALLOWED))
    begun = begin_scan(candidate(), ruled, SCANNER, policy_sha256=POLICY_SHA256, at_ms=999)
    assert isinstance(begun, PendingScan)
    stripped = replace(begun.request, rules=replace(ALLOWED, thresholds=()))
    response = asyncio.run(InlinePool(scripted()).scan(stripped))
    assert response.receipt.decision is Decision.ERROR
    assert codes(conclude_scan(begun, response)) == ["RECEIPT_BINDING_DIFFERS"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"summary_text": "It was <secret>."}, "candidate.summary_text[7:15]"),
        ({"retained_safety_invariant_ids": ("<secret>",)}, "candidate.retained_safety_invariant_ids[0]"),
        ({"retained_policy_commitment_ids": ("a", "<secret>")}, "candidate.retained_policy_commitment_ids[1]"),
        ({"source_message_sha256s": ("a", "b", "<secret>")}, "candidate.source_message_sha256s[2]"),
    ],
)
def test_a_secret_in_any_root_blocks_with_its_path(fields: dict[str, Any], path: str) -> None:
    result = scan(candidate(**fields))
    assert (result.outcome, result.finding_status) == (Outcome.FAIL, FindingStatus.FINDING)
    assert result.reasons == (Reason.of(ReasonCode.SECRET, path, "scripted:mark"),)
    assert result.receipt_body is not None
    assert result.receipt_body["decision"] == "BLOCK"
    assert result.receipt_body["finding_count"] == 1


@pytest.mark.parametrize("mark", ["pii", "injection", "hidden_text"])
def test_every_category_has_its_reason(mark: str) -> None:
    assert codes(scan(candidate(summary_text=f"<{mark}>"))) == [mark.upper()]


def test_claims_are_not_scanned() -> None:
    claimed = replace(CLAIM, preserved_predicate="<secret>")
    assert scan(candidate(preserved_constraint_claims=(claimed,))).outcome is Outcome.PASS


def test_what_did_not_parse_was_not_scanned() -> None:
    refused = CandidateRefused((Reason.of(ReasonCode.SCHEMA_INVALID, "candidate"),))
    result = scan(refused)
    assert codes(result) == ["NOT_RUN"]
    assert result.outcome is Outcome.ERROR
    assert (result.receipt_body, result.scanned_population_sha256, result.compacted_output_sha256) == (None, None, None)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"field_roots": ("summary_text",)}, "POLICY_INVALID"),
        ({"policy_sha256": "f" * 64}, "POLICY_INVALID"),
        ({"scanner_sha256": "0" * 64}, "DETECTOR_ERROR"),
        ({"scanner_version": "scripted/2"}, "DETECTOR_ERROR"),
        ({"language_profiles": ("en", "tlh")}, "LANGUAGE_UNSUPPORTED"),
        ({"entity_types": ("UNHEARD_OF",)}, "DETECTOR_ERROR"),
        ({"max_total_bytes": 1}, "TOO_LARGE"),
    ],
)
def test_a_policy_that_cannot_be_met_is_never_clean(fields: dict[str, Any], code: str) -> None:
    result = scan(candidate(), policy(**fields))
    assert codes(result) == [code]
    assert result.outcome is not Outcome.PASS


def test_a_policy_of_another_compaction_policy_is_invalid() -> None:
    assert codes(scan(candidate(), policy_sha256="9" * 64)) == ["POLICY_INVALID"]


def test_the_bound_is_exact() -> None:
    size = len(canonical_bytes(scan_population(CONTEXT).population))
    assert scan(candidate(), policy(max_total_bytes=size)).outcome is Outcome.PASS
    assert codes(scan(candidate(), policy(max_total_bytes=size - 1))) == ["TOO_LARGE"]


@pytest.mark.parametrize("mark", [BREAK, REFUSE, STRAY])
def test_a_detector_that_fails_leaves_an_error_receipt_and_no_findings(mark: str) -> None:
    result = scan(candidate(summary_text=f"<secret> {mark}"))
    assert codes(result) == ["DETECTOR_ERROR"]
    assert result.receipt_body is not None
    assert (result.receipt_body["decision"], result.receipt_body["finding_count"]) == ("ERROR", 0)


@pytest.mark.parametrize(
    "difference",
    [
        {"request_sha256": "0" * 64},
        {"policy_sha256": "0" * 64},
        {"scanner_sha256": "0" * 64},
        {"scanned_population_sha256": "0" * 64},
        {"scanned_field_count": 5},
    ],
)
def test_a_receipt_for_something_else_is_not_believed(difference: dict[str, Any]) -> None:
    response = clean_response()
    result = conclude_scan(pending(), replace(response, receipt=replace(response.receipt, **difference)))
    assert codes(result) == ["RECEIPT_BINDING_DIFFERS"]
    assert result.outcome is not Outcome.PASS


FOUND = Finding(Category.PII, "scripted", "mark", "summary_text", 0, 1, 1.0)


@pytest.mark.parametrize(
    ("decision", "count", "findings"),
    [
        (Decision.CLEAN, 1, ()),
        (Decision.CLEAN, 0, (FOUND,)),
        (Decision.BLOCK, 0, ()),
        (Decision.BLOCK, 1, ()),
        (Decision.BLOCK, 0, (FOUND,)),
        (Decision.BLOCK, 1, (replace(FOUND, path="elsewhere"),)),
    ],
)
def test_an_answer_that_contradicts_itself_is_not_believed(
    decision: Decision, count: int, findings: tuple[Finding, ...]
) -> None:
    receipt = replace(clean_response().receipt, decision=decision, finding_count=count)
    result = conclude_scan(pending(), ScanResponse(receipt, Detection(findings, count)))
    assert codes(result) == ["RECEIPT_BINDING_DIFFERS"]


def test_an_error_without_a_cause_is_a_detector_error() -> None:
    response = ScanResponse(error_receipt(pending().request), Detection((), 0))
    assert codes(conclude_scan(pending(), response)) == ["DETECTOR_ERROR"]


def test_a_failure_beside_a_clean_receipt_is_a_failure() -> None:
    failed = Detection((), 0, ScanFailure(ReasonCode.DETECTOR_TIMEOUT, "pool"))
    result = conclude_scan(pending(), replace(clean_response(), detection=failed))
    assert result.reasons == (Reason.of(ReasonCode.DETECTOR_TIMEOUT, "", "pool"),)


def test_reasons_are_distinct_by_field_and_type() -> None:
    steering = replace(FOUND, category=Category.INJECTION)
    findings = [replace(steering, start=start, end=start + 1) for start in range(10)]
    assert len(finding_reasons([*findings, replace(steering, type="other")])) == 2
    elsewhere = [replace(item, category=Category.PII, path="source_message_sha256s[0]") for item in findings]
    assert len(finding_reasons(elsewhere)) == 1


@pytest.mark.parametrize("category", [Category.SECRET, Category.PII])
def test_what_can_be_masked_in_a_summary_is_named_stretch_by_stretch(category: Category) -> None:
    findings = [replace(FOUND, category=category, start=start, end=start + 3) for start in (4, 9, 4)]
    assert [reason.path for reason in finding_reasons(findings)] == [
        "candidate.summary_text[4:7]",
        "candidate.summary_text[9:12]",
    ]


def test_many_reasons_are_bounded_and_every_category_keeps_one() -> None:
    secrets = [replace(FOUND, category=Category.SECRET, path=f"source_message_sha256s[{i}]") for i in range(500)]
    reasons = finding_reasons([*secrets, FOUND, replace(FOUND, category=Category.HIDDEN_TEXT)])
    assert len(reasons) == MAX_REASONS
    assert {reason.code for reason in reasons} == {ReasonCode.SECRET, ReasonCode.PII, ReasonCode.HIDDEN_TEXT}
    assert list(reasons) == sorted(reasons)

"""The verdict: what is accepted, and that nothing else is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pratique.contract import avro, narrative
from pratique.contract.canonical import JsonValue, canonical_json, parse_json, text_sha256
from pratique.contract.reasons import REASONS, Outcome, Reason, ReasonCode
from pratique.contract.records import (
    Evidence,
    EvidenceKind,
    Origin,
    Provenance,
    StatedReason,
    Verdict,
    VerdictOutcome,
)
from streams.domain.verdicts.verdict import decide, is_refusal
from tests.fakes.evidence import (
    FIELD_COUNT,
    NOW_MS,
    OUTPUT,
    RECEIPT_KINDS,
    consistency_body,
    failed,
    join_key,
    opened,
    receipt,
    refused,
    scan_body,
    stated,
)

CONSISTENCY, SCAN = RECEIPT_KINDS
Receipts = dict[EvidenceKind, Evidence]


def judge(head: Evidence, receipts: Mapping[EvidenceKind, Evidence], *, expired: bool = False) -> Verdict:
    """Decide, with each receipt a second after the one before."""
    placed = {kind: stated(item, 1 + at, NOW_MS + 1000 * (1 + at)) for at, (kind, item) in enumerate(receipts.items())}
    return decide(stated(head), placed, expired=expired)


def passing() -> Receipts:
    return {kind: receipt(kind) for kind in RECEIPT_KINDS}


def codes(verdict: Verdict) -> list[str]:
    return [reason.code for reason in verdict.reasons]


# ------------------------------------------------------------------------------------------------------ accepted


def test_complete_bound_passing_evidence_is_accepted() -> None:
    verdict = judge(opened(), passing())
    assert verdict.outcome is VerdictOutcome.ACCEPTED
    assert (verdict.reasons, verdict.fallback, verdict.entries) == ((), None, None)
    assert verdict.assurance == "COMPLETE_DETERMINISTIC_BOUNDED_RULES_NOT_FREE_TEXT_EQUIVALENCE"
    assert [(check.check, check.outcome, check.finding_status) for check in verdict.checks] == [
        ("consistency", "PASS", "NO_FINDING"),
        ("scan", "PASS", "NO_FINDING"),
    ]
    assert verdict.compacted_output_sha256 == OUTPUT
    assert verdict.accepted_text_sha256s == ("6" * 64,)
    assert verdict.versions == {"consistencyer": "1", "scaner": "1"}


def test_acceptance_event_is_the_seeds() -> None:
    receipts = passing()
    verdict = judge(opened(), receipts)
    consistency, scan = (receipts[kind].receipt for kind in RECEIPT_KINDS)
    assert consistency is not None
    assert scan is not None
    assert parse_json(verdict.event_json or "") == {
        "schema_version": "aidefend.context-compaction-acceptance.v1",
        "tenant_id": "acme",
        "task_id": "task-1",
        "policy_sha256": "a" * 64,
        "source_population_sha256": join_key().source_population_sha256,
        "compacted_output_sha256": OUTPUT,
        "consistency_receipt_sha256": consistency.receipt_sha256,
        "secret_scan_receipt_sha256": scan.receipt_sha256,
        "outcome": "ACCEPTED",
    }
    assert verdict.event_json == canonical_json(parse_json(verdict.event_json or ""))
    assert verdict.event_sha256 == text_sha256(verdict.event_json or "")


def test_fallback_event_is_the_seeds() -> None:
    verdict = judge(opened(), {**passing(), SCAN: failed(SCAN, ReasonCode.SECRET)})
    assert verdict.accepted_text_sha256s == ()
    assert verdict.event_json == canonical_json(
        {
            "schema_version": "aidefend.context-compaction-fallback.v1",
            "tenant_id": "acme",
            "task_id": "task-1",
            "policy_sha256": "a" * 64,
            "source_population_sha256": join_key().source_population_sha256,
            "outcome": "FALLBACK",
        }
    )


# --------------------------------------------------------------------------------------------------- quarantined


@pytest.mark.parametrize("kind", RECEIPT_KINDS)
@pytest.mark.parametrize("code", [code for code in ReasonCode if REASONS[code].outcome is not Outcome.PASS])
def test_any_reason_of_any_receipt_quarantines(kind: EvidenceKind, code: ReasonCode) -> None:
    verdict = judge(opened(), {**passing(), kind: failed(kind, code)})
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert codes(verdict) == [code.value]
    assert verdict.assurance == "NOT_ESTABLISHED"
    assert verdict.fallback is not None
    assert verdict.fallback.keep_message_ids == ("m2", "m3")


READ_NOTHING: dict[str, Any] = {
    "body_json": None,
    "receipt_sha256": None,
    "compacted_output_sha256": None,
    "scan_population_sha256": None,
    "scan_field_count": 0,
}


@pytest.mark.parametrize("code", [ReasonCode.POLICY_UNAVAILABLE, ReasonCode.COMMITMENTS_STALE])
def test_check_that_failed_before_it_read_the_candidate_is_the_only_reason(code: ReasonCode) -> None:
    """What scan says of the candidate differs from nothing: nobody has to look for a compromised worker."""
    stopped = failed(EvidenceKind.CONSISTENCY, code)
    assert stopped.receipt is not None
    stopped = replace(stopped, receipt=replace(stopped.receipt, **READ_NOTHING))
    verdict = judge(opened(), {**passing(), EvidenceKind.CONSISTENCY: stopped})
    assert (verdict.outcome, codes(verdict)) == (VerdictOutcome.QUARANTINED, [code.value])


def test_check_that_claims_to_have_passed_without_reading_the_candidate_is_held_against_scan() -> None:
    blind = receipt(EvidenceKind.CONSISTENCY, **READ_NOTHING)
    verdict = judge(opened(), {**passing(), EvidenceKind.CONSISTENCY: blind})
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert {"evidence.scan.compacted_output_sha256", "evidence.scan.scan_field_count"} <= {
        reason.path for reason in verdict.reasons
    }


@pytest.mark.parametrize("kind", RECEIPT_KINDS)
def test_reason_of_a_receipt_that_claims_to_have_passed_quarantines(kind: EvidenceKind) -> None:
    reason = StatedReason.of(Reason.of(ReasonCode.SECRET, "candidate", "scan"))
    verdict = judge(opened(), {**passing(), kind: receipt(kind, reasons=(reason,))})
    assert (verdict.outcome, codes(verdict)) == (VerdictOutcome.QUARANTINED, ["SECRET"])


@pytest.mark.parametrize("kind", RECEIPT_KINDS)
@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (outcome, status)
        for outcome in ("PASS", "FAIL", "INSUFFICIENT_DATA", "ERROR", "pass", "", "PASS ")
        for status in ("NO_FINDING", "FINDING", "UNKNOWN", "")
        if (outcome, status) != ("PASS", "NO_FINDING")
    ],
)
def test_only_pass_without_finding_passes(kind: EvidenceKind, outcome: str, status: str) -> None:
    verdict = judge(opened(), {**passing(), kind: receipt(kind, outcome=outcome, finding_status=status)})
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert [(reason.code, reason.path) for reason in verdict.reasons] == [
        ("RECEIPT_BINDING_DIFFERS", f"evidence.{kind.value.lower()}.reasons")
    ]


def test_reason_code_of_a_newer_release_quarantines_and_is_passed_on_last() -> None:
    newer = StatedReason("SOMETHING_NEW", "candidate", "scan", "HIGH")
    odd = StatedReason("SECRET", "candidate", "scan", "CATASTROPHIC")
    verdict = judge(
        opened(), {**passing(), SCAN: receipt(SCAN, outcome="FAIL", finding_status="FINDING", reasons=(newer, odd))}
    )
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert verdict.reasons == (odd, newer)


OTHER_BODY: dict[str, JsonValue] = {"schema_version": "other", "policy_sha256": "0" * 64}
BOUND_CONSISTENCY = (
    "schema_version",
    "tenant_id",
    "task_id",
    "policy_sha256",
    "invariant_manifest_sha256",
    "commitment_snapshot_sha256",
    "rendered_policy_sha256",
    "compacted_output_sha256",
    "semantic_assurance",
)
BOUND_SCAN = (
    "schema_version",
    "policy_sha256",
    "scanner_sha256",
    "scanned_population_sha256",
    "scanned_field_count",
    "decision",
    "finding_count",
)
OTHER_VALUES: tuple[JsonValue, ...] = ("0" * 64, "", None, 1, 0, True, False, 5.0, [], {})


@pytest.mark.parametrize(
    ("kind", "name"), [*((CONSISTENCY, name) for name in BOUND_CONSISTENCY), *((SCAN, name) for name in BOUND_SCAN)]
)
@pytest.mark.parametrize("value", OTHER_VALUES, ids=repr)
def test_body_that_speaks_of_anything_else_is_not_accepted(kind: EvidenceKind, name: str, value: JsonValue) -> None:
    body = consistency_body() if kind is CONSISTENCY else scan_body()
    if type(body[name]) is type(value) and body[name] == value:
        return
    verdict = judge(opened(), {**passing(), kind: receipt(kind, body={**body, name: value})})
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert (f"evidence.{kind.value.lower()}.{name}") in {reason.path for reason in verdict.reasons}


@pytest.mark.parametrize(
    ("kind", "name"), [*((CONSISTENCY, name) for name in BOUND_CONSISTENCY), *((SCAN, name) for name in BOUND_SCAN)]
)
def test_body_without_a_bound_field_is_not_accepted(kind: EvidenceKind, name: str) -> None:
    body = consistency_body() if kind is CONSISTENCY else scan_body()
    del body[name]
    assert judge(opened(), {**passing(), kind: receipt(kind, body=body)}).outcome is VerdictOutcome.QUARANTINED


@pytest.mark.parametrize("kind", RECEIPT_KINDS)
@pytest.mark.parametrize(
    "changes",
    [
        {"body_json": None},
        {"receipt_sha256": None},
        {"receipt_sha256": "0" * 64},
        {"body_json": "{}"},
        {"body_json": None, "receipt_sha256": None},
        {"compacted_output_sha256": None},
        {"compacted_output_sha256": "0" * 64},
        {"scan_population_sha256": None},
        {"scan_population_sha256": "0" * 64},
        {"scan_field_count": FIELD_COUNT + 1},
        {"scan_field_count": 0},
    ],
    ids=str,
)
def test_receipt_that_differs_from_its_body_or_the_other_is_not_accepted(
    kind: EvidenceKind, changes: dict[str, Any]
) -> None:
    verdict = judge(opened(), {**passing(), kind: receipt(kind, **changes)})
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert set(codes(verdict)) == {"RECEIPT_BINDING_DIFFERS"}


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        '"text"',
        "not JSON",
        '{"a":1,"a":1}',
        '{"a": 1}',
        '{"b":1,"a":1}',
        '{"a":NaN}',
        "[" * 100 + "]" * 100,
        "",
    ],
)
def test_body_that_is_not_one_canonical_object_is_not_accepted(text: str) -> None:
    for kind in RECEIPT_KINDS:
        changed = receipt(kind, body_json=text, receipt_sha256=text_sha256(text))
        assert judge(opened(), {**passing(), kind: changed}).outcome is VerdictOutcome.QUARANTINED


@pytest.mark.parametrize(
    "field",
    [
        "task_id",
        "policy_sha256",
        "rendered_policy_sha256",
        "invariant_manifest_sha256",
        "commitment_snapshot_sha256",
        "scanner_sha256",
    ],
)
@pytest.mark.parametrize("value", ["0" * 64, "", None])
def test_opened_of_something_else_is_not_accepted(field: str, value: str | None) -> None:
    changes: dict[str, Any] = {field: value}
    if (field, value) != ("task_id", None):
        assert judge(opened(**changes), passing()).outcome is VerdictOutcome.QUARANTINED


def test_opened_of_another_tenant_is_not_accepted() -> None:
    receipts = {kind: replace(item, join_key=join_key(0, "globex")) for kind, item in passing().items()}
    assert judge(opened(join_key(0, "globex")), receipts).outcome is VerdictOutcome.QUARANTINED


def test_opened_without_a_population_is_refused() -> None:
    head = opened(join_key(source_population_sha256=None))
    assert is_refusal(stated(head))
    assert judge(head, passing()).outcome is VerdictOutcome.QUARANTINED


@pytest.mark.parametrize(
    "required",
    [
        (),
        (SCAN,),
        (CONSISTENCY,),
        (EvidenceKind.OPENED,),
        (*RECEIPT_KINDS, EvidenceKind.DECIDED),
        (*RECEIPT_KINDS, EvidenceKind.OPENED),
    ],
    ids=str,
)
def test_opened_that_asks_for_less_or_other_evidence_is_refused(required: tuple[EvidenceKind, ...]) -> None:
    head = opened(required=required)
    assert is_refusal(stated(head))
    verdict = judge(head, passing())
    assert (verdict.outcome, codes(verdict)) == (VerdictOutcome.QUARANTINED, ["RECEIPT_BINDING_DIFFERS"])


# -------------------------------------------------------------------------------------------- refusal and time-out


@pytest.mark.parametrize("keep", [None, (), ("m1", "m2")])
def test_refusal_keeps_what_opened_keeps(keep: tuple[str, ...] | None) -> None:
    verdict = judge(refused(None, ReasonCode.QUOTA_EXCEEDED, keep_message_ids=keep), {})
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert (verdict.fallback.keep_message_ids if verdict.fallback else None) == keep
    assert (verdict.event_json is None) == (keep is None)
    assert (verdict.event_sha256 is None) == (keep is None)


def test_refusal_ignores_receipts_and_expiry() -> None:
    head = refused(None, ReasonCode.TOO_LARGE)
    assert judge(head, passing()) == judge(head, {}) == judge(head, {}, expired=True)


@pytest.mark.parametrize("code", ReasonCode)
def test_refusal_says_of_intake_what_its_primary_reason_means(code: ReasonCode) -> None:
    (check,) = judge(refused(None, code), {}).checks
    assert (check.check, check.outcome, check.finding_status, check.receipt_sha256) == (
        "intake",
        REASONS[code].outcome.value,
        REASONS[code].finding_status.value,
        None,
    )


def test_refusal_for_a_reason_of_a_newer_release_is_an_error() -> None:
    head = opened(refusal=(StatedReason("SOMETHING_NEW", "", "intake", "LOW"),), required=())
    (check,) = judge(head, {}).checks
    assert (check.outcome, check.finding_status) == ("ERROR", "UNKNOWN")


def test_asking_before_the_evidence_or_its_deadline_is_an_error() -> None:
    with pytest.raises(ValueError, match="missing"):
        judge(opened(), {SCAN: receipt(SCAN)})


@pytest.mark.parametrize("held", [(), (SCAN,), (CONSISTENCY,)], ids=str)
def test_missing_evidence_is_named_and_decided_at_the_deadline(held: tuple[EvidenceKind, ...]) -> None:
    verdict = judge(opened(deadline_ms=45_000), {kind: receipt(kind) for kind in held}, expired=True)
    missing = [kind for kind in RECEIPT_KINDS if kind not in held]
    assert [(reason.code, reason.path) for reason in verdict.reasons if reason.code == "EVIDENCE_TIMEOUT"] == [
        ("EVIDENCE_TIMEOUT", f"evidence.{kind.value.lower()}") for kind in missing
    ]
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert verdict.decided_at == NOW_MS + 45_000
    assert [check.receipt_sha256 is None for check in verdict.checks] == [kind in missing for kind in RECEIPT_KINDS]


def test_expiry_of_complete_evidence_changes_nothing() -> None:
    assert judge(opened(), passing(), expired=True) == judge(opened(), passing())


# ---------------------------------------------------------------------------------------------------------- times


def test_decided_when_the_last_evidence_was_appended() -> None:
    verdict = judge(opened(valid_ms=60_000), passing())
    assert verdict.decided_at == NOW_MS + 2000
    assert verdict.valid_until == NOW_MS + 62_000
    assert judge(refused(valid_ms=5), {}).valid_until == NOW_MS + 5


def test_order_in_which_receipts_are_held_does_not_matter() -> None:
    consistency, scan = stated(receipt(CONSISTENCY), 1), stated(failed(SCAN, ReasonCode.PII), 2, NOW_MS + 9)
    one = decide(stated(opened()), {CONSISTENCY: consistency, SCAN: scan}, expired=False)
    other = decide(stated(opened()), {SCAN: scan, CONSISTENCY: consistency}, expired=False)
    assert avro.encode(one) == avro.encode(other)


# --------------------------------------------------------------------------------------------------------- digest


def test_verdict_id_is_of_everything_that_was_decided_on() -> None:
    expected = judge(opened(), passing()).verdict_id
    others = [
        judge(opened(valid_ms=1), passing()),
        judge(opened(trust=Provenance.TRUSTED), passing()),
        judge(opened(), {**passing(), SCAN: receipt(SCAN, versions={"scanner": "2"})}),
        judge(opened(), {**passing(), CONSISTENCY: receipt(CONSISTENCY, versions={})}),
        judge(opened(), {SCAN: receipt(SCAN)}, expired=True),
        judge(opened(), {CONSISTENCY: receipt(CONSISTENCY)}, expired=True),
        judge(opened(), {}, expired=True),
        judge(refused(), {}),
    ]
    found = [expected, *(verdict.verdict_id for verdict in others)]
    assert len(set(found)) == len(found)


def test_verdict_id_of_equal_statements_is_equal() -> None:
    assert judge(opened(), passing()).verdict_id == judge(opened(), passing()).verdict_id


def test_origin_that_nobody_has_rules_for_is_refused() -> None:
    for origin in Origin:
        head = opened(join_key(origin=origin), required=())
        assert is_refusal(stated(head))


def test_statement_of_another_kind_is_the_callers_error() -> None:
    with pytest.raises(ValueError, match="OPENED"):
        decide(stated(receipt(SCAN)), {}, expired=True)
    with pytest.raises(ValueError, match="receipt"):
        decide(stated(opened()), {SCAN: stated(opened())}, expired=True)


# ---------------------------------------------------------------------------------------------------- with narrative


def narrative_body(**changes: JsonValue) -> dict[str, JsonValue]:
    """The consistency receipt of a candidate with a narrative."""
    return consistency_body(
        **{
            "schema_version": narrative.RECEIPT_SCHEMA,
            "semantic_assurance": narrative.NARRATIVE_ASSURANCE,
            "narrative_sha256": "3" * 64,
            "authority_version": "authority/1",
            "authority_artifact_sha256": "2" * 64,
            **changes,
        }
    )


def test_a_narrative_is_accepted_in_our_own_words_alone() -> None:
    receipts = {**passing(), CONSISTENCY: receipt(CONSISTENCY, body=narrative_body())}
    verdict = judge(opened(), receipts)
    assert (verdict.outcome, verdict.assurance) == (VerdictOutcome.ACCEPTED, narrative.NARRATIVE_ASSURANCE)
    event = parse_json(verdict.event_json or "")
    assert isinstance(event, Mapping)
    assert event["schema_version"] == narrative.ACCEPTANCE_EVENT
    assert event["narrative_sha256"] == "3" * 64
    assert "aidefend" not in (verdict.event_json or "")


def test_a_quarantine_beside_a_narrative_is_the_seeds_fallback() -> None:
    receipts = {CONSISTENCY: receipt(CONSISTENCY, body=narrative_body()), SCAN: failed(SCAN, ReasonCode.SECRET)}
    verdict = judge(opened(), receipts)
    assert verdict.assurance == "NOT_ESTABLISHED"
    assert "aidefend.context-compaction-fallback.v1" in (verdict.event_json or "")


@pytest.mark.parametrize(
    "body",
    [
        narrative_body(schema_version="aidefend.compaction-consistency-receipt.v3"),
        narrative_body(semantic_assurance="COMPLETE_DETERMINISTIC_BOUNDED_RULES_NOT_FREE_TEXT_EQUIVALENCE"),
        consistency_body(semantic_assurance=narrative.NARRATIVE_ASSURANCE),
        narrative_body(narrative_sha256=None),
    ],
)
def test_receipt_of_one_profile_in_the_words_of_the_other_is_none(body: dict[str, JsonValue]) -> None:
    verdict = judge(opened(), {**passing(), CONSISTENCY: receipt(CONSISTENCY, body=body)})
    assert (verdict.outcome, codes(verdict)[0]) == (VerdictOutcome.QUARANTINED, "RECEIPT_BINDING_DIFFERS")

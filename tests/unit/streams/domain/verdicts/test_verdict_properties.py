"""Any evidence whatever comes to a verdict, and acceptance means all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from pratique.contract import avro
from pratique.contract.canonical import canonical_json, parse_json, text_sha256
from pratique.contract.reasons import FindingStatus, Reason, ReasonCode, Severity, sorted_reasons
from pratique.contract.records import (
    Evidence,
    EvidenceKind,
    Opened,
    Receipt,
    StatedReason,
    Verdict,
    VerdictOutcome,
)
from tests.fakes.evidence import (
    OUTPUT,
    POPULATION,
    RECEIPT_KINDS,
    RENDERED,
    consistency_body,
    join_key,
    opened,
    receipt,
    scan_body,
)
from tests.unit.streams.domain.verdicts.test_verdict import BOUND_CONSISTENCY, BOUND_SCAN, judge

CONSISTENCY, SCAN = RECEIPT_KINDS

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
DIGESTS = st.sampled_from(["a" * 64, OUTPUT, POPULATION, RENDERED, "0" * 64])
STATED_REASONS = st.lists(
    st.builds(
        StatedReason,
        st.sampled_from([code.value for code in ReasonCode]) | TEXT,
        TEXT,
        TEXT,
        st.sampled_from([severity.value for severity in Severity]) | TEXT,
    ),
    max_size=4,
).map(tuple)
JSON_LEAVES = st.none() | st.booleans() | st.integers(0, 9) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
BODIES = st.one_of(
    st.none(),
    TEXT,
    st.just(canonical_json(consistency_body())),
    st.just(canonical_json(scan_body())),
    st.dictionaries(st.sampled_from([*BOUND_CONSISTENCY, *BOUND_SCAN]), JSON_LEAVES | DIGESTS).map(canonical_json),
)


@st.composite
def receipts_of_any_kind(draw: st.DrawFn) -> Receipt:
    """Receipts that are right, wrong in one field, or wrong altogether."""
    kind = draw(st.sampled_from(RECEIPT_KINDS))
    base = receipt(kind).receipt
    assert base is not None
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "outcome": st.sampled_from(["PASS", "FAIL", "ERROR"]) | TEXT,
        "finding_status": st.sampled_from([status.value for status in FindingStatus]) | TEXT,
        "reasons": STATED_REASONS,
        "body_json": BODIES,
        "receipt_sha256": st.none() | DIGESTS,
        "compacted_output_sha256": st.none() | DIGESTS | TEXT,
        "scan_population_sha256": st.none() | DIGESTS | TEXT,
        "scan_field_count": st.integers(-(2**63), 2**63 - 1),
        "versions": st.dictionaries(TEXT, TEXT, max_size=2),
        "finding_ids": st.lists(TEXT, max_size=2).map(tuple),
    }
    names = draw(st.sets(st.sampled_from(sorted(strategies)), max_size=len(strategies)))
    changed = replace(base, **{name: draw(strategies[name]) for name in sorted(names)})
    if changed.body_json is not None and draw(st.booleans()):
        changed = replace(changed, receipt_sha256=text_sha256(changed.body_json))
    return changed


@st.composite
def opened_of_any_kind(draw: st.DrawFn) -> Evidence:
    head = opened(join_key(source_population_sha256=draw(st.sampled_from([None, "9" * 64]))))
    base = head.opened
    assert base is not None
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "task_id": st.just("task-1") | TEXT,
        "policy_sha256": st.none() | DIGESTS,
        "rendered_policy_sha256": st.none() | DIGESTS,
        "required": st.lists(st.sampled_from(EvidenceKind), max_size=4).map(tuple) | st.just(RECEIPT_KINDS),
        "keep_message_ids": st.none() | st.lists(TEXT, max_size=2).map(tuple),
        "deadline_ms": st.integers(-(2**60), 2**60),
        "valid_ms": st.integers(-(2**60), 2**60),
        "refusal": st.just(()) | STATED_REASONS,
        "requested_at": st.integers(-(2**63), 2**63 - 1),
    }
    names = draw(st.sets(st.sampled_from(sorted(strategies)), max_size=4))
    return replace(head, opened=replace(base, **{name: draw(strategies[name]) for name in sorted(names)}))


def is_bound(head: Opened, tenant: str, consistency: Receipt, scan: Receipt) -> bool:
    """Say again, in other words than the code's, what acceptance needs."""
    one = parse_json(consistency.body_json or "null")
    two = parse_json(scan.body_json or "null")
    assert isinstance(one, Mapping)
    assert isinstance(two, Mapping)
    return (
        consistency.reasons == scan.reasons == ()
        and {consistency.outcome, scan.outcome} == {"PASS"}
        and {consistency.finding_status, scan.finding_status} == {"NO_FINDING"}
        and text_sha256(consistency.body_json or "") == consistency.receipt_sha256
        and text_sha256(scan.body_json or "") == scan.receipt_sha256
        and (one["tenant_id"], one["task_id"]) == (tenant, head.task_id)
        and one["policy_sha256"] == two["policy_sha256"] == head.policy_sha256
        and one["rendered_policy_sha256"] == head.rendered_policy_sha256
        and one["compacted_output_sha256"] == consistency.compacted_output_sha256 == scan.compacted_output_sha256
        and two["scanned_population_sha256"] == consistency.scan_population_sha256 == scan.scan_population_sha256
        and two["scanned_field_count"] == consistency.scan_field_count == scan.scan_field_count
        and (two["decision"], two["finding_count"], two["scanner_sha256"]) == ("CLEAN", 0, head.scanner_sha256)
    )


@settings(deadline=None, max_examples=300)
@given(head=opened_of_any_kind(), one=receipts_of_any_kind(), two=receipts_of_any_kind(), late=st.booleans())
def test_any_evidence_comes_to_a_verdict_and_acceptance_means_all_of_it(
    head: Evidence, one: Receipt, two: Receipt, *, late: bool
) -> None:
    receipts = {
        CONSISTENCY: Evidence(CONSISTENCY, head.join_key, head.policy_set_sha256, receipt=one),
        SCAN: Evidence(SCAN, head.join_key, head.policy_set_sha256, receipt=two),
    }
    if late:
        del receipts[SCAN]
    verdict = judge(head, receipts, expired=True)
    assert avro.decode(avro.encode(verdict), Verdict) == verdict
    assert head.opened is not None
    if verdict.outcome is VerdictOutcome.ACCEPTED:
        assert not late
        assert head.opened.refusal == ()
        assert is_bound(head.opened, head.join_key.tenant_id, one, two)
    else:
        assert verdict.reasons
    known = [
        Reason(ReasonCode(item.code), item.path, item.detector, Severity(item.severity))
        for item in verdict.reasons
        if item.meaning is not None and item.severity in {severity.value for severity in Severity}
    ]
    if not head.opened.refusal:
        assert known == list(sorted_reasons(known))

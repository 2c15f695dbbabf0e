"""The verdict: a pure function of what the log holds about one request.

The contract: ``decide`` has no clock, no randomness and no I/O; the same statements give the same verdict, so every
owner of a partition, and every replay, comes to the same bytes (architecture, decision 1). It accepts only when every
required receipt passed, states no reason, and is bound to the same candidate, population, policy and scanner
(AID-I-004.008 G001); where it can't tell, it quarantines.

To what receipts must be bound, and what a verdict says beside outcome and reasons, are the origin's rules
(``streams.domain.verdicts.compaction`` and ``recall``); an origin without an entry in ``REQUIRED`` is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pratique.contract.canonical import canonical_json, canonical_sha256, text_sha256
from pratique.contract.reasons import FindingStatus, Outcome, Reason, ReasonCode, Severity, sorted_reasons
from pratique.contract.records import (
    Check,
    EvidenceKind,
    Opened,
    Origin,
    Receipt,
    StatedReason,
    Verdict,
    VerdictOutcome,
)
from streams.domain.verdicts import compaction, recall
from streams.domain.verdicts.compaction import (
    ACCEPTANCE_EVENT,
    CONSISTENCY_RECEIPT,
    FALLBACK_EVENT,
    SCAN_RECEIPT,
    SEMANTIC_ASSURANCE,
)
from streams.domain.verdicts.evidence import Stated
from streams.domain.verdicts.receipts import NOT_ESTABLISHED, differs, has_passed, opened_of, receipt_of

__all__ = [
    "ACCEPTANCE_EVENT",
    "CONSISTENCY_RECEIPT",
    "FALLBACK_EVENT",
    "NOT_ESTABLISHED",
    "REQUIRED",
    "SCAN_RECEIPT",
    "SEMANTIC_ASSURANCE",
    "decide",
    "is_refusal",
]

REQUIRED: Final[Mapping[Origin, frozenset[EvidenceKind]]] = {
    Origin.COMPACTION: frozenset({EvidenceKind.CONSISTENCY, EvidenceKind.SCAN}),
    Origin.RECALL: frozenset({EvidenceKind.CONSISTENCY, EvidenceKind.SCAN}),
}
"""What each origin needs before it can be accepted; an origin that is not named here never is."""

_BINDING: Final = ReasonCode.RECEIPT_BINDING_DIFFERS


def decide(opened: Stated, receipts: Mapping[EvidenceKind, Stated], *, expired: bool) -> Verdict:
    """Decide about one request.

    Args:
        opened: Intake's statement.
        receipts: The first receipt of each kind, under the pin of ``opened``.
        expired: Whether the deadline has passed; then missing evidence means quarantine.

    Returns:
        The verdict. ``decided_at`` is the log-append time of the statement that completed the evidence, or the
        deadline.

    Raises:
        ValueError: Evidence is missing and the deadline has not passed; the caller asked too early.
    """
    head = opened_of(opened)
    missing = [kind for kind in head.required if kind not in receipts]
    refusal = _refusal(opened, head)
    if refusal:
        reasons, decided_at = refusal, opened.at_ms
        checks: tuple[Check, ...] = (_refused(refusal),)
        held: Mapping[EvidenceKind, Receipt] = {}
    elif missing and not expired:
        raise ValueError("evidence is missing before its deadline")
    else:
        held = {kind: receipt_of(receipts[kind]) for kind in head.required if kind in receipts}
        reasons = _reasons(opened, held, missing)
        checks = tuple(_check(kind, held.get(kind)) for kind in head.required)
        decided_at = opened.at_ms + head.deadline_ms if missing else max(receipts[kind].at_ms for kind in head.required)
    return _verdict(opened, receipts, held, reasons, checks, (decided_at, bool(missing) and expired))


def _refusal(opened: Stated, head: Opened) -> tuple[StatedReason, ...]:
    """Return intake's refusal; an OPENED that asks for less than its origin needs, or about nothing, is one as well."""
    if head.refusal:
        return head.refusal
    if opened.evidence.join_key.source_population_sha256 is None:
        return (StatedReason.of(Reason.of(_BINDING, "evidence.opened.source_population_sha256")),)
    if frozenset(head.required) != REQUIRED.get(opened.evidence.join_key.origin, frozenset()) or not head.required:
        return (StatedReason.of(Reason.of(_BINDING, "evidence.opened.required")),)
    return ()


def is_refusal(opened: Stated) -> bool:
    """Say whether an OPENED needs no evidence: it is a refusal."""
    return bool(_refusal(opened, opened_of(opened)))


def _refused(refusal: tuple[StatedReason, ...]) -> Check:
    primary = refusal[0].meaning
    outcome = primary.outcome if primary else Outcome.ERROR
    status = primary.finding_status if primary else FindingStatus.UNKNOWN
    return Check("intake", outcome.value, status.value, None)


def _check(kind: EvidenceKind, receipt: Receipt | None) -> Check:
    name = kind.value.lower()
    if receipt is None:
        return Check(name, Outcome.ERROR.value, FindingStatus.UNKNOWN.value, None)
    return Check(name, receipt.outcome, receipt.finding_status, receipt.receipt_sha256)


def _reasons(
    opened: Stated, held: Mapping[EvidenceKind, Receipt], missing: list[EvidenceKind]
) -> tuple[StatedReason, ...]:
    found = {Reason.of(ReasonCode.EVIDENCE_TIMEOUT, f"evidence.{kind.value.lower()}") for kind in missing}
    stated: list[StatedReason] = []
    for kind, receipt in held.items():
        stated.extend(receipt.reasons)
        if not has_passed(receipt) and not receipt.reasons:  # a check that did not pass and does not say why
            found.add(differs(kind, "reasons"))
    rules = recall if opened.evidence.join_key.origin is Origin.RECALL else compaction
    return _ordered(stated, found | rules.binding_reasons(opened, held))


def _ordered(stated: list[StatedReason], found: set[Reason]) -> tuple[StatedReason, ...]:
    known: set[Reason] = set(found)
    unknown: set[StatedReason] = set()
    for item in stated:
        try:
            known.add(Reason(ReasonCode(item.code), item.path, item.detector, Severity(item.severity)))
        except ValueError:  # a code or severity newer than this gate; it still quarantines
            unknown.add(item)
    later = sorted(unknown, key=lambda item: (item.code, item.path, item.detector, item.severity))
    return tuple(StatedReason.of(item) for item in sorted_reasons(known)) + tuple(later)


def _verdict(
    opened: Stated,
    receipts: Mapping[EvidenceKind, Stated],
    held: Mapping[EvidenceKind, Receipt],
    reasons: tuple[StatedReason, ...],
    checks: tuple[Check, ...],
    moment: tuple[int, bool],
) -> Verdict:
    head, key = opened_of(opened), opened.evidence.join_key
    decided_at, timed_out = moment
    accepted = not reasons and bool(held)
    if key.origin is Origin.RECALL:
        conclusion = recall.conclude(opened, held, reasons, accepted=accepted)
    else:
        conclusion = compaction.conclude(opened, held, accepted=accepted)
    event_json = None if conclusion.event is None else canonical_json(conclusion.event)
    return Verdict(
        verdict_id=canonical_sha256(
            {
                "schema_version": "pratique.decision.v1",
                "opened_sha256": opened.value_sha256,
                "receipt_sha256s": {kind.value: receipts[kind].value_sha256 for kind in held},
                "expired": timed_out,
            }
        ),
        origin=key.origin,
        outcome=VerdictOutcome.ACCEPTED if accepted else VerdictOutcome.QUARANTINED,
        tenant_id=key.tenant_id,
        task_id=head.task_id,
        request_id=key.request_id,
        policy_id=head.policy_id,
        policy_sha256=head.policy_sha256,
        policy_set_sha256=opened.evidence.policy_set_sha256,
        rendered_policy_sha256=head.rendered_policy_sha256,
        invariant_manifest_sha256=head.invariant_manifest_sha256,
        commitment_snapshot_sha256=head.commitment_snapshot_sha256,
        source_population_sha256=key.source_population_sha256,
        request_sha256=key.request_sha256,
        subject_sha256=key.subject_sha256,
        compacted_output_sha256=conclusion.compacted_output_sha256,
        trust=head.trust,
        assurance=conclusion.assurance,
        checks=checks,
        reasons=reasons,
        event_json=event_json,
        event_sha256=None if event_json is None else text_sha256(event_json),
        entries=conclusion.entries,
        fallback=conclusion.fallback,
        ledger_view=conclusion.ledger_view,
        decided_at=decided_at,
        valid_until=decided_at + head.valid_ms,
        versions={name: version for receipt in held.values() for name, version in sorted(receipt.versions.items())},
        accepted_text_sha256s=conclusion.accepted_text_sha256s,
    )

"""The verdict: a pure function of what the log holds about one request.

The contract: ``decide`` has no clock, no randomness and no I/O; the same statements give the same verdict, so every
owner of a partition, and every replay, comes to the same bytes (architecture, decision 1). It accepts only when every
required receipt passed, states no reason, and is bound to the same candidate, population, policy and scanner
(AID-I-004.008 G001); where it can't tell, it quarantines.

It does not know recalls yet: an origin without an entry in ``REQUIRED`` is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_json, canonical_sha256, parse_json, text_sha256
from pratique.contract.reasons import FindingStatus, Outcome, Reason, ReasonCode, Severity, sorted_reasons
from pratique.contract.records import (
    Check,
    EvidenceKind,
    Fallback,
    Opened,
    Origin,
    Receipt,
    StatedReason,
    Verdict,
    VerdictOutcome,
)
from pratique.errors import MalformedError
from streams.domain.verdicts.evidence import Stated

NOT_ESTABLISHED: Final = "NOT_ESTABLISHED"
"""The assurance of a quarantined request."""

SEMANTIC_ASSURANCE: Final = "COMPLETE_DETERMINISTIC_BOUNDED_RULES_NOT_FREE_TEXT_EQUIVALENCE"
"""The assurance of an accepted one, in the seed's words (AID-I-004.008 G002); a receipt that claims another is none."""

CONSISTENCY_RECEIPT: Final = "aidefend.compaction-consistency-receipt.v3"
SCAN_RECEIPT: Final = "pratique.scan-receipt.v1"
ACCEPTANCE_EVENT: Final = "aidefend.context-compaction-acceptance.v1"
FALLBACK_EVENT: Final = "aidefend.context-compaction-fallback.v1"

REQUIRED: Final[Mapping[Origin, frozenset[EvidenceKind]]] = {
    Origin.COMPACTION: frozenset({EvidenceKind.CONSISTENCY, EvidenceKind.SCAN}),
}
"""What each origin needs before it can be accepted; an origin that is not named here never is."""

_PASSED: Final = (Outcome.PASS.value, FindingStatus.NO_FINDING.value)
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
    head = _opened_of(opened)
    missing = [kind for kind in head.required if kind not in receipts]
    refusal = _refusal(opened, head)
    if refusal:
        reasons, decided_at = refusal, opened.at_ms
        checks: tuple[Check, ...] = (_refused(refusal),)
        held: Mapping[EvidenceKind, Receipt] = {}
    elif missing and not expired:
        raise ValueError("evidence is missing before its deadline")
    else:
        held = {kind: _receipt_of(receipts[kind]) for kind in head.required if kind in receipts}
        reasons = _reasons(opened, held, missing)
        checks = tuple(_check(kind, held.get(kind)) for kind in head.required)
        decided_at = opened.at_ms + head.deadline_ms if missing else max(receipts[kind].at_ms for kind in head.required)
    return _verdict(opened, receipts, held, reasons, checks, (decided_at, bool(missing) and expired))


def _opened_of(stated: Stated) -> Opened:
    if stated.evidence.opened is None:
        raise ValueError("statement is no OPENED")
    return stated.evidence.opened


def _receipt_of(stated: Stated) -> Receipt:
    if stated.evidence.receipt is None:
        raise ValueError("statement is no receipt")
    return stated.evidence.receipt


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
    return bool(_refusal(opened, _opened_of(opened)))


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
        name = f"evidence.{kind.value.lower()}"
        if (receipt.outcome, receipt.finding_status) == _PASSED:
            found.update(Reason.of(_BINDING, f"{name}.{field}") for field in _unbound(opened, kind, held))
        elif not receipt.reasons:  # a check that did not pass and does not say why
            found.add(Reason.of(_BINDING, f"{name}.reasons"))
    return _ordered(stated, found)


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


def _unbound(opened: Stated, kind: EvidenceKind, held: Mapping[EvidenceKind, Receipt]) -> list[str]:
    """Return the fields of a passing receipt that speak of something else; empty when it is bound."""
    head, receipt = _opened_of(opened), held[kind]
    body = _body(receipt)
    if body is None:
        return ["receipt_sha256"]
    key = opened.evidence.join_key
    if kind is EvidenceKind.CONSISTENCY:
        expected: dict[str, JsonValue] = {
            "schema_version": CONSISTENCY_RECEIPT,
            "tenant_id": key.tenant_id,
            "task_id": head.task_id,
            "policy_sha256": head.policy_sha256,
            "invariant_manifest_sha256": head.invariant_manifest_sha256,
            "commitment_snapshot_sha256": head.commitment_snapshot_sha256,
            "rendered_policy_sha256": head.rendered_policy_sha256,
            "compacted_output_sha256": receipt.compacted_output_sha256,
            "semantic_assurance": SEMANTIC_ASSURANCE,
        }
    else:
        expected = {
            "schema_version": SCAN_RECEIPT,
            "policy_sha256": head.policy_sha256,
            "scanner_sha256": head.scanner_sha256,
            "scanned_population_sha256": receipt.scan_population_sha256,
            "scanned_field_count": receipt.scan_field_count,
            "decision": "CLEAN",
            "finding_count": 0,
        }
    differing = [name for name, value in expected.items() if value is None or not _same(body.get(name), value)]
    differing.extend(_apart(kind, held))
    return differing


def _same(found: JsonValue, expected: JsonValue) -> bool:
    """Compare as JSON does: false is not 0, and 1.0 is not 1."""
    return type(found) is type(expected) and found == expected


def _apart(kind: EvidenceKind, held: Mapping[EvidenceKind, Receipt]) -> list[str]:
    """Compare what consistency derived with what scan says it scanned (said once, of the scan)."""
    derived = held.get(EvidenceKind.CONSISTENCY)
    scanned = held.get(EvidenceKind.SCAN)
    if kind is not EvidenceKind.SCAN or derived is None or scanned is None:
        return []
    pairs = (
        ("compacted_output_sha256", derived.compacted_output_sha256, scanned.compacted_output_sha256),
        ("scan_population_sha256", derived.scan_population_sha256, scanned.scan_population_sha256),
        ("scan_field_count", derived.scan_field_count, scanned.scan_field_count),
    )
    return [name for name, ours, theirs in pairs if ours is None or ours != theirs]


def _body(receipt: Receipt) -> Mapping[str, JsonValue] | None:
    if receipt.body_json is None or receipt.receipt_sha256 != text_sha256(receipt.body_json):
        return None
    try:
        body = parse_json(receipt.body_json)
    except MalformedError:
        return None
    if not isinstance(body, Mapping) or canonical_json(body) != receipt.body_json:
        return None
    return body


def _verdict(
    opened: Stated,
    receipts: Mapping[EvidenceKind, Stated],
    held: Mapping[EvidenceKind, Receipt],
    reasons: tuple[StatedReason, ...],
    checks: tuple[Check, ...],
    moment: tuple[int, bool],
) -> Verdict:
    head, key = _opened_of(opened), opened.evidence.join_key
    decided_at, timed_out = moment
    accepted = not reasons and bool(held)
    consistency = held.get(EvidenceKind.CONSISTENCY)
    event = _event(opened, head, held, accepted=accepted)
    event_json = None if event is None else canonical_json(event)
    keep = head.keep_message_ids
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
        compacted_output_sha256=None if consistency is None else consistency.compacted_output_sha256,
        trust=head.trust,
        assurance=SEMANTIC_ASSURANCE if accepted else NOT_ESTABLISHED,
        checks=checks,
        reasons=reasons,
        event_json=event_json,
        event_sha256=None if event_json is None else text_sha256(event_json),
        entries=None,
        fallback=None if accepted or keep is None else Fallback(keep),
        ledger_view=None,
        decided_at=decided_at,
        valid_until=decided_at + head.valid_ms,
        versions={name: version for receipt in held.values() for name, version in sorted(receipt.versions.items())},
    )


def _event(
    opened: Stated, head: Opened, held: Mapping[EvidenceKind, Receipt], *, accepted: bool
) -> dict[str, JsonValue] | None:
    """Return the seed's audit event; none where the seed raises before it has a context to speak of."""
    key = opened.evidence.join_key
    common: dict[str, JsonValue] = {
        "tenant_id": key.tenant_id,
        "task_id": head.task_id,
        "policy_sha256": head.policy_sha256,
        "source_population_sha256": key.source_population_sha256,
    }
    if accepted:
        consistency, scan = held[EvidenceKind.CONSISTENCY], held[EvidenceKind.SCAN]
        return common | {
            "schema_version": ACCEPTANCE_EVENT,
            "compacted_output_sha256": consistency.compacted_output_sha256,
            "consistency_receipt_sha256": consistency.receipt_sha256,
            "secret_scan_receipt_sha256": scan.receipt_sha256,
            "outcome": "ACCEPTED",
        }
    if head.keep_message_ids is None:
        return None
    return common | {"schema_version": FALLBACK_EVENT, "outcome": "FALLBACK"}

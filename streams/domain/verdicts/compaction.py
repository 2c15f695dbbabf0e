"""A compaction's rules: to what its receipts must be bound, and what its verdict says beside outcome and reasons.

The contract (AID-I-004.008 G001): a passing receipt that is not bound to the same candidate, population, policy and
scanner as the others is none; the event is the seed's acceptance or fallback.

Where the consistency receipt is of a candidate with a narrative, assurance, receipt and acceptance are our own
(``pratique.contract.narrative``). That both workers read the candidate as policy's profile has it, their agreeing
populations say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pratique.contract import narrative
from pratique.contract.canonical import JsonValue
from pratique.contract.reasons import Reason
from pratique.contract.records import EvidenceKind, Fallback, Opened, Receipt
from streams.domain.verdicts.evidence import Stated
from streams.domain.verdicts.receipts import NOT_ESTABLISHED, Conclusion, body_of, differs, has_passed, opened_of

SEMANTIC_ASSURANCE: Final = "COMPLETE_DETERMINISTIC_BOUNDED_RULES_NOT_FREE_TEXT_EQUIVALENCE"
"""The assurance of an accepted one, in the seed's words (AID-I-004.008 G002); a receipt that claims another is none."""

CONSISTENCY_RECEIPT: Final = "aidefend.compaction-consistency-receipt.v3"
SCAN_RECEIPT: Final = "pratique.scan-receipt.v1"
ACCEPTANCE_EVENT: Final = "aidefend.context-compaction-acceptance.v1"
FALLBACK_EVENT: Final = "aidefend.context-compaction-fallback.v1"


def binding_reasons(opened: Stated, held: Mapping[EvidenceKind, Receipt]) -> set[Reason]:
    """Return what of the passing receipts speaks of something else; empty where all are bound."""
    return {
        differs(kind, field)
        for kind, receipt in held.items()
        if has_passed(receipt)
        for field in _unbound(opened, kind, held)
    }


def conclude(opened: Stated, held: Mapping[EvidenceKind, Receipt], *, accepted: bool) -> Conclusion:
    """Return what the verdict says beside outcome and reasons."""
    head = opened_of(opened)
    consistency = held.get(EvidenceKind.CONSISTENCY)
    keep = head.keep_message_ids
    return Conclusion(
        assurance=_assurance(consistency) if accepted else NOT_ESTABLISHED,
        event=_event(opened, head, held, accepted=accepted),
        compacted_output_sha256=None if consistency is None else consistency.compacted_output_sha256,
        fallback=None if accepted or keep is None else Fallback(keep),
        accepted_text_sha256s=_accepted_texts(consistency) if accepted else (),
    )


def _accepted_texts(receipt: Receipt | None) -> tuple[str, ...]:
    body = None if receipt is None else body_of(receipt)
    digests = () if body is None else (body.get("compacted_summary_sha256"), body.get("narrative_sha256"))
    return tuple(digest for digest in digests if isinstance(digest, str))


def _unbound(opened: Stated, kind: EvidenceKind, held: Mapping[EvidenceKind, Receipt]) -> list[str]:
    """Return the fields of a passing receipt that speak of something else; empty when it is bound."""
    head, receipt = opened_of(opened), held[kind]
    body = body_of(receipt)
    if body is None:
        return ["receipt_sha256"]
    key = opened.evidence.join_key
    if kind is EvidenceKind.CONSISTENCY:
        expected: dict[str, JsonValue] = {
            "schema_version": narrative.RECEIPT_SCHEMA if _has_narrative(receipt) else CONSISTENCY_RECEIPT,
            "tenant_id": key.tenant_id,
            "task_id": head.task_id,
            "policy_sha256": head.policy_sha256,
            "invariant_manifest_sha256": head.invariant_manifest_sha256,
            "commitment_snapshot_sha256": head.commitment_snapshot_sha256,
            "rendered_policy_sha256": head.rendered_policy_sha256,
            "compacted_output_sha256": receipt.compacted_output_sha256,
            "semantic_assurance": _assurance(receipt),
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


def _narrative_sha256(receipt: Receipt | None) -> JsonValue:
    """Return the digest of the narrative that a consistency receipt is about; null where it is about none."""
    body = None if receipt is None else body_of(receipt)
    if body is None or body.get("schema_version") != narrative.RECEIPT_SCHEMA:
        return None
    return body.get("narrative_sha256", "")


def _has_narrative(receipt: Receipt | None) -> bool:
    return _narrative_sha256(receipt) is not None


def _assurance(receipt: Receipt | None) -> str:
    return narrative.NARRATIVE_ASSURANCE if _has_narrative(receipt) else SEMANTIC_ASSURANCE


def _same(found: JsonValue, expected: JsonValue) -> bool:
    """Compare as JSON does: false is not 0, and 1.0 is not 1."""
    return type(found) is type(expected) and found == expected


def _apart(kind: EvidenceKind, held: Mapping[EvidenceKind, Receipt]) -> list[str]:
    """Compare what consistency derived with what scan says it scanned (said once, of the scan)."""
    derived = held.get(EvidenceKind.CONSISTENCY)
    scanned = held.get(EvidenceKind.SCAN)
    if kind is not EvidenceKind.SCAN or derived is None or scanned is None:
        return []
    if derived.compacted_output_sha256 is None and not has_passed(derived):
        return []  # it failed before it had read the candidate: it says why, and there is nothing to compare
    pairs = (
        ("compacted_output_sha256", derived.compacted_output_sha256, scanned.compacted_output_sha256),
        ("scan_population_sha256", derived.scan_population_sha256, scanned.scan_population_sha256),
        ("scan_field_count", derived.scan_field_count, scanned.scan_field_count),
    )
    return [name for name, ours, theirs in pairs if ours is None or ours != theirs]


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
        digest = _narrative_sha256(consistency)
        told: dict[str, JsonValue] = {} if digest is None else {"narrative_sha256": digest}
        return (
            common
            | told
            | {
                "schema_version": ACCEPTANCE_EVENT if digest is None else narrative.ACCEPTANCE_EVENT,
                "compacted_output_sha256": consistency.compacted_output_sha256,
                "consistency_receipt_sha256": consistency.receipt_sha256,
                "secret_scan_receipt_sha256": scan.receipt_sha256,
                "outcome": "ACCEPTED",
            }
        )
    if head.keep_message_ids is None:
        return None
    return common | {"schema_version": FALLBACK_EVENT, "outcome": "FALLBACK"}

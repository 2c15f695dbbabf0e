"""What the rules of every origin share: reading a receipt, and what an origin's rules come to.

The contract: a receipt's body is read only where its digest is that of the very text and the text is canonical JSON;
anything else is no body.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_json, parse_json, text_sha256
from pratique.contract.reasons import FindingStatus, Outcome, Reason, ReasonCode
from pratique.contract.records import EntryVerdict, EvidenceKind, Fallback, LedgerView, Opened, Receipt
from pratique.errors import MalformedError
from streams.domain.verdicts.evidence import Stated

NOT_ESTABLISHED: Final = "NOT_ESTABLISHED"
"""The assurance of a quarantined request."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The part of a verdict that its origin's rules decide; fields as in ``Verdict``."""

    assurance: str
    event: Mapping[str, JsonValue] | None
    compacted_output_sha256: str | None = None
    entries: tuple[EntryVerdict, ...] | None = None
    fallback: Fallback | None = None
    ledger_view: LedgerView | None = None
    accepted_text_sha256s: tuple[str, ...] = ()


def opened_of(stated: Stated) -> Opened:
    """Return what intake stated."""
    if stated.evidence.opened is None:
        raise ValueError("statement is no OPENED")
    return stated.evidence.opened


def receipt_of(stated: Stated) -> Receipt:
    """Return what a worker stated."""
    if stated.evidence.receipt is None:
        raise ValueError("statement is no receipt")
    return stated.evidence.receipt


def has_passed(receipt: Receipt) -> bool:
    """Say whether a receipt claims that its check passed."""
    return (receipt.outcome, receipt.finding_status) == (Outcome.PASS.value, FindingStatus.NO_FINDING.value)


def body_of(receipt: Receipt) -> Mapping[str, JsonValue] | None:
    """Return a receipt's body; none where it has none that its digest is of."""
    if receipt.body_json is None or receipt.receipt_sha256 != text_sha256(receipt.body_json):
        return None
    try:
        body = parse_json(receipt.body_json)
    except MalformedError:
        return None
    if not isinstance(body, Mapping) or canonical_json(body) != receipt.body_json:
        return None
    return body


def differs(kind: EvidenceKind, field: str) -> Reason:
    """Return the reason that a statement is not bound to what it should speak of."""
    return Reason.of(ReasonCode.RECEIPT_BINDING_DIFFERS, f"evidence.{kind.value.lower()}.{field}")

"""What becomes of a command to the ledger, as its writer writes it down; and which rules it is judged by.

The contract: a decision is a value. Everything in it is written in one transaction, or nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pratique.contract.ledger_records import AuditEntry, LedgerEntry, ReviewEntry
from pratique.contract.reasons import ReasonCode
from pratique.contract.records import Origin
from streams.domain.policy.model import QuarantineRule

Rules: TypeAlias = Callable[[str, Origin], QuarantineRule | None]
"""Returns the rule of automatic quarantine that a policy has at its newest for verdicts of an origin, or none.

It raises ``CommandRefusedError`` where policy can't be had.
"""


def no_rules(policy_id: str, origin: Origin) -> QuarantineRule | None:  # noqa: ARG001 - the signature of rules
    """Allow nothing."""
    return None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What is known of a fingerprint's automatic entry from now on.

    Attributes:
        key: The ledger key.
        entry: What is known; none takes the record from the review topic.
    """

    key: bytes
    entry: ReviewEntry | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of one command.

    Attributes:
        key: The key of what is written: the ledger key, or the command's own where it names no entry.
        entry: The entry's new head; none where nothing changes.
        audit: What is recorded; none where nobody is known to have sent it.
        dead: Why the command is kept as a dead letter; none where it is not.
        tombstones: Keys whose entries are taken from the ledger topic, in order.
        reviewed: What is written to the review topic; none where it does not change.
        automatic: What became of an automatic addition, or of the end of one, in a word for metrics; else empty.
    """

    key: bytes | None
    entry: LedgerEntry | None
    audit: AuditEntry | None
    dead: ReasonCode | None
    tombstones: tuple[bytes, ...] = ()
    reviewed: Reviewed | None = None
    automatic: str = ""

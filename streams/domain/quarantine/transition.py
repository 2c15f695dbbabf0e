"""The state machine of one entry: compare, and append (AID-D-001.005 G002).

The contract: ``apply`` is a pure function of a command and the entry's head. A transition follows only upon the
revision that the command expects, so revisions are contiguous and no update is lost. The exact latest transition,
sent again, stands and changes nothing. An earlier one, sent again after something came upon it, is refused: what was
taken out of quarantine does not return by a replay, nor does what was put in leave by one.

An event further back than the head's predecessor is told from a stale command no more: both are refused, and a head
remembers one predecessor, whatever its history.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pratique.contract.reasons import ReasonCode
from streams.domain.quarantine.command import Command
from streams.domain.quarantine.record import Action, QuarantineRecord


@dataclass(frozen=True, slots=True)
class Head:
    """An entry's newest revision.

    Attributes:
        revision: Its number, from 1.
        event_id: Its event's id, 32 bytes: a ledger holds millions of heads.
        previous_event_id: The id of the event before it; none at revision 1.
        quarantined: Whether the fingerprint is quarantined.
        key_generation: The fingerprint key's generation.
        replaces: The fingerprint that the same content has under an earlier generation, 32 bytes; none if not known.
    """

    revision: int
    event_id: bytes
    previous_event_id: bytes | None
    quarantined: bool
    key_generation: str
    replaces: bytes | None = None


class Effect(Enum):
    """What a command came to."""

    APPLIED = "applied"
    """It is the entry's new head."""
    REPEATED = "repeated"
    """It was the entry's head already."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Applied:
    """The command's record is the entry's head.

    Attributes:
        record: The record.
        head: The head; another than before only if the effect is APPLIED.
        effect: APPLIED or REPEATED.
    """

    record: QuarantineRecord
    head: Head
    effect: Effect


@dataclass(frozen=True, slots=True)
class Refused:
    """The command changes nothing."""

    code: ReasonCode


def apply(command: Command, head: Head | None) -> Applied | Refused:
    """Return what becomes of an authorised command.

    Args:
        command: The command; its signature, authority and period were checked.
        head: The entry's newest revision; none where there is no entry.
    """
    record = command.proposed
    event_id = bytes.fromhex(record.event_id)
    if head is not None:
        if head.event_id == event_id:
            if head.key_generation != command.key_generation:
                return Refused(ReasonCode.LEDGER_EVENT_REUSED)
            return Applied(record, head, Effect.REPEATED)
        if head.previous_event_id == event_id:
            return Refused(ReasonCode.LEDGER_COMMAND_REPLAYED)
    if command.expected_revision != (0 if head is None else head.revision):
        return Refused(ReasonCode.LEDGER_REVISION_STALE)
    if head is not None and head.key_generation != command.key_generation:
        return Refused(ReasonCode.LEDGER_GENERATION_DIFFERS)
    following = Head(
        revision=record.revision,
        event_id=event_id,
        previous_event_id=None if head is None else head.event_id,
        quarantined=record.action is Action.ADD,
        key_generation=command.key_generation,
        replaces=_replaced(command, head),
    )
    return Applied(record, following, Effect.APPLIED)


def _replaced(command: Command, head: Head | None) -> bytes | None:
    """Return whose place the entry takes; once known it stays so, since the content of an entry does not change."""
    if command.replaces is not None:
        return bytes.fromhex(command.replaces)
    return None if head is None else head.replaces

"""The ledger's records on the wire: what a decision writes, and what its topics hold.

The contract: everything a decision writes goes to the partition its command came from, so that the three ledger topics
agree in it; only dead letters go where their key sends them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import orjson

from pratique.contract import avro
from pratique.contract.ledger_records import AuditedChange, AuditEntry, LedgerEntry, ReviewEntry
from pratique.errors import MalformedError
from streams.application.ledger_decision import Decision
from streams.application.ports.log import Channel, LogRecord, Output
from streams.domain.quarantine.generation import RETIREMENT_SCHEMA_VERSION
from streams.domain.quarantine.ledger_key import LedgerKey
from streams.domain.quarantine.record import parse_record_key
from streams.errors import LedgerBrokenError
from streams.wire.dead_letter import dead_letter


@dataclass(frozen=True, slots=True)
class Transition:
    """A transition that an audit entry tells of.

    Attributes:
        key: The entry.
        record_json: The record.
        generation: The fingerprint key's generation.
        replaces: The fingerprint whose place the entry takes; null where none was named.
        decided_at: When the verdict was decided that put it in by itself; null where a command did.
    """

    key: LedgerKey
    record_json: str
    generation: str
    replaces: str | None
    decided_at: int | None = None


@dataclass(frozen=True, slots=True)
class Retired:
    """A key generation that an audit entry tells the end of."""

    generation: str


MAX_RECORD_BYTES: Final = 64 * 1024
"""Largest record of the ledger's topics, in bytes: an audit entry holds a record and a command."""


def outputs(record: LogRecord, decision: Decision) -> list[Output]:
    """Return the records that a decision on a command writes, the audit's last: it sums up what came before it."""
    written: list[Output] = []
    if decision.dead is not None:
        # The command's own time, so that the same log gives the same bytes.
        written.append(dead_letter(record, decision.dead, now_ms=record.timestamp))
    return written + consequences(decision, record.partition)


def consequences(decision: Decision, partition: int) -> list[Output]:
    """Return what a decision writes to the ledger's own topics, the audit's last; for one that no command led to, all.

    Args:
        decision: The decision.
        partition: Where it was made.
    """
    written: list[Output] = []
    if decision.entry is not None:
        value = avro.encode(decision.entry)
        written.append(Output(Channel.LEDGER, decision.key, value, partition=partition))
    written += (Output(Channel.LEDGER, gone, None, partition=partition) for gone in decision.tombstones)
    if decision.reviewed is not None:
        known = None if decision.reviewed.entry is None else avro.encode(decision.reviewed.entry)
        written.append(Output(Channel.REVIEW, decision.reviewed.key, known, partition=partition))
    if decision.audit is not None:
        value = avro.encode(decision.audit)
        written.append(Output(Channel.AUDIT, decision.key, value, partition=partition))
    return written


def read_entry(value: bytes | None) -> LedgerEntry | None:
    """Read a record of the ledger topic; none where it is a tombstone.

    Raises:
        LedgerBrokenError: It is neither.
    """
    if value is None:
        return None
    try:
        return avro.decode(value, LedgerEntry, max_bytes=MAX_RECORD_BYTES)
    except MalformedError as error:
        raise LedgerBrokenError(f"the ledger topic holds what is no entry: {error}") from None


def read_review(value: bytes | None) -> ReviewEntry | None:
    """Read a record of the review topic; none where it is a tombstone.

    Raises:
        LedgerBrokenError: It is neither.
    """
    if value is None:
        return None
    try:
        return avro.decode(value, ReviewEntry, max_bytes=MAX_RECORD_BYTES)
    except MalformedError as error:
        raise LedgerBrokenError(f"the review topic holds what is no review: {error}") from None


def read_audit(value: bytes | None) -> AuditEntry:
    """Read a record of the audit topic.

    Raises:
        LedgerBrokenError: It is none.
    """
    try:
        return avro.decode(value, AuditEntry, max_bytes=MAX_RECORD_BYTES)
    except MalformedError as error:
        raise LedgerBrokenError(f"the audit topic holds what is no audit entry: {error}") from None


def read_change(value: bytes | None) -> Transition | Retired | None:
    """Read what a record of the audit topic changed, as ``change_of`` does; there are millions.

    Raises:
        LedgerBrokenError: It is no audit entry, or one that says that something changed, and not what.
    """
    try:
        entry = avro.decode_part(value, AuditEntry, AuditedChange, max_bytes=MAX_RECORD_BYTES)
    except MalformedError as error:
        raise LedgerBrokenError(f"the audit topic holds what is no audit entry: {error}") from None
    return change_of(entry)


def change_of(entry: AuditEntry | AuditedChange) -> Transition | Retired | None:
    """Return what an audit entry changed; none where it changed nothing: a refusal, or what stood already.

    Raises:
        LedgerBrokenError: It says that something changed, and not what.
    """
    if not entry.accepted or entry.reason_code is not None:
        return None
    try:
        # The writer has parsed it strictly before it wrote it down.
        command = orjson.loads(entry.command_json or "")
        generation = str(command["key_generation"])
        if entry.record_json is None:
            if command["schema_version"] != RETIREMENT_SCHEMA_VERSION:
                raise LedgerBrokenError("the audit topic holds a transition without its record")
            return Retired(generation)
        key = parse_record_key(entry.record_json)
        return Transition(key, entry.record_json, generation, command.get("replaces"), command.get("decided_at"))
    except (ValueError, KeyError, TypeError, MalformedError):
        raise LedgerBrokenError("the audit topic holds a transition without its command") from None

"""The ledger's records on the wire: what a decision writes, and what its topics hold.

The contract: everything a decision writes goes to the partition its command came from, so that the three ledger topics
agree in it; only dead letters go where their key sends them.
"""

from __future__ import annotations

from typing import Final

from pratique.contract import avro
from pratique.contract.records import AuditEntry, LedgerEntry
from pratique.errors import MalformedError
from streams.application.ledger import Decision
from streams.application.ports.log import Channel, LogRecord, Output
from streams.errors import LedgerBrokenError
from streams.wire.dead_letter import dead_letter

MAX_RECORD_BYTES: Final = 64 * 1024
"""Largest record of the ledger's topics, in bytes: an audit entry holds a record and a command."""


def outputs(record: LogRecord, decision: Decision) -> list[Output]:
    """Return the records that a decision on a command writes, the audit's last: it sums up what came before it."""
    written: list[Output] = []
    if decision.dead is not None:
        # The command's own time, so that the same log gives the same bytes.
        written.append(dead_letter(record, decision.dead, now_ms=record.timestamp))
    if decision.entry is not None:
        value = avro.encode(decision.entry)
        written.append(Output(Channel.LEDGER, decision.key, value, partition=record.partition))
    if decision.audit is not None:
        value = avro.encode(decision.audit)
        written.append(Output(Channel.AUDIT, decision.key, value, partition=record.partition))
    return written


def read_entry(value: bytes | None) -> LedgerEntry:
    """Read a record of the ledger topic.

    Raises:
        LedgerBrokenError: It is none.
    """
    try:
        return avro.decode(value, LedgerEntry, max_bytes=MAX_RECORD_BYTES)
    except MalformedError as error:
        raise LedgerBrokenError(f"the ledger topic holds what is no entry: {error}") from None


def read_audit(value: bytes | None) -> AuditEntry:
    """Read a record of the audit topic.

    Raises:
        LedgerBrokenError: It is none.
    """
    try:
        return avro.decode(value, AuditEntry, max_bytes=MAX_RECORD_BYTES)
    except MalformedError as error:
        raise LedgerBrokenError(f"the audit topic holds what is no audit entry: {error}") from None

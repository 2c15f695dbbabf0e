"""The log as a step sees it: records in batches, outputs to channels, and a look at the evidence topic.

The contract: a step knows channels, not topics; what a channel is called, and how it is signed, is bound outside.
``Outbox.send`` returns only when every output is acknowledged by the log; it raises when that can't be had, and then
nothing of the batch may be marked safe.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias


class Channel(Enum):
    """Where a step's outputs go."""

    WORK = "work"
    EVIDENCE = "evidence"
    ACCEPTED = "accepted"
    QUARANTINED = "quarantined"
    FINDINGS = "findings"
    COMMANDS = "commands"
    LEDGER = "ledger"
    AUDIT = "audit"
    REVIEW = "review"
    DEAD_LETTER = "dead-letter"


Headers: TypeAlias = Sequence[tuple[str, bytes]]
Partition: TypeAlias = tuple[str, int]
"""A topic's name and a partition's number, as the record itself carries them."""


class LogRecord(Protocol):
    """A consumed record, exactly as the log holds it."""

    @property
    def topic(self) -> str:
        """The topic's name."""
        ...

    @property
    def partition(self) -> int:
        """The partition's number."""
        ...

    @property
    def offset(self) -> int:
        """The offset in the partition."""
        ...

    @property
    def timestamp(self) -> int:
        """Milliseconds since the epoch: log-append time where the topic says so."""
        ...

    @property
    def key(self) -> bytes | None:
        """The key."""
        ...

    @property
    def value(self) -> bytes | None:
        """The value; null is a tombstone."""
        ...

    @property
    def headers(self) -> Headers:
        """The headers, in order, repeated names included."""
        ...


@dataclass(frozen=True, slots=True)
class Batch:
    """What one fetch brought, of one assignment.

    Attributes:
        epoch: The assignment it belongs to; a batch of an older epoch marks nothing.
        parts: Records by partition, in offset order; never an empty partition.
    """

    epoch: int
    parts: Mapping[Partition, Sequence[LogRecord]]

    def records(self) -> Iterator[LogRecord]:
        """Return every record, partition by partition."""
        for records in self.parts.values():
            yield from records

    def groups(self, size: int) -> Iterator[Sequence[LogRecord]]:
        """Return the records in groups of so many, in the same order."""
        records = list(self.records())
        for start in range(0, len(records), size):
            yield records[start : start + size]

    def ends(self) -> dict[Partition, int]:
        """Return the next offset after the batch, by partition."""
        return {partition: records[-1].offset + 1 for partition, records in self.parts.items()}


@dataclass(frozen=True, slots=True)
class Output:
    """A record to be written.

    Attributes:
        channel: Where to.
        key: The record's key; decides the partition unless ``partition`` is given.
        value: The value as published; null only where a tombstone is passed on.
        headers: Headers, signatures included.
        partition: The partition, where it must be a certain one.
    """

    channel: Channel
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None


class Outbox(Protocol):
    """Writes to the log."""

    async def send(self, outputs: Sequence[Output]) -> None:
        """Write the outputs and await the log's acknowledgement of all of them.

        Raises:
            OutputRefusedError: The log refuses one for good because of its content (its size, say).
            UnavailableError: The log did not acknowledge; nothing may be marked.
        """
        ...


class EvidenceLog(Protocol):
    """A look at the evidence topic beside the subscription. Calls block; the loop runs them off itself."""

    def partition_count(self) -> int:
        """Return the topic's number of partitions."""
        ...

    def end_offset(self, partition: int) -> int:
        """Return the partition's end offset as the broker states it now."""
        ...

    def committed_offset(self, partition: int) -> int | None:
        """Return the group's committed offset; none if there is none."""
        ...

    def offset_at(self, partition: int, at_ms: int) -> int | None:
        """Return the first offset appended at or after a time; none if there is none."""
        ...

    def record_at(self, partition: int, offset: int) -> LogRecord:
        """Return the record at an offset.

        Raises:
            UnavailableError: It could not be read.
        """
        ...

    def history(self, partition: int, start: int, end: int) -> Generator[LogRecord, None, None]:
        """Return the records of ``[start, end)``, oldest first. Close it before asking for anything else.

        Raises:
            UnavailableError: They could not be read to the end.
        """
        ...


class Clock(Protocol):
    """Time, for the shell of a step; the core takes moments as arguments."""

    def wall_ms(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def monotonic_ms(self) -> int:
        """Milliseconds of a clock that never goes back."""
        ...

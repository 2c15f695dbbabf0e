"""A log in memory behind the steps' two ports; ``tests/contracts`` holds it and the real one to the same cases."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field

from pratique.contract.partitioning import partition_of
from streams.adapters.kafka_outbox import OutputLostError, OutputRefusedError
from streams.application.ports.log import Batch, Channel, Headers, Output
from streams.errors import UnavailableError
from tests.fakes.steps import NOW_MS, Record


@dataclass
class ManualClock:
    """Wall and monotonic time that stand still until told."""

    now_ms: int = NOW_MS

    def wall_ms(self) -> int:
        return self.now_ms

    def monotonic_ms(self) -> int:
        return self.now_ms - NOW_MS + 1_000_000


@dataclass
class FakeTopic:
    """A topic, and a group's look at it.

    Attributes:
        partitions: Records by partition; none where there is a transaction's marker.
        committed: The group's committed offsets.
        away: Whether the broker is away.
        breaks_after: A history ends with an error after so many records; none for never.
        on_call: Called before each look, with its name.
    """

    name: str
    count: int = 1
    clock: ManualClock = field(default_factory=ManualClock)
    max_bytes: int = 1024 * 1024
    partitions: list[list[Record | None]] = field(default_factory=list)
    committed: dict[int, int] = field(default_factory=dict)
    away: bool = False
    breaks_after: int | None = None
    on_call: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        self.partitions = [[] for _ in range(self.count)]

    def append(self, partition: int, value: bytes | None, headers: Headers = (), key: bytes | None = None) -> Record:
        """Append a record at the log's time."""
        records = self.partitions[partition]
        record = Record(self.name, value, tuple(headers), key, partition, len(records), self.clock.now_ms)
        records.append(record)
        return record

    def mark(self, partition: int) -> None:
        """Append a transaction's marker: an offset without a record."""
        self.partitions[partition].append(None)

    def batch(self, starts: Mapping[int, int], *, count: int = 1000, epoch: int = 1) -> Batch:
        """Return what one fetch brings from these positions."""
        parts = {}
        for partition, start in starts.items():
            records = [record for record in self.partitions[partition][start:] if record is not None][:count]
            if records:
                parts[(self.name, partition)] = records
        return Batch(epoch, parts)

    def partition_count(self) -> int:
        self._look("partition_count")
        return self.count

    def end_offset(self, partition: int) -> int:
        self._look("end_offset")
        return len(self.partitions[partition])

    def committed_offset(self, partition: int) -> int | None:
        self._look("committed_offset")
        return self.committed.get(partition)

    def offset_at(self, partition: int, at_ms: int) -> int | None:
        self._look("offset_at")
        records = self.partitions[partition]
        return next((record.offset for record in records if record is not None and record.timestamp >= at_ms), None)

    def record_at(self, partition: int, offset: int) -> Record:
        self._look("record_at")
        records = self.partitions[partition]
        record = records[offset] if offset < len(records) else None
        if record is None:
            raise UnavailableError(f"no record at {self.name}[{partition}]@{offset}")
        return record

    def history(self, partition: int, start: int, end: int) -> Generator[Record, None, None]:
        self._look("history")
        for index, record in enumerate(self.partitions[partition][start:end]):
            if self.breaks_after is not None and index >= self.breaks_after:
                raise UnavailableError("history breaks off")
            if record is not None:
                yield record

    def _look(self, name: str) -> None:
        self.on_call(name)
        if self.away:
            raise UnavailableError("the broker is away")


@dataclass
class FakeLogOutbox:
    """Writes into topics in memory.

    Attributes:
        topics: Topic by channel.
        sends: What was sent together, in order; also what was lost.
        lost: Whether the log acknowledges nothing.
        on_send: Called before anything of a send is written.
    """

    topics: Mapping[Channel, FakeTopic]
    sends: list[list[Output]] = field(default_factory=list)
    lost: bool = False
    on_send: Callable[[Sequence[Output]], None] = lambda _: None

    async def send(self, outputs: Sequence[Output]) -> None:
        if not outputs:
            return
        self.on_send(outputs)
        self.sends.append(list(outputs))
        if self.lost:
            raise OutputLostError("nothing is acknowledged")
        refused = False
        for output in outputs:
            topic = self.topics[output.channel]
            size = (
                len(output.key or b"")
                + len(output.value or b"")
                + sum(len(name) + len(value or b"") for name, value in output.headers)
            )
            if size > topic.max_bytes:
                refused = True
                continue
            partition = output.partition
            if partition is None:
                partition = 0 if output.key is None else partition_of(output.key, topic.count)
            topic.append(partition, output.value, output.headers, output.key)
        if refused:
            raise OutputRefusedError("the log refuses a record")

    def of(self, channel: Channel) -> list[Output]:
        """Return every output that was sent to a channel."""
        return [output for outputs in self.sends for output in outputs if output.channel is channel]

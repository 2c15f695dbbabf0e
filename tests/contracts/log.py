"""The steps' two ports on the log, as cases: a class for each kind of log derives from them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pratique.contract.partitioning import partition_of
from streams.adapters.kafka_outbox import OutputRefusedError
from streams.application.ports.log import Channel, EvidenceLog, Headers, LogRecord, Outbox, Output
from streams.errors import UnavailableError

PARTITIONS = 3
HEADERS = (("pratique-key-id", b"key-1"), ("pratique-signature", b"\x00\xff"), ("pratique-key-id", b"key-2"), ("", b""))
SMALL_BYTES = 20_000


@dataclass
class OutboxBench:
    """An outbox under test.

    Attributes:
        outbox: Bound to EVIDENCE (three partitions) and FINDINGS (takes ``SMALL_BYTES`` at most).
        read: Returns a channel's records, partition by partition.
    """

    outbox: Outbox
    read: Callable[[Channel], list[LogRecord]]

    def send(self, *outputs: Output) -> None:
        asyncio.run(self.outbox.send(outputs))


class OutboxCases:
    """What every outbox does; a subclass provides the fixture ``bench``."""

    def test_what_was_sent_is_in_the_log_once_send_returns(self, bench: OutboxBench) -> None:
        bench.send(Output(Channel.EVIDENCE, b"key", b"\x00value", HEADERS))
        (record,) = bench.read(Channel.EVIDENCE)
        assert (record.key, record.value, tuple(record.headers)) == (b"key", b"\x00value", HEADERS)

    @pytest.mark.parametrize("key", [b"key", b"k", b"f" * 64])
    def test_key_decides_the_partition(self, bench: OutboxBench, key: bytes) -> None:
        bench.send(Output(Channel.EVIDENCE, key, b"value"))
        assert [record.partition for record in bench.read(Channel.EVIDENCE)] == [partition_of(key, PARTITIONS)]

    @pytest.mark.parametrize("partition", range(PARTITIONS))
    def test_partition_that_is_named_is_taken_whatever_the_key(self, bench: OutboxBench, partition: int) -> None:
        bench.send(Output(Channel.EVIDENCE, b"key", b"value", partition=partition))
        assert [record.partition for record in bench.read(Channel.EVIDENCE)] == [partition]

    def test_null_key_value_and_empty_ones_stay_apart(self, bench: OutboxBench) -> None:
        bench.send(Output(Channel.EVIDENCE, None, None, partition=0), Output(Channel.EVIDENCE, b"", b"", partition=0))
        assert [(item.key, item.value) for item in bench.read(Channel.EVIDENCE)] == [(None, None), (b"", b"")]

    def test_order_of_a_partition_is_that_of_sending(self, bench: OutboxBench) -> None:
        values = [f"value {number}".encode() for number in range(200)]
        bench.send(*(Output(Channel.EVIDENCE, b"key", value) for value in values[:150]))
        bench.send(*(Output(Channel.EVIDENCE, b"key", value) for value in values[150:]))
        assert [record.value for record in bench.read(Channel.EVIDENCE)] == values

    def test_sending_nothing_is_nothing(self, bench: OutboxBench) -> None:
        bench.send()
        assert bench.read(Channel.EVIDENCE) == []

    def test_record_that_the_log_refuses_for_its_size_is_refused_and_the_next_is_taken(
        self, bench: OutboxBench
    ) -> None:
        large = bytes(number * 251 % 256 ^ number * 7 % 253 for number in range(SMALL_BYTES * 4))
        with pytest.raises(OutputRefusedError):
            bench.send(Output(Channel.FINDINGS, b"k", b"small"), Output(Channel.FINDINGS, b"k", large))
        bench.send(Output(Channel.FINDINGS, b"k", b"after"))
        assert b"after" in [record.value for record in bench.read(Channel.FINDINGS)]

    def test_channel_that_is_bound_to_nothing_takes_nothing(self, bench: OutboxBench) -> None:
        with pytest.raises(KeyError):
            bench.send(Output(Channel.COMMANDS, b"k", b"v"))


@dataclass
class LogBench:
    """A log under test; its topic has three partitions.

    Attributes:
        log: What is looked at.
        append: Appends a record; returns its offset.
        commit: Commits an offset for the group.
        missing: A log of a topic that does not exist.
    """

    log: EvidenceLog
    append: Callable[[int, bytes | None, Headers], int]
    commit: Callable[[int, int], None]
    missing: EvidenceLog

    def values(self, partition: int, start: int, end: int) -> list[tuple[int, bytes | None]]:
        return [(record.offset, record.value) for record in self.log.history(partition, start, end)]


class EvidenceLogCases:
    """What every look at the log does; a subclass provides the fixture ``bench``."""

    def test_partitions_are_counted(self, bench: LogBench) -> None:
        assert bench.log.partition_count() == PARTITIONS

    def test_topic_that_does_not_exist_is_unavailable(self, bench: LogBench) -> None:
        with pytest.raises(UnavailableError):
            bench.missing.partition_count()

    def test_end_offset_is_that_of_now(self, bench: LogBench) -> None:
        assert bench.log.end_offset(0) == 0
        for number in range(3):
            bench.append(0, b"value", ())
            assert bench.log.end_offset(0) == number + 1
        assert bench.log.end_offset(1) == 0

    def test_no_offset_is_committed_until_one_is(self, bench: LogBench) -> None:
        assert bench.log.committed_offset(1) is None
        bench.commit(1, 0)
        assert bench.log.committed_offset(1) == 0
        bench.commit(1, 7)
        assert bench.log.committed_offset(1) == 7
        assert bench.log.committed_offset(0) is None

    def test_record_is_read_at_its_offset(self, bench: LogBench) -> None:
        for number in range(5):
            bench.append(2, f"value {number}".encode(), HEADERS)
        for number in (3, 0, 4, 4):
            record = bench.log.record_at(2, number)
            assert (record.offset, record.partition, record.value) == (number, 2, f"value {number}".encode())
            assert tuple(record.headers) == HEADERS

    @pytest.mark.parametrize(("start", "end"), [(0, 10), (3, 7), (9, 10), (4, 4), (7, 3), (0, 1)])
    def test_history_is_exactly_the_range(self, bench: LogBench, start: int, end: int) -> None:
        for number in range(12):
            bench.append(1, f"value {number}".encode(), ())
        assert bench.values(1, start, end) == [(n, f"value {n}".encode()) for n in range(start, end)]

    def test_history_that_is_not_read_to_its_end_can_be_closed_and_read_again(self, bench: LogBench) -> None:
        for number in range(5):
            bench.append(0, f"value {number}".encode(), ())
        history = bench.log.history(0, 0, 5)
        assert next(history).offset == 0
        history.close()
        assert bench.log.end_offset(0) == 5
        assert [offset for offset, _ in bench.values(0, 2, 5)] == [2, 3, 4]

    def test_histories_of_partitions_do_not_mix(self, bench: LogBench) -> None:
        for number in range(6):
            bench.append(number % 2, f"value {number}".encode(), ())
        assert [value for _, value in bench.values(0, 0, 3)] == [b"value 0", b"value 2", b"value 4"]
        assert [value for _, value in bench.values(1, 0, 3)] == [b"value 1", b"value 3", b"value 5"]

    def test_tombstone_is_a_record(self, bench: LogBench) -> None:
        bench.append(0, None, ())
        assert bench.values(0, 0, 1) == [(0, None)]

    def test_offsets_are_found_by_append_time(self, bench: LogBench) -> None:
        bench.append(0, b"first", ())
        at_ms = bench.log.record_at(0, 0).timestamp
        assert bench.log.offset_at(0, at_ms) == 0
        assert bench.log.offset_at(0, 0) == 0
        assert bench.log.offset_at(0, -1) == 0
        assert bench.log.offset_at(0, at_ms + 3_600_000) is None
        assert bench.log.offset_at(1, 0) is None


def check_tail_of_markers(bench: LogBench, mark: Callable[[int, bytes], None]) -> None:
    """Offsets without a record end a history like any other.

    Args:
        bench: A log.
        mark: Appends a transaction of one record and its marker.
    """
    bench.append(0, b"first", ())
    mark(0, b"in a transaction")
    mark(0, b"in another")
    end = bench.log.end_offset(0)
    assert end == 5
    assert [value for _, value in bench.values(0, 0, end)] == [b"first", b"in a transaction", b"in another"]
    assert bench.values(0, 4, end) == []
    assert bench.values(0, 2, 3) == []
    with pytest.raises(UnavailableError):
        bench.log.record_at(0, 4)

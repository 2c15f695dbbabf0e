"""The log in memory does what the ports say; ``tests/integration`` asks the same of a broker."""

from __future__ import annotations

import pytest

from streams.application.ports.log import Channel, Headers, LogRecord
from tests.contracts.log import (
    PARTITIONS,
    SMALL_BYTES,
    EvidenceLogCases,
    LogBench,
    OutboxBench,
    OutboxCases,
    check_tail_of_markers,
)
from tests.fakes.log import FakeLogOutbox, FakeTopic


class TestFakeOutbox(OutboxCases):
    @pytest.fixture
    def bench(self) -> OutboxBench:
        topics = {
            Channel.EVIDENCE: FakeTopic("evidence", PARTITIONS),
            Channel.FINDINGS: FakeTopic("findings", 1, max_bytes=SMALL_BYTES),
        }

        def read(channel: Channel) -> list[LogRecord]:
            return [record for records in topics[channel].partitions for record in records if record is not None]

        return OutboxBench(FakeLogOutbox(topics), read)


class TestFakeEvidenceLog(EvidenceLogCases):
    @pytest.fixture
    def bench(self) -> LogBench:
        topic = FakeTopic("evidence", PARTITIONS)
        missing = FakeTopic("missing", 0, away=True)

        def append(partition: int, value: bytes | None, headers: Headers) -> int:
            return topic.append(partition, value, headers).offset

        return LogBench(topic, append, topic.committed.__setitem__, missing)

    def test_history_ends_at_a_tail_of_markers(self, bench: LogBench) -> None:
        topic = bench.log
        assert isinstance(topic, FakeTopic)

        def mark(partition: int, value: bytes) -> None:
            topic.append(partition, value)
            topic.mark(partition)

        check_tail_of_markers(bench, mark)

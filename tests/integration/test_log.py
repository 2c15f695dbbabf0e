"""The steps' ports on a real broker: the ports' cases, and what only a broker can show."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from pratique.contract.partitioning import partition_of
from streams.adapters import kafka_log
from streams.adapters.kafka_admin import KafkaAdmin
from streams.adapters.kafka_log import KafkaLog
from streams.adapters.kafka_outbox import KafkaOutbox, OutputLostError
from streams.application.ports.log import Channel, Headers, LogRecord, Output
from streams.errors import UnavailableError
from tests.contracts.log import (
    PARTITIONS,
    SMALL_BYTES,
    EvidenceLogCases,
    LogBench,
    OutboxBench,
    OutboxCases,
    check_tail_of_markers,
)
from tests.integration.kafka_container import KafkaContainer, kafka_image
from tests.integration.raw import create_topic

if TYPE_CHECKING:
    from confluent_kafka import Message

pytestmark = pytest.mark.containers

WAIT_S = 120.0


def connection(broker: KafkaContainer) -> dict[str, Any]:
    return {"bootstrap.servers": broker.bootstrap}


def create(broker: KafkaContainer, name: str, partitions: int = PARTITIONS, **configuration: str) -> str:
    """Create a topic of a name that no other run has."""
    topic = f"{name}-{uuid.uuid4().hex}"
    settings = {key.replace("_", "."): value for key, value in configuration.items()}
    create_topic(broker.bootstrap, topic, partitions, settings)
    KafkaAdmin(connection(broker)).bounds(topic, partitions)  # once every partition has its leader
    return topic


class TestKafkaOutbox(OutboxCases):
    @pytest.fixture
    def bench(self, kafka: KafkaContainer) -> Iterator[OutboxBench]:
        topics = {
            Channel.EVIDENCE: create(kafka, "evidence"),
            Channel.FINDINGS: create(kafka, "findings", 1, max_message_bytes=str(SMALL_BYTES)),
        }
        outbox = KafkaOutbox(connection(kafka), topics)

        def read(channel: Channel) -> list[LogRecord]:
            with KafkaLog(connection(kafka), topics[channel], "reader") as log:
                return [
                    record
                    for partition in range(log.partition_count())
                    for record in log.history(partition, 0, log.end_offset(partition))
                ]

        yield OutboxBench(outbox, read)
        outbox.close()


class Benches:
    """A log of a topic on a broker."""

    def __init__(self, broker: KafkaContainer) -> None:
        self.topic = create(broker, "evidence", message_timestamp_type="LogAppendTime")
        self.group = f"group-{uuid.uuid4().hex}"
        self.log = KafkaLog(connection(broker), self.topic, self.group)
        self.missing = KafkaLog(connection(broker), f"missing-{uuid.uuid4().hex}", self.group)
        self._producer = Producer(connection(broker))
        self._admin = KafkaAdmin(connection(broker))

    def bench(self) -> LogBench:
        return LogBench(self.log, self._append, self._commit, self.missing)

    def close(self) -> None:
        self.log.close()
        self.missing.close()

    def _append(self, partition: int, value: bytes | None, headers: Headers) -> int:
        offsets: list[int | None] = []

        def delivered(error: object, message: Message) -> None:
            assert error is None
            offsets.append(message.offset())

        self._producer.produce(self.topic, value, partition=partition, headers=list(headers), on_delivery=delivered)
        assert self._producer.flush(WAIT_S) == 0
        (offset,) = offsets
        assert offset is not None
        return offset

    def _commit(self, partition: int, offset: int) -> None:
        self._admin.commit(self.group, self.topic, {partition: offset})


class TestKafkaLog(EvidenceLogCases):
    @pytest.fixture
    def bench(self, kafka: KafkaContainer) -> Iterator[LogBench]:
        benches = Benches(kafka)
        yield benches.bench()
        benches.close()


@pytest.fixture(scope="module")
def transactional_kafka() -> Iterator[KafkaContainer]:
    """A broker that reaches itself, which a transaction's coordinator has to."""
    container = KafkaContainer(
        kafka_image(),
        settings={
            "KAFKA_LISTENERS": "PLAINTEXT://0.0.0.0:9092,INTERNAL://127.0.0.1:19092,CONTROLLER://127.0.0.1:9093",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "KAFKA_INTER_BROKER_LISTENER_NAME": "INTERNAL",
        },
    )
    container.env["KAFKA_ADVERTISED_LISTENERS"] = f"PLAINTEXT://{container.bootstrap},INTERNAL://127.0.0.1:19092"
    with container:
        yield container


@pytest.fixture
def benches(transactional_kafka: KafkaContainer) -> Iterator[Benches]:
    benches = Benches(transactional_kafka)
    yield benches
    benches.close()


@pytest.fixture
def transactional(transactional_kafka: KafkaContainer) -> Producer:
    producer = Producer({**connection(transactional_kafka), "transactional.id": uuid.uuid4().hex})
    producer.init_transactions(WAIT_S)
    return producer


def test_history_ends_at_a_tail_of_markers(benches: Benches, transactional: Producer) -> None:
    def mark(partition: int, value: bytes) -> None:
        expected = benches.log.end_offset(partition) + 2
        transactional.begin_transaction()
        transactional.produce(benches.topic, value, partition=partition)
        transactional.commit_transaction(WAIT_S)
        until = time.monotonic() + WAIT_S
        while benches.log.end_offset(partition) < expected:  # the coordinator writes the marker after it has answered
            assert time.monotonic() < until

    check_tail_of_markers(benches.bench(), mark)


def test_open_and_aborted_transactions_hide_nothing_from_a_look_at_the_log(
    benches: Benches, transactional: Producer
) -> None:
    """The subscription reads what is not committed; a look that ends before it would time requests out unread."""
    bench = benches.bench()
    transactional.begin_transaction()
    transactional.produce(benches.topic, b"not committed", partition=0)
    transactional.flush(WAIT_S)
    bench.append(0, b"after", ())
    assert bench.log.end_offset(0) == 2
    assert bench.values(0, 0, 2) == [(0, b"not committed"), (1, b"after")]
    transactional.abort_transaction(WAIT_S)
    assert bench.values(0, 0, 2) == [(0, b"not committed"), (1, b"after")]


def test_history_over_what_was_deleted_begins_where_the_log_does(kafka: KafkaContainer) -> None:
    benches = Benches(kafka)
    bench = benches.bench()
    for number in range(6):
        bench.append(0, f"value {number}".encode(), ())
    admin = AdminClient(connection(kafka))
    place = TopicPartition(benches.topic, 0, 4)
    for future in admin.delete_records([place]).values():
        future.result(WAIT_S)
    assert [offset for offset, _ in bench.values(0, 0, 6)] == [4, 5]
    assert bench.values(0, 0, 3) == []
    benches.close()


def test_broker_that_does_not_answer_is_unavailable(kafka: KafkaContainer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_log, "TIMEOUT_SECONDS", 0.5)
    benches = Benches(kafka)
    bench = benches.bench()
    bench.append(0, b"value", ())
    kafka.pause()
    try:
        for look in (
            lambda: bench.log.end_offset(0),
            lambda: bench.log.committed_offset(0),
            lambda: bench.log.offset_at(0, 0),
            lambda: bench.log.record_at(0, 0),
            lambda: list(bench.log.history(0, 0, 1)),
        ):
            with pytest.raises(UnavailableError):
                look()
    finally:
        kafka.unpause()
    monkeypatch.setattr(kafka_log, "TIMEOUT_SECONDS", WAIT_S)
    assert bench.values(0, 0, 1) == [(0, b"value")]
    benches.close()


def test_output_that_is_not_acknowledged_is_lost(kafka: KafkaContainer) -> None:
    topic = create(kafka, "evidence")
    outbox = KafkaOutbox({**connection(kafka), "message.timeout.ms": "1500"}, {Channel.EVIDENCE: topic})
    kafka.pause()
    try:
        with pytest.raises(OutputLostError):
            asyncio.run(outbox.send([Output(Channel.EVIDENCE, b"k", b"v")]))
    finally:
        kafka.unpause()
    outbox.close()


@pytest.mark.parametrize("key", [b"", b"k", b"key", b"f" * 64, bytes(range(256)), "schlüssel".encode()])
def test_partition_of_a_key_is_librdkafkas(kafka: KafkaContainer, key: bytes) -> None:
    topic = create(kafka, "partitioned", 7)
    outbox = KafkaOutbox(connection(kafka), {Channel.EVIDENCE: topic})
    asyncio.run(outbox.send([Output(Channel.EVIDENCE, key, b"v")]))
    with KafkaLog(connection(kafka), topic, "reader") as log:
        ends = [log.end_offset(partition) for partition in range(7)]
    if key:
        assert ends.index(1) == partition_of(key, 7)
    assert sum(ends) == 1
    outbox.close()

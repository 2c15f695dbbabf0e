"""On a real broker, which takes such batches: what would stop an aiokafka consumer for ever is read past."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.consumer import fetcher
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.structs import TopicPartition

from pratique.kafka import KafkaTransport
from streams.adapters import tolerant_records
from streams.adapters.kafka_log import KafkaLog
from tests.contracts.transport import take
from tests.fakes.batches import Record, batch
from tests.integration.raw import create_topic

if TYPE_CHECKING:
    from tests.integration.kafka_container import KafkaContainer

pytestmark = pytest.mark.containers

WAIT_S = 120.0
GOOD: Record = (b"key", b"good", [(b"name", b"header")])
POISON: Record = (b"key", b"poison", [(b"\xff\xfe", b"header")])


class Raw:
    """A batch's builder that has its bytes already."""

    def __init__(self, raw: bytes) -> None:
        self._raw = bytearray(raw)

    def build(self) -> bytearray:
        return self._raw

    def size(self) -> int:
        return len(self._raw)


@pytest.fixture(autouse=True)
def _installed() -> Iterator[None]:
    tolerant_records.install()
    yield
    fetcher.MemoryRecords = MemoryRecords


async def produce(bootstrap: str, topic: str, *raws: tuple[bytes, int]) -> None:
    """Produce batches byte for byte."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap)
    await producer.start()
    try:
        for raw, count in raws:
            made: Any = producer.create_batch()
            made._builder, made._relative_offset = Raw(raw), count
            await (await producer.send_batch(made, topic, partition=0))
    finally:
        await producer.stop()


async def consume(bootstrap: str, topic: str, until: int) -> list[tuple[int, bytes | None]]:
    """Consume until an offset was reached."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    await consumer.start()
    found: list[tuple[int, bytes | None]] = []
    try:
        consumer.assign([TopicPartition(topic, 0)])
        async with asyncio.timeout(WAIT_S):
            while not found or found[-1][0] < until:
                for records in (await consumer.getmany(timeout_ms=500)).values():
                    found += [(record.offset, record.value) for record in records]
    finally:
        await consumer.stop()
    return found


def test_poison_at_the_head_of_a_partition_does_not_stop_it(
    kafka: KafkaContainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tolerant_records, "MAX_UNPACKED_BYTES", 1 << 20)
    topic = f"poison-{uuid.uuid4().hex}"
    create_topic(kafka.bootstrap, topic)
    bomb = batch(GOOD, (b"key", bytes(64 << 20), []), codec="zstd")
    assert len(bomb) < 100_000

    async def scenario() -> list[tuple[int, bytes | None]]:
        await produce(
            kafka.bootstrap,
            topic,
            (batch(GOOD, POISON, GOOD), 3),
            (batch(POISON, codec="gzip"), 1),
            (bomb, 2),
            (batch(GOOD, codec="zstd"), 1),
        )
        return await consume(kafka.bootstrap, topic, 6)

    assert asyncio.run(scenario()) == [
        (0, b"good"),
        (1, b"poison"),
        (2, b"good"),
        (3, b"poison"),
        (5, None),  # for both records of the batch that was not unpacked
        (6, b"good"),
    ]


def test_looks_at_the_log_and_clients_read_past_such_names_too(kafka: KafkaContainer) -> None:
    topic = f"poison-{uuid.uuid4().hex}"
    create_topic(kafka.bootstrap, topic)
    transport = KafkaTransport(kafka.bootstrap)
    subscription = transport.subscribe((topic,))
    asyncio.run(produce(kafka.bootstrap, topic, (batch(POISON, GOOD), 2)))
    with KafkaLog({"bootstrap.servers": kafka.bootstrap}, topic, "reader") as log:
        assert [(record.value, record.headers) for record in log.history(0, 0, 2)] == [
            (b"poison", ()),
            (b"good", (("name", b"header"),)),
        ]
    assert [(item.value, list(item.headers)) for item in take(subscription, 2)] == [
        (b"poison", []),
        (b"good", [("name", b"header")]),
    ]
    subscription.close()
    transport.close()

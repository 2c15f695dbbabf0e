"""The broker's own ceiling: the records of a run, produced and consumed raw with librdkafka.

The contract: exactly the records that the flow wrote are written again, in the order of their log times, to topics of
the same shape, as fast as one idempotent librdkafka producer can, while librdkafka consumers read each as often as the
flow reads it (work by two groups). No record is looked at. One round gives requests a second, to be compared with what
the flow does right before it: a machine's speed changes within minutes.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import count
from operator import itemgetter
from typing import Final

from confluent_kafka import Consumer, Producer, TopicPartition

from pratique.contract import topics
from streams.adapters.kafka_admin import KafkaAdmin
from streams.adapters.kafka_log import KafkaLog
from topologies.catalog import TOPICS

REQUESTS: Final = (topics.COMPACTION_REQUESTED, topics.MEMORY_RECALLED)
READERS: Final = {topics.WORK: 2}
PATIENCE_SECONDS: Final = 120.0

Raw = tuple[str, bytes | None, bytes | None, list[tuple[str, bytes]]]


def records_of_run(bootstrap: str) -> list[Raw]:
    """Return every record of every topic of the flow, in the order in which the log took them."""
    found: list[tuple[int, Raw]] = []
    for spec in TOPICS:
        with KafkaLog({"bootstrap.servers": bootstrap}, spec.name, "bench.ceiling") as log:
            for partition in range(log.partition_count()):
                for record in log.history(partition, 0, log.end_offset(partition)):
                    raw = (record.topic, record.key, record.value, list(record.headers))
                    found.append((record.timestamp, raw))
    found.sort(key=itemgetter(0))
    return [raw for _, raw in found]


class Ceiling:
    """The rate at which a broker takes and gives the records that the flow has written so far.

    Args:
        bootstrap: The broker.
        alone: Gives a context in which nothing but the broker takes a processor's time.
    """

    def __init__(self, bootstrap: str, alone: Callable[[], AbstractContextManager[None]]) -> None:
        self._bootstrap = bootstrap
        self._alone = alone
        self._rounds = count()
        self._records = records_of_run(bootstrap)
        self.requests_per_second()  # unmeasured: large batches take paths in the broker that the flow leaves cold

    def requests_per_second(self) -> float:
        """Return what one round reaches."""
        return _round(self._bootstrap, self._records, f"raw{next(self._rounds)}.", self._alone)


def _round(
    bootstrap: str,
    records: Sequence[Raw],
    prefix: str,
    alone: Callable[[], AbstractContextManager[None]],
) -> float:
    admin = KafkaAdmin({"bootstrap.servers": bootstrap})
    shapes = admin.topics(tuple(spec.name for spec in TOPICS))
    for spec in TOPICS:
        admin.create(prefix + spec.name, shapes[spec.name].partitions, 1, spec.configuration)
    requests = sum(1 for topic, *_ in records if topic in REQUESTS)
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(_reads()) + 1)
    ends = context.Queue()
    readers = [
        context.Process(
            target=_read,
            args=(bootstrap, [prefix + name for name in names], _expected(records, names), barrier, ends),
        )
        for names in _reads()
    ]
    for reader in readers:
        reader.start()
    barrier.wait(PATIENCE_SECONDS)
    with alone():
        begun = time.monotonic()
        _write(bootstrap, records, prefix)
        # Monotonic time is the machine's: one clock for all of its processes.
        elapsed = max(ends.get(timeout=PATIENCE_SECONDS) for _ in readers) - begun
    for reader in readers:
        reader.join(PATIENCE_SECONDS)
    return float(requests / elapsed)


def _reads() -> list[list[str]]:
    """Every topic read once by one process, and by another what the flow reads twice."""
    return [[spec.name for spec in TOPICS], [name for name, times in READERS.items() if times > 1]]


def _expected(records: Sequence[Raw], names: Sequence[str]) -> int:
    return sum(1 for topic, *_ in records if topic in names)


def _write(bootstrap: str, records: Sequence[Raw], prefix: str) -> None:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": 2,
            "compression.type": "lz4",
            "message.max.bytes": 6 * 1024 * 1024,
        }
    )
    for topic, key, value, headers in records:
        while True:
            try:
                producer.produce(prefix + topic, value, key, headers=[*headers])
            except BufferError:
                producer.poll(0.01)
            else:
                break
    producer.flush(PATIENCE_SECONDS)


def _read(bootstrap: str, names: Sequence[str], expected: int, barrier: object, ends: object) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "raw", "enable.auto.commit": False})
    places = [
        TopicPartition(name, number, 0)
        for name in names
        for number in consumer.list_topics(name, 10).topics[name].partitions
    ]
    consumer.assign(places)
    consumer.poll(0.1)
    barrier.wait(PATIENCE_SECONDS)  # type: ignore[attr-defined] # multiprocessing's proxies have no public types
    read = 0
    while read < expected:
        read += len(consumer.consume(10_000, 0.1))
    ends.put(time.monotonic())  # type: ignore[attr-defined] # as above
    consumer.close()

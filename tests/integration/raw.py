"""The log as a stranger with a Kafka client sees it: every record of a topic, and any record put anywhere.

The contract: ``records`` returns everything between two moments, in offset order within a partition, byte for byte;
``publish`` returns where the record came to lie. None of Pratique's own readers and writers is used, so that what they
get wrong can't hide itself; topics are made by Pratique's administrator, which asks a silent broker again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from pratique.contract.partitioning import partition_of
from streams.adapters.kafka_admin import KafkaAdmin

WAIT_S: Final = 120.0
"""How long a condition may take on a busy machine. It decides no test that would pass."""

POLL_S: Final = 0.05

Ends: TypeAlias = Mapping[tuple[str, int], int]
"""End offsets, by topic and partition."""

Headers: TypeAlias = Sequence[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Raw:
    """A record as the log holds it."""

    topic: str
    partition: int
    offset: int
    timestamp_type: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]

    def header(self, name: str) -> bytes:
        """Return the value of the one header of a name."""
        (value,) = [value for header, value in self.headers if header == name]
        return value


def create_topic(
    bootstrap: str, name: str, partitions: int = 1, configuration: Mapping[str, str] | None = None
) -> None:
    """Create a topic; return once clients are told of it.

    Args:
        bootstrap: The broker.
        name: The topic's.
        partitions: How many.
        configuration: Kafka's names with their values.
    """
    KafkaAdmin({"bootstrap.servers": bootstrap}).create(name, partitions, 1, configuration or {})


def until(holds: Callable[[], bool], what: str, *, timeout_s: float = WAIT_S) -> None:
    """Return once a condition holds.

    Raises:
        AssertionError: It did not in time.
    """
    end = time.monotonic() + timeout_s
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout_s:.0f} s: {what}")
        time.sleep(POLL_S)


class RawLog:
    """Reads and writes topics of a broker."""

    def __init__(self, bootstrap: str) -> None:
        self._connection = {"bootstrap.servers": bootstrap}
        self._producers: dict[str, Producer] = {}
        self._consumer = Consumer(
            {
                **self._connection,
                "group.id": "pratique-tests",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "enable.partition.eof": True,
                "fetch.message.max.bytes": 32 * 1024 * 1024,
                "receive.message.max.bytes": 512 * 1024 * 1024,
            }
        )

    def close(self) -> None:
        """Let go of the broker."""
        self._consumer.close()

    def topics(self) -> list[str]:
        """Return every topic of the broker, those that are its own included."""
        return sorted(self._consumer.list_topics(timeout=WAIT_S).topics)

    def partitions(self, topic: str) -> int:
        """Return a topic's partition count."""
        return len(self._consumer.list_topics(topic, WAIT_S).topics[topic].partitions)

    def partition_of(self, topic: str, key: bytes) -> int:
        """Return the partition that a key belongs to."""
        return partition_of(key, self.partitions(topic))

    def ends(self, *topics: str) -> Ends:
        """Return the end offset of every partition of some topics."""
        return {
            (topic, number): self._bounds(topic, number)[1]
            for topic in topics
            for number in range(self.partitions(topic))
        }

    def records(self, *topics: str, since: Ends | None = None) -> list[Raw]:
        """Return the records of some topics from earlier end offsets, or from the beginning, to the ends of now."""
        ends = self.ends(*topics)
        starts = {place: (since or {}).get(place, self._bounds(*place)[0]) for place in ends}
        left = {place for place, end in ends.items() if starts[place] < end}
        found: list[Raw] = []
        if not left:
            return found
        self._consumer.assign([TopicPartition(*place, starts[place]) for place in sorted(left)])
        give_up_at = time.monotonic() + WAIT_S
        while left:
            for message in self._consumer.consume(1000, 0.2):
                if _is_end(message):  # of a topic of transactions: what lies at its end is no record
                    left.discard((str(message.topic()), cast("int", message.partition())))
                    continue
                record = _raw(message)
                place = (record.topic, record.partition)
                if record.offset < ends[place]:
                    found.append(record)
                if record.offset + 1 >= ends[place]:
                    left.discard(place)
            assert time.monotonic() < give_up_at, f"the log can't be read to its end: {sorted(left)}"
        self._consumer.unassign()
        return sorted(found, key=lambda record: (record.topic, record.partition, record.offset))

    def publish(
        self,
        topic: str,
        value: bytes | None,
        *,
        key: bytes | None = None,
        headers: Headers = (),
        partition: int | None = None,
        compression: str = "none",
    ) -> tuple[int, int]:
        """Append a record; return its partition and offset.

        Raises:
            KafkaRefusedError: The producer or the broker does not take it.
        """
        placed: list[Message] = []
        errors: list[KafkaError] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                placed.append(message)
            else:
                errors.append(error)

        producer = self._producer(compression)
        anywhere = -1  # librdkafka's word for: by the key
        where = anywhere if partition is None else partition
        producer.produce(topic, value, key, where, headers=list(headers), on_delivery=delivered)
        assert producer.flush(WAIT_S) == 0, f"{topic} did not acknowledge a record"
        if errors:
            raise KafkaRefusedError(errors[0].name())
        (message,) = placed
        return cast("int", message.partition()), cast("int", message.offset())

    def _producer(self, compression: str) -> Producer:
        if compression not in self._producers:
            self._producers[compression] = Producer(
                {
                    **self._connection,
                    "acks": "all",
                    "enable.idempotence": True,
                    "partitioner": "murmur2_random",
                    "compression.type": compression,
                    "message.max.bytes": 64 * 1024 * 1024,  # the client's own bound; the topic's is the broker's
                    "linger.ms": 0,
                }
            )
        return self._producers[compression]

    def _bounds(self, topic: str, partition: int) -> tuple[int, int]:
        return self._consumer.get_watermark_offsets(TopicPartition(topic, partition), WAIT_S, cached=False)


class KafkaRefusedError(Exception):
    """The broker took a record for unacceptable; the text is Kafka's name of the error."""


def _is_end(message: Message) -> bool:
    error = message.error()
    return error is not None and error.code() == KafkaError._PARTITION_EOF


def _raw(message: Message) -> Raw:
    error = message.error()
    assert error is None, error
    kind, timestamp = message.timestamp()
    return Raw(
        str(message.topic()),
        cast("int", message.partition()),
        cast("int", message.offset()),
        kind,
        timestamp,
        message.key(),
        message.value(),
        tuple((name, value or b"") for name, value in cast("list[tuple[str, bytes]]", message.headers() or [])),
    )

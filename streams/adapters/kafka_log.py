"""A look at a topic beside the subscription: end offsets, single records, history.

The contract: every answer comes from the broker at the time of the call, never from a cache; what the broker does not
answer raises ``UnavailableError``, and the next call asks over a fresh connection: a client that met a broker which was
starting remembers for minutes that there are no such partitions. Calls block, and are safe from one thread at a time (a
lock makes them so).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final, Self, cast

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from pratique.errors import UnavailableError
from pratique.kafka import message_headers
from pratique.kafka_clients import new_client, unanswered

TIMEOUT_SECONDS: Final = 10.0
SILENCE_SECONDS: Final = 30.0
"""How long a history may stand still before it counts as unreadable."""


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """A record as it was read."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


class KafkaLog:
    """Reads one topic on behalf of a consumer group, without joining it.

    Args:
        configuration: librdkafka properties of the connection.
        topic: The topic.
        group: The group whose committed offsets are meant.

    Raises:
        ConfigurationError: librdkafka refuses the properties.
    """

    def __init__(self, configuration: Mapping[str, str], topic: str, group: str) -> None:
        self._topic = topic
        self._lock = threading.Lock()
        self._configuration: dict[str, str | int | bool] = {
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            # As the subscription reads: whatever a transaction does, both see the same records and the same end.
            "isolation.level": "read_uncommitted",
            # A look at one record waits for the fetch before it; nothing is assigned, and fetched, between looks.
            "fetch.wait.max.ms": 10,
            **configuration,
        }
        self._consumer = new_client(Consumer, self._configuration)

    def partition_count(self) -> int:
        """Return the topic's number of partitions.

        Raises:
            UnavailableError: The broker does not answer, or there is no such topic.
        """
        with self._asking("the topic's partitions"):
            metadata = self._consumer.list_topics(self._topic, TIMEOUT_SECONDS).topics[self._topic]
            if metadata.error is not None or not metadata.partitions:
                raise UnavailableError(f"topic {self._topic} does not exist; run `pratique topics apply`")
            return len(metadata.partitions)

    def end_offset(self, partition: int) -> int:
        """Return the partition's end offset now.

        Raises:
            UnavailableError: The broker does not answer.
        """
        with self._asking("an end offset"):
            return self._end_offset(partition)

    def committed_offset(self, partition: int) -> int | None:
        """Return the group's committed offset; none if it has none.

        Raises:
            UnavailableError: The broker does not answer.
        """
        with self._asking("a committed offset"):
            (answer,) = self._consumer.committed([TopicPartition(self._topic, partition)], TIMEOUT_SECONDS)
            return int(answer.offset) if answer.offset >= 0 else None

    def offset_at(self, partition: int, at_ms: int) -> int | None:
        """Return the first offset appended at or after a time; none if there is none.

        Raises:
            UnavailableError: The broker does not answer.
        """
        with self._asking("an offset by time"):
            asked = [TopicPartition(self._topic, partition, max(0, at_ms))]
            (answer,) = self._consumer.offsets_for_times(asked, TIMEOUT_SECONDS)
            return int(answer.offset) if answer.offset >= 0 else None

    def record_at(self, partition: int, offset: int) -> ReadRecord:
        """Return the record at an offset.

        Raises:
            UnavailableError: It could not be read.
        """
        with closing(self.history(partition, offset, offset + 1)) as records:
            record = next(records, None)
        if record is None:
            raise UnavailableError(f"no record at {self._topic}[{partition}]@{offset}")
        return record

    def history(self, partition: int, start: int, end: int) -> Generator[ReadRecord, None, None]:
        """Return the records of ``[start, end)``.

        Raises:
            UnavailableError: They could not be read to the end.
        """
        with self._asking("history"):
            low, _ = self._consumer.get_watermark_offsets(TopicPartition(self._topic, partition), TIMEOUT_SECONDS)
            place = TopicPartition(self._topic, partition, max(start, low))
            self._consumer.assign([place])
            try:
                yield from self._read(place, end)
            finally:
                self._consumer.unassign()

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._consumer.close()

    @contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        """Hold the connection for one question; one that got no answer is asked nothing more."""
        with self._lock:
            try:
                yield
            except (KafkaException, UnavailableError) as error:
                self._consumer.close()
                self._consumer = new_client(Consumer, self._configuration)
                if isinstance(error, KafkaException):
                    raise UnavailableError(unanswered(self._configuration, what, error)) from error
                raise

    def _end_offset(self, partition: int) -> int:
        place = TopicPartition(self._topic, partition)
        _, high = self._consumer.get_watermark_offsets(place, TIMEOUT_SECONDS, cached=False)
        return int(high)

    def _read(self, place: TopicPartition, end: int) -> Iterator[ReadRecord]:
        position, last_seen = place.offset, time.monotonic()
        while position < end:
            for message in self._consumer.consume(min(1000, end - position), 0.2):
                record = _record(message)
                position, last_seen = record.offset + 1, time.monotonic()
                if record.offset < end:
                    yield record
            # Positions pass what is no record (transaction markers), so that a tail of those ends the reading too.
            (where,) = self._consumer.position([TopicPartition(place.topic, place.partition)])
            if where.offset > position:
                position, last_seen = where.offset, time.monotonic()
            if time.monotonic() - last_seen > SILENCE_SECONDS:
                raise UnavailableError(f"history stands still at offset {position} of {end}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_record(message: Message) -> ReadRecord:
    """Return a consumed message that is no error as a record."""
    _, timestamp = message.timestamp()
    # librdkafka's stubs allow for events that are no records; a message without an error is one.
    return ReadRecord(
        str(message.topic()),
        cast("int", message.partition()),
        cast("int", message.offset()),
        timestamp,
        message.key(),
        message.value(),
        tuple(message_headers(message)),
    )


def _record(message: Message) -> ReadRecord:
    error = message.error()
    if error is not None:
        raise UnavailableError(f"history can't be read: {error.name()}")
    return read_record(message)

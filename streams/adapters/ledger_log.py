"""The ledger's topics, read beside the subscription and to the end, however long that takes.

The contract: only committed records are returned. The end of a partition is where the broker has appended to, open
transactions included: reading to it waits until each of those is committed or aborted, so that nothing a predecessor
began can still come after it. There is no time-out; ``is_stopping`` ends the waiting. A broker that is away is waited
for too.

One thread at a time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar, cast

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from pratique.errors import UnavailableError
from pratique.kafka_clients import new_client, unanswered
from streams.adapters.kafka_log import ReadRecord, read_record

LOG: Final = logging.getLogger(__name__)
Answer = TypeVar("Answer")

TIMEOUT_SECONDS: Final = 10.0
RETRY_SECONDS: Final = 0.5
WARN_SECONDS: Final = 10.0
FETCH_RECORDS: Final = 1000
SHORTEST_WAIT_SECONDS: Final = 0.01
LONGEST_WAIT_SECONDS: Final = 0.2
"""How long more records are waited for: short as long as they come, since a wait is not cut short by the last one."""
TAIL_RECORDS: Final = 64
"""How far back a partition's newest record is looked for at first; transaction markers take offsets too."""

_FINAL: Final = frozenset(
    {
        KafkaError._AUTO_OFFSET_RESET,  # noqa: SLF001 - how the library names librdkafka's own codes
        KafkaError.OFFSET_OUT_OF_RANGE,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001 - the same
        KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001 - the same
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
    }
)
"""Errors that waiting does not mend."""


class StoppingError(UnavailableError):
    """The process was told to end while it waited."""


class LedgerLog:
    """Reads partitions of the ledger's topics.

    Args:
        configuration: librdkafka properties of the connection.
        is_stopping: Whether the process was told to end.
    """

    def __init__(self, configuration: Mapping[str, str], is_stopping: Callable[[], bool] = lambda: False) -> None:
        self._is_stopping = is_stopping
        common: dict[str, str | bool | int] = {
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "group.id": "pratique.ledger-log",
            "fetch.wait.max.ms": 10,  # what stands at a partition's end is a marker, which is passed by the next fetch
            **configuration,
        }
        self._configuration = configuration
        self._reader = new_client(Consumer, {**common, "isolation.level": "read_committed"})
        # Asked for ends alone: the end of a reader of committed records stands before the first open transaction.
        self._witness = new_client(Consumer, {**common, "isolation.level": "read_uncommitted"})

    def partition_count(self, topic: str) -> int:
        """Return a topic's number of partitions.

        Raises:
            UnavailableError: The broker does not answer, or there is no such topic.
        """
        try:
            metadata = self._reader.list_topics(topic, TIMEOUT_SECONDS).topics[topic]
        except KafkaException as error:
            raise UnavailableError(unanswered(self._configuration, topic, error)) from error
        if metadata.error is not None or not metadata.partitions:
            raise UnavailableError(f"topic {topic} does not exist; run `pratique topics apply`")
        return len(metadata.partitions)

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return a partition's first offset and its end, what is not committed yet included.

        Raises:
            StoppingError: The process was told to end.
        """
        place = TopicPartition(topic, partition)
        return self.patiently(
            lambda: self._witness.get_watermark_offsets(place, TIMEOUT_SECONDS, cached=False), f"the end of {topic}"
        )

    def committed_bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return a partition's first offset and the one before which nothing is open.

        Raises:
            StoppingError: The process was told to end.
        """
        place = TopicPartition(topic, partition)
        return self.patiently(
            lambda: self._reader.get_watermark_offsets(place, TIMEOUT_SECONDS, cached=False), f"the end of {topic}"
        )

    def read(self, topic: str, partition: int, start: int, end: int) -> Iterator[ReadRecord]:
        """Return the committed records of ``[start, end)``, oldest first.

        Raises:
            StoppingError: The process was told to end.
            UnavailableError: They can't be read, however long one waits.
        """
        for messages in self._read(topic, partition, start, end):
            for message in messages:
                yield read_record(message)

    def values(self, topic: str, partition: int, start: int, end: int) -> Iterator[tuple[int, bytes | None]]:
        """Return the offsets and values of the committed records of ``[start, end)``, oldest first.

        Raises:
            StoppingError: The process was told to end.
            UnavailableError: They can't be read, however long one waits.
        """
        for messages in self._read(topic, partition, start, end):
            for message in messages:
                yield cast("int", message.offset()), message.value()

    def newest(self, topic: str, partition: int) -> ReadRecord | None:
        """Return a partition's newest committed record; none where there is none.

        Raises:
            StoppingError: The process was told to end.
            UnavailableError: It can't be read, however long one waits.
        """
        low, end = self.bounds(topic, partition)
        span = TAIL_RECORDS
        while True:
            start, found = max(low, end - span), None
            for record in self.read(topic, partition, start, end):
                found = record
            if found is not None or start == low:
                return found
            span *= 4

    def patiently(self, ask: Callable[[], Answer], what: str) -> Answer:
        """Return an answer of the broker, asking until it gives one.

        Raises:
            StoppingError: The process was told to end.
        """
        said_at = -WARN_SECONDS
        while not self._is_stopping():
            try:
                return ask()
            except KafkaException as error:
                if time.monotonic() - said_at >= WARN_SECONDS:
                    said_at = time.monotonic()
                    LOG.warning("waiting for %s: %s", what, error.args[0].name())
            time.sleep(RETRY_SECONDS)
        raise StoppingError(f"told to end while waiting for {what}")

    def close(self) -> None:
        """Close the connections."""
        self._reader.close()
        self._witness.close()

    def _read(self, topic: str, partition: int, start: int, end: int) -> Iterator[list[Message]]:
        place = TopicPartition(topic, partition, start)
        self._reader.assign([place])
        try:
            yield from self._fetched(place, end)
        finally:
            self._reader.unassign()

    def _fetched(self, place: TopicPartition, end: int) -> Iterator[list[Message]]:
        moved_at = time.monotonic()
        wait = SHORTEST_WAIT_SECONDS
        position = place.offset
        while position < end:
            if self._is_stopping():
                raise StoppingError(f"told to end while reading {place.topic}[{place.partition}]")
            before = position
            messages = _good(self._reader.consume(FETCH_RECORDS, wait), place.topic)
            if messages:
                position = cast("int", messages[-1].offset()) + 1
                # What came after the end that was asked for is not read yet.
                yield messages if position <= end else [item for item in messages if cast("int", item.offset()) < end]
            # Positions pass what is no record (markers, aborted records), so that a tail of those ends the reading too.
            (where,) = self._reader.position([place])
            position = max(position, where.offset)
            wait = SHORTEST_WAIT_SECONDS if position > before else min(wait * 2, LONGEST_WAIT_SECONDS)
            if position > before:
                moved_at = time.monotonic()
            elif time.monotonic() - moved_at > WARN_SECONDS:
                moved_at = time.monotonic()
                where_it_stands = (place.topic, place.partition, position, end)
                LOG.warning("waiting at %s[%d]@%d of %d: a transaction is open, or no broker", *where_it_stands)


def _good(messages: list[Message], topic: str) -> list[Message]:
    """Return the messages that are records; an error is borne, or raised."""
    good = []
    for message in messages:
        error = message.error()
        if error is None:
            good.append(message)
        else:
            bear(error, topic)
    return good


def bear(error: KafkaError, topic: str) -> None:
    """Let an error pass that the library recovers from by itself.

    Raises:
        UnavailableError: It is another.
    """
    if error.fatal() or error.code() in _FINAL:
        raise UnavailableError(f"{topic} can't be read: {error.name()}")
    LOG.warning("%s: %s", topic, error.name())

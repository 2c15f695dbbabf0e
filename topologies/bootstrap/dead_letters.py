"""Dead letters: listing them, looking at one, and publishing one again where it came from.

The contract: reading changes nothing. ``replay`` publishes the original value, key and headers to the source topic,
without our own headers; what was not served then is judged again, as if it had just arrived. Where a topic's writers
name the partition, as the ledger's do, it goes to the one that it came from: its key would put it into another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from pratique.contract.topics import DEAD_LETTER
from pratique.errors import RefusedError, UnavailableError
from streams.adapters.kafka_log import KafkaLog, ReadRecord
from streams.wire.dead_letter import PREFIX
from topologies.catalog import TOPICS
from topologies.settings import Settings

_GROUP: Final = "pratique.dead-letter"
FLUSH_SECONDS: Final = 30.0
_BY_KEY: Final = -1
"""The partition that the producer finds by the key."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead letter and where it came from.

    Attributes:
        partition: Its partition in the dead-letter topic.
        offset: Its offset there.
        stated: What was stated of it: topic, partition, offset, code, attempt, first-seen.
        record: The record as it lies there.
    """

    partition: int
    offset: int
    stated: Mapping[str, str]
    record: ReadRecord

    @property
    def original_headers(self) -> list[tuple[str, bytes]]:
        """The headers it came with."""
        return [(name, value) for name, value in self.record.headers if not name.startswith(PREFIX)]


def dead_letters(settings: Settings) -> Iterator[DeadLetter]:
    """Return every dead letter that is kept, by partition, oldest first.

    Raises:
        UnavailableError: The cluster does not answer.
    """
    with KafkaLog(settings.connection, DEAD_LETTER, _GROUP) as log:
        for partition in range(log.partition_count()):
            for record in log.history(partition, 0, log.end_offset(partition)):
                yield _letter(record)


def dead_letter_at(settings: Settings, partition: int, offset: int) -> DeadLetter:
    """Return one dead letter.

    Raises:
        UnavailableError: The cluster does not answer, or there is none.
    """
    with KafkaLog(settings.connection, DEAD_LETTER, _GROUP) as log:
        return _letter(log.record_at(partition, offset))


def replay(settings: Settings, letter: DeadLetter) -> str:
    """Publish a dead letter where it came from; return the topic.

    Raises:
        RefusedError: It names no topic of the catalogue, or no partition where the topic needs one, or lacks what was
            too large to keep; nothing is published.
        UnavailableError: The cluster did not take it.
    """
    topic = letter.stated.get("topic", "")
    spec = next((spec for spec in TOPICS if spec.name == topic), None)
    if spec is None:
        raise RefusedError("the dead letter names no topic of the catalogue; it was not written by this service")
    if "omitted" in letter.stated:
        raise RefusedError("the record was too large to keep: its dead letter lacks a part, and can't be replayed")
    partition = _partition(letter) if spec.is_placed else _BY_KEY
    producer = Producer({**settings.connection, "partitioner": "murmur2_random", "message.max.bytes": 6 * 1024 * 1024})
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    record = letter.record
    headers: list[tuple[str, str | bytes | None]] = [*letter.original_headers]
    try:
        producer.produce(topic, record.value, record.key, partition, on_delivery=delivered, headers=headers)
    except KafkaException as error:
        raise UnavailableError(f"{topic} did not take the record: {error.args[0].name()}") from error
    if producer.flush(FLUSH_SECONDS) or failures:
        raise UnavailableError(f"{topic} did not take the record: {failures[0].name() if failures else 'no answer'}")
    return topic


def _partition(letter: DeadLetter) -> int:
    stated = letter.stated.get("partition", "")
    if not (stated.isascii() and stated.isdecimal()):
        raise RefusedError("the dead letter names no partition; it was not written by this service")
    return int(stated)


def _letter(record: ReadRecord) -> DeadLetter:
    stated = {
        name.removeprefix(PREFIX): value.decode("utf-8", "replace")
        for name, value in record.headers
        if name.startswith(PREFIX)
    }
    return DeadLetter(record.partition, record.offset, stated, record)

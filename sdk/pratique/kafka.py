"""The transport on real Kafka, with confluent-kafka: an idempotent producer and a consumer without a group.

The contract: ``acks=all``, idempotence, ``murmur2_random`` partitioning (as every writer of the published language);
the consumer is assigned to every partition at the offset its end had before ``subscribe`` returned, and to partitions
that are added later from their beginning. It commits nothing and joins no group, so any number of clients each see
every verdict.

It does not create topics, and does not fork: make one after the fork.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from operator import methodcaller
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from pratique.contract.signing import Headers
from pratique.contract.topics import MAX_ENVELOPE_BYTES, MAX_REQUEST_BYTES
from pratique.errors import KafkaUnavailableError, TooLargeError
from pratique.kafka_clients import LOG, new_client, unanswered
from pratique.transport import Received

GROUP_ID: Final = "pratique-client"
"""librdkafka wants a group's name even where no group is joined; ACLs need not allow it."""

METADATA_TIMEOUT_S: Final = 10.0
ELECTION_PAUSE_S: Final = 0.1
NEW_PARTITIONS_EVERY_S: Final = 30.0
BATCH: Final = 500
_DELIVERY_POLL_S: Final = 0.1

_ask_headers: Callable[[Message], Sequence[tuple[str, str | bytes | None]] | None] = methodcaller("headers")
Settings = Mapping[str, str | int | float | bool]


class KafkaTransport:
    """Kafka, as ``pratique.transport.Transport`` describes it.

    Args:
        bootstrap: Brokers to start from, ``host:port`` separated by commas.
        settings: Further librdkafka settings for producer and consumer alike (TLS, SASL).
        delivery_timeout_s: How long a record is tried to be sent, in seconds.
    """

    def __init__(self, bootstrap: str, settings: Settings | None = None, *, delivery_timeout_s: float = 30.0) -> None:
        self._shared = {"bootstrap.servers": bootstrap, "client.id": "pratique", **(settings or {})}
        self._delivery_timeout_ms = int(delivery_timeout_s * 1000)
        self._lock = threading.Lock()
        self._producer: Producer | None = None
        self._closed = threading.Event()
        self._deliveries: threading.Thread | None = None

    def publish(self, topic: str, key: bytes, value: bytes, headers: Headers) -> Future[None]:
        """Send a record; see ``Transport.publish``."""
        future: Future[None] = Future()

        def delivered(error: KafkaError | None, _: Message) -> None:
            if error is None:
                future.set_result(None)
            elif error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
                future.set_exception(TooLargeError(f"the broker takes no record of {len(value)} bytes on {topic}"))
            else:
                future.set_exception(KafkaUnavailableError(f"{topic} did not take the record: {error.name()}"))

        try:
            self._running_producer().produce(topic, key=key, value=value, headers=list(headers), on_delivery=delivered)
        except BufferError:
            raise KafkaUnavailableError("too many records are waiting to be sent; is the broker away?") from None
        except KafkaException as error:
            cause: KafkaError = error.args[0]
            if cause.code() == KafkaError.MSG_SIZE_TOO_LARGE:
                raise TooLargeError(f"a record of {len(value)} bytes is over the client's bound") from None
            if cause.fatal():
                self._forget_producer()
            raise KafkaUnavailableError(f"{topic} did not take the record: {cause.name()}") from None
        return future

    def subscribe(self, topics: Sequence[str]) -> KafkaSubscription:
        """Return a subscription from the end onwards; see ``Transport.subscribe``."""
        settings = {
            **self._shared,
            "group.id": GROUP_ID,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "allow.auto.create.topics": False,
            # Where retention overtook the position, what is left is still to be read.
            "auto.offset.reset": "earliest",
        }
        consumer = new_client(Consumer, settings)
        try:
            return KafkaSubscription(consumer, topics, settings)
        except BaseException:
            consumer.close()
            raise

    def close(self) -> None:
        """Send what is waiting, at most for the delivery time-out, and stop."""
        self._closed.set()
        with self._lock:
            producer, self._producer = self._producer, None
        if producer is not None:
            producer.flush(self._delivery_timeout_ms / 1000)
        if self._deliveries is not None:
            self._deliveries.join()

    def _running_producer(self) -> Producer:
        with self._lock:
            if self._closed.is_set():
                raise KafkaUnavailableError("the transport is closed")
            if self._producer is None:
                self._producer = new_client(
                    Producer,
                    {
                        **self._shared,
                        "enable.idempotence": True,
                        "acks": "all",
                        "partitioner": "murmur2_random",
                        "linger.ms": 0,
                        "message.max.bytes": MAX_REQUEST_BYTES + MAX_ENVELOPE_BYTES,
                        "message.timeout.ms": self._delivery_timeout_ms,
                    },
                )
            if self._deliveries is None:
                self._deliveries = threading.Thread(
                    target=self._serve_deliveries, name="pratique-deliveries", daemon=True
                )
                self._deliveries.start()
            return self._producer

    def _forget_producer(self) -> None:
        with self._lock:
            self._producer = None

    def _serve_deliveries(self) -> None:
        while not self._closed.is_set():
            producer = self._producer
            if producer is None:
                self._closed.wait(_DELIVERY_POLL_S)
            else:
                producer.poll(_DELIVERY_POLL_S)


_BEING_ELECTED: Final = frozenset(
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001 - librdkafka's own codes are spelt so
    }
)
"""What a broker says of a partition that has no leader yet, or another one now: asking again helps."""


class KafkaSubscription:
    """A consumer assigned to every partition of some topics."""

    def __init__(self, consumer: Consumer, topics: Sequence[str], settings: Mapping[str, object]) -> None:
        self._consumer = consumer
        self._settings = settings
        self._topics = tuple(topics)
        ends = [self._end(topic, partition) for topic in topics for partition in self._partitions(topic)]
        self._assigned = {(item.topic, item.partition) for item in ends}
        consumer.assign(ends)
        self._look_again_at = time.monotonic() + NEW_PARTITIONS_EVERY_S

    def poll(self, timeout_s: float) -> Sequence[Received]:
        """Return the records at hand; see ``Subscription.poll``."""
        if time.monotonic() >= self._look_again_at:
            self._assign_new_partitions()
        try:
            first = self._consumer.poll(timeout_s)
            if first is None:
                return []
            messages = [first, *self._consumer.consume(BATCH, 0)]
        except (KafkaException, RuntimeError) as error:
            raise KafkaUnavailableError("the verdict topics can't be read any more") from error
        return [item for item in map(self._received, messages) if item is not None]

    def close(self) -> None:
        """Let go of the consumer."""
        self._consumer.close()

    def _received(self, message: Message) -> Received | None:
        error = message.error()
        if error is None:
            return Received(str(message.topic()), message.key(), message.value(), message_headers(message))
        if error.fatal():
            raise KafkaUnavailableError(f"the verdict topics can't be read any more: {error.name()}")
        LOG.info("reading verdicts: %s", error.name())
        return None

    def _partitions(self, topic: str) -> list[int]:
        try:
            metadata = self._consumer.list_topics(topic, METADATA_TIMEOUT_S).topics[topic]
        except KafkaException as error:
            raise KafkaUnavailableError(unanswered(self._settings, f"the partitions of {topic}", error)) from None
        if metadata.error is not None or not metadata.partitions:
            raise KafkaUnavailableError(f"topic {topic} does not exist; `pratique topics apply` creates it")
        return sorted(metadata.partitions)

    def _end(self, topic: str, partition: int) -> TopicPartition:
        until = time.monotonic() + METADATA_TIMEOUT_S
        while True:
            try:
                ends = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), METADATA_TIMEOUT_S)
            except KafkaException as error:
                if error.args[0].code() not in _BEING_ELECTED or time.monotonic() > until:
                    raise KafkaUnavailableError(unanswered(self._settings, f"the end of {topic}", error)) from None
                self._partitions(topic)  # asks anew who leads; that takes the time of one answer
                time.sleep(ELECTION_PAUSE_S)
                continue
            if ends is None:
                raise KafkaUnavailableError(f"no broker told the end of {topic} in {METADATA_TIMEOUT_S:.0f} s")
            return TopicPartition(topic, partition, ends[1])

    def _assign_new_partitions(self) -> None:
        self._look_again_at = time.monotonic() + NEW_PARTITIONS_EVERY_S
        try:
            present = {(topic, partition) for topic in self._topics for partition in self._partitions(topic)}
        except KafkaUnavailableError as error:
            LOG.info("looking for new partitions: %s", error)
            return
        added = sorted(present - self._assigned)
        if added:
            # Their first record is later than the subscription, so nothing of them may be skipped.
            self._consumer.incremental_assign([TopicPartition(topic, partition, 0) for topic, partition in added])
            self._assigned |= set(added)


def message_headers(message: Message) -> list[tuple[str, bytes]]:
    """Return a message's headers; none where a name is not UTF-8: a stranger's, and so no signature of ours.

    Asked only once of a message, and through ``methodcaller``: for such a name the library returns a half-built list
    *and* sets an exception, which a specialised call of the interpreter doesn't look for.
    """
    try:
        found = _ask_headers(message)
    except (SystemError, UnicodeDecodeError):
        return []
    return [(name, _octets(value)) for name, value in found or ()]


def _octets(value: str | bytes | None) -> bytes:
    return value if isinstance(value, bytes) else (value or "").encode("utf-8")

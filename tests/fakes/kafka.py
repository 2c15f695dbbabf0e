"""A log in memory with the client's Kafka port; ``tests/contracts`` holds it and the real one to the same cases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from pratique.contract.signing import Headers
from pratique.errors import KafkaUnavailableError
from pratique.transport import Received


class FakeKafka:
    """Topics of one partition each, shared by every transport made from it.

    Attributes:
        away: Whether the broker is away: nothing is acknowledged, nothing new is read.
        acknowledges: Whether what is sent is taken at all; reading goes on without.
        on_publish: Called with every record after it was appended, as a consumer of its topic would see it.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.topics: dict[str, list[Received]] = {}
        self.away = False
        self.acknowledges = True
        self.on_publish: Callable[[Received], None] | None = None

    def append(self, topic: str, key: bytes, value: bytes, headers: Headers) -> None:
        record = Received(topic, key, value, tuple(headers))
        with self.changed:
            self.topics.setdefault(topic, []).append(record)
            self.changed.notify_all()
        if self.on_publish is not None:
            self.on_publish(record)

    def create(self, *topics: str) -> None:
        with self.changed:
            for topic in topics:
                self.topics.setdefault(topic, [])


class FakeTransport:
    """The port over a ``FakeKafka``."""

    def __init__(self, kafka: FakeKafka) -> None:
        self.kafka = kafka
        self.closed = False
        self.subscriptions: list[FakeSubscription] = []

    def publish(self, topic: str, key: bytes, value: bytes, headers: Headers) -> Future[None]:
        if self.closed:
            raise KafkaUnavailableError("the transport is closed")
        future: Future[None] = Future()
        if self.kafka.acknowledges and not self.kafka.away:
            self.kafka.append(topic, key, value, headers)
            future.set_result(None)
        return future

    def subscribe(self, topics: Sequence[str]) -> FakeSubscription:
        with self.kafka.changed:
            if self.kafka.away or any(topic not in self.kafka.topics for topic in topics):
                raise KafkaUnavailableError("a topic does not exist, or the broker is away")
            subscription = FakeSubscription(self.kafka, {topic: len(self.kafka.topics[topic]) for topic in topics})
        self.subscriptions.append(subscription)
        return subscription

    def close(self) -> None:
        self.closed = True


class FakeSubscription:
    """Reads from the offsets it was made at."""

    def __init__(self, kafka: FakeKafka, offsets: dict[str, int]) -> None:
        self._kafka = kafka
        self._offsets = offsets
        self.closed = False
        self.failure: KafkaUnavailableError | None = None

    def poll(self, timeout_s: float) -> Sequence[Received]:
        with self._kafka.changed:
            self._kafka.changed.wait_for(lambda: self.failure is not None or bool(self._pending()), timeout_s)
            if self.failure is not None:
                raise self.failure
            records = self._pending()
            for record in records:
                self._offsets[record.topic] += 1
            return records

    def fail(self, failure: KafkaUnavailableError) -> None:
        with self._kafka.changed:
            self.failure = failure
            self._kafka.changed.notify_all()

    def close(self) -> None:
        self.closed = True

    def _pending(self) -> list[Received]:
        if self._kafka.away:
            return []
        return [record for topic, offset in self._offsets.items() for record in self._kafka.topics[topic][offset:]]

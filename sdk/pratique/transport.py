"""What the client needs of Kafka: publish a record, and read every verdict that is appended from now on.

The contract of the port, which fakes and the real adapter share (``tests/contracts``): what is appended to a topic
after ``subscribe`` returned is received by that subscription, however late it is polled; headers arrive as they were
sent, in order. Nothing here knows a signature or a record's meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from pratique.contract.signing import Headers


@dataclass(frozen=True, slots=True)
class Received:
    """A record as it was consumed."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers


class Subscription(Protocol):
    """Reads some topics from the end onwards. Used by one thread at a time."""

    def poll(self, timeout_s: float) -> Sequence[Received]:
        """Return the records at hand, at once if there are any; none after ``timeout_s`` seconds.

        A broker that is away is no error: the next records come when it is back.

        Raises:
            KafkaUnavailableError: This subscription will not go on; subscribe anew.
        """
        ...

    def close(self) -> None:
        """Let go of connections and threads."""
        ...


class Transport(Protocol):
    """Kafka as the client uses it. Safe for many threads."""

    def publish(self, topic: str, key: bytes, value: bytes, headers: Headers) -> Future[None]:
        """Send a record.

        Returns:
            A future that is done once every in-sync replica has the record. It raises ``KafkaUnavailableError`` where
            the record was not taken in time, ``TooLargeError`` where the broker never will.

        Raises:
            KafkaUnavailableError: Too much is waiting to be sent already.
        """
        ...

    def subscribe(self, topics: Sequence[str]) -> Subscription:
        """Return a subscription to every partition of the topics, positioned at their ends.

        Raises:
            KafkaUnavailableError: The ends could not be found out, or a topic does not exist.
        """
        ...

    def close(self) -> None:
        """Send what is waiting, within bounds, and let go of connections and threads."""
        ...

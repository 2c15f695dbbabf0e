"""Publishing requests and waiting for the verdicts on them: what compactions and recalls have in common.

The contract: a request is signed over its exact bytes and published once; the verdict topics are read from before it
was sent, so an answer can't be missed; only a verdict that ``pratique.verification`` believes is one. It judges nothing
about a request, and inserts nothing.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass
from typing import Any, Final

from pratique.contract.records import CompactionRequested, MemoryRecalled, Verdict
from pratique.contract.signing import Signer
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED, MAX_REQUEST_BYTES
from pratique.errors import KafkaUnavailableError, SignerNotAuthorisedError, TooLargeError
from pratique.inbox import Inbox, Waiter
from pratique.pinned import PolicySource
from pratique.transport import Received, Transport
from pratique.verification import Expected, believe

GRACE_S: Final = 5.0
"""How long after the policy's deadline a verdict is still waited for, in seconds, unless the caller says otherwise."""


def now_in_ms() -> int:
    """Return the time in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that was sent, and whoever waits for its verdict."""

    expectation: Expected
    sent: Future[None]
    waiter: Waiter

    @property
    def futures(self) -> list[Future[Any]]:
        """What a wait is over with: both done, or one failed."""
        return [self.sent, self.waiter.future]


@dataclass(frozen=True, slots=True)
class Pending(Sent):
    """A compaction request that was sent."""

    request: CompactionRequested


@dataclass(frozen=True, slots=True)
class PendingRecall(Sent):
    """A recall that was sent."""

    request: MemoryRecalled


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that is about to be sent.

    Attributes:
        topic: Where to.
        value: The value as published.
        expectation: What its verdict must speak of.
        waiter: Who waits for it.
    """

    topic: str
    value: bytes
    expectation: Expected
    waiter: Waiter


class Asker:
    """Publishes requests and hears of their verdicts. Safe for many threads.

    Args:
        transport: Kafka.
        policies: Verified policy.
        clock: The time in milliseconds since the epoch.
    """

    def __init__(self, transport: Transport, policies: PolicySource, clock: Callable[[], int] = now_in_ms) -> None:
        self._transport = transport
        self._policies = policies
        self._clock = clock
        self._lock = threading.Lock()
        self._inbox: Inbox | None = None

    def close(self) -> None:
        """Stop reading, send what is waiting, let go of everything."""
        with self._lock:
            inbox, self._inbox = self._inbox, None
        if inbox is not None:
            inbox.close()
        self._transport.close()

    @property
    def ignored(self) -> Mapping[str, int]:
        """How many would-be verdicts on this gate's requests were not believed, by the check they failed."""
        inbox = self._inbox
        return {} if inbox is None else inbox.ignored

    def forget(self, pending: Sent) -> None:
        """Stop waiting for a request's verdict."""
        self._forget(pending.waiter)

    def _prepare(self, topic: str, value: bytes, expectation: Expected) -> Prepared:
        if len(value) > MAX_REQUEST_BYTES:
            raise TooLargeError(f"request has {len(value)} bytes, {MAX_REQUEST_BYTES} are allowed")
        waiter = Waiter(
            expectation.request_sha256,
            expectation.message_keys,
            lambda received, verdict: self._believe(received, verdict, expectation),
        )
        return Prepared(topic, value, expectation, waiter)

    def _send(self, prepared: Prepared, signer: Signer) -> Future[None]:
        self._policies.trust()  # who could not check a verdict should not ask for one
        inbox = self._listening()
        signature = signer.sign(prepared.topic, prepared.value)
        inbox.expect(prepared.waiter)
        try:
            return self._transport.publish(
                prepared.topic,
                prepared.expectation.source_population_sha256.encode("ascii"),
                prepared.value,
                signature.headers,
            )
        except BaseException:
            self._forget(prepared.waiter)
            raise

    def _wait(self, pending: Sent, wait_s: float) -> Verdict | None:
        try:
            wait(pending.futures, timeout=wait_s, return_when=FIRST_EXCEPTION)
        finally:
            self.forget(pending)
        return outcome(pending)

    async def _wait_async(self, prepared: Prepared, signer: Signer, wait_s: float) -> Verdict | None:
        """Send and wait without holding up the event loop, or a thread while it waits."""
        try:
            sent = await asyncio.to_thread(self._send, prepared, signer)
            pending = Sent(prepared.expectation, sent, prepared.waiter)
            watched = [asyncio.wrap_future(future) for future in pending.futures]
            done, _ = await asyncio.wait(watched, timeout=wait_s, return_when=asyncio.FIRST_EXCEPTION)
            for future in done:
                future.exception()  # seen here, raised below
        finally:
            self._forget(prepared.waiter)
        return outcome(pending)

    def _forget(self, waiter: Waiter) -> None:
        waiter.forgotten = True  # for an inbox that is still to be told of it
        inbox = self._inbox
        if inbox is not None:
            inbox.forget(waiter)

    def _listening(self) -> Inbox:
        with self._lock:
            if self._inbox is None or self._inbox.failed:
                self._inbox = Inbox(self._transport.subscribe((COMPACTION_ACCEPTED, COMPACTION_QUARANTINED)))
            return self._inbox

    def _believe(self, received: Received, verdict: Verdict, expectation: Expected) -> None:
        try:
            believe(received, verdict, expectation, self._policies.trust(), self._clock())
        except SignerNotAuthorisedError:
            self._policies.refresh()  # a gate key may have been rotated since
            believe(received, verdict, expectation, self._policies.trust(), self._clock())


def outcome(pending: Sent) -> Verdict | None:
    """Return what a wait that is over came to: the verdict, or null where none came in time.

    Raises:
        KafkaUnavailableError: The request was not acknowledged, or verdicts could not be read.
        TooLargeError: The broker does not take a request of this size.
    """
    answered, sent = pending.waiter.future, pending.sent
    if answered.done():
        return answered.result()
    if not sent.done():
        raise KafkaUnavailableError("Kafka did not acknowledge the request in time; it may still be judged")
    sent.result()
    return None

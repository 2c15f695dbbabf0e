"""One reader of the verdict topics for all who wait.

The contract: a waiter that registers before its request is sent gets the first verdict that its check believes. Records
for nobody here are passed over by their Kafka key alone, since verdict topics mix tenants. A record that a check
refuses is counted and ignored, and the wait goes on: a stranger can neither answer for the gate nor end a wait.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from pratique.contract.records import Verdict
from pratique.errors import (
    KafkaUnavailableError,
    MalformedError,
    PratiqueError,
    SignatureInvalidError,
    SignerNotAuthorisedError,
    UnavailableError,
    VerdictRefusedError,
)
from pratique.transport import Received, Subscription
from pratique.verification import read_verdict

_LOG: Final = logging.getLogger("pratique.inbox")

POLL_S: Final = 0.25
"""How long closing can take, in seconds; a verdict is handed over at once."""

Check = Callable[[Received, Verdict], None]
"""Raises unless a verdict is to be believed."""


@dataclass(eq=False)
class Waiter:
    """Someone who waits for the verdict on one request; forgotten once nobody does."""

    request_sha256: str
    message_keys: frozenset[bytes]
    check: Check
    future: Future[Verdict] = field(default_factory=Future)
    forgotten: bool = False


class Inbox:
    """Reads a subscription in a thread of its own and hands verdicts to waiters.

    Args:
        subscription: Positioned before anything that will be waited for was sent. The inbox closes it.
    """

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._lock = threading.Lock()
        self._waiting: dict[bytes, list[Waiter]] = {}
        self._ignored: Counter[str] = Counter()
        self._closing = threading.Event()
        self._failure: KafkaUnavailableError | None = None
        self._thread = threading.Thread(target=self._run, name="pratique-inbox", daemon=True)
        self._thread.start()

    @property
    def failed(self) -> bool:
        """Whether the subscription ended; a new inbox is needed."""
        return self._failure is not None

    @property
    def ignored(self) -> Mapping[str, int]:
        """How many records under a waiter's key were not believed, by the check they failed."""
        with self._lock:
            return dict(self._ignored)

    def expect(self, waiter: Waiter) -> None:
        """Start waiting, unless the waiter was forgotten meanwhile.

        Raises:
            KafkaUnavailableError: The subscription has ended.
        """
        with self._lock:
            if self._failure is not None:
                raise self._failure
            for key in () if waiter.forgotten else waiter.message_keys:
                self._waiting.setdefault(key, []).append(waiter)

    def forget(self, waiter: Waiter) -> None:
        """Stop waiting, for good; nothing more happens where it had ended already."""
        waiter.forgotten = True
        with self._lock:
            for key in waiter.message_keys:
                others = [item for item in self._waiting.get(key, ()) if item is not waiter]
                if others:
                    self._waiting[key] = others
                else:
                    self._waiting.pop(key, None)

    def close(self) -> None:
        """Stop reading. Whoever still waits is told that Kafka can't be read any more."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        failure = KafkaUnavailableError("the gate was closed")
        try:
            while not self._closing.is_set():
                for received in self._subscription.poll(POLL_S):
                    self._offer(received)
        except KafkaUnavailableError as error:
            failure = error
        finally:
            self._end(failure)
            self._subscription.close()

    def _end(self, failure: KafkaUnavailableError) -> None:
        with self._lock:
            self._failure = failure
            waiters = {id(item): item for items in self._waiting.values() for item in items}
            self._waiting.clear()
        for waiter in waiters.values():
            if not waiter.future.done():
                waiter.future.set_exception(failure)

    def _offer(self, received: Received) -> None:
        with self._lock:
            waiters: Iterable[Waiter] = tuple(self._waiting.get(received.key or b"", ()))
        if not waiters:
            return
        try:
            verdict = read_verdict(received)
        except (MalformedError, VerdictRefusedError):
            self._ignore("form")
            return
        for waiter in waiters:
            if waiter.request_sha256 == verdict.request_sha256 and not waiter.future.done():
                self._ask(waiter, received, verdict)

    def _ask(self, waiter: Waiter, received: Received, verdict: Verdict) -> None:
        try:
            waiter.check(received, verdict)
        except VerdictRefusedError as error:
            self._ignore(error.check)
        except SignatureInvalidError:
            self._ignore("signature")
        except SignerNotAuthorisedError:
            self._ignore("signer")
        except UnavailableError:
            self._ignore("unavailable")
        except PratiqueError:
            self._ignore("policy")
        except Exception:  # noqa: BLE001 - a stranger's record must not end the wait of everybody else
            _LOG.exception("checking a verdict failed")
            self._ignore("error")
        else:
            self.forget(waiter)
            if waiter.future.set_running_or_notify_cancel():
                waiter.future.set_result(verdict)

    def _ignore(self, check: str) -> None:
        with self._lock:
            self._ignored[check] += 1

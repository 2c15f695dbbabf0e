"""Keeping the ledger's view up to date: the audit, applied in order.

The contract: transitions come from the audit topic, which is never compacted, so that the view has every entry's whole
history; committed records only. The view says up to which offset it has applied each partition, and each change
compares it: several appliers of one view, and a Redis restored from an older snapshot, lead to a refusal, upon which
the offset is read anew. Once a partition is applied to its end, the view says when that was; that is what look-ups
measure staleness by. A server that may evict is not kept up to date, so that look-ups fail.

What is applied was held to the ledger's rules by its writer; the functions hold it to the next revision once more.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Self

from pratique.errors import PratiqueError
from streams.adapters.beside import Beside
from streams.adapters.ledger_log import LedgerLog
from streams.adapters.redis_ledger import RedisLedger, Step, ViewConflictError
from streams.application.ports.metrics import Metrics
from streams.errors import LedgerViewIncompleteError
from streams.wire.ledger import Retired, read_change

LOG: Final = logging.getLogger(__name__)

PAUSE_SECONDS: Final = 0.2
STEPS_TOGETHER: Final = 500
NO_EVICTION: Final = "noeviction"


class LedgerApplier:
    """Applies the audit of every partition to the view.

    Args:
        log: The ledger's topics.
        view: The view.
        audit: The audit topic.
        metrics: Counts, and observes how long after its verdict an automatic entry is known to look-ups.
        without: Key generations whose entries are passed over: the retired ones, where a view is built anew.
        is_ahead: Whether the next transitions are read while some are applied, where a view is built anew.
    """

    def __init__(
        self,
        log: LedgerLog,
        view: RedisLedger,
        audit: str,
        *,
        metrics: Metrics,
        without: frozenset[str] = frozenset(),
        is_ahead: bool = False,
    ) -> None:
        self._log = log
        self._view = view
        self._audit = audit
        self._metrics = metrics
        self._without = without
        self._sender = _Ahead if is_ahead else _AtOnce
        self._applied: dict[tuple[str, int], int] = {}

    def catch_up(self) -> None:
        """Apply what there is to apply, in every partition.

        Raises:
            LedgerViewIncompleteError: There is no view, or its server may evict it.
            ViewConflictError: The view refuses a transition.
            LedgerBrokenError: The audit holds what is no audit entry.
            UnavailableError: Redis or the broker does not answer.
        """
        policy, evicted = self._view.eviction_policy()
        if policy != NO_EVICTION or evicted:
            raise LedgerViewIncompleteError("the view's server may evict, or has evicted: it is not kept up to date")
        pointer = self._view.pointer()
        for partition in range(pointer.partition_count):
            self.catch_up_with(pointer.namespace, partition)

    def catch_up_with(self, namespace: str, partition: int) -> int:
        """Apply what there is to apply in one partition of a namespace; return the offset it stands at.

        Raises:
            LedgerViewIncompleteError: The partition's view is not there.
            ViewConflictError: The view refuses a transition.
            LedgerBrokenError: The audit holds what is no audit entry.
            UnavailableError: Redis or the broker does not answer.
        """
        place = (namespace, partition)
        try:
            applied = self._applied.get(place)
            if applied is None:
                applied = self._view.applied(*place)
            if applied is None:
                raise LedgerViewIncompleteError(f"the view of ledger partition {partition} is not there")
            self._applied[place] = self._apply(namespace, partition, applied)
        except PratiqueError:
            self._applied.pop(place, None)  # where the view stands is not known any more
            raise
        return self._applied[place]

    def _apply(self, namespace: str, partition: int, applied: int) -> int:
        low, end = self._log.committed_bounds(self._audit, partition)
        if not low <= applied <= end:
            raise LedgerViewIncompleteError(
                f"the view of ledger partition {partition} stands at {applied}, the audit is from {low} to {end}"
            )
        steps: list[Step] = []
        decided: list[int] = []
        at = applied
        with self._sender(lambda *batch: self._send(namespace, partition, *batch)) as sender:
            for offset, value in self._log.values(self._audit, partition, applied, end):
                change = read_change(value)
                if change is None or (not isinstance(change, Retired) and change.generation in self._without):
                    continue
                if isinstance(change, Retired):
                    sender.send(steps, decided)
                    sender.wait()
                    steps, decided = [], []
                    self._view.retire(namespace, partition, change.generation, applied=at, following=offset + 1)
                else:
                    steps.append(Step(change.key, change.record_json, change.generation, at, offset + 1))
                    if change.decided_at is not None:
                        decided.append(change.decided_at)
                at = offset + 1
                if len(steps) >= STEPS_TOGETHER:
                    sender.send(steps, decided)
                    steps, decided = [], []
            sender.send(steps, decided)
        self._view.advance(namespace, partition, applied=at, following=end, end=end)
        return end

    def _send(self, namespace: str, partition: int, steps: list[Step], decided: list[int]) -> None:
        if steps:
            self._view.apply(namespace, partition, steps)
            self._metrics.count("ledger_view_transitions_total", len(steps))
            for decided_ms in decided:
                self._metrics.observe("ledger_automatic_window_seconds", max(0.0, time.time() - decided_ms / 1000))


class _AtOnce:
    """Sends transitions, and waits until they are applied."""

    def __init__(self, apply: Callable[[list[Step], list[int]], None]) -> None:
        self.send = apply

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def wait(self) -> None:
        """Wait until everything that was sent is applied: it is."""


class _Ahead:
    """Sends transitions while the next are read, one batch at a time; what is wrong with one is raised at the next."""

    def __init__(self, apply: Callable[[list[Step], list[int]], None]) -> None:
        self._apply = apply
        self._pool = ThreadPoolExecutor(1)
        self._sent: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        try:
            if failed is None:
                self.wait()
        finally:
            self._pool.shutdown()

    def send(self, steps: list[Step], decided: list[int]) -> None:
        """Send a batch once the one before it is applied."""
        self.wait()
        self._sent = self._pool.submit(self._apply, steps, decided)

    def wait(self) -> None:
        """Wait until everything that was sent is applied."""
        sent, self._sent = self._sent, None
        if sent is not None:
            sent.result()


def applying(applier: LedgerApplier, closing: threading.Event, metrics: Metrics) -> Beside:
    """Return a thread that keeps a view up to date beside the ledger's writer, until ``closing`` is set."""

    def apply() -> bool:
        try:
            applier.catch_up()
        except ViewConflictError as error:
            # OFFSET: another applier was faster. Anything else is for `pratique ledger verify` to look at.
            if error.refusal != "OFFSET":
                LOG.error("%s", error)  # noqa: TRY400 - the message says it all
            metrics.count("ledger_view_conflicts_total", refusal=error.refusal)
            return False
        return True

    return Beside(
        "ledger-view", apply, pause_s=PAUSE_SECONDS, gauge="ledger_view_current", metrics=metrics, closing=closing
    )

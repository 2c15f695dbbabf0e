"""Keeping policy fresh while a step runs.

The contract: a ``RefreshingStep`` is its inner step, and asks the policy repository for news on the side, at most once
an interval and never two at a time. What comes of it is a metric; it never holds up or ends a step.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final

from streams.agents.loop import Step
from streams.application.policy_gauges import show_policy
from streams.application.ports.log import Batch, Clock, Partition
from streams.application.ports.metrics import Metrics
from streams.application.ports.policy import Freshness, PolicyStore

LOG: Final = logging.getLogger(__name__)


class RefreshingStep:
    """A step, and the refresh of the policy it goes by."""

    def __init__(self, inner: Step, *, store: PolicyStore, clock: Clock, interval_ms: int, metrics: Metrics) -> None:
        self._inner = inner
        self._store = store
        self._clock = clock
        self._interval_ms = interval_ms
        self._metrics = metrics
        self._due_ms = clock.monotonic_ms() + interval_ms
        self._running: asyncio.Task[None] | None = None

    async def gained(self, partitions: frozenset[Partition]) -> None:
        """Prepare the inner step."""
        await self._inner.gained(partitions)

    async def take(self, batch: Batch, is_current: Callable[[], bool]) -> Mapping[Partition, int]:
        """Serve a batch."""
        return await self._inner.take(batch, is_current)

    async def tick(self) -> None:
        """Start a refresh if one is due, then do what time asks of the inner step."""
        now_ms = self._clock.monotonic_ms()
        if now_ms >= self._due_ms and (self._running is None or self._running.done()):
            self._due_ms = now_ms + self._interval_ms
            self._running = asyncio.create_task(self._refresh())
        await self._inner.tick()

    async def _refresh(self) -> None:
        status = await asyncio.to_thread(self._store.refresh)
        show_policy(self._metrics, status, self._clock.wall_ms())
        if status.freshness is not Freshness.CURRENT:
            LOG.warning("policy is %s: %s", status.freshness.value, status.detail)

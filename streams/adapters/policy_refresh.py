"""Keeping policy fresh in a process that has no event loop: a thread that asks the repository for news.

The contract: what comes of asking is a metric and a log line; it never holds up or ends the process.
"""

from __future__ import annotations

import logging
import threading
from typing import Final

from streams.application.policy_gauges import show_policy
from streams.application.ports.log import Clock
from streams.application.ports.metrics import Metrics
from streams.application.ports.policy import Freshness, PolicyStore

LOG: Final = logging.getLogger(__name__)


class PolicyRefresh:
    """Refreshes a store at an interval until it is closed."""

    def __init__(self, store: PolicyStore, *, clock: Clock, interval_ms: int, metrics: Metrics) -> None:
        self._store = store
        self._clock = clock
        self._interval_s = interval_ms / 1000
        self._metrics = metrics
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="policy-refresh", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End, without waiting for an answer that is under way."""
        self._closing.set()

    def _run(self) -> None:
        while not self._closing.wait(self._interval_s):
            status = self._store.refresh()
            show_policy(self._metrics, status, self._clock.wall_ms())
            if status.freshness is not Freshness.CURRENT:
                LOG.warning("policy is %s: %s", status.freshness.value, status.detail)

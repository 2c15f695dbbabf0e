"""A piece of work that is done again and again beside an app, until the app ends.

The contract: what keeps the work from being done is said once for as long as it stays the same, shown in a gauge, and
tried again; it never ends the app. Closing waits for what is under way.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from pratique.errors import PratiqueError
from streams.application.ports.metrics import Metrics

LOG: Final = logging.getLogger(__name__)

RETRY_SECONDS: Final = 1.0
"""Added to the pause after work that could not be done."""


class Beside:
    """A thread that repeats a piece of work.

    Args:
        name: The thread's name, and what the log calls it.
        work: Does what there is to do; returns whether all of it is done.
        pause_s: Between two rounds of work, in seconds.
        gauge: Name of the gauge that is 1 while all is done, and 0 while something keeps it from being done.
        metrics: Where the gauge goes.
        closing: Set once the work shall end; an event of its own where not given.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], bool],
        *,
        pause_s: float,
        gauge: str,
        metrics: Metrics,
        closing: threading.Event | None = None,
    ) -> None:
        self._name = name
        self._work = work
        self._pause_s = pause_s
        self._gauge = gauge
        self._metrics = metrics
        self._closing = closing or threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End; what is under way is finished first."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        said = ""
        while not self._closing.is_set():
            try:
                is_done = self._work()
            except PratiqueError as error:
                if self._closing.is_set():
                    return  # work that was told to stop says so by an error
                if str(error) != said:
                    LOG.warning("%s waits: %s", self._name, error)
                said = str(error)
                self._metrics.gauge(self._gauge, 0)
                self._closing.wait(RETRY_SECONDS)
            else:
                said = ""
                if is_done:
                    self._metrics.gauge(self._gauge, 1)
            self._closing.wait(self._pause_s)

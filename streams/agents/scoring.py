"""Scores from the primary detector, each within a time.

The contract: ``BoundedScores.score`` ends in time, whatever the detector does, with a score or with why there is none;
the time counts from when a place is free for the text. Each text is scored in a thread of its own, which can hold up
neither the loop nor the end of the process: one that is out of time is left behind. What a detector raises is a failure
of that text alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from threading import Thread
from typing import Final

from streams.application.ports.prompt_safety import PromptSafetyDetector
from streams.application.recall_plan import Failure
from streams.errors import DetectorTimeoutError

LOG: Final = logging.getLogger(__name__)

AT_ONCE: Final = 2
"""Texts that are scored at the same time: scoring holds the interpreter's lock, more would only wait for it."""


class BoundedScores:
    """Asks one detector."""

    def __init__(self, detector: PromptSafetyDetector) -> None:
        self._detector = detector
        self._free = asyncio.Semaphore(AT_ONCE)

    async def score(self, text: str, *, timeout_ms: int) -> float | Failure:
        """Return a text's score, or why there is none."""
        async with self._free:
            loop = asyncio.get_running_loop()
            answer: asyncio.Future[float | Failure] = loop.create_future()
            Thread(target=self._answer, args=(loop, answer, text), name="prompt-safety", daemon=True).start()
            done, _ = await asyncio.wait([answer], timeout=timeout_ms / 1000)
            if done:
                return answer.result()
        LOG.error("primary detector did not finish in %d ms", timeout_ms)
        return Failure(DetectorTimeoutError("detector did not finish in the policy's time"), self._detector.name)

    def _answer(self, loop: asyncio.AbstractEventLoop, answer: asyncio.Future[float | Failure], text: str) -> None:
        result: float | Failure
        try:
            result = float(self._detector.score(text))
        except Exception as error:  # noqa: BLE001 - an unforeseen failure is an answer, and never clean
            LOG.error("primary detector failed: %s", type(error).__name__)  # noqa: TRY400 - a trace may hold content
            result = Failure(error, self._detector.name)
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile: nobody waits
            loop.call_soon_threadsafe(answer.set_result, result)

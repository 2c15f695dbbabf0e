"""Scores from the primary detector, each within a time.

The contract: ``BoundedScores.score`` ends in time, whatever the detector does, with a score or with why there is none;
the time counts from when a place is free for the text. Texts are scored in threads that can hold up neither the loop
nor the end of the process: one that is out of time is left behind, and another takes its place. What a detector raises
is a failure of that text alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
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
        self._idle: list[_Scoring] = []
        weakref.finalize(self, _dismiss, self._idle)

    async def score(self, text: str, *, timeout_ms: int) -> float | Failure:
        """Return a text's score, or why there is none."""
        async with self._free:
            loop = asyncio.get_running_loop()
            answer: asyncio.Future[float | Failure] = loop.create_future()
            thread = self._idle.pop() if self._idle else _Scoring()
            thread.take(partial(_answer, self._detector, loop, answer, text))
            try:
                done, _ = await asyncio.wait([answer], timeout=timeout_ms / 1000)
            except asyncio.CancelledError:
                thread.dismiss()
                raise
            if done:
                self._idle.append(thread)
                return answer.result()
            thread.dismiss()
        LOG.error("primary detector did not finish in %d ms", timeout_ms)
        return Failure(DetectorTimeoutError("detector did not finish in the policy's time"), self._detector.name)


class _Scoring:
    """A thread that does one thing after the other; starting one a text would cost more than most texts."""

    def __init__(self) -> None:
        self._given: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        Thread(target=_serve, args=(self._given,), name="prompt-safety", daemon=True).start()

    def take(self, work: Callable[[], None]) -> None:
        """Do a thing, after those before it."""
        self._given.put(work)

    def dismiss(self) -> None:
        """End when what is being done is done, which may be never."""
        self._given.put(None)


def _serve(given: SimpleQueue[Callable[[], None] | None]) -> None:
    while (work := given.get()) is not None:
        work()
        del work  # it holds a text, and the next one may be long in coming


def _dismiss(idle: list[_Scoring]) -> None:
    for thread in idle:
        thread.dismiss()


def _answer(
    detector: PromptSafetyDetector, loop: asyncio.AbstractEventLoop, answer: asyncio.Future[float | Failure], text: str
) -> None:
    result: float | Failure
    try:
        result = float(detector.score(text))
    except Exception as error:  # noqa: BLE001 - an unforeseen failure is an answer, and never clean
        LOG.error("primary detector failed: %s", type(error).__name__)  # noqa: TRY400 - a trace may hold content
        result = Failure(error, detector.name)
    with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile: nobody waits
        loop.call_soon_threadsafe(_settle, answer, result)


def _settle(answer: asyncio.Future[float | Failure], result: float | Failure) -> None:
    if not answer.done():  # cancelled with whoever waited for it
        answer.set_result(result)

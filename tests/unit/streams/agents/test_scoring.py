"""Scores within a time, whatever a detector does."""

from __future__ import annotations

import asyncio
import threading

from streams.agents.scoring import AT_ONCE, BoundedScores
from streams.application.recall_plan import Failure
from streams.errors import DetectorTimeoutError

PATIENT_MS = 60_000


class Recording:
    """Notes in which threads it was asked; waits where a text says so."""

    name = "recording"
    revision = "1"

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.asked = threading.Event()
        self.released = threading.Event()

    def score(self, text: str) -> float:
        self.threads.append(threading.current_thread())
        self.asked.set()
        if text == "hangs":
            self.released.wait()
        if text == "fails":
            raise ValueError("canary")
        return 0.25


def test_texts_share_few_threads() -> None:
    detector = Recording()

    async def ask() -> list[float | Failure]:
        scores = BoundedScores(detector)
        return await asyncio.gather(*(scores.score(f"text {number}", timeout_ms=PATIENT_MS) for number in range(50)))

    assert asyncio.run(ask()) == [0.25] * 50
    assert len(set(detector.threads)) <= AT_ONCE


def test_what_fails_is_a_failure_of_that_text_alone() -> None:
    detector = Recording()

    async def ask() -> list[float | Failure]:
        scores = BoundedScores(detector)
        return [await scores.score(text, timeout_ms=PATIENT_MS) for text in ("fails", "text")]

    failed, scored = asyncio.run(ask())
    assert isinstance(failed, Failure)
    assert isinstance(failed.error, ValueError)
    assert scored == 0.25


def test_thread_that_is_out_of_time_is_left_behind_and_ends_when_it_can() -> None:
    detector = Recording()

    async def ask() -> list[float | Failure]:
        scores = BoundedScores(detector)
        late = [await scores.score("hangs", timeout_ms=1) for _ in range(AT_ONCE + 1)]
        return [*late, await scores.score("text", timeout_ms=PATIENT_MS)]

    *late, scored = asyncio.run(ask())
    assert scored == 0.25  # more texts hang than are scored at once, and none waits for them
    for item in late:
        assert isinstance(item, Failure)
        assert isinstance(item.error, DetectorTimeoutError)
    assert len(set(detector.threads)) == AT_ONCE + 2
    detector.released.set()
    for thread in detector.threads[:-1]:
        thread.join(60)
        assert not thread.is_alive()


def test_text_that_nobody_waits_for_any_more_harms_no_other() -> None:
    detector = Recording()

    async def ask() -> float | Failure:
        scores = BoundedScores(detector)
        waiting = asyncio.create_task(scores.score("hangs", timeout_ms=PATIENT_MS))
        await asyncio.to_thread(detector.asked.wait)
        waiting.cancel()
        await asyncio.wait([waiting])
        detector.released.set()
        return await scores.score("text", timeout_ms=PATIENT_MS)

    assert asyncio.run(ask()) == 0.25


def test_threads_end_with_what_asked_them() -> None:
    detector = Recording()

    async def ask() -> None:
        scores = BoundedScores(detector)
        await scores.score("text", timeout_ms=PATIENT_MS)

    asyncio.run(ask())
    (thread,) = detector.threads
    thread.join(60)
    assert not thread.is_alive()

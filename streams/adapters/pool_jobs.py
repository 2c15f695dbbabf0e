"""Jobs of the scanner pool: what waits, what goes together, and what an answer must look like.

The contract: a job is finished exactly once. Small jobs that already wait together travel as one chunk; nothing waits
for a chunk to fill. A job whose process died travels alone.
"""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from threading import Condition
from typing import Final, TypeAlias

from pratique.contract.canonical import JsonValue, canonical_json
from pratique.contract.reasons import ReasonCode
from pratique.errors import MalformedError
from streams.application.ports.detection import Detection, ScanFailure
from streams.domain.policy.model import ViewLimits
from streams.domain.policy.scan_rules import ScanRules
from streams.domain.scanning.finding import Finding, check_name
from streams.domain.scanning.request import ScanReceipt

CHUNK_JOBS: Final = 16
CHUNK_BYTES: Final = 64 * 1024
"""A chunk holds at most so many jobs and, beyond its first, so many bytes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A worker's answer, as read: it is believed only where the use case finds it bound to the request."""

    detection: Detection
    receipt: ScanReceipt | None


Conclusion: TypeAlias = Answer | ReasonCode


@dataclass(slots=True, eq=False)
class Job:
    """One request to a worker.

    Attributes:
        payload: Its JSON.
        timeout_s: How long a worker may take for it.
        future: Its answer, or the code that stands for there being none.
        attempts: How many processes have died under it.
    """

    payload: bytes
    timeout_s: float
    future: Future[Conclusion] = field(default_factory=Future)
    attempts: int = 0

    def begin(self) -> bool:
        """Say whether someone still waits for the answer; from then on it cannot be cancelled."""
        return self.future.running() or self.future.set_running_or_notify_cancel()

    def finish(self, conclusion: Conclusion) -> None:
        """Answer the job; the first answer counts, and nobody may be waiting any more."""
        with contextlib.suppress(InvalidStateError):
            self.future.set_result(conclusion)


class JobQueue:
    """Jobs in order of arrival, taken in chunks by several threads.

    Args:
        takers: How many threads take from it: a chunk leaves the others their share.
    """

    def __init__(self, takers: int) -> None:
        self._takers = takers
        self._jobs: deque[Job] = deque()
        self._changed = Condition()
        self._closed = False

    def put(self, job: Job) -> bool:
        """Add a job at the end; says False where the queue is closed."""
        with self._changed:
            if not self._closed:
                self._jobs.append(job)
                self._changed.notify()
            return not self._closed

    def put_back(self, jobs: Sequence[Job]) -> bool:
        """Return jobs to the front, in their order; where the queue is closed they are answered DETECTOR_ERROR."""
        with self._changed:
            closed = self._closed
            if not closed:
                self._jobs.extendleft(reversed(jobs))
                self._changed.notify(len(jobs))
        if closed:
            for job in jobs:
                job.finish(ReasonCode.DETECTOR_ERROR)
        return not closed

    def take(self) -> list[Job]:
        """Wait for jobs and return a chunk; nothing where the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closed)
            if self._closed:
                return []
            share = min(CHUNK_JOBS, -(-len(self._jobs) // self._takers))
            chunk = [self._jobs.popleft()]
            size = len(chunk[0].payload)
            while self._jobs and len(chunk) < share and not chunk[0].attempts and not self._jobs[0].attempts:
                size += len(self._jobs[0].payload)
                if size > CHUNK_BYTES:
                    break
                chunk.append(self._jobs.popleft())
            return chunk

    def drain(self) -> list[Job]:
        """Return the jobs that wait, and wait no more."""
        with self._changed:
            waiting = list(self._jobs)
            self._jobs.clear()
        return waiting

    def close(self) -> list[Job]:
        """Take no more jobs; returns those that waited."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        return self.drain()


def stated_limits(limits: ViewLimits) -> dict[str, JsonValue]:
    """Return how far disguises are taken off, as a job says it."""
    return {"views": {"max_depth": limits.max_depth, "max_characters": limits.max_characters}}


def stated_rules(rules: ScanRules, at_ms: int | None) -> dict[str, JsonValue]:
    """Return a policy's rules as a job says them: as text, which a worker reads once for many jobs."""
    return {"rules": canonical_json(rules.body()), "at_ms": at_ms} if rules else {}


def read_answer(payload: bytes) -> Answer:
    """Read a worker's answer.

    Raises:
        MalformedError: It is not of the closed form; a worker that speaks otherwise is as good as dead.
    """
    try:
        body = json.loads(payload)
    except ValueError:
        raise MalformedError("worker's answer is not JSON") from None
    if not isinstance(body, Mapping):
        raise MalformedError("worker's answer is no object")
    findings, count, receipt = body.get("findings"), body.get("finding_count"), body.get("receipt")
    if not isinstance(findings, list) or type(count) is not int or not isinstance(receipt, Mapping | None):
        raise MalformedError("worker's answer is not of its closed form")
    detection = Detection(
        tuple(Finding.of(item) for item in findings),
        count,
        _failure(body.get("failure")),
        _counts(body.get("allowed")),
        _counts(body.get("observed")),
    )
    return Answer(detection, None if receipt is None else ScanReceipt.of(receipt))


def _counts(body: JsonValue) -> dict[str, int]:
    if body is None:
        return {}
    if not isinstance(body, Mapping):
        raise MalformedError("worker's counts are not of their closed form")
    counts = {check_name(name): count for name, count in body.items() if type(count) is int and count > 0}
    if len(counts) < len(body):
        raise MalformedError("worker's counts are not of their closed form")
    return counts


def _failure(body: JsonValue) -> ScanFailure | None:
    if body is None:
        return None
    try:
        if isinstance(body, Mapping):
            return ScanFailure(ReasonCode(body["code"]), check_name(body["detector"]))
    except (KeyError, ValueError):
        pass
    raise MalformedError("worker's failure is not of its closed form")

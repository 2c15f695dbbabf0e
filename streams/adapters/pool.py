"""The scanner as a pool of worker processes: bounded, timed, and an answer to every request.

The contract: each worker has a socket of its own and holds at most one chunk of jobs. A job that outlives its time
ends with its process (DETECTOR_TIMEOUT); one whose process dies is tried once more, alone, on a fresh one, and is then
answered DETECTOR_ERROR. Other jobs of the chunk are put back untouched. Workers are replaced when they die and after a
number of jobs; none outlives this process.

It decides nothing about findings, and it never runs a detector in this process.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import Future
from multiprocessing.util import Finalize
from threading import Event, Thread
from typing import Final, Self

from pratique.contract.canonical import JsonValue, canonical_bytes
from pratique.contract.reasons import ReasonCode
from streams.adapters.detectors import STANDARD
from streams.adapters.pool_jobs import Answer, Job, JobQueue, read_answer, stated_limits, stated_rules
from streams.adapters.pool_worker import WorkerProcess
from streams.application.ports.detection import Detection, ScanFailure, ScanResponse
from streams.domain.scanning.manifest import ScannerManifest
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile, ScanRequest, error_receipt
from streams.errors import ConfigurationError, DetectorError

MAX_ATTEMPTS: Final = 2
"""How often a job is begun when its process dies under it."""

START_DELAYS_S: Final = (0.0, 0.1, 0.5, 2.0)
"""Waits before each attempt to start a worker. After the last, if none lives, what waits is answered DETECTOR_ERROR."""

_JOIN_TIMEOUT_S: Final = 10.0
_BEFORE_JOINING: Final = 10
"""Priority at this process's exit: before multiprocessing waits for processes, one of which a slot might just start."""

_POOL: Final = "pool"
_PRELOAD: Final = "streams.adapters.preload"


class WorkerPool:
    """Worker processes behind the ``ScanPool`` port.

    Args:
        workers: Number of processes.
        factory: Path of the detectors' factory, ``module:function``; policy pins what it returns.
        max_pending: Most jobs that wait or run; ``scan`` waits while there are as many.
        max_jobs_per_worker: Jobs after which a process is replaced, so that no leak grows for ever.
        start_timeout_s: How long a process may take to load its detectors.
        start_delays_s: Waits before each attempt to start a process.
        preload: Whether the fork server loads the standard detectors once for all; the first pool of a process
            decides. Leave it to the default unless workers must not share memory.
    """

    def __init__(
        self,
        *,
        workers: int,
        factory: str = STANDARD,
        max_pending: int = 64,
        max_jobs_per_worker: int = 10_000,
        start_timeout_s: float = 60.0,
        start_delays_s: Sequence[float] = START_DELAYS_S,
        preload: bool | None = None,
    ) -> None:
        if min(workers, max_pending, max_jobs_per_worker) < 1:
            raise ConfigurationError("a pool needs at least one worker, one pending job and one job per worker")
        self._factory = factory
        self._max_jobs = max_jobs_per_worker
        self._start_timeout_s = start_timeout_s
        self._start_delays_s = tuple(start_delays_s)
        self._context = multiprocessing.get_context("forkserver")
        if factory == STANDARD if preload is None else preload:
            self._context.set_forkserver_preload([_PRELOAD])
        self._jobs = JobQueue(workers)
        self._pending = asyncio.Semaphore(max_pending)
        self._scanner: ScannerManifest | None = None
        self._slots = [_Slot(self) for _ in range(workers)]
        self._at_exit: Finalize | None = None

    @property
    def scanner(self) -> ScannerManifest:
        """Which scanner this is.

        Raises:
            DetectorError: The pool was not warmed up yet.
        """
        if self._scanner is None:
            raise DetectorError("scanner is not loaded: await warm() first")
        return self._scanner

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the live workers."""
        return tuple(pid for slot in self._slots if (pid := slot.pid) is not None)

    async def warm(self) -> ScannerManifest:
        """Start every worker and wait until its detectors are loaded.

        Raises:
            DetectorError: A worker could not load, or two workers are different scanners.
        """
        if self._at_exit is None:
            self._at_exit = Finalize(None, self._end, exitpriority=_BEFORE_JOINING)
        for slot in self._slots:
            slot.start()
        results = await asyncio.gather(
            *(asyncio.wrap_future(slot.ready) for slot in self._slots), return_exceptions=True
        )
        manifests = [result for result in results if isinstance(result, ScannerManifest)]
        if len(manifests) < len(results) or any(manifest != manifests[0] for manifest in manifests):
            await self.close()
            raise DetectorError(f"scan workers could not load {self._factory!r}; run `pratique doctor`")
        self._scanner = manifests[0]
        return self._scanner

    async def scan(self, request: ScanRequest) -> ScanResponse:
        """Scan a population; what goes wrong with a worker is the response's failure and an ERROR receipt."""
        further = {**stated_limits(request.limits), **stated_rules(request.rules, request.at_ms)}
        answer = await self._submit({"request": request.body, **further}, request.timeout_ms)
        if isinstance(answer, Answer) and answer.receipt is not None:
            return ScanResponse(answer.receipt, answer.detection)
        return ScanResponse(error_receipt(request), _failed(answer))

    async def detect(self, fields: Sequence[Field], profile: ScanProfile, *, timeout_ms: int) -> Detection:
        """Look at fields that are no compaction population."""
        job: dict[str, JsonValue] = {
            "fields": [field.body() for field in fields],
            "language_profiles": list(profile.language_profiles),
            "entity_types": list(profile.entity_types),
            **stated_limits(profile.limits),
            **stated_rules(profile.rules, profile.at_ms),
        }
        answer = await self._submit(job, timeout_ms)
        return answer.detection if isinstance(answer, Answer) else _failed(answer)

    async def close(self) -> None:
        """End every worker. Jobs that were not answered are answered DETECTOR_ERROR."""
        if self._at_exit is not None:
            self._at_exit.cancel()
        await asyncio.to_thread(self._end)

    async def __aenter__(self) -> Self:
        await self.warm()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _end(self) -> None:
        for job in self._jobs.close():
            job.finish(ReasonCode.DETECTOR_ERROR)
        for slot in self._slots:
            slot.end()
        for slot in self._slots:
            slot.join()

    def _fail_waiting(self) -> None:
        """Answer what waits, where no slot has a worker that could: an error in time beats none."""
        if not self.pids:
            for job in self._jobs.drain():
                job.finish(ReasonCode.DETECTOR_ERROR)

    async def _submit(self, body: dict[str, JsonValue], timeout_ms: int) -> Answer | ReasonCode:
        async with self._pending:
            job = Job(canonical_bytes(body), timeout_ms / 1000)
            if not self._jobs.put(job):
                return ReasonCode.DETECTOR_ERROR
            return await asyncio.wrap_future(job.future)


class _Slot:
    """One place for a worker: a thread that feeds the process and replaces it."""

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool
        self._worker: WorkerProcess | None = None
        self._thread: Thread | None = None
        self._ended = Event()
        self.ready: Future[ScannerManifest] = Future()

    @property
    def pid(self) -> int | None:
        worker = self._worker
        return worker.pid if worker is not None and worker.is_alive() else None

    def start(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._run, name="scan-slot", daemon=True)
            self._thread.start()

    def end(self) -> None:
        self._ended.set()
        worker = self._worker
        if worker is not None:
            worker.kill()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join(_JOIN_TIMEOUT_S)

    def _run(self) -> None:
        try:
            self.ready.set_result(self._live_worker().manifest)
        except Exception as error:  # noqa: BLE001 - whoever awaits the start must hear of it
            self.ready.set_exception(error)
            return
        while not self._ended.is_set():
            try:
                worker = self._live_worker()
            except DetectorError:
                self._pool._fail_waiting()  # noqa: SLF001 - a slot is part of its pool
                continue
            self._serve(worker, [job for job in self._pool._jobs.take() if job.begin()])  # noqa: SLF001
        self._drop_worker()

    def _live_worker(self) -> WorkerProcess:
        """Return this slot's worker, started if need be.

        Raises:
            DetectorError: None would start, or one that did is another scanner than the pool's.
        """
        if self._worker is not None and self._worker.is_alive() and self._worker.jobs < self._pool._max_jobs:  # noqa: SLF001
            return self._worker
        self._drop_worker()
        pool = self._pool
        for delay_s in pool._start_delays_s:  # noqa: SLF001
            if self._ended.wait(delay_s):
                break
            try:
                self._worker = WorkerProcess(pool._context, pool._factory)  # noqa: SLF001
                manifest = self._worker.load(timeout_s=pool._start_timeout_s)  # noqa: SLF001
            except (DetectorError, OSError):
                self._drop_worker()
                continue
            if pool._scanner is None or manifest == pool._scanner:  # noqa: SLF001
                return self._worker
            self._drop_worker()
        raise DetectorError("scan worker does not start")

    def _drop_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def _serve(self, worker: WorkerProcess, chunk: list[Job]) -> None:
        if not chunk:
            return
        if not worker.is_alive():  # it died idle: none of these was begun
            self._pool._jobs.put_back(chunk)  # noqa: SLF001
            return
        done = 0
        try:
            worker.send([job.payload for job in chunk], timeout_s=chunk[0].timeout_s)
            for job in chunk:
                job.finish(read_answer(worker.receive(timeout_s=job.timeout_s)))
                done += 1
        except TimeoutError:
            self._drop_worker()
            chunk[done].finish(ReasonCode.DETECTOR_TIMEOUT)
            self._pool._jobs.put_back(chunk[done + 1 :])  # noqa: SLF001
        except Exception:  # noqa: BLE001 - gone, or it speaks nonsense; a slot that ended here would strand its jobs
            self._drop_worker()
            self._retry(chunk[done])
            self._pool._jobs.put_back(chunk[done + 1 :])  # noqa: SLF001

    def _retry(self, job: Job) -> None:
        job.attempts += 1
        if job.attempts >= MAX_ATTEMPTS or not self._pool._jobs.put_back([job]):  # noqa: SLF001
            job.finish(ReasonCode.DETECTOR_ERROR)


def _failed(answer: Answer | ReasonCode) -> Detection:
    code = answer if isinstance(answer, ReasonCode) else ReasonCode.DETECTOR_ERROR
    return Detection((), 0, ScanFailure(code, _POOL))

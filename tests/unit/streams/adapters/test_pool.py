"""What the pool does when its processes hang, crash, are killed, or are not what policy pins."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import weakref
from typing import TYPE_CHECKING

import psutil
import pytest

from pratique.contract.reasons import ReasonCode
from streams.adapters.detectors import UNSAFE_NONE, load_detectors
from streams.adapters.pool import WorkerPool
from streams.domain.scanning.manifest import ScannerManifest
from streams.domain.scanning.population import Field, scan_population
from streams.domain.scanning.request import Decision, ScanProfile, check_binding, check_scanner, scan_request
from streams.errors import ConfigurationError, DetectorError
from tests.fakes.detectors import CHANGED, CRASH, FAILING, HANG, HANGING, SCRIPTED, crash_once
from tests.unit.streams.domain.scanning.builders import context, policy

if TYPE_CHECKING:
    from pathlib import Path

    from streams.application.ports.detection import Detection, ScanResponse

PROFILE = ScanProfile(("en",), ("EMAIL_ADDRESS",))
LONG_MS = 60_000
SHORT_MS = 300


async def find(pool: WorkerPool, text: str, timeout_ms: int = LONG_MS) -> Detection:
    return await pool.detect([Field("text", text)], PROFILE, timeout_ms=timeout_ms)


def failure(detection: Detection) -> ReasonCode | None:
    return detection.failure.code if detection.failure else None


async def gone(*pids: int) -> None:
    """Wait until processes have ended."""
    await asyncio.to_thread(_gone, pids)


def _gone(pids: tuple[int, ...]) -> None:
    alive = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    _, left = psutil.wait_procs(alive, timeout=20)
    assert not left


def test_a_job_that_outlives_its_time_is_a_timeout_with_a_bound_error_receipt() -> None:
    async def run() -> ScanResponse:
        async with WorkerPool(workers=1, factory=SCRIPTED) as pool:
            asked = scan_request(policy(timeout_ms=SHORT_MS), scan_population(context(summary_text=HANG)))
            response = await pool.scan(asked)
            check_binding(response.receipt, asked)
            return response

    response = asyncio.run(run())
    assert response.receipt.decision is Decision.ERROR
    assert failure(response.detection) is ReasonCode.DETECTOR_TIMEOUT


def test_those_beside_one_that_hangs_are_answered() -> None:
    async def run() -> list[Detection]:
        async with WorkerPool(workers=1, factory=SCRIPTED) as pool:
            hanging = find(pool, HANG, SHORT_MS)
            return list(await asyncio.gather(find(pool, "<pii>"), hanging, *(find(pool, "<pii>") for _ in range(20))))

    first, hung, *others = asyncio.run(run())
    assert failure(hung) is ReasonCode.DETECTOR_TIMEOUT
    assert [item.finding_count for item in (first, *others)] == [1] * 21


def test_a_job_that_crashes_its_process_twice_is_an_error_and_harms_no_other() -> None:
    async def run() -> list[Detection]:
        async with WorkerPool(workers=1, factory=SCRIPTED) as pool:
            jobs = [find(pool, "<pii>"), find(pool, CRASH), *(find(pool, "<pii>") for _ in range(20))]
            return list(await asyncio.gather(*jobs))

    first, crashed, *others = asyncio.run(run())
    assert failure(crashed) is ReasonCode.DETECTOR_ERROR
    assert [item.finding_count for item in (first, *others)] == [1] * 21


def test_a_job_whose_process_dies_once_is_tried_again(tmp_path: Path) -> None:
    async def run() -> Detection:
        async with WorkerPool(workers=1, factory=SCRIPTED) as pool:
            return await find(pool, f"<pii> {crash_once(tmp_path / 'crashed')}")

    detection = asyncio.run(run())
    assert (detection.finding_count, detection.failure) == (1, None)
    assert (tmp_path / "crashed").exists()


def test_an_idle_process_that_is_killed_costs_no_job_anything() -> None:
    async def run() -> list[Detection]:
        async with WorkerPool(workers=2, factory=SCRIPTED) as pool:
            answers = []
            for _ in range(3):
                for pid in pool.pids:
                    os.kill(pid, signal.SIGKILL)
                answers += await asyncio.gather(*(find(pool, "<pii>") for _ in range(20)))
            return answers

    assert [item.finding_count for item in asyncio.run(run())] == [1] * 60


def test_a_stopped_process_costs_a_timeout_and_is_replaced() -> None:
    async def run() -> tuple[Detection, Detection]:
        async with WorkerPool(workers=1, factory=SCRIPTED) as pool:
            (stopped,) = pool.pids
            os.kill(stopped, signal.SIGSTOP)
            hung = await find(pool, "<pii>", SHORT_MS)
            answered = await find(pool, "<pii>")
            assert pool.pids != (stopped,)
            await gone(stopped)
            return hung, answered

    hung, answered = asyncio.run(run())
    assert failure(hung) is ReasonCode.DETECTOR_TIMEOUT
    assert answered.finding_count == 1


def test_the_fork_server_s_death_is_survived() -> None:
    async def run() -> Detection:
        async with WorkerPool(workers=1, factory=SCRIPTED) as pool:
            (worker,) = pool.pids
            parent = psutil.Process(worker).parent()
            assert parent is not None
            parent.kill()
            await gone(worker)
            return await find(pool, "<pii>")

    assert asyncio.run(run()).finding_count == 1


def test_processes_are_replaced_after_their_jobs() -> None:
    async def run() -> tuple[set[int], list[Detection]]:
        pids: set[int] = set()
        async with WorkerPool(workers=1, factory=SCRIPTED, max_jobs_per_worker=2) as pool:
            answers = []
            for _ in range(6):
                pids |= set(pool.pids)
                answers.append(await find(pool, "<pii>"))
            return pids, answers

    pids, answers = asyncio.run(run())
    assert len(pids) >= 3
    assert all(item.finding_count == 1 for item in answers)


def test_more_findings_than_are_listed_are_counted() -> None:
    async def run() -> Detection:
        async with WorkerPool(workers=1, factory=SCRIPTED) as pool:
            return await find(pool, "<pii>" * 1_500)

    detection = asyncio.run(run())
    assert (len(detection.findings), detection.finding_count) == (1_000, 1_500)


def test_close_ends_the_processes_and_answers_what_waits() -> None:
    async def run() -> list[Detection]:
        pool = WorkerPool(workers=1, factory=SCRIPTED)
        await pool.warm()
        pids = pool.pids
        waiting = [asyncio.create_task(find(pool, HANG)) for _ in range(3)]
        await asyncio.wait(waiting, timeout=0.1)
        await pool.close()
        answers = list(await asyncio.gather(*waiting))
        await gone(*pids)
        return [*answers, await find(pool, "late")]

    assert {failure(item) for item in asyncio.run(run())} == {ReasonCode.DETECTOR_ERROR}


def test_cancelled_jobs_are_not_begun() -> None:
    async def run() -> Detection:
        async with WorkerPool(workers=1, factory=SCRIPTED, max_pending=8) as pool:
            hanging = asyncio.create_task(find(pool, HANG, 1_000))
            await asyncio.wait([hanging], timeout=0.1)
            dropped = asyncio.create_task(find(pool, CRASH))
            await asyncio.wait([dropped], timeout=0.05)
            dropped.cancel()
            await hanging
            return await find(pool, "<pii>")

    assert asyncio.run(run()).finding_count == 1


@pytest.mark.parametrize("factory", [FAILING, "tests.fakes.detectors:absent", "no.such.module:factory", "nonsense"])
def test_detectors_that_do_not_load_are_an_error_at_start(factory: str) -> None:
    with pytest.raises(DetectorError):
        asyncio.run(WorkerPool(workers=1, factory=factory, start_delays_s=(0.0,)).warm())


def test_detectors_that_never_load_are_an_error_at_start() -> None:
    with pytest.raises(DetectorError):
        asyncio.run(WorkerPool(workers=1, factory=HANGING, start_timeout_s=0.2, start_delays_s=(0.0,)).warm())


def test_a_pool_that_was_not_warmed_is_no_scanner() -> None:
    with pytest.raises(DetectorError):
        _ = WorkerPool(workers=1, factory=SCRIPTED).scanner


@pytest.mark.parametrize("sizes", [{"workers": 0}, {"workers": 1, "max_pending": 0}])
def test_an_empty_pool_is_a_mistake(sizes: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError):
        WorkerPool(factory=SCRIPTED, **sizes)  # type: ignore[arg-type]  # sizes alone


def test_changed_detectors_and_none_are_not_the_scanner_that_policy_pins() -> None:
    async def run(factory: str) -> ScannerManifest:
        async with WorkerPool(workers=2, factory=factory) as pool:
            return pool.scanner

    check_scanner(policy(), asyncio.run(run(SCRIPTED)))
    for factory in (CHANGED, UNSAFE_NONE):
        with pytest.raises(DetectorError):
            check_scanner(policy(), asyncio.run(run(factory)))


def test_no_detectors_go_by_a_name_that_says_so() -> None:
    (detector,) = load_detectors(UNSAFE_NONE)
    manifest = ScannerManifest.of([detector.manifest])
    assert "UnsafeNoDetectors" in manifest.scanner_version
    assert detector.scan([Field("text", "<secret>")], PROFILE) == []


PARENT = textwrap.dedent(
    """
    import asyncio, sys
    from multiprocessing.util import Finalize
    from streams.adapters.pool import WorkerPool
    from streams.domain.scanning.population import Field
    from streams.domain.scanning.request import ScanProfile

    async def main():
        pool = WorkerPool(workers=2, factory="tests.fakes.detectors:scripted")
        await pool.warm()
        hang = Field("text", "<hang>")
        busy = asyncio.create_task(pool.detect([hang], ScanProfile(("en",), ("X",)), timeout_ms=600_000))
        await asyncio.wait([busy], timeout=0.2)
        print(*pool.pids, flush=True)
        # Next to last at exit: after it, multiprocessing waits for every process that is left.
        Finalize(None, lambda: print("left:", *pool.pids, flush=True), exitpriority=0)
        if sys.argv[1] == "wait":
            await busy

    asyncio.run(main()) if sys.argv[1] != "forget" else sys.exit(asyncio.new_event_loop().run_until_complete(main()))
    """
)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_outlives_its_parent(how: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, "wait"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        parent.send_signal(how)
        _gone(tuple(pids))


def test_a_pool_that_is_closed_is_not_kept_for_the_end_of_its_process() -> None:
    async def run() -> weakref.ref[WorkerPool]:
        async with WorkerPool(workers=1, factory=SCRIPTED) as pool:
            return weakref.ref(pool)

    closed = asyncio.run(run())
    gc.collect()
    assert closed() is None


def test_a_parent_that_forgets_to_close_ends_all_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", PARENT, "forget"], capture_output=True, timeout=60, check=False)
    first, last = done.stdout.splitlines()
    pids = tuple(int(pid) for pid in first.split())
    assert len(pids) == 2
    assert last == b"left:"  # nobody who could start another while those that are left are waited for
    _gone(pids)

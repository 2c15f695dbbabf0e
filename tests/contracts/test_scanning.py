"""The pool of processes and the one in this process do what the port says."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from streams.adapters.pool import WorkerPool
from tests.contracts.scanning import ScanPoolCases
from tests.fakes.detectors import SCRIPTED, scripted
from tests.fakes.scanning import InlinePool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from streams.application.ports.detection import ScanPool
    from tests.contracts.scanning import Use


class TestInlinePool(ScanPoolCases):
    @pytest.fixture
    def use(self) -> Use:
        return lambda body: asyncio.run(_awaited(body, InlinePool(scripted())))


@pytest.fixture(scope="module")
def worker_pool() -> Iterator[Use]:
    with asyncio.Runner() as runner:
        pool = WorkerPool(workers=2, factory=SCRIPTED)
        runner.run(pool.warm())
        yield lambda body: runner.run(_awaited(body, pool))
        runner.run(pool.close())


class TestWorkerPool(ScanPoolCases):
    @pytest.fixture
    def use(self, worker_pool: Use) -> Use:
        return worker_pool


async def _awaited(body: Callable[[ScanPool], Awaitable[object]], pool: ScanPool) -> object:
    return await body(pool)

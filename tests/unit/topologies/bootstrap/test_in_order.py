"""Work begun ahead comes back in order, and ends with whoever takes its results."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from functools import wraps
from typing import Any, ParamSpec

import pytest

from topologies.bootstrap.in_order import in_order

P = ParamSpec("P")

pytestmark = pytest.mark.timeout(60)


def run_to_its_end(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a test in a loop of its own."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


class Shift:
    """Numbers as work, and what became of them."""

    def __init__(self, number: int) -> None:
        self.all_wait = asyncio.Event()
        self.cancelled: list[int] = []
        self.read_to_its_end = False
        self._last = number

    async def do(self, number: int) -> int:
        if number == self._last:
            self.all_wait.set()
        if number == 0:
            return number
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.append(number)
            raise
        return number

    async def endless(self) -> AsyncGenerator[tuple[str, Coroutine[Any, Any, int]]]:
        try:
            for number in itertools.count():
                yield str(number), self.do(number)
        finally:
            self.read_to_its_end = True


@run_to_its_end
async def test_results_come_in_the_order_of_the_work_whichever_is_done_first() -> None:
    last = asyncio.Event()

    async def do(number: int) -> int:
        if number == 3:
            last.set()
        await last.wait()
        return number * 2

    async def work() -> AsyncGenerator[tuple[int, Coroutine[Any, Any, int]]]:
        for number in range(4):
            yield number, do(number)

    assert [item async for item in in_order(work(), ahead=10)] == [(0, 0), (1, 2), (2, 4), (3, 6)]


@pytest.mark.parametrize("ahead", [1, 3])
@run_to_its_end
async def test_nothing_is_left_where_nobody_takes_more(ahead: int) -> None:
    """What waits for a place, and what was begun before it."""
    shift = Shift(ahead + 1)
    before = asyncio.all_tasks()
    async with aclosing(in_order(shift.endless(), ahead=ahead)) as results:
        assert await anext(results) == ("0", 0)
        await shift.all_wait.wait()  # the queue is full, and one waits for a place in it
    assert sorted(shift.cancelled) == list(range(1, ahead + 2))
    assert shift.read_to_its_end
    assert asyncio.all_tasks() == before


@run_to_its_end
async def test_what_fails_unseen_is_never_told(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> int:
        raise ValueError

    async def work() -> AsyncGenerator[tuple[int, Coroutine[Any, Any, int]]]:
        yield 0, fail()
        yield 1, fail()

    with pytest.raises(ValueError):  # noqa: PT011 - it says nothing
        async with aclosing(in_order(work(), ahead=5)) as results:
            await anext(results)
    assert not caplog.records


@run_to_its_end
async def test_where_reading_fails_what_was_read_before_is_yielded_first() -> None:
    async def do() -> str:
        return "done"

    async def work() -> AsyncGenerator[tuple[int, Coroutine[Any, Any, str]]]:
        yield 0, do()
        raise OSError(5, "gone")

    results = in_order(work(), ahead=5)
    assert await anext(results) == (0, "done")
    with pytest.raises(OSError, match="gone"):
        await anext(results)

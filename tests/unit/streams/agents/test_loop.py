"""The loop takes, marks and drops; waiting grows and ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

import pytest

from streams.agents.loop import run, until_available
from streams.application.ports.log import Batch, Partition
from streams.errors import UnavailableError
from tests.fakes.steps import FakeMetrics, Record

PLACE: Partition = ("topic", 0)


@dataclass
class Assignment:
    epoch: int = 1
    marked: list[tuple[int, Mapping[Partition, int]]] = field(default_factory=list)

    def mark(self, epoch: int, offsets: Mapping[Partition, int]) -> None:
        self.marked.append((epoch, offsets))


@dataclass
class Step:
    assignment: Assignment
    taken: list[int] = field(default_factory=list)
    current: list[Callable[[], bool]] = field(default_factory=list)
    fails_at: int | None = None

    async def take(self, batch: Batch, is_current: Callable[[], bool]) -> Mapping[Partition, int]:
        (offset,) = batch.ends().values()
        self.taken.append(offset)
        self.current.append(is_current)
        if offset == self.fails_at:
            raise UnavailableError("lost")
        return batch.ends()

    async def gained(self, partitions: frozenset[Partition]) -> None: ...

    async def tick(self) -> None: ...


def batch(offset: int, epoch: int) -> Batch:
    return Batch(epoch, {PLACE: [Record("topic", b"v", offset=offset)]})


async def stream(*batches: Batch | Callable[[], None]) -> AsyncIterator[Batch]:
    """Yield batches; calls in between are made at their turn."""
    for item in batches:
        if isinstance(item, Batch):
            yield item
        else:
            item()


def test_what_a_step_returns_is_marked_under_the_batchs_epoch() -> None:
    assignment = Assignment()
    asyncio.run(run(stream(batch(0, 1), batch(1, 1)), Step(assignment), assignment))
    assert assignment.marked == [(1, {PLACE: 1}), (1, {PLACE: 2})]


def test_batch_of_an_older_assignment_is_dropped() -> None:
    assignment = Assignment(epoch=3)
    step = Step(assignment)
    asyncio.run(run(stream(batch(0, 1), batch(1, 2), batch(2, 3), batch(3, 4)), step, assignment))
    assert step.taken == [3]
    assert assignment.marked == [(3, {PLACE: 3})]


def test_each_batch_asks_about_its_own_assignment() -> None:
    assignment = Assignment()
    step = Step(assignment)

    def rebalance() -> None:
        assignment.epoch = 2

    asyncio.run(run(stream(batch(0, 1), rebalance, batch(1, 2)), step, assignment))
    assert [is_current() for is_current in step.current] == [False, True]


def test_what_a_step_raises_ends_the_loop_and_marks_nothing() -> None:
    assignment = Assignment()
    step = Step(assignment, fails_at=2)
    with pytest.raises(UnavailableError):
        asyncio.run(run(stream(batch(0, 1), batch(1, 1), batch(2, 1)), step, assignment))
    assert assignment.marked == [(1, {PLACE: 1})]
    assert step.taken == [1, 2]


def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Make waiting take no time; return how long was waited."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return waited


def test_waiting_grows_to_its_bound_and_ends_with_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    waited = waits(monkeypatch)
    metrics = FakeMetrics()
    failures = iter(range(8))

    async def attempt() -> str:
        if next(failures, None) is not None:
            raise UnavailableError("away")
        return "answer"

    assert asyncio.run(until_available(attempt, lambda: True, metrics, "broker")) == "answer"
    assert waited == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0]
    assert metrics.counted["waits_total what=broker"] == 8


def test_waiting_ends_with_the_assignment(monkeypatch: pytest.MonkeyPatch) -> None:
    waited = waits(monkeypatch)

    async def attempt() -> str:
        raise UnavailableError("away")

    answers = iter([True, True, False])
    assert asyncio.run(until_available(attempt, lambda: next(answers), FakeMetrics(), "broker")) is None
    assert len(waited) == 2


def test_answer_is_taken_though_the_assignment_ended() -> None:
    async def attempt() -> str:
        return "answer"

    assert asyncio.run(until_available(attempt, lambda: False, FakeMetrics(), "broker")) == "answer"


def test_what_is_no_absence_is_not_waited_out() -> None:
    async def attempt() -> str:
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        asyncio.run(until_available(attempt, lambda: True, FakeMetrics(), "broker"))

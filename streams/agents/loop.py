"""The loop of every app: take a batch, decide, send, mark.

The contract: a step's ``take`` returns, by partition, the offset that is safe to commit, and returns only after
everything it sent was acknowledged. The loop marks that and nothing else. A batch of an older assignment is dropped:
its records are read again by whoever owns them now. What a step raises is not handled here: the process ends without
marking, and the log is read again from the last safe offset (``UnavailableError`` is waited out by the step itself).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Final, Protocol, TypeVar

from streams.application.ports.log import Batch, Partition
from streams.application.ports.metrics import Metrics
from streams.errors import UnavailableError

LOG: Final = logging.getLogger(__name__)

FIRST_WAIT_SECONDS: Final = 0.2
LONGEST_WAIT_SECONDS: Final = 10.0

ResultT = TypeVar("ResultT")


class Assignment(Protocol):
    """Which assignment the app holds, and what of it is safe."""

    @property
    def epoch(self) -> int:
        """The current assignment; it changes with every rebalance."""
        ...

    def mark(self, epoch: int, offsets: Mapping[Partition, int]) -> None:
        """State the offsets that may be committed, unless the epoch is over."""
        ...


class Step(Protocol):
    """What an app does with a batch."""

    async def take(self, batch: Batch, is_current: Callable[[], bool]) -> Mapping[Partition, int]:
        """Serve a batch; return what is safe to commit.

        Args:
            batch: The records.
            is_current: Whether the batch's assignment still holds.
        """
        ...

    async def gained(self, partitions: frozenset[Partition]) -> None:
        """Prepare for an assignment; called before its first batch, with all partitions that are held now."""
        ...

    async def tick(self) -> None:
        """Do what time asks for; called about twice a second."""
        ...


async def run(batches: AsyncIterator[Batch], step: Step, assignment: Assignment) -> None:
    """Serve batches until the stream ends."""
    async for batch in batches:
        if batch.epoch != assignment.epoch:
            continue
        offsets = await step.take(batch, lambda epoch=batch.epoch: assignment.epoch == epoch)  # type: ignore[misc]
        assignment.mark(batch.epoch, offsets)


async def until_available(
    attempt: Callable[[], Awaitable[ResultT]], is_current: Callable[[], bool], metrics: Metrics, what: str
) -> ResultT | None:
    """Try until an outside thing answers, with growing waits; none if the assignment ends first.

    Args:
        attempt: What is tried; it raises ``UnavailableError`` while the outside thing is away.
        is_current: Whether anyone still wants the answer.
        metrics: Where waiting is counted, so that health can say so.
        what: What is waited for, in our own words.
    """
    wait = FIRST_WAIT_SECONDS
    while True:
        try:
            result = await attempt()
        except UnavailableError as error:
            metrics.count("waits_total", what=what)
            metrics.gauge("waiting", 1, what=what)
            LOG.warning("waiting for %s: %s", what, error)
            if not is_current():
                return None
            await asyncio.sleep(wait)
            wait = min(LONGEST_WAIT_SECONDS, wait * 2)
        else:
            metrics.gauge("waiting", 0, what=what)
            return result

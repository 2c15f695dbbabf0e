"""Work begun ahead and answered in order, so that every worker has something to do.

The contract: results come in the order of the work. Whoever takes them may stop at any time, by an error or since
nobody reads on: what was begun is then ended, and nothing waits for a place that nobody makes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

Key = TypeVar("Key")
Result = TypeVar("Result")


async def in_order(
    work: AsyncGenerator[tuple[Key, Coroutine[Any, Any, Result]]], *, ahead: int
) -> AsyncGenerator[tuple[Key, Result]]:
    """Begin work as it is read, and yield each piece's key and result; close it (``aclosing``) to end what is left.

    Args:
        work: Keys, and what is to be done for each; it is closed.
        ahead: Most pieces that are begun before the one that is yielded next.

    Raises:
        Exception: Whatever reading or doing the work raises, once what was read before is yielded.
    """
    waiting = asyncio.Queue[tuple[Key, asyncio.Task[Result]] | None](ahead)
    running = set[asyncio.Task[Result]]()

    def ended(task: asyncio.Task[Result]) -> None:
        running.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, also where nobody takes the result any more

    async def begin() -> None:
        try:
            async with aclosing(work):
                async for key, doing in work:
                    task = asyncio.create_task(doing)
                    running.add(task)
                    task.add_done_callback(ended)
                    await waiting.put((key, task))
        except Exception:  # not where it is cancelled: then nobody takes this
            await waiting.put(None)
            raise
        await waiting.put(None)

    beginning = asyncio.create_task(begin())
    try:
        while (begun := await waiting.get()) is not None:
            key, task = begun
            yield key, await task
        await beginning
    finally:
        left = [beginning, *running]
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)

"""Partitions of the ledger's view filled at the same time: by this process and by others.

The contract: whoever is done with a partition is given the next one, so that nobody waits for another. This process is
one of those who fill, and begins at once: the others are to be started first, which takes as long as some ten thousand
records do. Each waits for the broker for as long as it takes; once nobody wants what it fills, it ends.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Final

from pratique.contract.topics import QUARANTINE_AUDIT
from pratique.errors import RefusedError, UnavailableError
from streams.adapters.ledger_applier import LedgerApplier
from streams.adapters.ledger_log import LedgerLog
from streams.adapters.ledger_rebuild import fill_partition
from streams.adapters.prometheus import PrometheusMetrics
from streams.adapters.redis_connect import RedisIdentity, connect
from streams.adapters.redis_ledger import RedisLedger
from topologies.settings import Settings

MOST_PROCESSES: Final = 4
"""Processes of a rebuild: Redis, which is one, is what more of them would wait for."""
REBUILD_CALL_STEPS: Final = 125
"""Transitions of one of a rebuild's calls: Redis waits for its disk after each, and look-ups wait with it."""
FETCH_WAIT_MS: Final = 100
"""How long the broker lets a fetch wait at a partition's end, which is reached long before all is applied: one who asks
every few milliseconds from there on costs the broker a tenth of a core."""

THREAD: Final = "ledger-view-filling"
"""How the thread is called that fills partitions in this process."""


def fill_together(
    settings: Settings, namespace: str, partitions: Sequence[int], without: frozenset[str]
) -> Iterator[int]:
    """Fill partitions of a namespace, and yield each that is done.

    Args:
        settings: Where the broker and Redis are.
        namespace: The namespace.
        partitions: Their numbers.
        without: Key generations to leave out.

    Raises:
        RefusedError: The audit holds what can't be applied.
        UnavailableError: Redis or the broker does not answer, or a process was ended.
    """
    context = multiprocessing.get_context("spawn")
    over = context.Event()
    others = min(os.cpu_count() or 1, MOST_PROCESSES, len(partitions)) - 1
    left = iter(partitions)
    filling: dict[Future[int], Callable[[], None]] = {}

    def give(pool: Executor, is_over: Callable[[], bool]) -> None:
        for partition in islice(left, 1):
            part = pool.submit(_fill, settings, namespace, partition, without, is_over)
            filling[part] = lambda: give(pool, is_over)

    here = ThreadPoolExecutor(1, THREAD)
    elsewhere = ProcessPoolExecutor(max(1, others), context, initializer=_heed, initargs=(over,))
    try:
        give(here, over.is_set)
        for _ in range(others):
            give(elsewhere, _is_over)
        while filling:
            for part in wait(filling, return_when=FIRST_COMPLETED).done:
                following = filling.pop(part)
                done = part.result()
                following()
                yield done
    except BrokenProcessPool:
        raise UnavailableError("a process that rebuilds the ledger's view was ended") from None
    finally:
        over.set()
        for pool in (here, elsewhere):
            pool.shutdown(wait=False, cancel_futures=True)


_OVER: list[Event] = []
"""In a process that fills: what says that nobody wants it any more."""


def _heed(over: Event) -> None:
    _OVER.append(over)


def _is_over() -> bool:
    parent = multiprocessing.parent_process()
    return any(over.is_set() for over in _OVER) or (parent is not None and not parent.is_alive())


def _fill(
    settings: Settings, namespace: str, partition: int, without: frozenset[str], is_over: Callable[[], bool]
) -> int:
    keys = Path(settings.keys) if settings.keys else None
    client = connect(settings.required("redis_url"), RedisIdentity.MAINTENANCE, keys, os.environ)
    log = LedgerLog({**settings.connection, "fetch.wait.max.ms": str(FETCH_WAIT_MS)}, is_over)
    try:
        metrics = PrometheusMetrics({"app": "rebuild"})
        view = RedisLedger(client, client, call_steps=REBUILD_CALL_STEPS)
        applier = LedgerApplier(log, view, QUARANTINE_AUDIT, metrics=metrics, without=without, is_ahead=True)
        fill_partition(applier, namespace, partition)
    except RefusedError as error:  # errors cross as the two kinds that they are: what else they hold does not
        raise RefusedError(str(error)) from None
    except UnavailableError as error:
        raise UnavailableError(str(error)) from None
    finally:
        log.close()
        client.close()
    return partition

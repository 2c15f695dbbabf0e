"""Building the ledger's view anew from the audit, beside the one that look-ups read.

The contract: a namespace of its own is filled from the audit's beginning to its end; look-ups do not see it before the
pointer is changed, which is the caller's to do. Retired key generations are left out. An audit whose beginning is gone
is refused: a view of the rest would not know what it lacks. Namespaces are numbers that grow, so that what a rebuild
left behind that did not come to its end is told from one that is younger, and may still be under way. Look-ups never go
back to a smaller number: of two rebuilds at once the younger one's view stays, and nothing drops what look-ups read.

A rebuild may take many minutes, in which Redis rewrites its file of appends and is slow to answer: ``fill_partition``
goes on from where the view stands.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pratique.errors import RefusedError, UnavailableError
from streams.adapters.ledger_applier import LedgerApplier
from streams.adapters.ledger_log import LedgerLog, StoppingError
from streams.adapters.redis_ledger import RedisLedger, ViewConflictError, ViewMaintenance
from streams.application.ports.metrics import Metrics
from streams.errors import LedgerViewIncompleteError
from streams.wire.ledger import read_audit

MANY: Final = 20_000
"""Records from which it pays to start processes that fill several partitions at once."""
TRIES: Final = 5
PAUSE_SECONDS: Final = 2.0


class ViewRebuild:
    """Fills a namespace.

    Args:
        log: The ledger's topics.
        maintenance: Makes and drops namespaces.
        view: Applies transitions, under the maintenance identity.
        audit: The audit topic.
        metrics: Counts.
    """

    def __init__(
        self, log: LedgerLog, maintenance: ViewMaintenance, view: RedisLedger, audit: str, metrics: Metrics
    ) -> None:
        self._log = log
        self._maintenance = maintenance
        self._view = view
        self._audit = audit
        self._metrics = metrics
        self.partition_count = log.partition_count(audit)

    def retired(self) -> frozenset[str]:
        """Return the key generations that every partition has retired.

        Raises:
            LedgerBrokenError: The audit holds what is no audit entry.
            UnavailableError: The broker does not answer.
        """
        newest = [self._log.newest(self._audit, partition) for partition in range(self.partition_count)]
        retired = [set() if record is None else set(read_audit(record.value).retired) for record in newest]
        return frozenset(set.intersection(*retired))

    def fill(
        self,
        namespace: str,
        progress: Callable[[int, int], None] = lambda *_: None,
        *,
        without: frozenset[str] | None = None,
        beside: Callable[[str, Sequence[int], frozenset[str]], Iterable[object]] | None = None,
    ) -> None:
        """Fill a new namespace.

        Args:
            namespace: Its name.
            progress: Told how many partitions are done, of how many.
            without: Key generations to leave out; those that every partition has retired, where none are named.
            beside: Fills partitions of a namespace, without some key generations, at the same time, and yields for each
                that is done; an audit of fewer than ``MANY`` records is filled here, one partition after the other.

        Raises:
            RefusedError: The audit's beginning is gone, or it holds what can't be applied.
            UnavailableError: Redis or the broker does not answer.
        """
        without = self.retired() if without is None else without
        applier = LedgerApplier(self._log, self._view, self._audit, metrics=self._metrics, without=without)
        partitions = range(self.partition_count)
        records = sum([self._opened(namespace, partition) for partition in partitions])
        if beside is None or records < MANY:
            filled: Iterable[object] = (fill_partition(applier, namespace, partition) for partition in partitions)
        else:
            filled = beside(namespace, partitions, without)
        for done, _ in enumerate(filled, start=1):
            progress(done, self.partition_count)
        for partition in partitions:  # what came meanwhile
            fill_partition(applier, namespace, partition)

    def _opened(self, namespace: str, partition: int) -> int:
        """Begin a partition's view; return how many records there are to be applied."""
        low, end = self._log.committed_bounds(self._audit, partition)
        if low > 0:
            raise RefusedError(
                f"audit partition {partition} begins at offset {low}: its beginning was deleted. Restore it; a "
                "view of the rest would not know what it lacks"
            )
        self._maintenance.open(namespace, partition, first=low)
        return end - low

    def drop_leftovers(self, namespace: str) -> int:
        """Drop what rebuilds before this one left behind; return how many keys that were.

        Args:
            namespace: The one that was built; what has a smaller number is dropped.

        Raises:
            UnavailableError: Redis does not answer, or lost what it was told: look-ups read neither this namespace nor
                one of a larger number, so that what they read would be dropped.
        """
        pointer = self._maintenance.pointer()
        if pointer is None or number_of(pointer.namespace) < int(namespace):
            found = "none" if pointer is None else pointer.namespace
            raise UnavailableError(
                f"look-ups were to read view {namespace}, and read {found}: Redis lost the change. Nothing was "
                "dropped: run `pratique ledger rebuild` again"
            )
        return self._maintenance.drop(goes=lambda name: name.isdecimal() and int(name) < int(namespace))


def number_of(namespace: str) -> int:
    """Return a namespace's number; 0 where its name is none, so that every rebuild's is larger."""
    return int(namespace) if namespace.isdecimal() else 0


def fill_partition(
    applier: LedgerApplier, namespace: str, partition: int, pause: Callable[[float], None] = time.sleep
) -> int:
    """Apply all there is of a partition, and again from where the view stands where Redis was slow; return the offset.

    What was sent before an answer was given up may be applied all the same, so that what follows is refused for its
    offset: that is no fault of the audit's either.

    Raises:
        RefusedError: The audit holds what can't be applied.
        StoppingError: The process was told to end.
        UnavailableError: Redis or the broker does not answer, after all of the tries.
    """
    for left in reversed(range(TRIES)):
        try:
            return applier.catch_up_with(namespace, partition)
        except (LedgerViewIncompleteError, StoppingError):
            raise
        except ViewConflictError as error:
            if error.refusal != "OFFSET" or not left:
                raise
        except UnavailableError:
            if not left:
                raise
        pause(PAUSE_SECONDS)
    raise AssertionError("the last try returns, or raises")

"""The workers: work in, one authenticated receipt a request out.

The contract: whatever happens to one piece of work, the worker states a receipt for it: PASS, a finding, or an ERROR
that says what could not be done. The join key is derived from the request's bytes, never taken from the work record,
and the receipt carries the pin that was worked under; a forged work record can thus at most repeat a true statement.
Work that is no Work record, or whose request is none, is a dead letter.

Receipts leave in groups, so that the first of a large batch does not wait for the last; offsets are marked at its end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from pratique.contract import avro, digests
from pratique.contract.reasons import FindingStatus, Outcome, Reason, ReasonCode
from pratique.contract.records import (
    CompactionRequested,
    Evidence,
    EvidenceKind,
    JoinKey,
    Receipt,
    StatedReason,
    Work,
)
from pratique.errors import MalformedError
from streams.agents.loop import until_available
from streams.application.ports.log import Batch, Clock, LogRecord, Outbox, Output, Partition
from streams.application.ports.metrics import Metrics
from streams.application.ports.policy import PolicyStore
from streams.domain.policy.model import PolicySet
from streams.errors import PolicyError, PolicyExpiredError, PolicyUnavailableError
from streams.wire.dead_letter import dead_letter
from streams.wire.evidence import EvidenceWriter

LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work, understood.

    Attributes:
        work: The work record.
        request: Its request, decoded.
        join_key: Derived from the request's bytes.
        source_sha256s: Digests of the source messages, in order.
        policy_set: The pinned set, or the receipt that says why there is none.
    """

    work: Work
    request: CompactionRequested
    join_key: JoinKey
    source_sha256s: tuple[str, ...]
    policy_set: PolicySet | Receipt


class Judge(Protocol):
    """What a worker does with its tasks; one receipt a task, in order, whatever happens."""

    @property
    def kind(self) -> EvidenceKind:
        """What its receipts are."""
        ...

    @property
    def group_size(self) -> int:
        """How many tasks are judged and stated together: few where each takes long, many where none does."""
        ...

    async def judge(self, tasks: Sequence[Task]) -> Sequence[Receipt]:
        """Return a receipt for every task; every ``policy_set`` is a set."""
        ...


class WorkerStep:
    """Turns work into receipts."""

    def __init__(
        self,
        *,
        judge: Judge,
        store: PolicyStore,
        writer: EvidenceWriter,
        outbox: Outbox,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._judge = judge
        self._store = store
        self._writer = writer
        self._outbox = outbox
        self._clock = clock
        self._metrics = metrics

    async def gained(self, partitions: frozenset[Partition]) -> None:
        """A worker holds nothing between batches."""

    async def tick(self) -> None:
        """Time asks nothing of a worker."""

    async def take(self, batch: Batch, is_current: Callable[[], bool]) -> Mapping[Partition, int]:
        """State a receipt for every piece of work of a batch."""
        async with asyncio.TaskGroup() as sending:
            for group in _groups(batch, self._judge.group_size):

                async def attempt(group: Sequence[LogRecord] = group) -> tuple[list[Task], list[Output]]:
                    return await asyncio.to_thread(self._understood, group)

                understood = await until_available(attempt, is_current, self._metrics, "policy")
                if understood is None or not is_current():
                    return {}
                tasks, dead = understood
                # Acknowledgements are awaited together, at the end: judging need not wait for the broker.
                sending.create_task(self._outbox.send([*dead, *await self._stated(tasks)]))
        return batch.ends()

    def _understood(self, group: Sequence[LogRecord]) -> tuple[list[Task], list[Output]]:
        tasks: list[Task] = []
        dead: list[Output] = []
        for record in group:
            try:
                tasks.append(self._task(record))
            except MalformedError as error:
                where = (record.topic, record.partition, record.offset)
                LOG.info("dead letter %s at %s[%d]@%d: %s", error.code, *where, error)
                self._metrics.count("dead_letters_total", code=error.code)
                dead.append(dead_letter(record, ReasonCode(error.code), now_ms=self._clock.wall_ms()))
        return tasks, dead

    def _task(self, record: LogRecord) -> Task:
        work = avro.decode(record.value, Work)
        request = avro.decode(work.request, CompactionRequested)
        source_sha256s = tuple(digests.message_sha256(message) for message in request.source_messages)
        population = digests.source_population_sha256(source_sha256s)
        key = digests.compaction_join_key(request, work.request, population)
        try:
            policy_set: PolicySet | Receipt = self._store.exactly(work.policy_set_sha256, work.policy_set_map)
        except (PolicyError, PolicyExpiredError, PolicyUnavailableError) as error:
            policy_set = error_receipt(Reason.of(error.code, "policy", self._judge.kind.value.lower()))
        return Task(work, request, key, source_sha256s, policy_set)

    async def _stated(self, tasks: Sequence[Task]) -> list[Output]:
        judged = [task for task in tasks if isinstance(task.policy_set, PolicySet)]
        receipts = dict(zip(map(id, judged), await self._judge.judge(judged), strict=True))
        outputs = []
        for task in tasks:
            receipt = task.policy_set if isinstance(task.policy_set, Receipt) else receipts[id(task)]
            self._metrics.count("receipts_total", kind=self._judge.kind.value, outcome=receipt.outcome)
            evidence = Evidence(self._judge.kind, task.join_key, task.work.policy_set_sha256, receipt=receipt)
            outputs.append(self._writer.write(evidence))
        return outputs


def error_receipt(reason: Reason, versions: Mapping[str, str] | None = None) -> Receipt:
    """Return the receipt of a check that could not be made."""
    return Receipt(
        Outcome.ERROR.value,
        FindingStatus.UNKNOWN.value,
        (StatedReason.of(reason),),
        None,
        None,
        None,
        None,
        0,
        versions or {},
    )


def _groups(batch: Batch, size: int) -> Iterator[Sequence[LogRecord]]:
    records = list(batch.records())
    for start in range(0, len(records), size):
        yield records[start : start + size]

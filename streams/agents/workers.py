"""The workers: work in, one authenticated receipt a request out.

The contract: whatever happens to one piece of work, the worker states a receipt for it: PASS, a finding, or an ERROR
that says what could not be done. What a receipt speaks of is derived from the request's bytes, never taken from the
work record, and the receipt carries the pin that was worked under; a forged work record can thus at most repeat a true
statement. A judge of the summary alone reads no sources, and takes their digest from the record's key: under another
one its receipt is of a request that nobody opened, since what was opened names the request's digest too.
When a request was opened, which commitments and a policy's exceptions are compared with, is the work record's word as
well: the receipt repeats it, and counts for nothing where intake's OPENED names another moment.
Work that is no Work record, or whose request is none, is a dead letter.

A recall's findings are acknowledged by the log before the receipt that names them is sent.

Receipts leave in groups, so that the first of a large batch does not wait for the last; offsets are marked at its end.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from pratique.contract import avro, digests
from pratique.contract.reasons import FindingStatus, Outcome, Reason, ReasonCode
from pratique.contract.records import (
    CompactionRequested,
    CompactionSubject,
    Evidence,
    EvidenceKind,
    JoinKey,
    MemoryFinding,
    MemoryRecalled,
    Origin,
    Receipt,
    StatedReason,
    Work,
)
from pratique.errors import MalformedError
from streams.agents.loop import until_available
from streams.application.admission import MAX_IDENTIFIER_CHARACTERS
from streams.application.ports.log import Batch, Channel, Clock, LogRecord, Outbox, Output, Partition
from streams.application.ports.metrics import Metrics
from streams.application.ports.policy import PolicyStore
from streams.domain.policy.model import PolicySet
from streams.errors import PolicyError, PolicyExpiredError, PolicyUnavailableError
from streams.wire.dead_letter import dead_letter
from streams.wire.evidence import EvidenceWriter

LOG: Final = logging.getLogger(__name__)

_SHA256: Final = re.compile(rb"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Sources:
    """What a summary was made from.

    Attributes:
        request: The whole request, decoded.
        sha256s: Digests of its source messages, in order.
    """

    request: CompactionRequested
    sha256s: tuple[str, ...]

    @classmethod
    def of(cls, work: Work) -> Sources:
        """Read the request of a piece of work.

        Raises:
            MalformedError: It is none.
        """
        request = avro.decode(work.request, CompactionRequested)
        return cls(request, tuple(digests.message_sha256(message) for message in request.source_messages))


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work, understood.

    Attributes:
        work: The work record.
        candidate_json: What the summarizer answered.
        join_key: Which request it is.
        policy_set: The pinned set, or the receipt that says why there is none.
        sources: What the summary was made from, where the judge reads it.
    """

    work: Work
    candidate_json: str
    join_key: JoinKey
    policy_set: PolicySet | Receipt
    sources: Sources | None = None


@dataclass(frozen=True, slots=True)
class RecallTask:
    """A recall to be worked on; fields as in ``Task``."""

    work: Work
    request: MemoryRecalled
    join_key: JoinKey
    policy_set: PolicySet | Receipt


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a recall's judge states: findings first, then the receipt that names them."""

    receipt: Receipt
    findings: tuple[MemoryFinding, ...] = ()


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

    @property
    def reads_sources(self) -> bool:
        """Whether every task must have its ``sources``."""
        ...

    async def judge(self, tasks: Sequence[Task]) -> Sequence[Receipt]:
        """Return a receipt for every task; every ``policy_set`` is a set."""
        ...


class RecallJudge(Protocol):
    """What a worker does with recalls; one judgement a task, in order, whatever happens."""

    async def judge(self, tasks: Sequence[RecallTask]) -> Sequence[Judgement]:
        """Return a judgement for every task; every ``policy_set`` is a set."""
        ...


class WorkerStep:
    """Turns work into receipts.

    Args:
        judge: Judges compactions, and says what the receipts are.
        recalls: Judges recalls; a recall is a dead letter where there is none.
        store: Where pinned policy comes from.
        writer: States evidence under this worker's role.
        outbox: Writes to the log.
        clock: The time.
        metrics: Counts receipts and dead letters.
    """

    def __init__(
        self,
        *,
        judge: Judge,
        recalls: RecallJudge | None = None,
        store: PolicyStore,
        writer: EvidenceWriter,
        outbox: Outbox,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._judge = judge
        self._recalls = recalls
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
            for group in batch.groups(self._judge.group_size):

                async def attempt(group: Sequence[LogRecord] = group) -> _Understood:
                    return await asyncio.to_thread(self._understood, group)

                understood = await until_available(attempt, is_current, self._metrics, "policy")
                if understood is None or not is_current():
                    return {}
                # Acknowledgements are awaited together, at the end: judging need not wait for the broker. Nor do
                # compactions wait for recalls.
                await asyncio.gather(self._compactions(understood, sending), self._recalled(understood, sending))
        return batch.ends()

    async def _compactions(self, understood: _Understood, sending: asyncio.TaskGroup) -> None:
        judged = [task for task in understood.tasks if isinstance(task.policy_set, PolicySet)]
        receipts = dict(zip(map(id, judged), await self._judge.judge(judged), strict=True))
        stated = [self._stated(task, receipts.get(id(task))) for task in understood.tasks]
        sending.create_task(self._outbox.send([*understood.dead, *stated]))

    async def _recalled(self, understood: _Understood, sending: asyncio.TaskGroup) -> None:
        if self._recalls is None or not understood.recalls:
            return
        judged = [task for task in understood.recalls if isinstance(task.policy_set, PolicySet)]
        judgements = dict(zip(map(id, judged), await self._recalls.judge(judged), strict=True))
        findings = [
            Output(Channel.FINDINGS, finding.join_key.message_key, avro.encode(finding))
            for judgement in judgements.values()
            for finding in judgement.findings
        ]
        stated = [
            self._stated(task, judgements[id(task)].receipt if id(task) in judgements else None)
            for task in understood.recalls
        ]
        sending.create_task(self._send_in_turn(findings, stated))

    async def _send_in_turn(self, findings: Sequence[Output], receipts: Sequence[Output]) -> None:
        if findings:
            await self._outbox.send(findings)
        await self._outbox.send(receipts)

    def _understood(self, group: Sequence[LogRecord]) -> _Understood:
        understood = _Understood([], [], [])
        for record in group:
            try:
                self._understand(record, understood)
            except MalformedError as error:
                where = (record.topic, record.partition, record.offset)
                LOG.info("dead letter %s at %s[%d]@%d: %s", error.code, *where, error)
                self._metrics.count("dead_letters_total", code=error.code)
                understood.dead.append(dead_letter(record, ReasonCode(error.code), now_ms=self._clock.wall_ms()))
        return understood

    def _understand(self, record: LogRecord, understood: _Understood) -> None:
        work = avro.decode(record.value, Work)
        if work.origin is Origin.COMPACTION:
            task = self._task(work, record.key)
            _check_names(work, task.join_key)
            understood.tasks.append(task)
        elif self._recalls is not None:
            request = avro.decode(work.request, MemoryRecalled)
            key = digests.recall_join_key(request, work.request)
            _check_names(work, key)
            understood.recalls.append(RecallTask(work, request, key, self._policy_set(work)))
        else:
            raise MalformedError("recalls are not judged here")

    def _task(self, work: Work, record_key: bytes | None) -> Task:
        if not self._judge.reads_sources:
            subject = avro.decode_part(work.request, CompactionRequested, CompactionSubject)
            key = digests.compaction_join_key(subject, work.request, _stated_population(record_key))
            return Task(work, subject.candidate_json, key, self._policy_set(work))
        sources = Sources.of(work)
        population = digests.source_population_sha256(sources.sha256s)
        key = digests.compaction_join_key(sources.request, work.request, population)
        return Task(work, sources.request.candidate_json, key, self._policy_set(work), sources)

    def _policy_set(self, work: Work) -> PolicySet | Receipt:
        try:
            return self._store.exactly(work.policy_set_sha256, work.policy_set_map)
        except (PolicyError, PolicyExpiredError, PolicyUnavailableError) as error:
            return error_receipt(Reason.of(error.code, "policy", self._judge.kind.value.lower()))

    def _stated(self, task: Task | RecallTask, judged: Receipt | None) -> Output:
        """Return a task's evidence: the receipt it was judged to, or that for want of its policy set."""
        receipt = task.policy_set if isinstance(task.policy_set, Receipt) else judged
        if receipt is None:
            raise ValueError("a task was not judged")
        self._metrics.count("receipts_total", kind=self._judge.kind.value, outcome=receipt.outcome)
        work = task.work
        evidence = Evidence(
            self._judge.kind, task.join_key, work.policy_set_sha256, receipt=receipt, opened_at=work.opened_at
        )
        return self._writer.write(evidence)


@dataclass(frozen=True, slots=True)
class _Understood:
    """What a group of work came to."""

    tasks: list[Task]
    recalls: list[RecallTask]
    dead: list[Output]


def _stated_population(record_key: bytes | None) -> str:
    """Return the population's digest that a record is keyed by."""
    if record_key is None or not _SHA256.fullmatch(record_key):
        raise MalformedError("work is keyed by no digest of a source population")
    return record_key.decode("ascii")


def _check_names(work: Work, key: JoinKey) -> None:
    """Refuse work whose evidence could be larger than its topic takes; intake hands out none."""
    if max(map(len, (key.tenant_id, key.request_id, work.policy_set_sha256))) > MAX_IDENTIFIER_CHARACTERS:
        raise MalformedError("a name is longer than evidence can repeat", code=ReasonCode.MESSAGE_INVALID.value)


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

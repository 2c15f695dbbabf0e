"""Workers: one receipt for every piece of work, whatever happens; nothing marked that was not acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from pratique.contract import avro
from pratique.contract.digests import compaction_join_key, message_sha256, source_population_sha256
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import CompactionRequested, Evidence, EvidenceKind, Origin, Receipt, Work
from pratique.contract.topics import WORK
from pratique.contract.trust import MacRole
from streams.adapters.kafka_outbox import OutputLostError
from streams.agents import loop
from streams.agents.absent import AbsentJudge
from streams.agents.workers import Sources, Task, WorkerStep, error_receipt
from streams.application.ports.log import Batch, Channel, Output, Partition
from streams.domain.policy.model import PolicySet
from streams.errors import PolicyError, PolicyExpiredError, PolicyNotLoadedError, PolicyUnavailableError
from streams.wire.dead_letter import PREFIX
from streams.wire.evidence import EvidenceReader, EvidenceWriter
from tests.fakes.evidence import MAC, NOW_MS, SECRETS, TRUST
from tests.fakes.log import FakeLogOutbox, FakeTopic, ManualClock
from tests.fakes.steps import FakeMetrics, FakeStore, Record
from tests.unit.streams.application.compactions import pinned_set, request

SET = pinned_set()


class Store(FakeStore):
    """A store whose look-ups fail as told."""

    failures: Sequence[Exception] = ()

    def exactly(self, policy_set_sha256: str, set_map: str) -> PolicySet:
        if self.failures:
            failure, *self.failures = self.failures
            raise failure
        return super().exactly(policy_set_sha256, set_map)


class ScriptedJudge:
    """Says of each task which request it judged."""

    kind = EvidenceKind.SCAN
    group_size = 2

    def __init__(self, *, reads_sources: bool = False) -> None:
        self.reads_sources = reads_sources
        self.seen: list[Task] = []
        self.groups: list[list[str]] = []
        self.answer: Callable[[Sequence[Task]], Sequence[Receipt]] = lambda tasks: list(map(self.receipt, tasks))

    @staticmethod
    def receipt(task: Task) -> Receipt:
        return replace(
            error_receipt(Reason.of(ReasonCode.NOT_RUN, "", "scan")),
            versions={"judged": task.join_key.request_id},
        )

    async def judge(self, tasks: Sequence[Task]) -> Sequence[Receipt]:
        self.groups.append([task.join_key.request_id for task in tasks])
        self.seen += tasks
        return self.answer(tasks)


class Worker:
    """A worker with everything around it in memory."""

    def __init__(self, *failures: Exception, reads_sources: bool = False) -> None:
        self.clock = ManualClock()
        self.metrics = FakeMetrics()
        self.topics = {
            Channel.EVIDENCE: FakeTopic("gate.evidence", 1, self.clock),
            Channel.DEAD_LETTER: FakeTopic("gate.dead-letter", 1, self.clock, 5_000_000),
        }
        self.outbox = FakeLogOutbox(self.topics)
        self.store = Store(SET, TRUST)
        self.store.failures = failures
        self.judge = ScriptedJudge(reads_sources=reads_sources)
        self.step = WorkerStep(
            judge=self.judge,
            store=self.store,
            writer=EvidenceWriter(lambda: MAC[MacRole.SCAN]),
            outbox=self.outbox,
            clock=self.clock,
            metrics=self.metrics,
        )

    def take(self, *records: Record, is_current: Callable[[], bool] = lambda: True) -> Mapping[Partition, int]:
        return asyncio.run(self.step.take(Batch(1, {(WORK, 0): records}), is_current))

    @property
    def stated(self) -> list[Evidence]:
        reader = EvidenceReader(SECRETS, lambda: TRUST, 1)
        return [
            reader.read(record).evidence for record in self.topics[Channel.EVIDENCE].partitions[0] if record is not None
        ]

    @property
    def judged(self) -> list[str]:
        return [item.receipt.versions["judged"] for item in self.stated if item.receipt and item.receipt.versions]

    @property
    def dead(self) -> list[tuple[str, bytes | None]]:
        return [
            (dict(output.headers)[f"{PREFIX}code"].decode(), output.value)
            for output in self.outbox.of(Channel.DEAD_LETTER)
        ]


def work(number: int = 0, asked: CompactionRequested | None = None, **changes: object) -> Record:
    """A piece of work as intake hands it out."""
    asked = asked or request(compaction_request_id=f"request-{number}")
    value = avro.encode(asked)
    item = Work(Origin.COMPACTION, SET.policy_set_sha256, SET.set_map, NOW_MS, value)
    return Record(WORK, avro.encode(replace(item, **changes)), key=population(asked).encode(), offset=number)  # type: ignore[arg-type]


def population(asked: CompactionRequested) -> str:
    """The digest of a request's sources."""
    return source_population_sha256([message_sha256(item) for item in asked.source_messages])


def test_every_piece_of_work_gets_its_receipt_under_its_pin() -> None:
    worker = Worker()
    assert worker.take(*map(work, range(5))) == {(WORK, 0): 5}
    assert sorted(worker.judged) == [f"request-{number}" for number in range(5)]
    for item in worker.stated:
        assert item.kind is EvidenceKind.SCAN
        assert item.policy_set_sha256 == SET.policy_set_sha256
        assert item.receipt is not None
        assert item.receipt.versions["judged"] == item.join_key.request_id
    assert worker.metrics.counted["receipts_total kind=SCAN outcome=ERROR"] == 5


def test_work_is_judged_in_groups() -> None:
    worker = Worker()
    worker.take(*map(work, range(5)))
    assert worker.judge.groups == [["request-0", "request-1"], ["request-2", "request-3"], ["request-4"]]


@pytest.mark.parametrize("reads_sources", [True, False])
def test_join_key_is_that_of_the_request(reads_sources: bool) -> None:  # noqa: FBT001 - drawn
    worker = Worker(reads_sources=reads_sources)
    asked = request()
    worker.take(work(0, asked))
    assert worker.stated[0].join_key == compaction_join_key(asked, avro.encode(asked), population(asked))
    (task,) = worker.judge.seen
    assert task.candidate_json == asked.candidate_json
    assert Sources.of(task.work).request == asked
    assert task.sources == (Sources.of(task.work) if reads_sources else None)


def test_who_reads_the_sources_takes_no_one_s_word_for_their_digest() -> None:
    worker = Worker(reads_sources=True)
    asked = request()
    worker.take(replace(work(0, asked), key=b"0" * 64))
    assert worker.stated[0].join_key.source_population_sha256 == population(asked)


def test_who_reads_none_speaks_of_the_population_that_the_record_lies_under() -> None:
    worker = Worker()
    asked = request()
    worker.take(replace(work(0, asked), key=b"0" * 64))
    stated = worker.stated[0].join_key
    assert stated == replace(
        compaction_join_key(asked, avro.encode(asked), population(asked)), source_population_sha256="0" * 64
    ), "a request that nobody opened: the digest of its bytes is of another population"


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (replace(work(), value=None), "SCHEMA_INVALID"),
        (replace(work(), value=b"poison"), "SCHEMA_INVALID"),
        (work(request=b"poison"), "SCHEMA_INVALID"),
        (work(request=b""), "SCHEMA_INVALID"),
        (work(request=work().value), "SCHEMA_INVALID"),
        (replace(work(), key=None), "SCHEMA_INVALID"),
        (replace(work(), key=b"k"), "SCHEMA_INVALID"),
        (replace(work(), key=b"A" * 64), "SCHEMA_INVALID"),
        (work(origin=Origin.RECALL), "SCHEMA_INVALID"),
        (work(policy_set_sha256="x" * 3_000_000), "MESSAGE_INVALID"),
        (work(0, request(compaction_request_id="\U0001f600" * 700_000)), "MESSAGE_INVALID"),
        (work(0, request(tenant_id="\U0001f600" * 700_000)), "MESSAGE_INVALID"),
    ],
)
def test_what_is_no_work_is_put_aside_and_the_next_is_served(record: Record, code: str) -> None:
    worker = Worker()
    assert worker.take(record, work(1)) == {(WORK, 0): 2}
    assert worker.dead == [(code, record.value)]
    assert worker.judged == ["request-1"]


@pytest.mark.parametrize("failure", [PolicyError("x"), PolicyExpiredError("x"), PolicyUnavailableError("x")])
def test_policy_that_is_not_to_be_had_is_an_error_receipt_under_the_pin(failure: Exception) -> None:
    worker = Worker(failure)
    worker.take(work(0), work(1))
    error = next(item for item in worker.stated if item.join_key.request_id == "request-0")
    assert error.receipt is not None
    assert (error.receipt.outcome, error.receipt.finding_status) == ("ERROR", "UNKNOWN")
    code = failure.code.value  # type: ignore[attr-defined] # each of these has one
    assert [(reason.code, reason.path) for reason in error.receipt.reasons] == [(code, "policy")]
    assert error.policy_set_sha256 == SET.policy_set_sha256
    assert worker.judged == ["request-1"]


def test_set_that_was_never_published_is_an_error_receipt_under_that_pin() -> None:
    worker = Worker()
    worker.take(work(0, policy_set_sha256="0" * 64))
    (item,) = worker.stated
    assert item.policy_set_sha256 == "0" * 64
    assert item.receipt is not None
    assert [reason.code for reason in item.receipt.reasons] == ["POLICY_UNAVAILABLE"]
    assert worker.judge.groups == [[]]


def test_policy_that_was_never_loaded_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "FIRST_WAIT_SECONDS", 0.0)
    worker = Worker(*(PolicyNotLoadedError("nothing yet") for _ in range(4)))
    assert worker.take(work(0), work(1)) == {(WORK, 0): 2}
    assert sorted(worker.judged) == ["request-0", "request-1"]
    assert worker.metrics.counted["waits_total what=policy"] == 4


def test_assignment_that_ends_ends_the_batch_at_the_next_group() -> None:
    worker = Worker()
    answers = iter([True, False])
    assert worker.take(*map(work, range(6)), is_current=lambda: next(answers)) == {}
    assert worker.judge.groups == [["request-0", "request-1"]]
    assert sorted(worker.judged) == ["request-0", "request-1"]  # true all the same


@pytest.mark.parametrize("lost", [0, 2])
def test_send_that_fails_marks_nothing(lost: int) -> None:
    worker = Worker()

    def on_send(_: Sequence[Output]) -> None:
        worker.outbox.lost = len(worker.outbox.sends) >= lost

    worker.outbox.on_send = on_send
    with pytest.raises(ExceptionGroup) as caught:
        worker.take(*map(work, range(6)))
    assert caught.group_contains(OutputLostError)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_judge_that_answers_for_another_number_of_tasks_ends_the_process(count: int) -> None:
    worker = Worker()
    worker.judge.answer = lambda tasks: [ScriptedJudge.receipt(tasks[0])] * count
    with pytest.raises(ExceptionGroup) as caught:
        worker.take(work(0), work(1))
    assert caught.group_contains(ValueError)


def test_judges_failure_ends_the_process_and_marks_nothing() -> None:
    worker = Worker()

    def fail(_: Sequence[Task]) -> Sequence[Receipt]:
        raise RuntimeError("unforeseen")

    worker.judge.answer = fail
    with pytest.raises(ExceptionGroup) as caught:
        worker.take(work(0))
    assert caught.group_contains(RuntimeError)
    assert worker.stated == []


def test_workers_hold_nothing() -> None:
    worker = Worker()

    async def nothing() -> None:
        await worker.step.gained(frozenset({(WORK, 0)}))
        await worker.step.tick()

    asyncio.run(nothing())
    assert worker.outbox.sends == []


@pytest.mark.parametrize("kind", [EvidenceKind.CONSISTENCY, EvidenceKind.SCAN])
def test_absent_judge_passes_nothing(kind: EvidenceKind) -> None:
    judge = AbsentJudge(kind)
    receipts = asyncio.run(judge.judge([None, None]))  # type: ignore[list-item] # it looks at no task
    assert judge.kind is kind
    assert [(item.outcome, item.finding_status) for item in receipts] == [("ERROR", "UNKNOWN")] * 2
    assert [reason.code for item in receipts for reason in item.reasons] == ["NOT_RUN", "NOT_RUN"]

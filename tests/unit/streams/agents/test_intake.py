"""Intake: OPENED before work, nothing marked that was not acknowledged, poison put aside and the next served."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pratique.contract import avro
from pratique.contract.records import CompactionRequested, Evidence, EvidenceKind, Origin, Work
from pratique.contract.topics import COMPACTION_REQUESTED, MAX_REQUEST_BYTES, MEMORY_RECALLED
from pratique.contract.trust import MacRole
from streams.adapters.kafka_outbox import OutputLostError
from streams.agents import intake as intake_module
from streams.agents import loop
from streams.agents.intake import IntakeLimits, IntakeStep
from streams.application.pinning import Pinning
from streams.application.ports.log import Batch, Channel, Output, Partition
from streams.application.quota import QuotaLimits, TenantQuota
from streams.application.trusting import LastKnownTrust
from streams.domain.policy.model import PolicySet
from streams.errors import PolicyNotLoadedError
from streams.wire.dead_letter import PREFIX
from streams.wire.evidence import EvidenceReader, EvidenceWriter
from tests.fakes.evidence import (
    MAC,
    NOW_MS,
    OTHER_PUBLISHER,
    OTHER_TENANT,
    SECRETS,
    TRUST,
    ed25519,
)
from tests.fakes.log import FakeLogOutbox, FakeTopic, ManualClock
from tests.fakes.steps import FakeMetrics, FakeStore, Record
from tests.unit.streams.application.compactions import pinned_set, request, signed, signed_bytes
from tests.vectors.generate_reference import DEAD_LETTERS

HORIZON_MS, SKEW_MS = 600_000, 30_000


class Store(FakeStore):
    """A store that has nothing for so many looks, after so many that it served."""

    served_before = 0
    not_loaded = 0

    def pin(self, tenant_id: str, policy_id: str) -> PolicySet:
        if self.served_before:
            self.served_before -= 1
        elif self.not_loaded:
            self.not_loaded -= 1
            raise PolicyNotLoadedError("nothing yet")
        return super().pin(tenant_id, policy_id)


class Intake:
    """Intake with everything around it in memory."""

    def __init__(self, *, burst: float = 1_000.0, **compaction: Any) -> None:  # noqa: ANN401 - fields of the policy
        self.clock = ManualClock()
        self.metrics = FakeMetrics()
        self.topics = {
            Channel.EVIDENCE: FakeTopic("gate.evidence", 4, self.clock),
            Channel.WORK: FakeTopic("gate.work", 4, self.clock, 5_000_000),
            Channel.DEAD_LETTER: FakeTopic("gate.dead-letter", 1, self.clock, 5_000_000),
        }
        self.outbox = FakeLogOutbox(self.topics)
        self.store = Store(pinned_set(**compaction), TRUST)
        self.quota = TenantQuota(QuotaLimits(0.0, burst))
        self.step = IntakeStep(
            pinning=Pinning(self.store, LastKnownTrust(self.store)),
            writer=EvidenceWriter(lambda: MAC[MacRole.INTAKE]),
            outbox=self.outbox,
            quota=self.quota,
            clock=self.clock,
            limits=IntakeLimits(HORIZON_MS, SKEW_MS),
            metrics=self.metrics,
            partition_count=4,
        )

    def take(self, *records: Record) -> Mapping[Partition, int]:
        return asyncio.run(self.step.take(batch(*records), lambda: True))

    @property
    def opened(self) -> list[Evidence]:
        reader = EvidenceReader(SECRETS, lambda: TRUST, 4)
        records = (record for records in self.topics[Channel.EVIDENCE].partitions for record in records)
        return [reader.read(record).evidence for record in records if record is not None]

    @property
    def work(self) -> list[Work]:
        return [avro.decode(output.value, Work) for output in self.outbox.of(Channel.WORK)]

    @property
    def dead(self) -> list[tuple[str, bytes | None]]:
        return [
            (dict(output.headers)[f"{PREFIX}code"].decode(), output.value)
            for output in self.outbox.of(Channel.DEAD_LETTER)
        ]


def batch(*records: Record) -> Batch:
    parts: dict[Partition, list[Record]] = {}
    for record in records:
        parts.setdefault((record.topic, record.partition), []).append(record)
    return Batch(1, parts)


def refusals(intake: Intake) -> list[str]:
    return [reason.code for item in intake.opened if item.opened for reason in item.opened.refusal]


# --------------------------------------------------------------------------------------------------------- the way


def test_opened_is_acknowledged_before_any_work_is_sent() -> None:
    intake = Intake()
    second = request(compaction_request_id="request-2")
    assert intake.take(signed(request()), signed(second, offset=1)) == {(COMPACTION_REQUESTED, 0): 2}
    assert [[output.channel for output in outputs] for outputs in intake.outbox.sends] == [
        [Channel.EVIDENCE] * 2,
        [Channel.WORK] * 2,
    ]
    assert [item.kind for item in intake.opened] == [EvidenceKind.OPENED] * 2
    assert [avro.decode(item.request, CompactionRequested) for item in intake.work] == [request(), second]


def test_opened_and_work_go_into_the_requests_partition() -> None:
    intake = Intake()
    intake.take(signed(request()))
    (opened,), (work,) = intake.outbox.sends
    assert opened.key == work.key == intake.opened[0].join_key.message_key
    assert opened.partition is work.partition is None


@pytest.mark.parametrize("lost", [0, 1])
def test_send_that_fails_marks_nothing(lost: int) -> None:
    intake = Intake()

    def on_send(_: Sequence[Output]) -> None:
        intake.outbox.lost = len(intake.outbox.sends) == lost

    intake.outbox.on_send = on_send
    with pytest.raises(ExceptionGroup) as caught:
        intake.take(signed(request()))
    assert caught.group_contains(OutputLostError)
    assert len(intake.outbox.sends) == lost + 1
    assert not intake.topics[Channel.WORK].partitions[0]
    assert all(not records for records in intake.topics[Channel.WORK].partitions)


def test_same_request_again_is_the_same_opened_but_for_its_moment() -> None:
    intake = Intake()
    intake.take(signed(request()))
    intake.clock.now_ms += 1_000
    intake.take(signed(request(), offset=1))
    first, again = (avro.decode(output.value, Evidence) for sent in intake.outbox.sends[::2] for output in sent)
    assert again == replace(first, opened_at=NOW_MS + 1_000)


def test_every_partition_is_marked_to_its_end() -> None:
    intake = Intake()
    records = [
        replace(signed(request(), offset=offset), partition=place) for place, offset in ((0, 4), (2, 9), (2, 10))
    ]
    assert intake.take(*records) == {(COMPACTION_REQUESTED, 0): 5, (COMPACTION_REQUESTED, 2): 11}


# ---------------------------------------------------------------------------------------------------------- groups


@pytest.fixture
def _pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have two requests opened together."""
    monkeypatch.setattr(intake_module, "GROUP_SIZE", 2)


def several(count: int) -> list[Record]:
    return [signed(request(compaction_request_id=f"request-{number}"), offset=number) for number in range(count)]


def asked_for(item: Work) -> str:
    return avro.decode(item.request, CompactionRequested).compaction_request_id


class SlowOutbox(FakeLogOutbox):
    """Acknowledges no OPENED until it was sent so many together."""

    def __init__(self, topics: Mapping[Channel, FakeTopic], awaited: int) -> None:
        super().__init__(topics)
        self.awaited = awaited
        self.waiting: list[int] = []
        self.acknowledge = asyncio.Event()

    async def send(self, outputs: Sequence[Output]) -> None:
        await super().send(outputs)
        if outputs and outputs[0].channel is Channel.EVIDENCE:
            self.waiting.append(len(outputs))
            if len(self.waiting) == self.awaited:
                assert self.of(Channel.WORK) == []
                self.acknowledge.set()
            await asyncio.wait_for(self.acknowledge.wait(), 10)


@pytest.mark.usefixtures("_pairs")
def test_a_batch_is_opened_in_groups_each_before_its_work() -> None:
    intake = Intake()
    assert intake.take(*several(5)) == {(COMPACTION_REQUESTED, 0): 5}
    assert [[output.channel for output in outputs] for outputs in intake.outbox.sends] == [
        *([Channel.EVIDENCE] * 2, [Channel.WORK] * 2) * 2,
        [Channel.EVIDENCE],
        [Channel.WORK],
    ]
    opened = [item.join_key.request_id for item in intake.opened]
    assert sorted(opened) == sorted(map(asked_for, intake.work)) == [f"request-{number}" for number in range(5)]


@pytest.mark.usefixtures("_pairs")
def test_the_next_group_is_opened_while_the_log_acknowledges_this_one_and_no_work_is_sent_before_that() -> None:
    intake = Intake()
    slow = SlowOutbox(intake.topics, awaited=3)
    intake.outbox = intake.step._outbox = slow
    assert intake.take(*several(5)) == {(COMPACTION_REQUESTED, 0): 5}
    assert slow.waiting == [2, 2, 1]
    assert len(intake.work) == 5


@pytest.mark.usefixtures("_pairs")
@pytest.mark.parametrize("lost", range(6))
def test_a_group_that_is_not_acknowledged_leaves_the_whole_batch_unmarked(lost: int) -> None:
    intake = Intake()

    def on_send(outputs: Sequence[Output]) -> None:
        place = sum(send[0].channel is outputs[0].channel for send in intake.outbox.sends)
        intake.outbox.lost = (place, outputs[0].channel) == (lost % 3, (Channel.EVIDENCE, Channel.WORK)[lost // 3])

    intake.outbox.on_send = on_send
    with pytest.raises(ExceptionGroup) as caught:
        intake.take(*several(5))
    assert caught.group_contains(OutputLostError)
    assert {asked_for(item) for item in intake.work} <= {item.join_key.request_id for item in intake.opened}


@pytest.mark.usefixtures("_pairs", "_no_waiting")
def test_each_group_takes_quota_of_its_own_and_takes_it_once_however_often_it_is_looked_at() -> None:
    intake = Intake(burst=3.0)
    intake.store.served_before, intake.store.not_loaded = 2, 4  # away when the third request has its quota
    intake.take(*several(4))
    assert refusals(intake) == ["QUOTA_EXCEEDED"]
    assert sorted(map(asked_for, intake.work)) == ["request-0", "request-1", "request-2"]
    assert intake.metrics.counted["waits_total what=policy"] == 4


@pytest.mark.usefixtures("_pairs", "_no_waiting")
def test_an_assignment_that_ends_between_groups_marks_nothing_and_leaves_no_group_half_handed_out() -> None:
    intake = Intake()
    intake.store.served_before, intake.store.not_loaded = 2, 1_000
    assert asyncio.run(intake.step.take(batch(*several(5)), lambda: False)) == {}
    assert sorted(map(asked_for, intake.work)) == ["request-0", "request-1"]


# ---------------------------------------------------------------------------------------------------- dead letters


def forged() -> Record:
    return replace(signed(request()), value=avro.encode(request(task_id="task-2")))


WORK = Work(Origin.COMPACTION, "5" * 64, "{}", NOW_MS, b"request")

HEADERS = signed(request()).headers
NULLS: Any = (("pratique-key-id", None), ("x", None))

POISON: dict[str, tuple[Record, str]] = {
    "nothing": (replace(signed_bytes(b""), value=None), "SCHEMA_INVALID"),
    "empty": (signed_bytes(b""), "SCHEMA_INVALID"),
    "noise": (signed_bytes(bytes(range(256))), "SCHEMA_INVALID"),
    "another record": (signed_bytes(avro.encode(WORK)), "SCHEMA_INVALID"),
    "too large": (signed_bytes(bytes(MAX_REQUEST_BYTES + 65_537)), "TOO_LARGE"),
    "nothing that nobody signed": (replace(signed(request()), value=None), "SIGNATURE_INVALID"),
    "noise that nobody signed": (replace(signed(request()), value=bytes(range(256))), "SIGNATURE_INVALID"),
    "noise by a stranger": (signed_bytes(bytes(range(256)), ed25519("stranger")), "SIGNER_NOT_AUTHORISED"),
    "altered": (forged(), "SIGNATURE_INVALID"),
    "unsigned": (replace(signed(request()), headers=()), "SIGNATURE_INVALID"),
    "null headers": (replace(signed(request()), headers=NULLS), "SIGNATURE_INVALID"),
    "signed twice": (
        replace(signed(request()), headers=(*HEADERS, *HEADERS)),
        "SIGNATURE_INVALID",
    ),
    "for another topic": (signed(request(), topic=MEMORY_RECALLED), "SIGNATURE_INVALID"),
    "by a stranger": (signed(request(), ed25519("stranger")), "SIGNER_NOT_AUTHORISED"),
    "by another tenant": (signed(request(), OTHER_PUBLISHER), "SIGNER_NOT_AUTHORISED"),
    "for another tenant": (signed(request(tenant_id=OTHER_TENANT)), "SIGNER_NOT_AUTHORISED"),
    "for no tenant": (signed(request(tenant_id="")), "SIGNER_NOT_AUTHORISED"),
    "too old": (signed(request(requested_at=NOW_MS - HORIZON_MS - 1)), "REQUEST_EXPIRED"),
    "too early": (signed(request(requested_at=NOW_MS + SKEW_MS + 1)), "REQUEST_EXPIRED"),
    "at the beginning of time": (signed(request(requested_at=-(2**63))), "REQUEST_EXPIRED"),
    "at its end": (signed(request(requested_at=2**63 - 1)), "REQUEST_EXPIRED"),
    "a name too long": (signed(request(compaction_request_id="x" * 257)), "MESSAGE_INVALID"),
    "a name of megabytes": (signed(request(compaction_request_id="\U0001f600" * 500_000)), "MESSAGE_INVALID"),
}


@pytest.mark.parametrize("what", POISON)
def test_poison_is_put_aside_with_its_bytes_and_the_next_is_served(what: str) -> None:
    record, code = POISON[what]
    intake = Intake()
    assert intake.take(record, signed(request(), offset=1)) == {(COMPACTION_REQUESTED, 0): 2}
    ((found, value),) = intake.dead
    assert found == code
    if what != "too large":
        assert value == record.value
    assert len(intake.opened) == len(intake.work) == 1
    assert intake.metrics.counted[f"dead_letters_total code={code}"] == 1


def test_the_reference_lists_the_codes_of_dead_letters() -> None:
    assert {code.value for code in DEAD_LETTERS} == {code for _, code in POISON.values()}


@pytest.mark.parametrize("requested_at", [NOW_MS - HORIZON_MS, NOW_MS, NOW_MS + SKEW_MS])
def test_request_within_the_horizon_is_served(requested_at: int) -> None:
    intake = Intake()
    intake.take(signed(request(requested_at=requested_at)))
    assert (len(intake.opened), intake.dead) == (1, [])


# ---------------------------------------------------------------------------------------------------------- refusals


def test_refusal_has_no_work() -> None:
    intake = Intake()
    intake.take(signed(request(source_messages=())))
    assert refusals(intake) == ["MESSAGE_INVALID"]
    assert intake.work == []
    assert intake.metrics.counted["requests_total admitted=no"] == 1


def test_quota_is_a_tenants_own() -> None:
    intake = Intake(burst=1.0)
    other = request(tenant_id=OTHER_TENANT)
    intake.take(signed(request()), signed(request(), offset=1), signed(other, OTHER_PUBLISHER, offset=2))
    assert refusals(intake) == ["QUOTA_EXCEEDED", "COMMITMENTS_MISSING"]  # the other tenant has no standing ones


def test_quota_is_scaled_by_the_partitions_held() -> None:
    intake = Intake(burst=8.0)
    asyncio.run(intake.step.gained(frozenset({(COMPACTION_REQUESTED, 0)})))
    intake.take(*(signed(request(), offset=offset) for offset in range(4)))
    assert refusals(intake) == ["QUOTA_EXCEEDED", "QUOTA_EXCEEDED"]


def test_dead_letters_cost_no_quota() -> None:
    intake = Intake(burst=1.0)
    intake.take(forged(), signed(request(), offset=1))
    assert refusals(intake) == []


def test_work_that_does_not_fit_is_known_before_opened_is_sent() -> None:
    intake = Intake(max_request_bytes=MAX_REQUEST_BYTES)
    intake.store.policy_set = replace(intake.store.policy_set, set_map="x" * 5_000_000)
    intake.take(signed(request()))
    assert refusals(intake) == ["TOO_LARGE"]
    assert intake.work == []
    (opened,) = intake.opened
    assert opened.opened is not None
    assert opened.opened.keep_message_ids == ("m3", "m4")


def large(size: int) -> CompactionRequested:
    """A request that is ``size`` bytes as published."""
    empty = len(avro.encode(request(candidate_json="x" * 1_000_000)))
    asked = request(candidate_json="x" * (1_000_000 + size - empty))
    length = len(avro.encode(asked))
    return request(candidate_json="x" * (1_000_000 + size - empty - (length - size)))


@pytest.mark.parametrize(("more", "expected"), [(-1, []), (0, []), (1, ["TOO_LARGE"]), (60_000, ["TOO_LARGE"])])
def test_request_at_the_size_limit_is_served_and_beyond_it_refused(more: int, expected: list[str]) -> None:
    intake = Intake(max_request_bytes=MAX_REQUEST_BYTES)
    record = signed(large(MAX_REQUEST_BYTES + more))
    assert len(record.value or b"") == MAX_REQUEST_BYTES + more
    intake.take(record)
    assert (refusals(intake), intake.dead) == (expected, [])


# ------------------------------------------------------------------------------------------------------------ waits


@pytest.fixture
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "FIRST_WAIT_SECONDS", 0.0)


@pytest.mark.usefixtures("_no_waiting")
def test_policy_that_was_never_loaded_is_waited_for_and_costs_no_quota() -> None:
    intake = Intake(burst=2.0)
    intake.store.not_loaded = 5
    assert intake.take(signed(request()), signed(request(), offset=1)) == {(COMPACTION_REQUESTED, 0): 2}
    assert refusals(intake) == []
    assert len(intake.work) == 2
    assert intake.metrics.counted["waits_total what=policy"] == 5
    assert len(intake.outbox.sends) == 2


@pytest.mark.usefixtures("_no_waiting")
def test_assignment_that_ends_while_waiting_ends_the_batch() -> None:
    intake = Intake()
    intake.store.not_loaded = 1_000
    answers = iter([True, True, False])
    found = asyncio.run(intake.step.take(batch(signed(request())), lambda: next(answers)))
    assert (found, intake.outbox.sends) == ({}, [])


def test_time_asks_nothing_of_intake() -> None:
    intake = Intake()
    asyncio.run(intake.step.tick())
    assert intake.outbox.sends == []

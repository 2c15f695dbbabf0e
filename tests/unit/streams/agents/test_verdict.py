"""The verdict step over a log in memory: what is sent when, what is marked, what outlives a restart."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pratique.contract import avro
from pratique.contract.partitioning import partition_of
from pratique.contract.reasons import ReasonCode
from pratique.contract.records import Evidence, EvidenceKind, JoinKey, Verdict, VerdictOutcome
from pratique.contract.signing import MacSigner, Signature, verify_ed25519
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED, EVIDENCE
from pratique.contract.trust import MacRole, TrustedMacKey, TrustTarget
from streams.adapters.kafka_outbox import OutputLostError
from streams.agents import loop
from streams.agents.verdict import VerdictStep
from streams.application.ports.log import Channel, Output, Partition
from streams.domain.verdicts.joins import JoinLimits
from streams.errors import PolicyNotLoadedError
from streams.wire.dead_letter import PREFIX
from streams.wire.evidence import ROLE_OF_KIND, EvidenceReader, EvidenceWriter
from tests.fakes.evidence import (
    GATE,
    MAC,
    NOW_MS,
    RECEIPT_KINDS,
    SECRETS,
    TRUST,
    failed,
    join_key,
    mac,
    opened,
    receipt,
    trust_target,
)
from tests.fakes.log import FakeLogOutbox, FakeTopic, ManualClock
from tests.fakes.steps import FakeMetrics, Record

CONSISTENCY, SCAN = RECEIPT_KINDS
PARTITIONS = 2
HORIZON_MS = 600_000
DEADLINE_MS = 30_000
LIMITS = JoinLimits(HORIZON_MS, 30_000, 100)


def in_partition(partition: int, count: int) -> list[JoinKey]:
    """Return requests of one partition."""
    keys = (join_key(number) for number in range(1000))
    return [key for key in keys if partition_of(key.message_key, PARTITIONS) == partition][:count]


KEY, SECOND, THIRD = in_partition(0, 3)
(ELSEWHERE,) = in_partition(1, 1)


class Gate:
    """One cluster: the evidence topic, the verdict topics, and the group's committed offsets."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.evidence = FakeTopic(EVIDENCE, PARTITIONS, self.clock)
        self.evidence.committed = dict.fromkeys(range(PARTITIONS), 0)
        self.topics = {
            Channel.EVIDENCE: self.evidence,
            Channel.ACCEPTED: FakeTopic(COMPACTION_ACCEPTED, PARTITIONS, self.clock),
            Channel.QUARANTINED: FakeTopic(COMPACTION_QUARANTINED, PARTITIONS, self.clock),
            Channel.DEAD_LETTER: FakeTopic("gate.dead-letter", 1, self.clock, 5_000_000),
        }

    def state(self, evidence: Evidence, signer: MacSigner | None = None) -> Record:
        """Append evidence as its role does."""
        output = EvidenceWriter(lambda: signer or MAC[ROLE_OF_KIND[evidence.kind]]).write(evidence)
        return self.evidence.append(self.place(evidence), output.value, output.headers, output.key)

    def open(self, key: JoinKey = KEY, **changes: Any) -> Record:  # noqa: ANN401 - fields of OPENED
        return self.state(opened(key, **{"requested_at": self.clock.now_ms, "deadline_ms": DEADLINE_MS, **changes}))

    def finish(self, key: JoinKey = KEY) -> None:
        for kind in RECEIPT_KINDS:
            self.state(receipt(kind, key))

    @staticmethod
    def place(evidence: Evidence) -> int:
        return partition_of(evidence.join_key.message_key, PARTITIONS)

    def kinds(self, partition: int = 0) -> list[EvidenceKind]:
        """Return what the partition holds."""
        records = [record for record in self.evidence.partitions[partition] if record is not None]
        return [avro.decode(record.value, Evidence).kind for record in records]

    def verdicts(self, key: JoinKey = KEY) -> list[tuple[str, bytes]]:
        """Return everything published about a request: topic and bytes."""
        return [
            (topic.name, record.value or b"")
            for channel, topic in self.topics.items()
            if channel in {Channel.ACCEPTED, Channel.QUARANTINED}
            for records in topic.partitions
            for record in records
            if record is not None and avro.decode(record.value, Verdict).request_sha256 == key.request_sha256
        ]

    def reasons(self, key: JoinKey = KEY) -> list[str]:
        ((_, value),) = self.verdicts(key)
        return [reason.code for reason in avro.decode(value, Verdict).reasons]


class Owner:
    """A process of the verdict app, with the positions its consumer has."""

    def __init__(self, gate: Gate, *, trust: Callable[[], TrustTarget] = lambda: TRUST) -> None:
        self.gate = gate
        self.clock = gate.clock
        self.metrics = FakeMetrics()
        self.outbox = FakeLogOutbox(gate.topics)
        self.step = VerdictStep(
            reader=EvidenceReader(SECRETS, trust, PARTITIONS),
            writer=EvidenceWriter(lambda: MAC[MacRole.VERDICT]),
            gate=lambda: GATE,
            outbox=self.outbox,
            log=gate.evidence,
            clock=self.clock,
            limits=LIMITS,
            metrics=self.metrics,
        )
        self.positions: dict[int, int] = {}
        self.marked: dict[Partition, int] = {}

    async def gain(self, *partitions: int) -> None:
        """Hold exactly these partitions, from the committed offsets on."""
        held = partitions or tuple(range(PARTITIONS))
        await self.step.gained(frozenset((EVIDENCE, partition) for partition in held))
        self.positions = {partition: self.gate.evidence.committed[partition] for partition in held}
        self.marked = {}

    async def read(self, count: int = 1000, is_current: Callable[[], bool] = lambda: True) -> Mapping[Partition, int]:
        """Take one fetch."""
        batch = self.gate.evidence.batch(self.positions, count=count)
        if not batch.parts:
            return {}
        marked = await self.step.take(batch, is_current)
        self.positions |= {partition: end for (_, partition), end in batch.ends().items()}
        self.marked |= marked
        return marked

    async def read_all(self) -> None:
        while self.gate.evidence.batch(self.positions).parts:
            await self.read()

    def commit(self) -> None:
        self.gate.evidence.committed |= {partition: offset for (_, partition), offset in self.marked.items()}


def run(scenario: Callable[[Gate], Awaitable[None]]) -> Gate:
    gate = Gate()

    async def main() -> None:
        await scenario(gate)

    asyncio.run(main())
    return gate


async def started(gate: Gate, *partitions: int) -> Owner:
    owner = Owner(gate)
    await owner.gain(*partitions)
    return owner


# --------------------------------------------------------------------------------------------------------- the way


def test_complete_evidence_is_decided_in_its_partition_and_published_once_read_back() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.finish()
        assert await owner.read() == {(EVIDENCE, 0): 0}  # open until the decision is read back
        assert gate.kinds() == [EvidenceKind.OPENED, CONSISTENCY, SCAN, EvidenceKind.DECIDED]
        assert [output.partition for output in owner.outbox.of(Channel.EVIDENCE)] == [0]
        assert gate.verdicts() == []
        assert await owner.read() == {(EVIDENCE, 0): 4}
        await owner.read_all()

    gate = run(scenario)
    ((topic, value),) = gate.verdicts()
    assert topic == COMPACTION_ACCEPTED
    verdict = avro.decode(value, Verdict)
    assert (verdict.outcome, verdict.request_id) == (VerdictOutcome.ACCEPTED, KEY.request_id)


@pytest.mark.parametrize(("clean", "topic"), [(True, COMPACTION_ACCEPTED), (False, COMPACTION_QUARANTINED)])
def test_verdict_is_signed_by_the_gate_for_the_topic_it_is_published_to(clean: bool, topic: str) -> None:  # noqa: FBT001
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.state(receipt(CONSISTENCY, KEY))
        gate.state(receipt(SCAN, KEY) if clean else failed(SCAN, ReasonCode.SECRET, KEY))
        await owner.read_all()
        channel = Channel.ACCEPTED if clean else Channel.QUARANTINED
        (output,) = owner.outbox.of(channel)
        signature = Signature.from_headers(output.headers)
        assert signature.key_id == GATE.key_id
        verify_ed25519(GATE.private_key.public_key(), signature, topic, output.value or b"")
        assert output.key == KEY.message_key

    run(scenario)


def test_partitions_are_marked_each_by_its_own_oldest_open_join() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.open(SECOND)
        gate.open(ELSEWHERE)
        gate.finish(SECOND)
        await owner.read_all()
        assert owner.marked == {(EVIDENCE, 0): 0, (EVIDENCE, 1): 0}
        gate.finish()
        await owner.read_all()
        assert owner.marked == {(EVIDENCE, 0): 8, (EVIDENCE, 1): 0}

    run(scenario)


@pytest.mark.parametrize("lost_at", [0, 1])
def test_send_that_fails_marks_nothing(lost_at: int) -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.finish()
        owner.outbox.lost = lost_at == 0
        if lost_at == 0:
            with pytest.raises(OutputLostError):
                await owner.read()
            return
        await owner.read()
        owner.outbox.lost = True
        with pytest.raises(OutputLostError):
            await owner.read()

    gate = run(scenario)
    assert gate.verdicts() == []


# ---------------------------------------------------------------------------------------------------------- poison


@pytest.mark.parametrize("value", [None, b"", b"poison", b"\xc3\x01" + bytes(40)])
def test_poison_is_put_aside_with_its_bytes_and_the_next_is_served(value: bytes | None) -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.evidence.append(0, value, (("x", b"y"),), b"key")
        gate.open()
        gate.finish()
        gate.evidence.append(0, value)
        await owner.read_all()
        first, last = owner.outbox.of(Channel.DEAD_LETTER)
        assert (first.value, first.key, last.value) == (value, b"key", value)
        assert dict(first.headers)[f"{PREFIX}offset"] == b"0"
        assert owner.marked == {(EVIDENCE, 0): 6}

    assert len(run(scenario).verdicts()) == 1


@pytest.mark.parametrize("value", [b"poison", None])
def test_records_from_which_nothing_follows_are_passed(value: bytes | None) -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.state(receipt(SCAN, KEY), MAC[MacRole.INTAKE])
        assert await owner.read() == {(EVIDENCE, 0): 1}
        gate.evidence.append(0, value)
        assert await owner.read() == {(EVIDENCE, 0): 2}
        gate.state(receipt(SCAN, KEY))
        assert await owner.read() == {(EVIDENCE, 0): 3}

    run(scenario)


def test_evidence_that_is_not_its_roles_is_counted_and_ignored() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.state(receipt(SCAN, KEY), MAC[MacRole.CONSISTENCY])  # consistency speaks for scan
        gate.state(opened(SECOND), MAC[MacRole.SCAN])  # scan opens
        moved = gate.state(receipt(SCAN, ELSEWHERE))
        gate.evidence.append(0, moved.value, moved.headers, moved.key)  # from another partition
        gate.state(receipt(CONSISTENCY, KEY))
        await owner.read_all()
        assert gate.verdicts() == []
        assert owner.metrics.counted["evidence_ignored_total why=SignerNotAuthorisedError"] == 3
        assert owner.outbox.of(Channel.DEAD_LETTER) == []
        gate.state(receipt(SCAN, KEY))
        await owner.read_all()

    assert run(scenario).reasons() == []


def test_strangers_decision_is_not_published() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.finish()
        await owner.read()
        (genuine,) = [record for record in gate.evidence.partitions[0][3:] if record is not None]
        stranger = avro.decode(genuine.value, Evidence)
        gate.state(replace(stranger, join_key=SECOND), MAC[MacRole.SCAN])
        gate.open(SECOND)
        gate.evidence.append(0, genuine.value, genuine.headers, SECOND.message_key)  # a genuine one, for another join
        await owner.read_all()
        assert gate.verdicts(SECOND) == []

    assert len(run(scenario).verdicts()) == 1


# -------------------------------------------------------------------------------------------------------- deadlines


def test_request_without_evidence_is_timed_out_after_its_deadline() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        await owner.read()
        gate.clock.now_ms += DEADLINE_MS - 1
        await owner.step.tick()
        assert gate.kinds() == [EvidenceKind.OPENED]
        gate.clock.now_ms += 1
        await owner.step.tick()
        await owner.step.tick()
        assert gate.kinds() == [EvidenceKind.OPENED, EvidenceKind.DECIDED]
        gate.finish()  # too late
        await owner.read_all()
        await owner.step.tick()

    gate = run(scenario)
    assert gate.reasons() == ["EVIDENCE_TIMEOUT", "EVIDENCE_TIMEOUT"]


def test_evidence_that_was_appended_in_time_and_is_not_read_yet_counts() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        await owner.read()
        gate.finish()
        gate.clock.now_ms += 10 * DEADLINE_MS  # the process slept
        for _ in range(5):
            await owner.step.tick()
        assert gate.verdicts() == []
        await owner.read(1)
        await owner.step.tick()  # one of two receipts is read: still not up to the end that was observed
        await owner.read_all()

    gate = run(scenario)
    assert gate.reasons() == []


def test_end_is_observed_only_after_the_time_has_run_out() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        looks: list[str] = []
        gate.evidence.on_call = looks.append
        gate.open()
        await owner.read()
        gate.clock.now_ms += DEADLINE_MS - 1
        await owner.step.tick()
        assert "end_offset" not in looks
        gate.state(receipt(SCAN, KEY))
        gate.clock.now_ms += 1
        await owner.step.tick()
        assert looks.count("end_offset") == 1
        gate.state(receipt(CONSISTENCY, KEY))  # after the end that was observed, and read before the next tick
        await owner.read()

    gate = run(scenario)
    assert gate.kinds().count(EvidenceKind.DECIDED) == 1


def test_what_was_read_before_the_sweep_counts_though_it_came_late() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        await owner.read()
        gate.clock.now_ms += DEADLINE_MS
        gate.finish()
        await owner.read()
        await owner.step.tick()
        await owner.step.tick()
        await owner.read_all()

    assert run(scenario).reasons() == []


def test_nothing_is_timed_out_while_the_end_is_not_to_be_had() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.open(ELSEWHERE)
        await owner.read()
        gate.clock.now_ms += DEADLINE_MS
        gate.evidence.away = True
        for _ in range(3):
            await owner.step.tick()
        assert gate.kinds() == gate.kinds(1) == [EvidenceKind.OPENED]
        gate.evidence.away = False
        await owner.step.tick()
        await owner.read_all()

    gate = run(scenario)
    assert gate.reasons() == gate.reasons(ELSEWHERE) == ["EVIDENCE_TIMEOUT", "EVIDENCE_TIMEOUT"]


def test_time_is_counted_from_reading_not_from_appending() -> None:
    async def scenario(gate: Gate) -> None:
        gate.open()
        gate.clock.now_ms += 5 * DEADLINE_MS  # nobody was there to read it
        owner = await started(gate)
        await owner.read()
        gate.clock.now_ms += DEADLINE_MS - 1
        await owner.step.tick()
        assert gate.kinds() == [EvidenceKind.OPENED]
        gate.finish()
        await owner.read_all()

    assert run(scenario).reasons() == []


def test_newer_policy_does_not_prolong_the_deadline() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        await owner.read()
        gate.clock.now_ms += DEADLINE_MS - 1
        gate.open(policy_version=2, deadline_ms=120_000)
        await owner.read()
        gate.clock.now_ms += 1
        await owner.step.tick()
        await owner.read_all()

    assert run(scenario).reasons() == ["EVIDENCE_TIMEOUT", "EVIDENCE_TIMEOUT"]


def test_timed_out_request_is_proposed_once() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        await owner.read()
        gate.clock.now_ms += DEADLINE_MS
        for _ in range(5):
            await owner.step.tick()
        assert gate.kinds() == [EvidenceKind.OPENED, EvidenceKind.DECIDED]
        assert owner.metrics.counted["expired_total"] == 1

    run(scenario)


@pytest.mark.parametrize("timed_out", [True, False])
def test_proposal_that_nobody_can_believe_is_made_again(timed_out: bool) -> None:  # noqa: FBT001
    expires_ms = NOW_MS + 2 * DEADLINE_MS
    newer = mac("verdict-2")
    target = trust_target(
        macs={
            "verdict-1": TrustedMacKey("verdict-1", MacRole.VERDICT, 0, expires_ms),
            "verdict-2": TrustedMacKey("verdict-2", MacRole.VERDICT, expires_ms, 2**52),
        }
    )

    async def scenario(gate: Gate) -> None:
        owner = Owner(gate, trust=lambda: target)
        owner.step._reader = EvidenceReader({**SECRETS, "verdict-2": newer.secret}, lambda: target, PARTITIONS)
        await owner.gain()
        gate.clock.now_ms = expires_ms - DEADLINE_MS if timed_out else expires_ms - 1
        gate.open()
        await owner.read()
        if not timed_out:
            gate.finish()
        gate.clock.now_ms = expires_ms  # the key expires between signing and appending
        await (owner.step.tick() if timed_out else owner.read())
        await owner.read_all()
        assert gate.verdicts() == []
        owner.step._writer = EvidenceWriter(lambda: newer)
        for _ in range(3):
            await owner.step.tick()
        assert gate.verdicts() == []
        gate.clock.now_ms += DEADLINE_MS
        await owner.step.tick()
        await owner.read_all()
        for _ in range(3):
            await owner.step.tick()
        await owner.read_all()
        assert owner.marked == {(EVIDENCE, 0): len(gate.evidence.partitions[0])}

    gate = run(scenario)
    assert len(gate.verdicts()) == 1
    assert gate.kinds().count(EvidenceKind.DECIDED) == 2
    assert gate.reasons() == (["EVIDENCE_TIMEOUT"] * 2 if timed_out else [])


def test_proposal_that_is_not_read_yet_is_not_made_again() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.finish()
        await owner.read()
        gate.clock.now_ms += 10 * DEADLINE_MS
        for _ in range(5):
            await owner.step.tick()
        assert gate.kinds().count(EvidenceKind.DECIDED) == 1
        await owner.read_all()

    assert run(scenario).reasons() == []


def test_failing_send_of_a_time_out_ends_the_process() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        await owner.read()
        gate.clock.now_ms += DEADLINE_MS
        owner.outbox.lost = True
        with pytest.raises(OutputLostError):
            await owner.step.tick()

    run(scenario)


# --------------------------------------------------------------------------------------- restarts and second owners


def test_restart_goes_on_from_the_oldest_open_join() -> None:
    async def scenario(gate: Gate) -> None:
        first = await started(gate)
        gate.open()
        gate.finish()
        await first.read()
        first.commit()
        second = await started(gate)  # DECIDED is in the log, and was not published
        await second.read_all()
        second.commit()
        assert gate.evidence.committed[0] == len(gate.evidence.partitions[0])

    gate = run(scenario)
    assert len(set(gate.verdicts())) == 1


def test_redelivered_request_gets_the_same_bytes_also_after_a_restart() -> None:
    async def scenario(gate: Gate) -> None:
        first = await started(gate)
        gate.open()
        gate.finish()
        await first.read_all()
        first.commit()
        gate.open()
        await first.read_all()
        first.commit()
        second = await started(gate)
        gate.open()
        await second.read_all()
        assert second.metrics.counted["repetitions_total"] == 1

    gate = run(scenario)
    assert len(gate.verdicts()) == 3
    assert len(set(gate.verdicts())) == 1
    assert gate.kinds().count(EvidenceKind.DECIDED) == 1


def test_warming_up_sends_nothing() -> None:
    async def scenario(gate: Gate) -> None:
        first = await started(gate)
        for key in (KEY, SECOND, THIRD):
            gate.open(key)
            gate.finish(key)
        await first.read_all()
        first.commit()
        second = await started(gate)
        assert second.outbox.sends == []
        assert second.outbox.of(Channel.DEAD_LETTER) == []

    run(scenario)


def test_partition_that_another_owner_had_in_between_is_known() -> None:
    async def scenario(gate: Gate) -> None:
        kept = await started(gate)
        gate.open()
        await kept.read()
        other = await started(gate)
        gate.finish()
        await other.read_all()
        other.commit()
        await kept.gain()
        gate.open()
        await kept.read_all()
        assert kept.metrics.counted["repetitions_total"] == 1

    gate = run(scenario)
    assert len(set(gate.verdicts())) == 1
    assert gate.kinds().count(EvidenceKind.DECIDED) == 1


def test_paused_owner_that_comes_back_contradicts_nothing() -> None:
    async def scenario(gate: Gate) -> None:
        zombie = await started(gate)
        gate.open()
        await zombie.read()
        owner = await started(gate)
        gate.finish()
        gate.clock.now_ms += DEADLINE_MS
        await owner.read_all()  # accepted, and published
        owner.commit()
        zombie.gate.evidence.on_call = lambda _: None
        zombie.step._held[(EVIDENCE, 0)].deadlines.observe(  # it saw the end before the receipts came
            list(zombie.step._held[(EVIDENCE, 0)].joins.waits()), 1
        )
        await zombie.step.tick()  # appends a time-out that is not the first
        assert gate.kinds().count(EvidenceKind.DECIDED) == 2
        await owner.read_all()
        await zombie.read_all()

    gate = run(scenario)
    assert len(set(gate.verdicts())) == 1
    assert {topic for topic, _ in gate.verdicts()} == {COMPACTION_ACCEPTED}


def test_partition_that_is_lost_is_forgotten() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.open(ELSEWHERE)
        await owner.read_all()
        await owner.gain(1)
        gate.clock.now_ms += 2 * DEADLINE_MS
        await owner.step.tick()
        assert gate.kinds() == [EvidenceKind.OPENED]

    run(scenario)


def test_long_outage_moves_the_memory_and_does_not_shorten_it() -> None:
    async def scenario(gate: Gate) -> None:
        first = await started(gate)
        gate.open()
        gate.finish()
        await first.read_all()
        first.commit()
        gate.clock.now_ms += HORIZON_MS
        gate.open(requested_at=gate.clock.now_ms - HORIZON_MS)  # redelivered, and nobody there to read it
        gate.clock.now_ms += 20 * HORIZON_MS
        second = await started(gate)
        await second.read_all()
        assert second.metrics.counted["repetitions_total"] == 1

    gate = run(scenario)
    assert len(set(gate.verdicts())) == 1


def test_owner_that_read_far_ahead_of_its_oldest_join_forgets_nothing_it_will_read_again() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.finish()
        await owner.read_all()
        gate.open(SECOND)  # stays open: what is committed stays here
        gate.open()
        gate.clock.now_ms += 3 * HORIZON_MS
        gate.open(THIRD)
        await owner.read_all()
        owner.commit()
        assert gate.evidence.committed[0] == 4
        await owner.gain()
        await owner.read_all()
        gate.clock.now_ms += DEADLINE_MS
        await owner.step.tick()
        await owner.read_all()

    gate = run(scenario)
    assert len(set(gate.verdicts())) == 1


def test_group_without_an_offset_reads_from_the_beginning() -> None:
    async def scenario(gate: Gate) -> None:
        gate.open()
        gate.finish()
        del gate.evidence.committed[0]
        owner = Owner(gate)
        await owner.step.gained(frozenset({(EVIDENCE, 0)}))
        owner.positions = {0: 0}
        await owner.read_all()

    assert run(scenario).reasons() == []


def test_committed_offset_may_point_at_no_record() -> None:
    async def scenario(gate: Gate) -> None:
        first = await started(gate)
        gate.open()
        gate.finish()
        await first.read_all()
        first.commit()
        gate.evidence.mark(0)
        gate.evidence.mark(0)
        second = await started(gate)
        gate.open()
        await second.read_all()

    gate = run(scenario)
    assert len(gate.verdicts()) == 2
    assert len(set(gate.verdicts())) == 1


# ------------------------------------------------------------------------------------------------ away and turning


@pytest.fixture
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "FIRST_WAIT_SECONDS", 0.0)


def away_for(gate: Gate, looks: int, name: str = "") -> None:
    """Let the log be away for so many looks (of one kind)."""
    left = looks

    def on_call(called: str) -> None:
        nonlocal left
        counts = not name or called == name
        gate.evidence.away = counts and left > 0
        left -= counts

    gate.evidence.on_call = on_call


@pytest.mark.usefixtures("_no_waiting")
@pytest.mark.parametrize("name", ["committed_offset", "history", "end_offset", "offset_at"])
def test_log_that_is_away_while_warming_up_is_waited_for(name: str) -> None:
    async def scenario(gate: Gate) -> None:
        first = await started(gate)
        gate.open()
        gate.finish()
        await first.read_all()
        first.commit()
        away_for(gate, 3, name)
        second = await started(gate)
        gate.open()
        await second.read_all()
        assert second.metrics.counted["waits_total what=policy and evidence log"] == 3

    gate = run(scenario)
    assert len(gate.verdicts()) == 2
    assert len(set(gate.verdicts())) == 1


@pytest.mark.usefixtures("_no_waiting")
@pytest.mark.parametrize("kept", [True, False])
def test_history_that_breaks_off_is_read_again_from_its_start(kept: bool) -> None:  # noqa: FBT001
    async def scenario(gate: Gate) -> None:
        first = await started(gate)
        for key in (KEY, SECOND, THIRD):
            gate.open(key)
            gate.finish(key)
        await first.read_all()
        first.commit()
        owner = first if kept else Owner(gate)
        other = await started(gate)
        gate.open(in_partition(0, 4)[3])
        gate.finish(in_partition(0, 4)[3])
        await other.read_all()
        other.commit()
        gate.evidence.breaks_after = 1
        broken = 3

        def on_call(name: str) -> None:
            nonlocal broken
            broken -= name == "history"
            if broken <= 0:
                gate.evidence.breaks_after = None

        gate.evidence.on_call = on_call
        await owner.gain()
        for key in in_partition(0, 4):
            gate.open(key)
        await owner.read_all()
        assert owner.metrics.counted["repetitions_total"] == 4

    gate = run(scenario)
    assert gate.kinds().count(EvidenceKind.DECIDED) == 4


@pytest.mark.usefixtures("_no_waiting")
def test_trust_that_was_never_loaded_is_waited_for_before_anything_is_read() -> None:
    missing = 3

    def trust() -> TrustTarget:
        nonlocal missing
        if missing:
            missing -= 1
            raise PolicyNotLoadedError("nothing yet")
        return TRUST

    async def scenario(gate: Gate) -> None:
        owner = Owner(gate, trust=trust)
        gate.open()
        gate.finish()
        await owner.gain()
        await owner.read_all()

    assert run(scenario).reasons() == []
    assert missing == 0


@pytest.mark.usefixtures("_no_waiting")
def test_log_that_is_away_while_a_verdict_is_repeated_is_waited_for_and_loses_nothing() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.finish()
        await owner.read_all()
        gate.open()
        gate.open(SECOND)
        gate.finish(SECOND)
        away_for(gate, 4, "record_at")
        await owner.read_all()
        assert owner.metrics.counted["waits_total what=evidence log"] == 4

    gate = run(scenario)
    assert len(gate.verdicts()) == 2
    assert len(set(gate.verdicts())) == 1
    assert len(gate.verdicts(SECOND)) == 1


@pytest.mark.usefixtures("_no_waiting")
def test_assignment_that_ends_while_the_log_is_away_sends_and_marks_nothing() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.finish()
        await owner.read_all()
        owner.commit()
        sent = len(owner.outbox.sends)
        gate.open()
        gate.open(SECOND)
        gate.finish(SECOND)
        away_for(gate, 1_000, "record_at")
        answers = iter([True, True, False])
        assert await owner.read(is_current=lambda: next(answers)) == {}
        assert len(owner.outbox.sends) == sent
        gate.evidence.on_call = lambda _: None
        gate.evidence.away = False
        await owner.gain()
        await owner.read_all()

    gate = run(scenario)
    assert len(gate.verdicts()) == 2
    assert len(gate.verdicts(SECOND)) == 1


def test_batch_of_an_assignment_that_is_over_changes_nothing() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.finish()
        assert await owner.read(is_current=lambda: False) == {}
        assert owner.outbox.sends == []
        await owner.gain()
        await owner.read_all()

    assert run(scenario).reasons() == []


def test_batch_of_a_partition_that_is_lost_by_now_is_dropped() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.finish()
        await owner.step.gained(frozenset({(EVIDENCE, 1)}))
        assert await owner.read(is_current=lambda: False) == {}
        assert owner.outbox.sends == []

    run(scenario)


def test_assignment_that_ends_while_a_batch_is_looked_at_sends_nothing() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.finish()
        answers = iter([True, False])
        assert await owner.read(is_current=lambda: next(answers)) == {}
        assert owner.outbox.sends == []

    run(scenario)


def test_sweep_does_not_run_while_a_batch_is_read() -> None:
    reading, go_on = threading.Event(), threading.Event()
    blocked = False

    def trust() -> TrustTarget:
        if blocked:
            reading.set()
            assert go_on.wait(10)
        return TRUST

    async def scenario(gate: Gate) -> None:
        nonlocal blocked
        owner = Owner(gate, trust=trust)
        await owner.gain()
        gate.open()
        await owner.read()
        gate.finish()
        gate.clock.now_ms += DEADLINE_MS
        looks: list[str] = []
        gate.evidence.on_call = looks.append
        blocked = True
        taking = asyncio.create_task(owner.read())
        await asyncio.to_thread(reading.wait, 10)
        ticking = asyncio.create_task(owner.step.tick())
        await asyncio.wait({ticking}, timeout=0.1)
        assert (ticking.done(), looks) == (False, [])
        go_on.set()
        await asyncio.gather(taking, ticking)
        await owner.read_all()

    assert run(scenario).reasons() == []


class SlowOutbox(FakeLogOutbox):
    """Acknowledges when told."""

    def __post_init__(self) -> None:
        self.sending = asyncio.Event()
        self.acknowledge = asyncio.Event()

    async def send(self, outputs: Sequence[Output]) -> None:
        if outputs:
            self.sending.set()
            await self.acknowledge.wait()
        await super().send(outputs)


async def slowly_started(gate: Gate) -> tuple[Owner, SlowOutbox]:
    owner = await started(gate)
    slow = SlowOutbox(gate.topics)
    slow.__post_init__()
    owner.outbox = slow
    owner.step._outbox = slow
    return owner, slow


def test_assignment_waits_for_the_batch_in_hand_and_starts_afresh() -> None:
    async def scenario(gate: Gate) -> None:
        owner, slow = await slowly_started(gate)
        gate.open()
        gate.finish()
        current = True
        taking = asyncio.create_task(owner.read(is_current=lambda: current))
        await slow.sending.wait()
        current = False
        gaining = asyncio.create_task(owner.gain())
        ticking = asyncio.create_task(owner.step.tick())
        await asyncio.sleep(0)
        assert not gaining.done()
        slow.acknowledge.set()
        await asyncio.gather(taking, gaining, ticking)
        assert gate.kinds().count(EvidenceKind.DECIDED) == 1
        await owner.read_all()

    gate = run(scenario)
    assert len(set(gate.verdicts())) == 1


def test_sweep_waits_for_the_batch_in_hand() -> None:
    async def scenario(gate: Gate) -> None:
        owner, slow = await slowly_started(gate)
        gate.open()
        slow.acknowledge.set()
        await owner.read()
        slow.acknowledge.clear()
        slow.sending.clear()
        gate.finish()
        taking = asyncio.create_task(owner.read())
        await slow.sending.wait()
        gate.clock.now_ms += 10 * DEADLINE_MS
        ticking = asyncio.create_task(owner.step.tick())
        await asyncio.sleep(0)
        assert not ticking.done()
        slow.acknowledge.set()
        await asyncio.gather(taking, ticking)
        assert gate.kinds().count(EvidenceKind.DECIDED) == 1
        await owner.read_all()

    assert run(scenario).reasons() == []


def test_batch_waits_for_the_sweep_in_hand() -> None:
    async def scenario(gate: Gate) -> None:
        owner, slow = await slowly_started(gate)
        gate.open()
        await owner.read()
        gate.clock.now_ms += DEADLINE_MS
        ticking = asyncio.create_task(owner.step.tick())
        await slow.sending.wait()
        gate.finish()
        taking = asyncio.create_task(owner.read())
        await asyncio.sleep(0)
        slow.acknowledge.set()
        await asyncio.gather(ticking, taking)
        assert gate.kinds().count(EvidenceKind.DECIDED) == 1
        await owner.read_all()

    assert run(scenario).reasons() == ["EVIDENCE_TIMEOUT", "EVIDENCE_TIMEOUT"]

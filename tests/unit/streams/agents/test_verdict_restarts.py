"""The verdict step over restarts and second owners: the same bytes, and nothing forgotten."""

from __future__ import annotations

from pratique.contract.records import EvidenceKind
from pratique.contract.topics import COMPACTION_ACCEPTED, EVIDENCE
from streams.application.ports.log import Channel
from tests.unit.streams.agents.verdict_bench import (
    DEADLINE_MS,
    ELSEWHERE,
    HORIZON_MS,
    KEY,
    SECOND,
    THIRD,
    Gate,
    Owner,
    run,
    served,
    started,
)


def test_restart_goes_on_from_the_oldest_open_join() -> None:
    async def scenario(gate: Gate) -> None:
        first = await started(gate)
        gate.judge()
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
        first = await served(gate)
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
        await served(gate, KEY, SECOND, THIRD)
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
        await served(gate)
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
        gate.judge()
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
        gate.judge()
        del gate.evidence.committed[0]
        owner = Owner(gate)
        await owner.step.gained(frozenset({(EVIDENCE, 0)}))
        owner.positions = {0: 0}
        await owner.read_all()

    assert run(scenario).reasons() == []


def test_committed_offset_may_point_at_no_record() -> None:
    async def scenario(gate: Gate) -> None:
        await served(gate)
        gate.evidence.mark(0)
        gate.evidence.mark(0)
        second = await started(gate)
        gate.open()
        await second.read_all()

    gate = run(scenario)
    assert len(gate.verdicts()) == 2
    assert len(set(gate.verdicts())) == 1

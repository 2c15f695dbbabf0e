"""The verdict step's deadlines: nothing unread is timed out, and what was proposed is read back or proposed again."""

from __future__ import annotations

import pytest

from pratique.contract.records import EvidenceKind
from pratique.contract.topics import EVIDENCE
from pratique.contract.trust import MacRole, TrustedMacKey
from streams.adapters.kafka_outbox import OutputLostError
from streams.wire.evidence import EvidenceReader, EvidenceWriter
from tests.fakes.evidence import (
    NOW_MS,
    SECRETS,
    mac,
    receipt,
    trust_target,
)
from tests.unit.streams.agents.verdict_bench import (
    CONSISTENCY,
    DEADLINE_MS,
    ELSEWHERE,
    KEY,
    PARTITIONS,
    SCAN,
    Gate,
    Owner,
    run,
    started,
)


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
        looks: list[str] = []
        gate.evidence.on_call = looks.append
        for _ in range(5):
            await owner.step.tick()
        assert looks == ["end_offset"]  # what is appended from now on does not put the end off
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
        gate.judge()
        await owner.read()
        gate.clock.now_ms += 10 * DEADLINE_MS
        for _ in range(5):
            await owner.step.tick()
        assert gate.kinds().count(EvidenceKind.DECIDED) == 1
        await owner.read_all()

    assert run(scenario).reasons() == []


def test_what_is_not_waited_for_any_more_is_forgotten() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        await owner.read()
        gate.clock.now_ms += DEADLINE_MS
        await owner.step.tick()  # its evidence is not waited for any more, and its decision is
        await owner.read_all()
        deadlines = owner.step._held[(EVIDENCE, 0)].deadlines
        assert deadlines.run_out(gate.clock.monotonic_ms() + 10 * DEADLINE_MS) == []
        assert deadlines.expired(1_000) == []

    run(scenario)


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

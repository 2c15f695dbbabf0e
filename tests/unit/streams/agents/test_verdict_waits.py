"""The verdict step while the log is away, and while batch, sweep and assignment wait for each other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from pratique.contract.records import EvidenceKind
from pratique.contract.topics import EVIDENCE
from pratique.contract.trust import TrustTarget
from streams.agents import loop
from streams.application.ports.log import Output
from streams.errors import PolicyNotLoadedError
from tests.fakes.evidence import TRUST
from tests.fakes.log import FakeLogOutbox
from tests.unit.streams.agents.verdict_bench import (
    DEADLINE_MS,
    KEY,
    SECOND,
    THIRD,
    Gate,
    Owner,
    in_partition,
    run,
    served,
    started,
)


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
        await served(gate)
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
        first = await served(gate, KEY, SECOND, THIRD)
        owner = first if kept else Owner(gate)
        other = await started(gate)
        gate.judge(in_partition(0, 4)[3])
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
        gate.judge()
        await owner.gain()
        await owner.read_all()

    assert run(scenario).reasons() == []
    assert missing == 0


@pytest.mark.usefixtures("_no_waiting")
def test_log_that_is_away_while_a_verdict_is_repeated_is_waited_for_and_loses_nothing() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.judge()
        await owner.read_all()
        gate.open()
        gate.judge(SECOND)
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
        owner = await served(gate)
        sent = len(owner.outbox.sends)
        gate.open()
        gate.judge(SECOND)
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
        gate.judge()
        assert await owner.read(is_current=lambda: False) == {}
        assert owner.outbox.sends == []
        await owner.gain()
        await owner.read_all()

    assert run(scenario).reasons() == []


def test_batch_of_a_partition_that_is_lost_by_now_is_dropped() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.judge()
        await owner.step.gained(frozenset({(EVIDENCE, 1)}))
        assert await owner.read(is_current=lambda: False) == {}
        assert owner.outbox.sends == []

    run(scenario)


def test_assignment_that_ends_while_a_batch_is_looked_at_sends_nothing() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.judge()
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
        gate.judge()
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

"""The verdict step: what is decided, signed, published and marked; poison; forgeries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pratique.contract import avro
from pratique.contract.reasons import ReasonCode
from pratique.contract.records import Evidence, EvidenceKind, Verdict, VerdictOutcome
from pratique.contract.signing import Signature, verify_ed25519
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED, EVIDENCE
from pratique.contract.trust import MacRole
from streams.adapters.kafka_outbox import OutputLostError
from streams.application.ports.log import Channel
from streams.wire.dead_letter import PREFIX
from tests.fakes.evidence import (
    GATE,
    MAC,
    failed,
    opened,
    receipt,
)
from tests.unit.streams.agents.verdict_bench import (
    CONSISTENCY,
    ELSEWHERE,
    KEY,
    SCAN,
    SECOND,
    Gate,
    run,
    started,
)


def test_complete_evidence_is_decided_in_its_partition_and_published_once_read_back() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.judge()
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
        gate.judge()
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
        gate.judge()
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
        gate.judge()
        await owner.read()
        (genuine,) = [record for record in gate.evidence.partitions[0][3:] if record is not None]
        stranger = avro.decode(genuine.value, Evidence)
        gate.state(replace(stranger, join_key=SECOND), MAC[MacRole.SCAN])
        gate.open(SECOND)
        gate.evidence.append(0, genuine.value, genuine.headers, SECOND.message_key)  # a genuine one, for another join
        await owner.read_all()
        assert gate.verdicts(SECOND) == []

    assert len(run(scenario).verdicts()) == 1

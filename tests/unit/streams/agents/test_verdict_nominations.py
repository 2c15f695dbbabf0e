"""From a verdict to the ledger's commands: with the verdict, in the same bytes each time, and never in its way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.reasons import ReasonCode
from pratique.contract.records import CarriedText, Evidence, JoinKey, NominatedText, Nomination, Origin
from pratique.contract.signing import Ed25519Signer
from pratique.errors import SignerNotAuthorisedError
from streams.agents.nominating import REPEATED_MS, Nominator
from streams.application.ports.log import Channel
from streams.domain.quarantine.authority import authenticate
from streams.domain.quarantine.automatic import LIFETIME_MS, AutomaticAddition, is_automatic, parse_addition
from streams.domain.quarantine.command import parse_command
from streams.domain.quarantine.record import Action
from streams.domain.verdicts.joins import Publication
from tests.fakes.evidence import GATE, NOW_MS, TRUST, decided, failed, receipt
from tests.fakes.steps import FakeMetrics, Record
from tests.unit.streams.agents.verdict_bench import (
    CONSISTENCY,
    KEY,
    PARTITIONS,
    SCAN,
    SECOND,
    Gate,
    Owner,
    in_partition,
    run,
    started,
)
from tests.unit.streams.domain.quarantine.automatics import verdict

FINGERPRINT = "f" * 64
NOMINATION = Nomination(
    "g1",
    (ReasonCode.INJECTION.value, ReasonCode.PREDICATE_CONFLICT.value),
    "recall-1",
    "detector-1",
    (NominatedText("candidate.summary_text", FINGERPRINT, (ReasonCode.INJECTION.value,)),),
)


def found(key: JoinKey = KEY, nomination: Nomination = NOMINATION) -> Evidence:
    """A scan receipt that found an injection and nominates its text."""
    stated = failed(SCAN, ReasonCode.INJECTION, key)
    if stated.receipt is None:
        raise TypeError
    return replace(stated, receipt=replace(stated.receipt, nomination=nomination))


def ask(gate: Gate, key: JoinKey = KEY, nomination: Nomination = NOMINATION) -> None:
    gate.open(key)
    gate.state(receipt(CONSISTENCY, key))
    gate.state(found(key, nomination))


def commands(gate: Gate) -> list[Record]:
    topic = gate.topics[Channel.COMMANDS]
    return [record for records in topic.partitions for record in records if record is not None]


def read(record: Record) -> AutomaticAddition:
    return parse_addition(authenticate(record.value or b"", TRUST).payload)


def test_a_quarantined_text_is_asked_for_when_its_verdict_is_published() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        ask(gate)
        await owner.read()
        assert commands(gate) == []  # decided, and not read back yet
        await owner.read_all()
        (sent,) = [outputs for outputs in owner.outbox.sends if any(o.channel is Channel.COMMANDS for o in outputs)]
        assert {output.channel for output in sent} == {Channel.QUARANTINED, Channel.COMMANDS}

    (record,) = commands(run(scenario))
    made = read(record)
    assert (made.key.tenant_id, made.key.fingerprint) == (KEY.tenant_id, FINGERPRINT)
    assert record.key == made.key.record_key
    assert record.partition == made.key.partition(PARTITIONS)


def test_without_a_nomination_nothing_is_asked() -> None:
    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        gate.open()
        gate.state(receipt(CONSISTENCY, KEY))
        gate.state(failed(SCAN, ReasonCode.INJECTION, KEY))
        await owner.read_all()

    assert commands(run(scenario)) == []


def test_a_restart_before_marking_sends_the_same_bytes_again_and_one_after_it_sends_nothing() -> None:
    async def scenario(gate: Gate) -> None:
        first = await started(gate)
        ask(gate)
        await first.read_all()
        second = await started(gate)  # nothing was committed: all of it is read again
        await second.read_all()
        second.commit()
        third = await started(gate)
        ask(gate)  # the request is delivered again
        await third.read_all()

    asked = commands(run(scenario))
    assert len(asked) == 2
    assert len({(record.key, record.value) for record in asked}) == 1


def test_a_closed_join_that_is_read_back_again_beside_an_older_open_one_asks_nothing() -> None:
    async def scenario(gate: Gate) -> None:
        first = await started(gate)
        gate.open(SECOND)
        await first.read()
        first.commit()
        ask(gate)
        await first.read_all()
        second = Owner(gate)
        await second.gain()
        await second.read_all()

    asked = commands(run(scenario))
    assert len({record.value for record in asked}) == 1


def test_a_text_that_comes_again_and_again_is_asked_for_once_in_a_while() -> None:
    keys = in_partition(0, 5)

    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        for key in keys[:3]:
            ask(gate, replace(key, tenant_id=KEY.tenant_id))
        await owner.read_all()
        assert len(commands(gate)) == 1
        gate.clock.now_ms += REPEATED_MS
        ask(gate, replace(keys[4], tenant_id=KEY.tenant_id))
        await owner.read_all()
        assert len(commands(gate)) == 2

    run(scenario)


def test_what_can_t_be_asked_for_is_counted_and_the_verdict_is_published() -> None:
    def nobody() -> Ed25519Signer:
        raise SignerNotAuthorisedError("the gate's key has gone")

    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        owner.step._nominator = Nominator(nobody, PARTITIONS, owner.metrics)
        ask(gate)
        await owner.read_all()
        assert owner.metrics.counted["nominations_refused_total why=SignerNotAuthorisedError"] == 1

    gate = run(scenario)
    assert len(gate.verdicts()) == 1
    assert commands(gate) == []


def test_what_is_quarantined_under_another_generation_is_carried_over_in_the_same_bytes() -> None:
    carried = replace(
        NOMINATION, codes=(), texts=(), carried=(CarriedText("entries[0].content", "g2", "d" * 64, "c" * 64),)
    )

    async def scenario(gate: Gate) -> None:
        for _ in range(2):  # nothing was committed: all of it is read again
            owner = await started(gate)
            ask(gate, nomination=carried)
            await owner.read_all()

    first, *again = commands(run(scenario))
    assert {(record.key, record.value) for record in again} <= {(first.key, first.value)}
    made = parse_command(authenticate(first.value or b"", TRUST).payload)
    assert (made.key.tenant_id, made.key.fingerprint, made.replaces) == (KEY.tenant_id, "d" * 64, "c" * 64)
    assert (made.key_generation, made.proposed.action, made.expected_revision) == ("g2", Action.ADD, 0)
    assert made.issued_at == made.expires_at - LIFETIME_MS
    assert first.partition == made.key.partition(PARTITIONS)


@pytest.mark.parametrize("fingerprint", ["no fingerprint", "F" * 64, ""])
def test_a_fingerprint_that_is_none_asks_for_nothing(fingerprint: str) -> None:
    wrong = replace(NOMINATION, texts=(replace(NOMINATION.texts[0], fingerprint_hmac_sha256=fingerprint),))

    async def scenario(gate: Gate) -> None:
        owner = await started(gate)
        ask(gate, nomination=wrong)
        await owner.read_all()
        assert owner.metrics.counted["nominations_refused_total why=MalformedError"] == 1

    gate = run(scenario)
    assert (len(gate.verdicts()), commands(gate)) == (1, [])


ANYTHING = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


def or_anything(*usual: str) -> st.SearchStrategy[str]:
    return st.one_of(*map(st.just, usual), ANYTHING)


CODES = st.lists(or_anything("INJECTION", "KNOWN_FINGERPRINT"), max_size=3).map(tuple)
PATHS = or_anything("entries[0].content", "candidate.summary_text")
MARKS = or_anything("f" * 64, "e" * 64)
OTHERS = st.lists(MARKS, max_size=3).map(tuple)
TEXTS = st.lists(st.builds(NominatedText, PATHS, MARKS, CODES, OTHERS), max_size=5).map(tuple)
CARRIED = st.lists(st.builds(CarriedText, PATHS, or_anything("g2"), MARKS, MARKS), max_size=3).map(tuple)
NAMES = or_anything("name-1")
DIGESTS = or_anything("1" * 64)


@given(
    st.builds(Nomination, NAMES, CODES, NAMES, NAMES, TEXTS, CARRIED),
    st.builds(JoinKey, or_anything(KEY.tenant_id), st.sampled_from(Origin), NAMES, DIGESTS, DIGESTS, DIGESTS),
    st.fixed_dictionaries(
        {
            "policy_id": NAMES,
            "verdict_id": DIGESTS,
            "request_sha256": DIGESTS,
            "decided_at": st.one_of(st.just(NOW_MS), st.integers(0, 2**62)),
        }
    ),
)
def test_whatever_a_stolen_key_nominates_is_no_failure_of_the_verdicts(
    nomination: Nomination, key: JoinKey, changes: dict[str, Any]
) -> None:
    proposal = decided(verdict(**changes), key).decided
    if proposal is None:
        raise TypeError
    nominator = Nominator(lambda: GATE, PARTITIONS, FakeMetrics())
    for output in nominator.commands([Publication(key, proposal, nomination)]):
        payload = authenticate(output.value or b"", TRUST).payload
        if is_automatic(payload):
            assert parse_addition(payload).key.tenant_id == key.tenant_id
        else:
            made = parse_command(payload)
            assert (made.key.tenant_id, made.proposed.action) == (key.tenant_id, Action.ADD)
            assert made.replaces is not None

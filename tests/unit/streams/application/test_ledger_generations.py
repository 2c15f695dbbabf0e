"""Key generations at the ledger's writer: carried over entry by entry, retired only when none is left behind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.dsse import seal
from pratique.contract.ledger_records import AuditEntry, LedgerEntry
from pratique.contract.reasons import ReasonCode
from streams.application.ledger import LedgerLimits, LedgerPartition
from streams.application.ledger_decision import Decision
from streams.application.ports.log import Channel
from streams.domain.quarantine.command import COMMAND_TYPE, Command, parse_command
from streams.domain.quarantine.generation import MAX_RETIRED, Retirement, parse_retirement, sign_retirement
from streams.domain.quarantine.record import Action
from streams.errors import CommandRefusedError, LedgerBrokenError
from streams.wire.ledger import Retired, Transition, change_of, outputs, read_audit, read_entry
from tests.unit.streams.application.test_ledger import COUNT, PARTITION, TRUST, Sent, a_partition, decide, sent, state
from tests.unit.streams.domain.quarantine.builders import FINGERPRINT, MINUTE, NOW, command, signer

OLD, NEW = "2026-1", "2027-1"
SUCCESSOR = "e" * 64
ADD = command(Action.ADD, 0)


def carried(expected: int = 0, **changes: Any) -> Command:  # noqa: ANN401 - any field
    """Return the command that puts the content of ``ADD`` in under the new generation."""
    made = {"fingerprint": SUCCESSOR, "key_generation": NEW, **changes}
    return replace(command(Action.ADD, expected, **made), replaces=FINGERPRINT)


def retirement(generation: str = OLD, **changes: Any) -> Retirement:  # noqa: ANN401 - any field
    made = Retirement(PARTITION, generation, "ada", "login-1", "rotated", NOW - MINUTE, NOW + MINUTE)
    return replace(made, **changes)


def retire(made: Retirement | None = None, key_id: str = "global", **changes: Any) -> Sent:  # noqa: ANN401 - any field
    made = made or retirement()
    return replace(Sent(sign_retirement(made, signer(key_id)), made.record_key), **changes)


def audit_of(decision: Decision) -> AuditEntry:
    assert decision.audit is not None
    return decision.audit


def test_carried_entry_names_what_it_replaces() -> None:
    decision = decide(a_partition(), sent(ADD), sent(carried()))
    assert decision.entry is not None
    assert (decision.entry.replaces, decision.entry.key_generation) == (FINGERPRINT, NEW)
    change = change_of(audit_of(decision))
    assert change == Transition(carried().key, carried().proposed.text, NEW, FINGERPRINT)


def test_what_an_entry_replaces_is_remembered_by_later_revisions_and_restarts() -> None:
    ledger = a_partition()
    decide(ledger, sent(ADD), sent(carried()))
    removed = decide(ledger, sent(command(Action.REMOVE, 1, fingerprint=SUCCESSOR, key_generation=NEW)))
    assert removed.entry is not None
    assert removed.entry.replaces == FINGERPRINT
    successor = a_partition()
    successor.load(removed.key, removed.entry)
    head = successor.head(carried().key)
    assert head is not None
    assert head.replaces == bytes.fromhex(FINGERPRINT)


@pytest.mark.parametrize(
    "before",
    [
        [],
        [sent(ADD), sent(command(Action.REMOVE, 1))],
        [sent(command(Action.ADD, 0, key_generation=NEW))],
    ],
    ids=["unknown", "released", "of the same generation"],
)
def test_what_is_not_quarantined_under_another_generation_is_not_carried_over(before: list[Sent]) -> None:
    ledger = a_partition()
    for item in before:
        decide(ledger, item)
    held = state(ledger)
    assert audit_of(decide(ledger, sent(carried()))).reason_code == ReasonCode.LEDGER_REPLACED_UNKNOWN.value
    assert state(ledger) == held


@pytest.mark.parametrize(
    "made",
    [
        replace(command(Action.REMOVE, 1), replaces=SUCCESSOR),
        replace(ADD, replaces=FINGERPRINT),
        replace(ADD, replaces="e"),
    ],
)
def test_command_that_replaces_nothing_sensible_is_malformed(made: Command) -> None:
    with pytest.raises(CommandRefusedError):
        parse_command(made.payload)
    assert parse_command(carried().payload) == carried()


def test_carrying_over_has_room_of_its_own_and_no_more() -> None:
    ledger = a_partition(quota=1)
    decide(ledger, sent(ADD))
    assert audit_of(decide(ledger, sent(command(fingerprint="1" * 64)))).reason_code == "QUOTA_EXCEEDED"
    assert decide(ledger, sent(carried())).entry is not None
    assert audit_of(decide(ledger, sent(carried(fingerprint="2" * 64)))).reason_code == "QUOTA_EXCEEDED"


def test_a_curator_adds_while_half_is_carried() -> None:
    ledger = a_partition(quota=4)
    texts = [f"{number:064x}" for number in range(4)]
    decide(ledger, *(sent(command(fingerprint=text)) for text in texts[:2]))
    for number, text in enumerate(texts[:2], start=10):
        made = replace(carried(fingerprint=f"{number:064x}"), replaces=text)
        assert decide(ledger, sent(made)).entry is not None
    for text in texts[2:]:
        assert decide(ledger, sent(command(fingerprint=text))).entry is not None
    assert audit_of(decide(ledger, sent(command(fingerprint="f" * 64)))).reason_code == "QUOTA_EXCEEDED"


def test_copies_take_no_room_of_automatic_entries() -> None:
    ledger = a_partition(quota=4)
    decide(ledger, sent(ADD))
    assert ledger.room_of(ADD.key) == 1
    decide(ledger, sent(carried()))
    assert ledger.room_of(ADD.key) == 1


def test_a_copy_whose_entry_is_retired_takes_its_place() -> None:
    ledger = a_partition(quota=1)
    decide(ledger, sent(ADD), sent(carried()), retire())
    refused = decide(ledger, sent(command(fingerprint="1" * 64, key_generation=NEW)))
    assert audit_of(refused).reason_code == "QUOTA_EXCEEDED"


def test_who_says_that_entries_replace_each_other_gets_no_more_than_twice_the_room() -> None:
    """A curator may say of two entries that each replaces the other: then both are copies, and none is plain."""
    ledger = a_partition(quota=2)
    other = replace(carried(1), replaces=FINGERPRINT)
    decide(ledger, sent(ADD), sent(command(fingerprint=SUCCESSOR, key_generation=NEW)), sent(other))
    back = replace(command(Action.ADD, 1, policy_version="p-2"), replaces=SUCCESSOR)
    assert decide(ledger, sent(back)).entry is not None
    added = [decide(ledger, sent(command(fingerprint=f"{number:064x}"))) for number in range(4)]
    assert [made.entry is not None for made in added] == [True, True, False, False]
    assert len(ledger) == 4


MARKS = tuple(f"{text}{generation}" * 32 for text in range(4) for generation in range(3))
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "carry", "carry", "remove", "retire"]),
        st.integers(0, 3),
        st.integers(0, 2),
        st.integers(0, 2),
    ),
    max_size=40,
)


@given(steps=STEPS, quota=st.integers(1, 8))
def test_room_is_what_the_entries_come_to_and_the_same_for_a_successor(
    steps: list[tuple[str, int, int, int]], quota: int
) -> None:
    """Of four texts under three generations, which are carried over in any direction."""
    ledger, records = a_partition(quota), list[tuple[bytes, LedgerEntry | None]]()
    for what, text, generation, other in steps:
        name, mark = f"g{generation}", f"{text}{generation}" * 32
        head = ledger.head(command(fingerprint=mark).key)
        action = Action.REMOVE if what == "remove" else Action.ADD
        made = command(action, 0 if head is None else head.revision, fingerprint=mark, key_generation=name)
        if what == "carry" and other != generation:
            made = replace(made, replaces=f"{text}{other}" * 32)
        decision = decide(ledger, retire(retirement(name)) if what == "retire" else sent(made))
        records += [(key, None) for key in decision.tombstones]
        if decision.entry is not None:
            records.append((made.key.record_key, decision.entry))
        successor = a_partition(quota)
        for key, entry in records:
            successor.load(key, entry)
        assert state(successor) == state(ledger)
        heads = {mark: found for mark in MARKS if (found := ledger.head(command(fingerprint=mark).key))}
        copies = sum(found.replaces is not None and found.replaces.hex() in heads for found in heads.values())
        room = min(quota // 2 - (len(heads) - copies), 2 * quota - len(heads))
        assert successor.room_of(ADD.key) == ledger.room_of(ADD.key) == room
        assert len(heads) <= 2 * quota


def test_retired_generation_leaves_tombstones_and_is_taken_no_more() -> None:
    ledger = a_partition()
    released = command(Action.ADD, 0, fingerprint="1" * 64)
    decide(ledger, sent(ADD), sent(carried()), sent(released), sent(command(Action.REMOVE, 1, fingerprint="1" * 64)))
    decision = decide(ledger, item := retire())
    audit = audit_of(decision)
    assert (audit.accepted, audit.reason_code, audit.record_json, audit.retired) == (True, None, None, (OLD,))
    assert set(decision.tombstones) == {ADD.key.record_key, released.key.record_key}
    assert state(ledger) == (1, carried().proposed.event_id) == (audit.heads_count, audit.heads_sum)
    assert change_of(audit) == Retired(OLD)
    written = [output for output in outputs(item, decision) if output.channel is Channel.LEDGER]
    assert [(output.key, output.value, output.partition) for output in written] == [
        (key, None, PARTITION) for key in decision.tombstones
    ]
    again = decide(ledger, sent(ADD))
    assert audit_of(again).reason_code == ReasonCode.LEDGER_GENERATION_DIFFERS.value
    assert (again.entry, audit_of(again).retired) == (None, (OLD,))
    replayed = decide(ledger, retire())
    assert (audit_of(replayed).accepted, audit_of(replayed).reason_code) == (True, "LEDGER_COMMAND_REPLAYED")
    assert not replayed.tombstones


@pytest.mark.parametrize(
    "before",
    [
        [sent(ADD)],
        [sent(ADD), sent(carried()), sent(command(Action.REMOVE, 1, fingerprint=SUCCESSOR, key_generation=NEW))],
        [sent(ADD), sent(carried()), sent(command(fingerprint="1" * 64))],
    ],
    ids=["not carried over", "released under the new one alone", "another left behind"],
)
def test_partial_generation_is_not_retired(before: list[Sent]) -> None:
    ledger = a_partition()
    for item in before:
        decide(ledger, item)
    held = state(ledger)
    decision = decide(ledger, retire())
    assert (audit_of(decision).accepted, audit_of(decision).reason_code) == (False, "LEDGER_GENERATION_PARTIAL")
    assert (state(ledger), decision.tombstones, audit_of(decision).retired) == (held, (), ())


REFUSED = {
    "tenant curator": (retire(key_id="curator"), "SIGNER_NOT_AUTHORISED"),
    "gate": (retire(key_id="gate"), "SIGNER_NOT_AUTHORISED"),
    "other partition": (retire(retirement(partition=PARTITION + 1)), "LEDGER_PARTITION_DIFFERS"),
    "other key": (retire(key=b"generation/2027-1"), "LEDGER_PARTITION_DIFFERS"),
    "too late": (retire(timestamp=NOW + MINUTE), "REQUEST_EXPIRED"),
}


@pytest.mark.parametrize(("item", "code"), REFUSED.values(), ids=REFUSED)
def test_refused_retirement_changes_nothing(item: Sent, code: str) -> None:
    ledger = a_partition()
    decide(ledger, sent(ADD), sent(carried()))
    held = state(ledger)
    decision = decide(ledger, item)
    assert (audit_of(decision).reason_code, audit_of(decision).retired, decision.tombstones) == (code, (), ())
    assert state(ledger) == held


@pytest.mark.parametrize(
    "payload",
    [
        retirement().payload.replace(b'"partition"', b'"partitions"'),
        retirement().payload.replace(b'"rotated"', b'""'),
        retirement(expires_at=NOW - MINUTE).payload,
        b" " + retirement().payload,
    ],
)
def test_malformed_retirement_is_kept_aside_and_recorded(payload: bytes) -> None:
    decision = decide(a_partition(), Sent(seal(COMMAND_TYPE, payload, signer("global")), retirement().record_key))
    assert (audit_of(decision).reason_code, decision.dead) == (
        "LEDGER_COMMAND_MALFORMED",
        ReasonCode.LEDGER_COMMAND_MALFORMED,
    )
    assert parse_retirement(retirement().payload) == retirement()


def test_number_of_retired_generations_is_bounded() -> None:
    ledger = a_partition()
    for number in range(MAX_RETIRED):
        assert audit_of(decide(ledger, retire(retirement(f"g{number}")))).accepted
    assert audit_of(decide(ledger, retire())).reason_code == "QUOTA_EXCEEDED"


def test_successor_knows_what_is_retired_and_what_its_topic_holds_no_more() -> None:
    ledger = a_partition()
    items = [sent(ADD), sent(carried()), retire()]
    decisions = [ledger.decide(item, TRUST) for item in items]
    written = [output for item, made in zip(items, decisions, strict=True) for output in outputs(item, made)]
    topic = [(output.key, read_entry(output.value)) for output in written if output.channel is Channel.LEDGER]
    audit = [read_audit(output.value) for output in written if output.channel is Channel.AUDIT]
    compacted = topic[1:2]  # neither the retired entry nor its tombstone is there any more
    for records in (topic, compacted):
        successor = LedgerPartition(PARTITION, COUNT, LedgerLimits(100, MINUTE))
        for key, entry in records:
            successor.load(key, entry)
        successor.check(audit[-1])
        assert state(successor) == state(ledger)
        assert audit_of(decide(successor, sent(ADD))).reason_code == "LEDGER_GENERATION_DIFFERS"
    lost = LedgerPartition(PARTITION, COUNT, LedgerLimits(100, MINUTE))
    lost.load(*topic[0])
    lost.load(*topic[1])
    with pytest.raises(LedgerBrokenError):
        lost.check(audit[-1])

"""The ledger of one partition: each refusal has its reason, leaves an audit entry, and changes nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.canonical import bytes_sha256
from pratique.contract.dsse import seal
from pratique.contract.ledger_records import AuditEntry, LedgerEntry
from pratique.contract.reasons import ReasonCode
from pratique.errors import MalformedError
from streams.application.ledger import MAX_ENVELOPE_BYTES, LedgerLimits, LedgerPartition
from streams.application.ledger_decision import Decision
from streams.application.ports.log import Channel
from streams.domain.quarantine.command import COMMAND_TYPE, Command, sign_command
from streams.domain.quarantine.ledger_key import LedgerKey
from streams.domain.quarantine.record import Action, parse_record
from streams.errors import LedgerBrokenError
from streams.wire.ledger import outputs, read_audit, read_change, read_entry
from tests.unit.streams.domain.quarantine.builders import MINUTE, NOW, command, record, signer, trust

COUNT = 4
PARTITION = record().key.partition(COUNT)
TRUST = trust()
ADD = command(Action.ADD, 0)
REMOVE = command(Action.REMOVE, 1)


@dataclass(frozen=True)
class Sent:
    """A command as the log holds it."""

    value: bytes | None
    key: bytes | None
    offset: int = 0
    partition: int = PARTITION
    timestamp: int = NOW
    topic: str = "quarantine.commands"
    headers: tuple[tuple[str, bytes], ...] = ()


def sent(made: Command, *key_ids: str, **changes: Any) -> Sent:  # noqa: ANN401 - any field
    return replace(Sent(sign_command(made, *map(signer, key_ids or ("curator",))), made.key.record_key), **changes)


def a_partition(quota: int = 100) -> LedgerPartition:
    return LedgerPartition(PARTITION, COUNT, LedgerLimits(quota, MINUTE))


def decide(ledger: LedgerPartition, *records: Sent) -> Decision:
    """Decide commands in order; return what the last came to."""
    decisions = [ledger.decide(item, TRUST) for item in records]
    return decisions[-1]


def state(ledger: LedgerPartition) -> tuple[int, str]:
    return len(ledger), ledger.heads_sum


def test_transition_writes_entry_and_audit() -> None:
    ledger = a_partition()
    item = sent(ADD, offset=7)
    decision = decide(ledger, item)
    assert decision.key == ADD.key.record_key
    assert decision.entry == LedgerEntry(ADD.proposed.text, 1, ADD.proposed.event_id, None, "2026-1")
    assert decision.audit == AuditEntry(
        accepted=True,
        reason_code=None,
        record_json=ADD.proposed.text,
        command_sha256=bytes_sha256(item.value or b""),
        key_id="curator",
        command_partition=PARTITION,
        command_offset=7,
        command_json=ADD.payload.decode(),
        heads_count=1,
        reviews_count=0,
        reviews_sum="0" * 64,
        heads_sum=ADD.proposed.event_id,
    )
    assert decision.dead is None


def test_head_takes_its_predecessors_place() -> None:
    ledger = a_partition()
    decision = decide(ledger, sent(ADD), sent(REMOVE))
    assert decision.entry is not None
    assert (decision.entry.revision, decision.entry.previous_event_id) == (2, ADD.proposed.event_id)
    assert state(ledger) == (1, REMOVE.proposed.event_id)


REFUSED: dict[str, tuple[list[Sent], ReasonCode]] = {
    "unknown scope": (
        [
            Sent(
                seal(COMMAND_TYPE, ADD.payload.replace(b'"scope":"tenant"', b'"scope":"world"'), signer("curator")),
                ADD.key.record_key,
            )
        ],
        ReasonCode.LEDGER_SCOPE_INVALID,
    ),
    "malformed": (
        [Sent(seal(COMMAND_TYPE, b"{}", signer("curator")), ADD.key.record_key)],
        ReasonCode.LEDGER_COMMAND_MALFORMED,
    ),
    "cross-tenant actor": ([sent(ADD, "curator-b")], ReasonCode.SIGNER_NOT_AUTHORISED),
    "expired key": ([sent(ADD, "curator-gone")], ReasonCode.SIGNER_NOT_AUTHORISED),
    "key without the role": ([sent(ADD, "publisher")], ReasonCode.SIGNER_NOT_AUTHORISED),
    "gate takes out": ([sent(ADD), sent(REMOVE, "gate")], ReasonCode.SIGNER_NOT_AUTHORISED),
    "expired command": ([sent(ADD, timestamp=NOW + MINUTE)], ReasonCode.REQUEST_EXPIRED),
    "command of the future": (
        [sent(command(issued_at=NOW + MINUTE + 1, expires_at=NOW + 2 * MINUTE))],
        ReasonCode.REQUEST_EXPIRED,
    ),
    "other key": ([sent(ADD, key=record(fingerprint="0" * 64).key.record_key)], ReasonCode.LEDGER_PARTITION_DIFFERS),
    "no key": ([sent(ADD, key=None)], ReasonCode.LEDGER_PARTITION_DIFFERS),
    "stale revision": ([sent(ADD), sent(command(Action.REMOVE, 0))], ReasonCode.LEDGER_REVISION_STALE),
    "replay after removal": ([sent(ADD), sent(REMOVE), sent(ADD)], ReasonCode.LEDGER_COMMAND_REPLAYED),
    "event reused": ([sent(ADD), sent(command(key_generation="2026-2"))], ReasonCode.LEDGER_EVENT_REUSED),
    "other generation": (
        [sent(ADD), sent(command(Action.REMOVE, 1, key_generation="2026-2"))],
        ReasonCode.LEDGER_GENERATION_DIFFERS,
    ),
}


@pytest.mark.parametrize(("items", "code"), REFUSED.values(), ids=REFUSED)
def test_refusal_is_recorded_and_changes_nothing(items: list[Sent], code: ReasonCode) -> None:
    ledger = a_partition()
    for item in items[:-1]:
        assert decide(ledger, item).entry is not None
    before = state(ledger)
    decision = decide(ledger, items[-1])
    assert decision.entry is None
    assert decision.audit is not None
    assert (decision.audit.accepted, decision.audit.reason_code) == (False, code.value)
    assert decision.audit.record_json is None
    assert decision.audit.command_sha256 == bytes_sha256(items[-1].value or b"")
    assert (decision.audit.heads_count, decision.audit.heads_sum) == before == state(ledger)
    malformed = code in {ReasonCode.LEDGER_COMMAND_MALFORMED, ReasonCode.LEDGER_SCOPE_INVALID}
    assert decision.dead is (code if malformed else None)
    assert (decision.audit.command_json is None) is malformed


def test_command_in_another_partition_is_refused() -> None:
    other = (PARTITION + 1) % COUNT
    ledger = LedgerPartition(other, COUNT, LedgerLimits(100, MINUTE))
    decision = ledger.decide(sent(ADD, partition=other), TRUST)
    assert decision.entry is None
    assert decision.audit is not None
    assert decision.audit.reason_code == "LEDGER_PARTITION_DIFFERS"


@pytest.mark.parametrize("tenant_id", ["tenant-a", "tenant-b"])
def test_global_scope_is_the_global_curators_alone(tenant_id: str) -> None:
    made = command(tenant_id=None)
    place = made.key.partition(COUNT)
    ledger = LedgerPartition(place, COUNT, LedgerLimits(100, MINUTE))
    curator = "curator" if tenant_id == "tenant-a" else "curator-b"
    refused = ledger.decide(sent(made, curator, partition=place), TRUST)
    assert refused.audit is not None
    assert refused.audit.reason_code == "SIGNER_NOT_AUTHORISED"
    assert ledger.decide(sent(made, "global", partition=place), TRUST).entry is not None


STRANGERS: dict[str, tuple[bytes | None, ReasonCode]] = {
    "tombstone": (None, ReasonCode.SIGNATURE_INVALID),
    "no envelope": (b"{}", ReasonCode.SIGNATURE_INVALID),
    "other type": (seal("text/plain", ADD.payload, signer("curator")), ReasonCode.SIGNATURE_INVALID),
    "unknown key": (sign_command(ADD, signer("unknown")), ReasonCode.SIGNER_NOT_AUTHORISED),
    "forged": (
        sign_command(ADD, signer("unknown")).replace(b'"unknown"', b'"curator"'),
        ReasonCode.SIGNATURE_INVALID,
    ),
    "too large": (b"x" * (MAX_ENVELOPE_BYTES + 1), ReasonCode.TOO_LARGE),
}


@pytest.mark.parametrize(("value", "code"), STRANGERS.values(), ids=STRANGERS)
def test_what_nobody_is_known_to_have_sent_is_a_dead_letter_alone(value: bytes | None, code: ReasonCode) -> None:
    ledger = a_partition()
    item = Sent(value, ADD.key.record_key)
    decision = decide(ledger, item)
    assert (decision.entry, decision.audit, decision.dead) == (None, None, code)
    (output,) = outputs(item, decision)
    assert (output.channel, output.value) == (Channel.DEAD_LETTER, value)


def test_exact_replay_stands_and_is_recorded_as_one() -> None:
    ledger = a_partition()
    decide(ledger, sent(ADD))
    before = state(ledger)
    decision = decide(ledger, sent(ADD, offset=1))
    assert decision.entry is None
    assert decision.audit is not None
    assert (decision.audit.accepted, decision.audit.reason_code) == (True, "LEDGER_COMMAND_REPLAYED")
    assert decision.audit.record_json == ADD.proposed.text
    assert state(ledger) == before


def test_quota_counts_entries_of_the_tenant_and_lets_known_ones_change() -> None:
    ledger = a_partition(quota=2)
    first, second, third = (f"{number:064x}" for number in range(3))
    decide(ledger, sent(command(fingerprint=first)), sent(command(fingerprint=second)))
    refused = decide(ledger, sent(command(fingerprint=third)))
    assert refused.audit is not None
    assert refused.audit.reason_code == "QUOTA_EXCEEDED"
    assert decide(ledger, sent(command(Action.REMOVE, 1, fingerprint=first))).entry is not None
    still = decide(ledger, sent(command(fingerprint=third)))
    assert still.entry is None, "an entry that was taken out is still an entry"


def test_outputs_of_a_transition_lie_in_the_commands_partition_the_audit_last() -> None:
    ledger = a_partition()
    item = sent(ADD)
    entry, audit = outputs(item, decide(ledger, item))
    assert (entry.channel, audit.channel) == (Channel.LEDGER, Channel.AUDIT)
    assert entry.partition == audit.partition == PARTITION
    assert entry.key == audit.key == ADD.key.record_key
    written_entry = read_entry(entry.value)
    assert written_entry is not None
    assert written_entry.event_id == ADD.proposed.event_id
    assert read_audit(audit.value).accepted


@pytest.mark.parametrize("value", [b"", b"\xc3\x01garbage"])
def test_topic_that_holds_something_else_is_broken(value: bytes | None) -> None:
    with pytest.raises(LedgerBrokenError):
        read_entry(value)
    with pytest.raises(LedgerBrokenError):
        read_audit(value)
    with pytest.raises(LedgerBrokenError):
        read_change(value)


# -- loading


FINGERPRINTS = st.integers(0, 3).map(lambda number: f"{number:064x}")
COMMANDS = st.lists(
    st.builds(
        lambda action, expected, fingerprint: command(action, expected, fingerprint=fingerprint),
        st.sampled_from(Action),
        st.integers(0, 3),
        FINGERPRINTS,
    ),
    max_size=25,
)


@given(COMMANDS, st.randoms(use_true_random=False))
def test_state_is_what_its_topic_says_however_it_was_compacted(commands: list[Command], random: Any) -> None:  # noqa: ANN401 - hypothesis types it as an object
    ledger = a_partition()
    written: list[tuple[bytes | None, LedgerEntry]] = []
    newest: AuditEntry | None = None
    for item in commands:
        decision = ledger.decide(sent(item), TRUST)
        newest = decision.audit or newest
        if decision.entry is not None:
            written.append((decision.key, decision.entry))
    last = {key: index for index, (key, _) in enumerate(written)}
    kept = [item for index, item in enumerate(written) if index == last[item[0]] or random.random() < 0.5]
    loaded = a_partition()
    for key, entry in kept:
        loaded.load(key, entry)
    loaded.check(newest)
    assert state(loaded) == state(ledger)
    for key in {key for key, _ in written}:
        assert loaded.head(LedgerKey.parse(key)) == ledger.head(LedgerKey.parse(key))


@given(COMMANDS, st.data())
def test_missing_entry_is_noticed(commands: list[Command], data: st.DataObject) -> None:
    ledger = a_partition()
    decisions = [ledger.decide(sent(item), TRUST) for item in commands]
    entries = [(item.key, item.entry) for item in decisions if item.entry is not None]
    heads = {key: index for index, (key, _) in enumerate(entries)}
    if not heads:
        return
    lost = data.draw(st.sampled_from(sorted(heads.values())))
    loaded = a_partition()
    for index, (key, entry) in enumerate(entries):
        if index != lost:
            loaded.load(key, entry)
    with pytest.raises(LedgerBrokenError):
        loaded.check(decisions[-1].audit)


def entry_of(made: Command, **changes: Any) -> LedgerEntry:  # noqa: ANN401 - any field
    return replace(
        LedgerEntry(made.proposed.text, made.proposed.revision, made.proposed.event_id, None, "2026-1"), **changes
    )


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        (ADD.key.record_key, entry_of(ADD, record_json="{}")),
        (ADD.key.record_key, entry_of(ADD, revision=2)),
        (ADD.key.record_key, entry_of(ADD, event_id="0" * 64)),
        (record(fingerprint="0" * 64).key.record_key, entry_of(ADD)),
        (None, entry_of(ADD)),
        (command(tenant_id="tenant-b").key.record_key, entry_of(command(tenant_id="tenant-b"))),
    ],
)
def test_entry_that_says_something_else_than_its_record_is_broken(key: bytes | None, entry: LedgerEntry) -> None:
    assert command(tenant_id="tenant-b").key.partition(COUNT) != PARTITION
    with pytest.raises(LedgerBrokenError):
        a_partition().load(key, entry)


def test_revisions_that_go_back_are_broken() -> None:
    ledger = a_partition()
    ledger.load(REMOVE.key.record_key, entry_of(REMOVE))
    with pytest.raises(LedgerBrokenError):
        ledger.load(ADD.key.record_key, entry_of(ADD))


def test_audit_without_a_ledger_is_noticed() -> None:
    ledger = a_partition()
    audit = decide(ledger, sent(ADD)).audit
    a_partition().check(None)
    with pytest.raises(LedgerBrokenError):
        a_partition().check(audit)
    with pytest.raises(LedgerBrokenError):
        ledger.check(None)


def test_audited_command_says_why() -> None:
    audit = decide(a_partition(), sent(ADD)).audit
    assert audit is not None
    assert json.loads(audit.command_json or "")["reason"] == ADD.reason
    assert parse_record(audit.record_json or "") == ADD.proposed
    with pytest.raises(MalformedError):
        parse_record("{}")

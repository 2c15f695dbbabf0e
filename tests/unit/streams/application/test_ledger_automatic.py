"""Automatic entries in the ledger: by policy's rule alone, for a time, and a person's word is final."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.dsse import seal
from pratique.contract.ledger_records import ReviewEntry
from pratique.contract.reasons import ReasonCode
from pratique.contract.records import Origin
from streams.application.ledger import LedgerLimits, LedgerPartition
from streams.application.ledger_decision import Decision, Rules
from streams.application.ports.log import Channel
from streams.domain.policy.model import QuarantineRule
from streams.domain.quarantine.automatic import LIFETIME_MS, AutomaticAddition, sign_addition
from streams.domain.quarantine.command import COMMAND_TYPE, sign_command
from streams.domain.quarantine.generation import Retirement, sign_retirement
from streams.domain.quarantine.record import Action, parse_record
from streams.errors import CommandRefusedError, LedgerBrokenError
from streams.wire.ledger import change_of, consequences, outputs, read_audit, read_entry, read_review
from tests.unit.streams.application.test_ledger import COUNT, PARTITION, Sent
from tests.unit.streams.domain.quarantine.automatics import AT_ONCE, RULE, addition
from tests.unit.streams.domain.quarantine.builders import MINUTE, NOW, command, signer, trust

END = NOW + RULE.expires_after_ms
TRUST = replace(
    trust(), keys={key_id: replace(key, not_before_ms=0, expires_ms=2 * NOW) for key_id, key in trust().keys.items()}
)


class Ledger:
    """A partition, and what its topics hold of it."""

    def __init__(
        self,
        rule: QuarantineRule | None = RULE,
        room: int = 100,
        rules: Rules | None = None,
        limits: LedgerLimits | None = None,
    ) -> None:
        self.limits = limits or LedgerLimits(room, MINUTE)
        self.state = LedgerPartition(PARTITION, COUNT, self.limits)
        self.rules = rules or (lambda _, __: rule)
        self.records: list[tuple[Channel, bytes | None, bytes | None]] = []

    def take(self, item: Sent) -> Decision:
        decision = self.state.decide(item, TRUST, self.rules)
        self.records += [(output.channel, output.key, output.value) for output in outputs(item, decision)]
        return decision

    def add(self, number: int = 1, at_ms: int = NOW, *, key_id: str = "gate") -> Decision:
        return self.take(sent(numbered(number, at_ms), key_id, at_ms=at_ms))

    def speak(self, action: Action, expected: int, number: int = 1, at_ms: int = NOW) -> Decision:
        made = command(action, expected, fingerprint=f"{number:064x}")
        made = replace(made, issued_at=at_ms - 1, expires_at=at_ms + MINUTE)
        return self.take(Sent(sign_command(made, signer("curator")), made.key.record_key, timestamp=at_ms))

    def end(self, now_ms: int) -> list[Decision]:
        ended = list(self.state.ended(now_ms))
        for decision in ended:
            self.records += [(item.channel, item.key, item.value) for item in consequences(decision, PARTITION)]
        return ended

    def do(self, what: str, number: int, at_ms: int) -> None:
        """Do a step of a story."""
        if what == "add":
            self.add(number, at_ms)
        elif what == "end":
            self.end(at_ms)
        elif what in {"confirm", "release"}:
            head = self.state.head(numbered(number, NOW).key)
            action = Action.ADD if what == "confirm" else Action.REMOVE
            self.speak(action, 0 if head is None else head.revision, number, at_ms)

    def review(self, number: int = 1) -> ReviewEntry | None:
        key = numbered(number, NOW).key.record_key
        found = [read_review(value) for channel, at, value in self.records if (channel, at) == (Channel.REVIEW, key)]
        return found[-1] if found else None

    def successor(self) -> Ledger:
        """Return a ledger that has read what this one wrote."""
        made = Ledger(rules=self.rules, limits=self.limits)
        newest = None
        for channel, key, value in self.records:
            if channel is Channel.LEDGER:
                made.state.load(key, read_entry(value))
            elif channel is Channel.REVIEW:
                made.state.load_review(key, read_review(value))
            elif channel is Channel.AUDIT:
                newest = read_audit(value)
        made.state.check(newest)
        return made

    def is_quarantined(self, number: int = 1) -> bool:
        head = self.state.head(numbered(number, NOW).key)
        return head is not None and head.quarantined


def numbered(number: int, at_ms: int) -> AutomaticAddition:
    return addition(f"{number:064x}", decided_at=at_ms - 1)


def sent(made: AutomaticAddition, key_id: str = "gate", *, at_ms: int = NOW) -> Sent:
    return Sent(sign_addition(made, signer(key_id)), made.key.record_key, timestamp=at_ms)


def test_an_addition_for_review_is_recorded_and_no_entry() -> None:
    ledger = Ledger()
    decision = ledger.add()
    assert decision.entry is None
    assert decision.audit is not None
    assert (decision.audit.accepted, decision.audit.reason_code) == (False, "LEDGER_REVIEW_PENDING")
    assert change_of(decision.audit) is None
    review = ledger.review()
    assert review is not None
    assert (review.state, review.codes, review.expires_at) == ("PENDING", ("INJECTION",), END)
    assert len(ledger.state) == 0


def test_an_addition_that_counts_at_once_is_the_seed_s_record() -> None:
    ledger = Ledger(AT_ONCE)
    decision = ledger.add()
    assert decision.entry is not None
    record = parse_record(decision.entry.record_json)
    assert record == numbered(1, NOW).record(1)
    assert (record.action, record.actor_id) == (Action.ADD, "pratique.verdict")
    assert decision.audit is not None
    assert change_of(decision.audit) is not None
    assert ledger.is_quarantined()


@pytest.mark.parametrize("rule", [RULE, AT_ONCE])
def test_what_is_delivered_again_writes_nothing(rule: QuarantineRule) -> None:
    ledger = Ledger(rule)
    ledger.add()
    written = len(ledger.records)
    for _ in range(3):
        ledger.add()
    assert len(ledger.records) == written


@pytest.mark.parametrize("key_id", ["curator", "service", "global", "publisher"])
def test_nobody_but_the_gate_adds_automatically(key_id: str) -> None:
    ledger = Ledger(AT_ONCE)
    audit = ledger.add(key_id=key_id).audit
    assert audit is not None
    assert audit.reason_code == "SIGNER_NOT_AUTHORISED"
    assert not ledger.is_quarantined()


def test_a_stranger_s_addition_is_a_dead_letter() -> None:
    decision = Ledger(AT_ONCE).add(key_id="nobody")
    assert (decision.audit, decision.dead) == (None, ReasonCode.SIGNER_NOT_AUTHORISED)


def test_the_gate_s_plain_command_is_refused_whatever_policy_says() -> None:
    ledger = Ledger(AT_ONCE)
    made = command(Action.ADD, 0)
    audit = ledger.take(Sent(sign_command(made, signer("gate")), made.key.record_key)).audit
    assert audit is not None
    assert audit.reason_code == "SIGNER_NOT_AUTHORISED"


def test_an_addition_under_another_tenant_s_key_is_refused() -> None:
    made, other = numbered(1, NOW), addition("1" * 64, tenant_id="tenant-b")
    ledger = Ledger(AT_ONCE)
    audit = ledger.take(Sent(sign_addition(other, signer("gate")), made.key.record_key)).audit
    assert audit is not None
    assert audit.reason_code == "LEDGER_PARTITION_DIFFERS"
    assert len(ledger.state) == 0


def test_an_addition_that_is_malformed_is_recorded_and_a_dead_letter() -> None:
    payload = numbered(1, NOW).payload.replace(b'"RECALL"', b'"GLOBAL"')
    decision = Ledger().take(Sent(seal(COMMAND_TYPE, payload, signer("gate")), numbered(1, NOW).key.record_key))
    assert decision.dead is ReasonCode.LEDGER_COMMAND_MALFORMED
    assert decision.audit is not None


def unavailable(policy_id: str, origin: Origin) -> QuarantineRule | None:
    raise CommandRefusedError(f"{policy_id} {origin}", code=ReasonCode.POLICY_UNAVAILABLE)


DENIED: dict[str, tuple[Rules, int, str]] = {
    "no rule": (lambda _, __: None, NOW, "LEDGER_RULE_DENIES"),
    "another code": (lambda _, __: replace(AT_ONCE, codes=(ReasonCode.SECRET,)), NOW, "LEDGER_RULE_DENIES"),
    "another origin": (lambda _, origin: None if origin is Origin.RECALL else AT_ONCE, NOW, "LEDGER_RULE_DENIES"),
    "no policy": (unavailable, NOW, "POLICY_UNAVAILABLE"),
    "too late": (lambda _, __: AT_ONCE, NOW + LIFETIME_MS, "REQUEST_EXPIRED"),
}


@pytest.mark.parametrize("what", DENIED)
def test_what_is_denied_is_told_once_an_hour_and_changes_nothing(what: str) -> None:
    rules, at_ms, code = DENIED[what]
    ledger = Ledger(rules=rules)
    audits = [ledger.take(sent(numbered(number, NOW), at_ms=at_ms)).audit for number in range(3)]
    assert [audit.reason_code for audit in audits if audit is not None] == [code]
    assert ledger.review() is None
    assert len(ledger.state) == 0


def test_the_quota_holds_over_a_takeover() -> None:
    ledger = Ledger(AT_ONCE)
    for number in range(RULE.hourly_quota):
        ledger.add(number, NOW + number)
    successor = ledger.successor()
    for one in (ledger, successor):
        assert one.add(99, NOW + 50).automatic == "QUOTA_EXCEEDED"
        assert one.add(98, NOW + 60 * MINUTE + 50).automatic == "effective"


def test_half_of_the_room_is_the_curators() -> None:
    ledger = Ledger(replace(AT_ONCE, hourly_quota=1000), room=6)
    results = [ledger.add(number).automatic for number in range(5)]
    assert results == ["effective"] * 3 + ["QUOTA_EXCEEDED"] * 2
    assert [ledger.speak(Action.ADD, 0, number).entry is not None for number in range(10, 14)] == [True] * 3 + [False]


def test_pending_additions_take_room_as_well() -> None:
    ledger = Ledger(replace(RULE, hourly_quota=1000), room=6)
    assert [ledger.add(number).automatic for number in range(4)] == ["pending"] * 3 + ["QUOTA_EXCEEDED"]


def test_a_curator_confirms_what_waits() -> None:
    ledger = Ledger()
    ledger.add()
    ledger.speak(Action.ADD, 0)
    review = ledger.review()
    assert review is not None
    assert (review.state, review.revision) == ("CONFIRMED", 1)
    assert ledger.is_quarantined()
    assert ledger.end(END) == []


def test_a_curator_confirms_what_counts_already_so_that_it_has_no_end() -> None:
    ledger = Ledger(AT_ONCE)
    ledger.add()
    ledger.speak(Action.ADD, 1)
    assert ledger.end(END) == []
    assert ledger.is_quarantined()


@pytest.mark.parametrize(("rule", "expected"), [(RULE, 0), (AT_ONCE, 1)])
def test_what_a_curator_released_is_not_added_again(rule: QuarantineRule, expected: int) -> None:
    ledger = Ledger(rule)
    ledger.add()
    assert ledger.speak(Action.REMOVE, expected).entry is not None
    for one in (ledger, ledger.successor()):
        written = len(one.records)
        assert one.add(at_ms=NOW + MINUTE).automatic == "left"
        assert one.add(at_ms=END + MINUTE).automatic == "left"
        assert len(one.records) == written
        assert not one.is_quarantined()


def under(generation: str, mark: str, *others: str, at_ms: int = NOW) -> Sent:
    """An addition of a text under one generation of the key, which has these fingerprints under others."""
    made = addition(mark, decided_at=at_ms - 1)
    return sent(replace(made, key_generation=generation, others=others), at_ms=at_ms)


ONE, TWO, THREE = f"{1:064x}", "a" * 64, "b" * 64


def review_of(ledger: Ledger, mark: str) -> ReviewEntry | None:
    return ledger.review(int(mark, 16))


@pytest.mark.parametrize("rule", [RULE, AT_ONCE])
@pytest.mark.parametrize("is_automatic", [False, True])
@pytest.mark.parametrize("is_retired", [False, True])
def test_what_a_person_took_out_does_not_come_back_under_another_generation(
    rule: QuarantineRule, *, is_automatic: bool, is_retired: bool
) -> None:
    ledger = Ledger(rule)
    if is_automatic:
        ledger.add()
        ledger.speak(Action.REMOVE, 1 if rule is AT_ONCE else 0)
    else:
        ledger.speak(Action.ADD, 0)
        ledger.speak(Action.REMOVE, 1)
        # Nothing is known of it any more once its generation is retired: it has to be met before.
        assert ledger.take(under("2026-2", TWO, ONE)).automatic == "released"
    if is_retired:
        ledger.take(retirement("2026-1"))
    for one in (ledger, ledger.successor()):
        assert one.take(under("2026-2", TWO, ONE)).automatic == ("left" if not is_automatic else "released")
        assert one.take(under("2026-2", TWO)).automatic == "left"  # the earlier key may have gone by now
        assert one.take(under("2026-3", THREE, TWO)).automatic == "released"
        review = review_of(one, THREE)
        assert review is not None
        assert (review.state, review.key_generation, review.revision) == ("RELEASED", "2026-3", 0)
        assert not one.is_quarantined(int(TWO, 16))
        assert not one.is_quarantined(int(THREE, 16))


@pytest.mark.parametrize("rule", [RULE, AT_ONCE])
def test_what_stands_or_waits_under_another_generation_is_left_alone(rule: QuarantineRule) -> None:
    ledger = Ledger(rule)
    ledger.add()
    written = len(ledger.records)
    assert ledger.take(under("2026-2", TWO, ONE)).automatic == "left"
    assert len(ledger.records) == written


def test_what_waited_under_a_retired_generation_bars_nothing() -> None:
    ledger = Ledger()
    ledger.add()
    ledger.take(retirement("2026-1"))
    assert ledger.take(under("2026-2", TWO, ONE)).automatic == "pending"


def test_what_has_ended_under_another_generation_may_be_added_again() -> None:
    ledger = Ledger(AT_ONCE)
    ledger.add()
    ledger.end(END)
    assert ledger.take(under("2026-2", TWO, ONE, at_ms=END + MINUTE)).automatic == "effective"


def retirement(generation: str) -> Sent:
    made = Retirement(PARTITION, generation, "ada", "login-1", "rotated", NOW - MINUTE, NOW + MINUTE)
    return Sent(sign_retirement(made, signer("global")), made.record_key)


def test_an_entry_ends_in_its_time_by_a_removal_that_everyone_can_read() -> None:
    ledger = Ledger(AT_ONCE)
    ledger.add()
    assert ledger.end(END - 1) == []
    (decision,) = ledger.end(END)
    assert decision.entry is not None
    record = parse_record(decision.entry.record_json)
    assert (record.action, record.revision, record.actor_id) == (Action.REMOVE, 2, "pratique.ledger")
    assert decision.audit is not None
    assert change_of(decision.audit) is not None
    assert json.loads(decision.audit.command_json or "")["reason"] == "no curator confirmed it in its time"
    assert not ledger.is_quarantined()
    assert ledger.end(END + 1) == []
    assert not ledger.successor().is_quarantined()


def test_what_has_ended_may_be_added_again() -> None:
    ledger = Ledger(AT_ONCE)
    ledger.add()
    ledger.end(END)
    decision = ledger.add(at_ms=END + MINUTE)
    assert decision.entry is not None
    assert decision.entry.revision == 3
    assert ledger.successor().is_quarantined()


def test_a_pending_addition_ends_without_an_entry_and_is_forgotten() -> None:
    ledger = Ledger()
    ledger.add()
    (decision,) = ledger.end(END)
    assert decision.entry is None
    assert decision.audit is not None
    assert decision.audit.reason_code == "LEDGER_REVIEW_EXPIRED"
    assert ledger.review() is None
    assert ledger.add(at_ms=END + MINUTE).automatic == "pending"


def test_carrying_an_entry_over_carries_its_end_over() -> None:
    ledger = Ledger(AT_ONCE)
    ledger.add()
    later = replace(command(Action.ADD, 0, fingerprint="a" * 64), replaces=f"{1:064x}", key_generation="2026-2")
    assert ledger.take(Sent(sign_command(later, signer("gate")), later.key.record_key)).entry is not None
    ended = ledger.end(END)
    assert sorted(decision.key or b"" for decision in ended) == sorted(
        [later.key.record_key, numbered(1, NOW).key.record_key]
    )
    head = ledger.state.head(later.key)
    assert head is not None
    assert not head.quarantined


@pytest.mark.parametrize("is_known", [False, True])
def test_carrying_an_entry_over_gives_no_end_to_what_a_person_put_in(*, is_known: bool) -> None:
    ledger = Ledger(AT_ONCE)
    ledger.add()
    made = command(Action.ADD, 0, fingerprint="a" * 64, key_generation="2026-2")
    if is_known:  # a verdict had it first
        ledger.take(sent(replace(addition("a" * 64), key_generation="2026-2")))
        made = replace(made, proposed=replace(made.proposed, revision=2))
    assert ledger.take(Sent(sign_command(made, signer("curator")), made.key.record_key)).entry is not None
    later = replace(
        made,
        proposed=replace(made.proposed, revision=made.proposed.revision + 1, incident_id="INC-8"),
        replaces=f"{1:064x}",
    )
    assert ledger.take(Sent(sign_command(later, signer("gate")), later.key.record_key)).entry is not None
    assert [decision.key for decision in ledger.end(END)] == [numbered(1, NOW).key.record_key]
    head = ledger.state.head(made.key)
    assert head is not None
    assert head.quarantined


def test_an_end_that_is_older_than_the_entry_takes_nothing_out() -> None:
    ledger = Ledger(AT_ONCE)
    ledger.add()
    ledger.speak(Action.ADD, 1)
    ledger.records = [item for place, item in enumerate(ledger.records) if place != last(ledger, Channel.REVIEW)]
    # Its review topic was restored from before the curator's word, and an operator lets it go on.
    ledger.limits = replace(ledger.limits, accepts_lost_reviews=True)
    ledger = took_over(ledger)
    decisions = ledger.end(END)
    assert [decision.automatic for decision in decisions] == ["lost", "expired"]
    assert all(decision.entry is None for decision in decisions)
    assert ledger.is_quarantined()


def last(ledger: Ledger, channel: Channel) -> int:
    return max(place for place, item in enumerate(ledger.records) if item[0] is channel)


@pytest.mark.parametrize("rule", [RULE, AT_ONCE])
def test_an_addition_under_a_retired_generation_is_denied(rule: QuarantineRule) -> None:
    ledger = Ledger(rule)
    retirement = Retirement(PARTITION, "2026-1", "ada", "login-1", "rotated", NOW - 1, NOW + MINUTE)
    ledger.take(Sent(sign_retirement(retirement, signer("global")), retirement.record_key))
    assert ledger.add().automatic == "LEDGER_GENERATION_DIFFERS"
    assert not ledger.is_quarantined()
    assert ledger.review() is None


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "add", "confirm", "release", "end", "takeover"]), st.integers(0, 3)), max_size=30
)


@given(STEPS, st.sampled_from([RULE, AT_ONCE]), st.integers(0, 40))
def test_a_successor_goes_on_as_if_it_were_the_same(
    steps: list[tuple[str, int]], rule: QuarantineRule, hours: int
) -> None:
    """Revisions stay contiguous and audit sums agree, whoever decides; what was released stays out."""
    ledger, at_ms = Ledger(rule), NOW
    released: set[int] = set()
    for what, number in steps:
        at_ms += hours * 60 * MINUTE
        if what == "takeover":
            ledger = took_over(ledger)
        ledger.do(what, number, at_ms)
        if what == "release":
            released.add(number)
        if what == "confirm":
            released.discard(number)
        assert not any(ledger.is_quarantined(item) for item in released)
    took_over(ledger)


def took_over(ledger: Ledger) -> Ledger:
    successor = ledger.successor()
    successor.records = list(ledger.records)
    assert successor.state.heads_sum == ledger.state.heads_sum
    return successor


def test_a_review_of_another_partition_breaks_the_ledger() -> None:
    ledger = Ledger()
    ledger.add()
    review = ledger.review()
    assert review is not None
    elsewhere = next(
        made.key
        for made in (addition("1" * 64, tenant_id=f"tenant-{number}") for number in range(100))
        if made.key.partition(COUNT) != PARTITION
    )
    with pytest.raises(LedgerBrokenError):
        ledger.state.load_review(elsewhere.record_key, replace(review, ledger_key=elsewhere.record_key.decode()))

"""Nobody fills or poisons a ledger: what stands is left alone, a removal is final, quotas hold, tenants are apart."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.ledger_records import ReviewEntry
from pratique.contract.reasons import ReasonCode
from streams.domain.policy.model import QuarantineRule
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action
from streams.domain.quarantine.review import HOUR_MS, Denied, Granted, Left, Released, Reviews, ReviewState
from streams.domain.quarantine.transition import Head
from streams.errors import LedgerBrokenError
from tests.unit.streams.domain.quarantine.automatics import AT_ONCE, RULE, addition
from tests.unit.streams.domain.quarantine.builders import NOW, TENANT

ROOM = 1_000


def key_of(number: int, tenant_id: str = TENANT) -> LedgerKey:
    return LedgerKey.of(Scope.TENANT, tenant_id, f"{number:064x}")


class Queue:
    """Reviews with heads beside them, as the ledger keeps them together."""

    def __init__(self, rule: QuarantineRule | None = RULE) -> None:
        self.reviews = Reviews()
        self.rule = rule
        self.heads: dict[bytes, Head] = {}

    def add(
        self, number: int, at_ms: int = NOW, *, tenant_id: str = TENANT, room: int = ROOM
    ) -> Left | Denied | Granted | Released:
        made = addition(f"{number:064x}", tenant_id=tenant_id)
        head = self.heads.get(made.key.record_key)
        judged = self.reviews.judge(made, self.rule, head=head, at_ms=at_ms, room=room)
        if isinstance(judged, Granted):
            self.reviews.put(made.key, judged.review)
            if judged.revision is not None:
                self._head(made.key, judged.revision, Action.ADD)
        return judged

    def speak(self, number: int, action: Action, at_ms: int = NOW, *, tenant_id: str = TENANT) -> None:
        """Have a curator change an entry."""
        key = key_of(number, tenant_id)
        before = self.heads.get(key.record_key)
        revision = 1 if before is None else before.revision + 1
        self._head(key, revision, action)
        spoken = self.reviews.spoken(key, action, revision=revision, at_ms=at_ms)
        if spoken is not None:
            self.reviews.put(key, spoken)

    def end(self, now_ms: int) -> list[LedgerKey]:
        """End what has come to the end of its time, as the ledger does."""
        done = []
        for key, entry in self.reviews.ended(now_ms):
            done.append(key)
            if entry.state == ReviewState.PENDING.value:
                self.reviews.put(key, None)
            else:
                self._head(key, entry.revision + 1, Action.REMOVE)
                ended = replace(entry, state=ReviewState.EXPIRED.value, revision=entry.revision + 1)
                self.reviews.put(key, ended)
        return done

    def do(self, what: str, number: int, at_ms: int, tenant_id: str) -> Left | Denied | Granted | Released | None:
        """Do a step of a story."""
        if what == "add":
            return self.add(number, at_ms, tenant_id=tenant_id)
        if what == "end":
            self.end(at_ms)
        else:
            self.speak(number, Action.ADD if what == "confirm" else Action.REMOVE, at_ms, tenant_id=tenant_id)
        return None

    def state(self, number: int, tenant_id: str = TENANT) -> str | None:
        entry = self.reviews.get(key_of(number, tenant_id))
        return None if entry is None else entry.state

    def _head(self, key: LedgerKey, revision: int, action: Action) -> None:
        self.heads[key.record_key] = Head(revision, b"e" * 32, None, action is Action.ADD, "2026-1")


def test_an_addition_waits_for_a_curator_by_default() -> None:
    queue = Queue()
    granted = queue.add(1)
    assert isinstance(granted, Granted)
    assert granted.revision is None
    assert (granted.review.state, granted.review.revision) == ("PENDING", 0)
    assert granted.review.expires_at == NOW + RULE.expires_after_ms
    assert not queue.heads


def test_an_addition_counts_at_once_where_the_rule_says_so() -> None:
    granted = Queue(AT_ONCE).add(1)
    assert isinstance(granted, Granted)
    assert (granted.revision, granted.review.state, granted.review.revision) == (1, "EFFECTIVE", 1)


@pytest.mark.parametrize("rule", [None, replace(RULE, codes=(ReasonCode.SECRET,))])
def test_what_no_rule_allows_is_denied_and_told_once_an_hour(rule: QuarantineRule | None) -> None:
    queue = Queue(rule)
    code = ReasonCode.LEDGER_RULE_DENIES
    told = [queue.add(1), queue.add(2), queue.add(1, NOW + HOUR_MS), queue.add(1, tenant_id="tenant-b")]
    assert told == [Denied(code, told=True), Denied(code, told=False), Denied(code, told=True), Denied(code, told=True)]


@pytest.mark.parametrize("rule", [RULE, AT_ONCE])
def test_what_stands_or_waits_is_left_alone(rule: QuarantineRule) -> None:
    queue = Queue(rule)
    assert isinstance(queue.add(1), Granted)
    assert queue.add(1, NOW + 1) == Left()
    queue.speak(1, Action.ADD)
    assert queue.add(1, NOW + 2) == Left()
    assert queue.state(1) == "CONFIRMED"


@pytest.mark.parametrize("rule", [RULE, AT_ONCE])
def test_what_was_taken_out_never_comes_back(rule: QuarantineRule) -> None:
    queue = Queue(rule)
    queue.add(1)
    queue.speak(1, Action.REMOVE)
    assert queue.state(1) == "RELEASED"
    assert queue.add(1, NOW + 500 * rule.expires_after_ms) == Left()


def test_what_a_curator_put_in_or_took_out_before_is_left_alone() -> None:
    queue = Queue(AT_ONCE)
    queue.speak(1, Action.ADD)
    queue.speak(2, Action.ADD)
    queue.speak(2, Action.REMOVE)
    assert [queue.add(1), queue.add(2)] == [Left(), Left()]
    assert queue.state(1) is None


def test_the_quota_is_of_the_hour_before() -> None:
    queue = Queue()
    for number in range(RULE.hourly_quota):
        assert isinstance(queue.add(number, NOW + number), Granted)
    assert queue.add(99, NOW + HOUR_MS - 1) == Denied(ReasonCode.QUOTA_EXCEEDED, told=True)
    assert isinstance(queue.add(99, NOW + HOUR_MS), Granted)
    assert queue.add(98, NOW + HOUR_MS) == Denied(ReasonCode.QUOTA_EXCEEDED, told=True)
    assert queue.add(97, NOW + HOUR_MS) == Denied(ReasonCode.QUOTA_EXCEEDED, told=False)


def test_a_released_addition_counts_for_the_quota_and_another_tenant_s_does_not() -> None:
    queue = Queue()
    for number in range(RULE.hourly_quota):
        queue.add(number)
        queue.speak(number, Action.REMOVE)
    assert isinstance(queue.add(99), Denied)
    assert isinstance(queue.add(99, tenant_id="tenant-b"), Granted)


def test_a_tenant_without_room_gets_no_additions() -> None:
    assert Queue().add(1, room=0) == Denied(ReasonCode.QUOTA_EXCEEDED, told=True)


def test_pending_additions_are_counted_by_tenant() -> None:
    queue = Queue()
    queue.add(1)
    queue.add(2)
    queue.add(1, tenant_id="tenant-b")
    queue.speak(1, Action.ADD)
    assert [queue.reviews.pending_of(key_of(9, tenant)) for tenant in (TENANT, "tenant-b")] == [1, 1]


@pytest.mark.parametrize("rule", [RULE, AT_ONCE])
def test_an_addition_ends_in_its_time_and_may_come_again(rule: QuarantineRule) -> None:
    queue = Queue(rule)
    queue.add(1)
    end = NOW + rule.expires_after_ms
    assert queue.end(end - 1) == []
    assert queue.end(end) == [key_of(1)]
    assert queue.end(end) == []
    again = queue.add(1, end + 1)
    assert isinstance(again, Granted)
    assert again.revision == (3 if rule is AT_ONCE else None)


def test_an_entry_that_a_curator_confirmed_has_no_end() -> None:
    queue = Queue(AT_ONCE)
    queue.add(1)
    queue.speak(1, Action.ADD)
    assert queue.end(NOW + 2 * AT_ONCE.expires_after_ms) == []


def test_what_a_curator_did_after_the_end_is_final() -> None:
    queue = Queue(AT_ONCE)
    queue.add(1)
    queue.end(NOW + AT_ONCE.expires_after_ms)
    queue.speak(1, Action.ADD)
    queue.speak(1, Action.REMOVE)
    assert queue.add(1, NOW + 2 * AT_ONCE.expires_after_ms) == Left()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "confirm", "release", "end"]),
        st.integers(0, 5),
        st.sampled_from([TENANT, "tenant-b"]),
        st.integers(0, 2 * HOUR_MS),
    ),
    max_size=60,
)


@given(STEPS, st.sampled_from([RULE, AT_ONCE]))
def test_quota_and_removal_hold_whatever_happens_and_a_successor_knows_the_same(
    steps: list[tuple[str, int, str, int]], rule: QuarantineRule
) -> None:
    queue, at_ms = Queue(rule), NOW
    granted: dict[str, list[int]] = {}
    released: set[tuple[str, int]] = set()
    written: list[tuple[bytes, ReviewEntry | None]] = []
    put: Callable[[LedgerKey, ReviewEntry | None], None] = queue.reviews.put

    def noted(key: LedgerKey, entry: ReviewEntry | None) -> None:
        written.append((key.record_key, entry))
        put(key, entry)

    queue.reviews.put = noted  # type: ignore[method-assign]
    for what, number, tenant_id, later_ms in steps:
        at_ms += later_ms
        if isinstance(queue.do(what, number, at_ms, tenant_id), Granted):
            assert (tenant_id, number) not in released
            granted.setdefault(tenant_id, []).append(at_ms)
        if what == "release":
            released.add((tenant_id, number))
    assert all(
        sum(moment - HOUR_MS < other <= moment for other in moments) <= rule.hourly_quota
        for moments in granted.values()
        for moment in moments
    )
    successor = Queue(rule)
    for record_key, entry in written:
        successor.reviews.load(record_key, entry)
    successor.heads = dict(queue.heads)
    for number, tenant_id in itertools.product(range(6), (TENANT, "tenant-b")):
        assert successor.state(number, tenant_id) == queue.state(number, tenant_id)
        found = [one.add(number, at_ms, tenant_id=tenant_id) for one in (queue, successor)]
        assert type(found[0]) is type(found[1])


@given(STEPS)
def test_what_one_tenant_does_changes_nothing_for_another(steps: list[tuple[str, int, str, int]]) -> None:
    alone, together, at_ms = Queue(AT_ONCE), Queue(AT_ONCE), NOW
    for what, number, tenant_id, later_ms in steps:
        at_ms += later_ms
        if what == "end":
            continue
        for queue in (together, *([alone] if tenant_id == TENANT else [])):
            queue.do(what, number, at_ms, tenant_id)
    assert [alone.state(number) for number in range(6)] == [together.state(number) for number in range(6)]


def test_a_record_that_is_not_under_its_own_key_breaks_the_ledger() -> None:
    queue = Queue()
    granted = queue.add(1)
    assert isinstance(granted, Granted)
    for key in (b"no key", None, key_of(2).record_key):
        with pytest.raises(LedgerBrokenError):
            Reviews().load(key, granted.review)
    for_all = LedgerKey.of(Scope.GLOBAL, None, "1" * 64).record_key
    with pytest.raises(LedgerBrokenError):
        Reviews().load(for_all, replace(granted.review, ledger_key=for_all.decode()))

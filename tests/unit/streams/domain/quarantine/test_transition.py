"""Compare and append: contiguous revisions, no lost update, and no replay that changes anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pratique.contract.reasons import ReasonCode
from streams.domain.quarantine.command import Command
from streams.domain.quarantine.record import Action, QuarantineRecord
from streams.domain.quarantine.transition import Applied, Effect, Head, Refused, apply
from tests.unit.streams.domain.quarantine.builders import command

REPLAYED = Refused(ReasonCode.LEDGER_COMMAND_REPLAYED)
STALE = Refused(ReasonCode.LEDGER_REVISION_STALE)


def head_after(*commands: Command) -> Head:
    head: Head | None = None
    for item in commands:
        result = apply(item, head)
        assert isinstance(result, Applied)
        head = result.head
    assert head is not None
    return head


ADD = command(Action.ADD, 0)
REMOVE = command(Action.REMOVE, 1)


def test_first_transition() -> None:
    result = apply(ADD, None)
    assert isinstance(result, Applied)
    assert result.effect is Effect.APPLIED
    assert result.record == ADD.proposed
    assert (result.head.revision, result.head.quarantined, result.head.previous_event_id) == (1, True, None)


def test_next_transition_names_its_predecessor() -> None:
    head = head_after(ADD, REMOVE)
    assert (head.revision, head.quarantined) == (2, False)
    assert head.previous_event_id == bytes.fromhex(ADD.proposed.event_id)


def test_exact_replay_of_the_latest_stands_and_changes_nothing() -> None:
    head = head_after(ADD)
    result = apply(command(Action.ADD, 0, reason="sent again, in other words"), head)
    assert result == Applied(ADD.proposed, head, Effect.REPEATED)


def test_same_event_under_another_key_generation_is_no_replay() -> None:
    result = apply(command(Action.ADD, 0, key_generation="2026-2"), head_after(ADD))
    assert result == Refused(ReasonCode.LEDGER_EVENT_REUSED)


def test_other_key_generation_is_refused() -> None:
    result = apply(command(Action.REMOVE, 1, key_generation="2026-2"), head_after(ADD))
    assert result == Refused(ReasonCode.LEDGER_GENERATION_DIFFERS)


def test_add_replayed_after_its_removal_is_refused() -> None:
    assert apply(ADD, head_after(ADD, REMOVE)) == REPLAYED


def test_add_replayed_long_after_is_refused() -> None:
    history = [ADD, REMOVE, command(Action.ADD, 2, incident_id="INC-8"), command(Action.REMOVE, 3)]
    assert apply(ADD, head_after(*history)) == STALE


@pytest.mark.parametrize("expected", [0, 2, 3])
def test_stale_or_future_revision_is_refused(expected: int) -> None:
    assert apply(command(Action.REMOVE, expected), head_after(ADD)) == STALE


def test_first_transition_expects_nothing() -> None:
    assert apply(command(Action.ADD, 1), None) == STALE


COMMANDS = st.builds(
    lambda action, expected, incident: command(action, expected, incident_id=incident),
    st.sampled_from(Action),
    st.integers(0, 6),
    st.sampled_from(["INC-1", "INC-2"]),
)


@given(st.lists(COMMANDS, max_size=40))
def test_any_commands_give_contiguous_revisions(commands: list[Command]) -> None:
    head: Head | None = None
    history: list[QuarantineRecord] = []
    for item in commands:
        result = apply(item, head)
        if isinstance(result, Applied) and result.effect is Effect.APPLIED:
            history.append(result.record)
            head = result.head
        elif isinstance(result, Applied):
            assert result.record == history[-1]
            assert result.head is head
    assert [item.revision for item in history] == list(range(1, len(history) + 1))
    assert len({item.event_id for item in history}) == len(history)


class OneEntry(RuleBasedStateMachine):
    """Two callers who read, decide and write as they please, and one who repeats what others sent."""

    def __init__(self) -> None:
        super().__init__()
        self.head: Head | None = None
        self.applied: list[Command] = []
        self.sent: list[Command] = []
        self.read = {"one": 0, "two": 0}

    @rule(who=st.sampled_from(["one", "two"]))
    def reads(self, who: str) -> None:
        self.read[who] = self.head.revision if self.head else 0

    @rule(who=st.sampled_from(["one", "two"]), action=st.sampled_from(Action))
    def writes(self, who: str, action: Action) -> None:
        made = command(action, self.read[who], actor_id=who)
        seen_all = self.read[who] == (self.head.revision if self.head else 0)
        repeats = bool(self.applied) and made.proposed == self.applied[-1].proposed
        result = self._send(made)
        assert isinstance(result, Applied) == (seen_all or repeats), "an update was lost, or refused for nothing"

    @rule(index=st.integers(0, 1000))
    def repeats(self, index: int) -> None:
        if self.sent:
            before = self.head
            made = self.sent[index % len(self.sent)]
            fresh = made not in self.applied and made.expected_revision == (before.revision if before else 0)
            self._send(made)
            assert self.head is before or fresh, "a replay changed something"

    @invariant()
    def head_is_the_last_applied(self) -> None:
        if self.applied:
            assert self.head is not None
            assert self.head.event_id.hex() == self.applied[-1].proposed.event_id
            assert self.head.revision == len(self.applied)

    def _send(self, made: Command) -> Applied | Refused:
        self.sent.append(made)
        result = apply(made, self.head)
        if isinstance(result, Applied) and result.effect is Effect.APPLIED:
            self.head = result.head
            self.applied.append(made)
        return result


TestOneEntry = OneEntry.TestCase

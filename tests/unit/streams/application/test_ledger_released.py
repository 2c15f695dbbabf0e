"""What a person took out of quarantine: no verdict proposes it again, under any key, while an earlier one is held."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.policy.model import QuarantineRule
from streams.domain.quarantine.automatic import sign_addition
from streams.domain.quarantine.command import sign_command
from streams.domain.quarantine.generation import Retirement, sign_retirement
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action
from streams.domain.quarantine.review import OPEN
from tests.unit.streams.application.test_ledger import PARTITION, Sent
from tests.unit.streams.application.test_ledger_automatic import Ledger
from tests.unit.streams.domain.quarantine.automatics import AT_ONCE, RULE, addition
from tests.unit.streams.domain.quarantine.builders import MINUTE, NOW, TENANT, command, signer

TEXTS: Final = range(2)
GENERATIONS: Final = tuple(f"2026-{number}" for number in range(1, 6))


def mark(text: int, generation: str) -> str:
    return f"{text:032x}{GENERATIONS.index(generation):032x}"


class Story:
    """A ledger over rotations of the key, and what persons have said of each text.

    Attributes:
        taken_out: The generations under which the ledger has to know that a person took a text out, by text.
    """

    def __init__(self, rule: QuarantineRule) -> None:
        self.ledger = Ledger(rule)
        self.at_ms = NOW
        self.taken_out: dict[int, set[str]] = {text: set() for text in TEXTS}
        self.retired: set[str] = set()

    def standing(self, text: int) -> set[str]:
        """Return the generations under which a text is quarantined, or waits for a curator."""
        return {name for name in GENERATIONS if self._is_quarantined(text, name) or self._is_open(text, name)}

    def meet(self, text: int, held: tuple[str, ...]) -> None:
        """Have a verdict name a text under the generations that its scan holds, the last of which is current."""
        *earlier, current = held
        made = addition(mark(text, current), decided_at=self.at_ms - 1)
        made = replace(made, key_generation=current, others=tuple(sorted(mark(text, name) for name in earlier)))
        before = self.standing(text)
        self.ledger.take(Sent(sign_addition(made, signer("gate")), made.key.record_key, timestamp=self.at_ms))
        if self.taken_out[text].intersection(held):
            assert self.standing(text) <= before
            if not before and current not in self.retired:
                self.taken_out[text].add(current)  # it is barred by itself from now on

    def added(self, text: int, generation: str) -> bool:
        """Have a verdict name a text that nobody has said anything of; return whether it stands or waits then."""
        made = replace(addition(mark(text, generation), decided_at=self.at_ms - 1), key_generation=generation)
        self.ledger.take(Sent(sign_addition(made, signer("gate")), made.key.record_key, timestamp=self.at_ms))
        return self.standing(text) == {generation}

    def put_in(self, text: int, generation: str) -> None:
        """Have a person put a text in, or confirm it."""
        if generation not in self.retired:
            self._speak(Action.ADD, text, generation)
            self.taken_out[text].clear()

    def take_out(self, text: int) -> None:
        """Have a person take a text out wherever it stands or waits, as the console does it."""
        for generation in self.standing(text) - self.retired:
            self._speak(Action.REMOVE, text, generation)
            self.taken_out[text].add(generation)

    def retire(self, generation: str) -> None:
        """Have a generation retired, where nothing is left to carry over; its plain entries are forgotten with it."""
        made = Retirement(PARTITION, generation, "ada", "login-1", "rotated", self.at_ms - 1, self.at_ms + MINUTE)
        decision = self.ledger.take(
            Sent(sign_retirement(made, signer("global")), made.record_key, timestamp=self.at_ms)
        )
        if decision.audit is not None and decision.audit.accepted:
            self.retired.add(generation)
            for text, names in self.taken_out.items():
                if self.ledger.review(int(mark(text, generation), 16)) is None:
                    names.discard(generation)

    def take_over(self) -> None:
        """Have another writer go on with what the topics hold."""
        records = list(self.ledger.records)
        self.ledger = self.ledger.successor()
        self.ledger.records = records

    def end(self) -> None:
        """Have every automatic entry's time be over."""
        self.at_ms += RULE.expires_after_ms + MINUTE
        self.ledger.end(self.at_ms)

    def _speak(self, action: Action, text: int, generation: str) -> None:
        head = self.ledger.state.head(self._key(text, generation))
        made = command(
            action,
            0 if head is None else head.revision,
            fingerprint=mark(text, generation),
            key_generation=generation,
        )
        made = replace(made, issued_at=self.at_ms - 1, expires_at=self.at_ms + MINUTE)
        self.ledger.take(Sent(sign_command(made, signer("curator")), made.key.record_key, timestamp=self.at_ms))

    def _is_quarantined(self, text: int, generation: str) -> bool:
        head = self.ledger.state.head(self._key(text, generation))
        return head is not None and head.quarantined

    def _is_open(self, text: int, generation: str) -> bool:
        review = self.ledger.review(int(mark(text, generation), 16))
        return review is not None and review.state in OPEN

    def _key(self, text: int, generation: str) -> LedgerKey:
        return LedgerKey.of(Scope.TENANT, TENANT, mark(text, generation))


HELD = st.sampled_from([GENERATIONS[first : first + count] for count in (2, 1, 3) for first in range(4 - count)])
"""Few generations, so that they overlap: a story of five finds no more, and seldom."""

WHAT = ("meet", "meet", "meet", "take out", "retire", "take over", "put in", "end")
STEPS = st.builds(
    lambda first, held, following: [(first, 0, held), ("take out", 0, held), *following],
    st.sampled_from(["meet", "put in"]),
    HELD,
    st.lists(st.tuples(st.sampled_from(WHAT), st.sampled_from(TEXTS), HELD), max_size=25),
)


def tell(story: Story, step: str, text: int, held: tuple[str, ...]) -> None:
    story.at_ms += MINUTE
    if step == "meet":
        story.meet(text, held)
    elif step == "take out":
        story.take_out(text)
    elif step == "put in":
        story.put_in(text, held[-1])
    elif step == "retire":
        story.retire(held[0])
    elif step == "take over":
        story.take_over()
    else:
        story.end()


@pytest.mark.parametrize("rule", [RULE, AT_ONCE])
def test_what_was_taken_out_comes_back_under_no_key_while_one_it_is_known_by_is_held(rule: QuarantineRule) -> None:
    @given(STEPS)
    def holds(steps: list[tuple[str, int, tuple[str, ...]]]) -> None:
        story = Story(rule)
        for step, text, held in steps:
            tell(story, step, text, held)

    holds()


@pytest.mark.parametrize("rule", [RULE, AT_ONCE])
def test_a_release_goes_from_key_to_key_as_long_as_two_of_them_overlap(rule: QuarantineRule) -> None:
    story = Story(rule)
    story.meet(0, GENERATIONS[:1])
    assert story.standing(0) == {GENERATIONS[0]}
    story.take_out(0)
    for earlier, later in itertools.pairwise(GENERATIONS):
        story.meet(0, (earlier, later))
        story.retire(earlier)
        story.take_over()
        story.meet(0, (later,))
        assert story.standing(0) == set()
    assert story.retired == set(GENERATIONS[:-1])
    story.meet(1, GENERATIONS)  # a text of which nobody has said anything
    assert story.standing(1) == {GENERATIONS[-1]}


@pytest.mark.parametrize("rule", [RULE, AT_ONCE])
def test_releases_that_are_taken_over_leave_the_quota_to_what_is_added(rule: QuarantineRule) -> None:
    """A rotation meets all that persons ever took out; what is found in the same hour is quarantined all the same."""
    story = Story(rule)
    first, second, *_ = GENERATIONS
    texts = range(3 * rule.hourly_quota)
    story.taken_out = {text: set() for text in texts}
    for text in texts:
        story.put_in(text, first)
        story.take_out(text)
        story.meet(text, (first, second))
        assert story.taken_out[text] == {first, second}
    story.take_over()
    added = [text for text in range(100, 200) if story.added(text, second)]
    assert len(added) == rule.hourly_quota

"""No text is two clauses: the compile-time check.

The contract: the clause automaton is walked against itself, two states at a time, wherever one token could lead both
on. Where two ways end together, some text could be either, and the grammar is refused. In doubt slots are taken to
overlap, so the check errs towards refusing; it is bounded, and over its bound it refuses too. One clause that can be
read in two ways is for ``shape.py`` to refuse, two that are the same words and slots for ``automaton.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from streams.domain.compaction.clauses import ClauseRule, ClauseTable
from streams.domain.compaction.slots import overlap
from streams.errors import PolicyError

MAX_PAIRS: Final = 500_000
"""Most pairs of states looked at; a grammar of 2,000 clauses that share few slots needs under a tenth of it."""


def check_unambiguous(start: ClauseTable) -> None:
    """Refuse an automaton in which two clauses match one text.

    Raises:
        PolicyError: Two clauses overlap (named), or the automaton is too entangled to tell.
    """
    seen: set[tuple[int, int]] = set()
    pending = [(start, start)]
    while pending:
        first, second = pending.pop()
        key = (min(id(first), id(second)), max(id(first), id(second)))
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > MAX_PAIRS:
            raise PolicyError("clause grammar: clauses overlap too much to check; use more distinct literal words")
        if first is not second and first.rule is not None and second.rule is not None:
            raise PolicyError(
                f"clause grammar: rules {first.rule.rule_id} and {second.rule.rule_id} match one and the same text"
            )
        if first is not second:
            pending.extend(_both(first, second))
            continue
        pending.extend((state, state) for state in first.words.values())
        pending.extend((state, state) for _, state in first.slots)
        pending.extend(_apart(first))


def _apart(state: ClauseTable) -> Iterator[tuple[ClauseTable, ClauseTable]]:
    """Yield the pairs of states that one token could lead one state to, in two ways."""
    for index, (slot, following) in enumerate(state.slots):
        for word, other in state.words.items():
            if slot.could_spell(word):
                yield other, following
        for their_slot, other in state.slots[index + 1 :]:
            if overlap(slot, their_slot):
                yield following, other


def _both(first: ClauseTable, second: ClauseTable) -> Iterator[tuple[ClauseTable, ClauseTable]]:
    """Yield the pairs of states that one token could lead two states to."""
    for word, state in first.words.items():
        if word in second.words:
            yield state, second.words[word]
        for slot, other in second.slots:
            if slot.could_spell(word):
                yield state, other
    for slot, state in first.slots:
        for word, other in second.words.items():
            if slot.could_spell(word):
                yield state, other
        for their_slot, other in second.slots:
            if overlap(slot, their_slot):
                yield state, other


def some_rule(state: ClauseTable) -> ClauseRule:
    """Return a rule that a state may end as."""
    while state.rule is None:
        state = next(iter(state.words.values()), None) or state.slots[0][1]
    return state.rule

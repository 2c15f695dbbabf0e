"""No text is two clauses: the compile-time check.

The contract: the clause automaton is walked against itself, two states at a time, wherever one token could lead both
on. Where two different clauses end together, some text could be either, and the grammar is refused. In doubt slots
are taken to overlap, so the check errs towards refusing; it is bounded, and over its bound it refuses too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from streams.domain.compaction.clauses import ClauseTable
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
        pending.extend(_together(first, second))


def _together(first: ClauseTable, second: ClauseTable) -> Iterator[tuple[ClauseTable, ClauseTable]]:
    """Yield the pairs of states that one token could lead two states to."""
    for word, state in first.words.items():
        if word in second.words:
            yield state, second.words[word]
        for slot, other in second.slots:
            if slot.could_be(word) or slot.could_be(word.upper()):
                yield state, other
    if first is second:
        for index, (_, state) in enumerate(first.slots):
            yield state, state
            yield from (
                (state, other) for slot, other in first.slots[index + 1 :] if overlap(first.slots[index][0], slot)
            )
        return
    for slot, state in first.slots:
        for word, other in second.words.items():
            if slot.could_be(word) or slot.could_be(word.upper()):
                yield state, other
        yield from ((state, other) for theirs, other in second.slots if overlap(slot, theirs))

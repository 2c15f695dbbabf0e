"""Clauses -> the table that a text is matched with.

The contract: one state for each set of positions that the same words and slots lead to, so that a table is as small as
the beginnings that clauses share, and as deterministic as slots allow. It is bounded; over its bound it refuses. That
no text is two clauses is for ``ambiguity.py`` to check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from streams.domain.compaction.authored import AuthoredClause
from streams.domain.compaction.clauses import ClauseRule, ClauseTable
from streams.domain.compaction.shape import ClauseShape, Symbol
from streams.errors import PolicyError

MAX_STATES: Final = 50_000
"""Most states of clauses with parts; clauses without are bounded by their templates' length."""

_Positions = tuple[tuple[int, int], ...]
"""A state: of each rule that may be under way, the position that was read last."""

_BEGIN: Final = -1


def clause_table(clauses: Sequence[AuthoredClause]) -> ClauseTable:
    """Return the table of a grammar's clauses.

    Raises:
        PolicyError: Two rules are the same clause, or the table is over its bound.
    """
    rules = [clause.rule for clause in clauses]
    shapes = [clause.shape for clause in clauses]
    start = ClauseTable()
    begin: _Positions = tuple((index, _BEGIN) for index in range(len(rules)))
    states = {begin: start}
    pending = [begin]
    parted = 0
    while pending:
        here = pending.pop()
        state = states[here]
        for symbol, reached in _onward(here, shapes).items():
            positions = tuple(sorted(reached))
            following = states.get(positions)
            if following is None:
                following = states[positions] = ClauseTable()
                following.rule = _ended(positions, rules, shapes)
                parted += any(rules[index].shape is not None for index, _ in positions)
                if parted > MAX_STATES:
                    raise PolicyError(
                        "clause grammar: parts make too large a table; lower maxima, or begin alternatives and"
                        " optional parts with words of their own"
                    )
                pending.append(positions)
            if isinstance(symbol, str):
                state.words[symbol] = following
            else:
                state.slots.append((symbol, following))
    return start


def _onward(here: _Positions, shapes: Sequence[ClauseShape]) -> dict[Symbol, set[tuple[int, int]]]:
    """Return where each word and slot leads, in the rules' order."""
    reached: dict[Symbol, set[tuple[int, int]]] = {}
    for index, position in here:
        shape = shapes[index]
        for following in shape.first if position == _BEGIN else shape.follow[position]:
            reached.setdefault(shape.symbols[following], set()).add((index, following))
    return reached


def _ended(positions: _Positions, rules: Sequence[ClauseRule], shapes: Sequence[ClauseShape]) -> ClauseRule | None:
    ended = [index for index, position in positions if position in shapes[index].last]
    if len(set(ended)) > 1:
        first, second = ended[:2]
        raise PolicyError(
            f"clause grammar: rule {rules[second].rule_id}: is the same clause as {rules[first].rule_id}, with some"
            " of its parts where it has any; leave one out"
        )
    return rules[ended[0]] if ended else None

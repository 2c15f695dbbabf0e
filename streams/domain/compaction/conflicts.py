"""Conflict rules and probabilistic markers: RE2 patterns over the complete normalised text.

The contract: a pattern is matched by RE2 alone, in time linear in the text, whatever the text is. A rule sees every
view of ``conflict_views``; it matches if it matches one. Patterns are bounded in length and in the size of their
program, singly and together; what is over the bound does not compile.

The one alternation of all patterns decides whether any matches. RE2 falls back from its automaton to a slower linear
search where the automaton would grow too large; it never gives up, as ``re2.Set`` would. Which of them match, once one
does, a set says in one pass: one more pattern, which matches everything, stands guard, and where not even that is
found, each rule is asked by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import re2

from streams.errors import PolicyError

MAX_PATTERN_CHARACTERS: Final = 2000
MAX_PROGRAM_SIZE: Final = 5_000
"""Largest program of one pattern, in RE2 instructions: what a step of the search may cost at worst."""
MAX_TOTAL_PROGRAM_SIZE: Final = 50_000
"""Largest sum of the programs of one grammar."""

_MAX_MEMORY_BYTES: Final = 16 * 1024 * 1024
_GUARD: Final = b""
"""Matches every text."""


def _options() -> Any:  # noqa: ANN401 - re2 comes without types
    options = re2.Options()
    options.max_mem = _MAX_MEMORY_BYTES
    options.log_errors = False
    options.never_capture = True
    return options


@dataclass(frozen=True, slots=True)
class PatternRule:
    """A compiled pattern.

    Attributes:
        rule_id: Its name in the artifact.
        predicates: Which predicates a match conflicts with; empty for a probabilistic marker.
    """

    rule_id: str
    predicates: frozenset[str]
    _compiled: Any

    @classmethod
    def compile(cls, rule_id: str, predicates: frozenset[str], pattern: str) -> PatternRule:
        """Compile a pattern.

        Raises:
            PolicyError: It is no RE2 pattern, or is over a bound.
        """
        if len(pattern) > MAX_PATTERN_CHARACTERS:
            raise PolicyError(f"clause grammar: rule {rule_id}: pattern has over {MAX_PATTERN_CHARACTERS} characters")
        try:
            compiled = re2.compile(pattern.encode("utf-8"), _options())
        except re2.error:
            raise PolicyError(f"clause grammar: rule {rule_id}: pattern is no RE2 pattern, or too large") from None
        if compiled.programsize > MAX_PROGRAM_SIZE:
            raise PolicyError(
                f"clause grammar: rule {rule_id}: pattern compiles to {compiled.programsize} instructions, "
                f"{MAX_PROGRAM_SIZE} are allowed; replace counted repetitions by `*`"
            )
        return cls(rule_id, predicates, compiled)

    @property
    def program_size(self) -> int:
        """Size of the compiled program, in RE2 instructions."""
        return int(self._compiled.programsize)

    def matches(self, views: Sequence[bytes]) -> bool:
        """Whether the pattern occurs in one of the views."""
        return any(self._compiled.search(view) is not None for view in views)

    def first_match(self, view: bytes) -> tuple[int, int] | None:
        """Return where in a view the pattern first occurs, in bytes; null where it does not."""
        found = self._compiled.search(view)
        return None if found is None else found.span()


class PatternRules:
    """The rules of one kind, in the artifact's order."""

    __slots__ = ("_any", "_set", "rules")

    def __init__(self, rules: Iterable[tuple[PatternRule, str]]) -> None:
        """Put compiled rules together, each with the pattern it was compiled from.

        Raises:
            PolicyError: Together they are over a bound.
        """
        pairs = tuple(rules)
        self.rules = tuple(rule for rule, _ in pairs)
        self._any: Any = None
        self._set: Any = None
        if not pairs:
            return
        if sum(rule.program_size for rule in self.rules) > MAX_TOTAL_PROGRAM_SIZE:
            raise PolicyError(f"clause grammar: patterns compile to over {MAX_TOTAL_PROGRAM_SIZE} instructions")
        alternation = "|".join(f"(?:{pattern})" for _, pattern in pairs)
        try:
            self._any = re2.compile(alternation.encode("utf-8"), _options())
        except re2.error:
            raise PolicyError("clause grammar: patterns are too large together") from None
        self._set = _set_of(pattern.encode("utf-8") for _, pattern in pairs)

    def any_matches(self, views: Sequence[bytes]) -> bool:
        """Whether a rule matches one of the views (UTF-8)."""
        return self._any is not None and any(self._any.search(view) is not None for view in views)

    def matching(self, views: Sequence[bytes]) -> tuple[PatternRule, ...]:
        """Return the rules that match one of the views (UTF-8), in the artifact's order."""
        if not self.any_matches(views):
            return ()
        found: set[int] = set()
        for view in views:
            places = () if self._set is None else self._set.Match(view) or ()
            if len(self.rules) not in places:  # the guard
                return tuple(rule for rule in self.rules if rule.matches(views))
            found.update(places)
        return tuple(rule for place, rule in enumerate(self.rules) if place in found)


def _set_of(patterns: Iterable[bytes]) -> Any:  # noqa: ANN401 - re2 comes without types
    """Return patterns as a set with its guard; null where RE2 can't make one."""
    made = re2.Set.SearchSet(_options())
    try:
        for pattern in (*patterns, _GUARD):
            made.Add(pattern)
        made.Compile()
    except re2.error:
        return None
    return made

"""A recogniser as the detector runs it: its patterns, its checks, its context words.

The contract: ``Rule.found`` returns what Presidio's own ``PatternRecognizer.analyze`` would, without its explanation
objects; ``patterns`` narrows it to those that the index did not rule out. A pattern's matches are looked for in the
whole text: where it may not match, the index says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import regex

from streams.adapters.pii.context import ContextWords

CERTAIN: Final = 1.0
"""Score of what passes a recogniser's check."""


class Match(NamedTuple):
    """What a rule found, before it is judged."""

    rule: Rule
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class PatternForm:
    """One regular expression of a rule, with the score that it has by itself.

    Attributes:
        hint: What is in every match; the words index looks for it, or, where ``is_shape``, the pattern index.
    """

    source: str
    flags: int
    score: float
    compiled: Any
    hint: str = ""
    is_shape: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One recogniser, for all languages of a profile.

    Attributes:
        name: The recogniser's.
        entity: What it finds.
        forms: Its patterns; none where ``special`` looks for itself.
        validate: Whether a match passes its check: None where there is none.
        invalidate: Whether a match is none after all.
        context: The words beside it.
        alone: Whether bare digits are a finding without a word beside them.
        alone_punctuated: The same of what is more than bare digits.
        any_case: Whether small letters need no word beside them.
        needs_word: Without a word beside it nothing is a finding, unless it is all that a field holds.
        groups: A match may end at the end of any of its groups, the longest that passes (IBAN).
        special: Looks through the text by itself.
    """

    name: str
    entity: str
    forms: tuple[PatternForm, ...]
    validate: Callable[[str], bool | None]
    invalidate: Callable[[str], bool | None]
    context: ContextWords
    alone: bool = False
    alone_punctuated: bool = True
    any_case: bool = True
    needs_word: bool = False
    groups: bool = False
    special: Callable[[str, ContextWords], Iterable[tuple[int, int, float]]] | None = None

    def found(self, text: str, forms: Sequence[PatternForm]) -> Iterator[Match]:
        """Return the matches of some of the rule's patterns."""
        if self.special is not None:
            for start, end, score in self.special(text, self.context):
                yield Match(self, start, end, score)
            return
        for form in forms:
            for match in form.compiled.finditer(text):
                yield from self._checked(text, match, form.score)

    def _checked(self, text: str, match: Any, score: float) -> Iterator[Match]:  # noqa: ANN401 - regex is untyped
        start = match.start()
        for end in _ends(match) if self.groups else (match.end(),):
            value = text[start:end]
            if not value:
                continue
            valid = self.validate(value)
            if valid is False or self.invalidate(value):
                continue
            yield Match(self, start, end, CERTAIN if valid else score)
            return


def _ends(match: Any) -> list[int]:  # noqa: ANN401 - regex is untyped
    ends = [match.end(number) for number in range(match.re.groups, 0, -1)]
    return [end if end > 0 else match.end() for end in ends]


def compiled_form(source: str, flags: int, score: float, hint: str = "") -> PatternForm:
    """Compile one pattern.

    Args:
        source: The pattern.
        flags: The ``regex`` module's.
        score: What a match has by itself.
        hint: A pattern of words that is in every match, in any case; none by default.
    """
    return PatternForm(source, flags, score, regex.compile(source, flags=flags), hint)

"""A recogniser as the detector runs it: its patterns, its checks, its context words.

The contract: ``Rule.found`` returns what Presidio's own ``PatternRecognizer.analyze`` would, without its explanation
objects, and without what ``may_stand`` says is no finding whatever its checks say: checks cost more. ``forms`` narrows
it to patterns that the index did not rule out. A pattern's matches are looked for in the whole text: where it may not
match, the index says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import regex

from streams.adapters.pii.around import Around, BoundWords
from streams.adapters.pii.context import ContextWords, Words
from streams.adapters.pii.reading import FAR, WHOLE, Reading

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
        readings: What may match wherever the pattern does, by RE2.
    """

    source: str
    flags: int
    score: float
    compiled: Any
    hint: str = ""
    is_shape: bool = False
    readings: tuple[Reading, ...] = ()

    def may_match(self, text: bytes, *, marked: bool) -> bool:
        """Say whether the pattern may have a match in a text (``reading.readable``).

        Args:
            text: The text.
            marked: Whether a match of nothing but digits would not do.
        """
        return all(item.may_match_marked(text) if marked else item.may_match(text) for item in self.readings)


@dataclass(frozen=True, slots=True)
class Rule:
    """One recogniser, for all languages of a profile.

    Attributes:
        number: Its place among those of the profile.
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

    number: int
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
    special: Callable[[str, Words], Iterable[tuple[int, int, float]]] | None = None

    def found(self, around: Around, forms: Sequence[PatternForm], may_stand: MayStand) -> Iterator[Match]:
        """Return the matches of some of the rule's patterns."""
        text = around.text
        if self.special is not None:
            for start, end, score in self.special(text, BoundWords(around, self.number, self.context)):
                yield Match(self, start, end, score)
            return
        for form in forms:
            for match in form.compiled.finditer(text):
                # Of an IBAN's ends the first that passes is judged, so that all have to be checked.
                if self.groups or may_stand(self, around, match.start(), match.end()):
                    yield from self._checked(around, match, form.score)

    def _checked(self, around: Around, match: Any, score: float) -> Iterator[Match]:  # noqa: ANN401 - regex is untyped
        start = match.start()
        for end in _ends(match) if self.groups else (match.end(),):
            value = around.text[start:end]
            if not value:
                continue
            valid = around.answer(self.validate, value)
            if valid is False or around.answer(self.invalidate, value):
                continue
            yield Match(self, start, end, CERTAIN if valid else score)
            return


MayStand = Callable[[Rule, Around, int, int], bool]
"""Rule, text, begin, end -> whether a match may be a finding."""


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
    readings = (Reading(source, flags, FAR), Reading(hint, flags, WHOLE)) if hint else (Reading(source, flags, WHOLE),)
    return PatternForm(source, flags, score, regex.compile(source, flags=flags), hint, readings=readings)

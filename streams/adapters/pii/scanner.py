"""The recognisers of one profile over one text: index, patterns, judgement.

The contract: ``Scanner.matches`` returns what is a finding, sorted, and of overlapping ones of a type the surest, the
longest where they are as sure. ``indexed=False`` runs every pattern over every text, and finds the same.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import regex
from presidio_analyzer import PatternRecognizer

from streams.adapters.pii.around import Around
from streams.adapters.pii.context import ContextWords
from streams.adapters.pii.index import PatternIndex
from streams.adapters.pii.judgement import AS_WRITTEN, NEEDS_A_WORD, SCORE_THRESHOLD, judged, may_stand
from streams.adapters.pii.mail import mail_addresses
from streams.adapters.pii.needles import Needles, needles_of
from streams.adapters.pii.phones import MARKED
from streams.adapters.pii.reading import WHOLE, Reading, readable
from streams.adapters.pii.rules import PatternForm, Rule, compiled_form
from streams.adapters.pii.words import EXTRA_WORDS, WORDS_IN_MATCH, WORDS_INSTEAD

_HEXADECIMAL: Final = "[0-9A-Fa-f]"
_COLONS: Final = "::|(?:[0-9A-Fa-f]{1,4}:){6}"
"""In every IPv6 address; the patterns of one begin as times of day do."""
_COIN_MARKED: Final = "[0-9][A-Za-z]|bc1"
"""In every address of a coin that is more than digits: it begins with a digit, or so."""


FEW: Final = 4
"""Most patterns that are read before words are looked for."""

_NOWHERE: Final = ("\x00\x00",)
"""Words of a rule that has none: they are in no text that anybody reads, and say nothing where they are."""


class Found(NamedTuple):
    """One finding: sorts by type, begin, longest first, surest first."""

    entity: str
    start: int
    longest: int
    surest: float

    @property
    def end(self) -> int:
        """End of the finding."""
        return self.start - self.longest

    @property
    def score(self) -> float:
        """Score of the finding."""
        return -self.surest


class Scanner:
    """The rules of one profile, and their index.

    Args:
        recognizers: The profile's, as lists of the same one for several languages.
    """

    def __init__(self, recognizers: Iterable[Sequence[Any]]) -> None:
        self.rules = tuple(rule_of(number, items) for number, items in enumerate(recognizers))
        self._forms: list[tuple[int, PatternForm]] = [
            (number, form) for number, rule in enumerate(self.rules) for form in rule.forms
        ]
        self.index = PatternIndex([form.hint if form.is_shape else form.source for _, form in self._forms])
        words = [rule.context.words or _NOWHERE for rule in self.rules]
        hints = [needles_of(form.hint) if form.hint and not form.is_shape else [] for _, form in self._forms]
        self.words = Needles([*words, *hints])

    def matches(self, text: str, *, indexed: bool = True) -> list[Found]:
        """Return the findings of a text."""
        positions = self._positions(text) if indexed else range(len(self._forms))
        if not positions:
            return []
        around = Around(text, self.words.there if indexed else None)
        by_rule: dict[int, list[PatternForm]] = {}
        for position in self._candidates(positions, around) if indexed else positions:
            number, form = self._forms[position]
            by_rule.setdefault(number, []).append(form)
        found: set[Found] = set()
        for number, forms in by_rule.items():
            rule = self.rules[number]
            for match in rule.found(around, forms, may_stand if indexed else _always):
                score = judged(match, around)
                if score >= SCORE_THRESHOLD:
                    found.add(Found(rule.entity, match.start, match.start - match.end, -score))
        return _distinct(sorted(found))

    def learn(self, text: str) -> None:
        """Meet a text's states, and compile what it needs; finds nothing."""
        list(self._candidates(self.index.candidates(text), Around(text, self.words.there)))

    def _positions(self, text: str) -> Sequence[int]:
        """Return the forms that may match; a few are read at once, since to look for all words costs more."""
        positions = self.index.candidates(text)
        if not positions or len(positions) > FEW:
            return positions
        read = readable(text)
        return [position for position in positions if self._forms[position][1].may_match(read, marked=False)]

    def _candidates(self, positions: Iterable[int], around: Around) -> Iterator[int]:
        """Return the forms that may match, of rules that may find something by it."""
        text = readable(around.text)
        for position in positions:
            number, form = self._forms[position]
            rule = self.rules[number]
            is_alone = not around.is_short and not around.has_words(number)
            if (is_alone and rule.needs_word) or not around.has_words(len(self.rules) + position):
                continue
            if form.may_match(text, marked=is_alone and not rule.alone):
                yield position


def _always(*_: object) -> bool:
    return True


def _distinct(found: Sequence[Found]) -> list[Found]:
    """Leave out what another of its type contains and is as sure of: Presidio's ``remove_duplicates``."""
    kept: list[Found] = []
    active: list[Found] = []
    for item in found:
        active = [other for other in active if other.entity == item.entity and other.end >= item.start]
        if any(other.start <= item.start and item.end <= other.end and item.score <= other.score for other in active):
            continue
        kept.append(item)
        active.append(item)
    return kept


def rule_of(number: int, items: Sequence[Any]) -> Rule:
    """Return one rule in place of the same recogniser for several languages."""
    first = items[0]
    entity = str(first.supported_entities[0])
    words = list(WORDS_INSTEAD.get(entity) or (word for item in items for word in item.context or ()))
    context = ContextWords([*words, *EXTRA_WORDS.get(entity, ())])
    flags = int(getattr(first, "global_regex_flags", 0))
    hints = getattr(first, "hints", (WORDS_IN_MATCH.get(entity, ""),) * len(first.patterns))
    forms = tuple(
        compiled_form(part.regex, flags, part.score, hint) for part, hint in zip(first.patterns, hints, strict=True)
    )
    if entity == "IP_ADDRESS":
        forms = tuple(
            dataclasses.replace(form, hint=_COLONS, is_shape=True) if _HEXADECIMAL in form.source else form
            for form in forms
        )
    if entity == "CRYPTO":
        forms = tuple(
            dataclasses.replace(form, readings=(Reading(form.source, form.flags, WHOLE, _COIN_MARKED),))
            for form in forms
        )
    special = None
    if entity == "EMAIL_ADDRESS":
        special = mail_addresses(forms[0], first.validate_result)
        forms = (dataclasses.replace(forms[0], hint="@", is_shape=True, readings=()),)
    elif hasattr(first, "spans"):
        first = copy.copy(first)  # the profile's regions are not every profile's
        first.supported_regions = tuple(dict.fromkeys(code for item in items for code in item.supported_regions))
        special = first.spans
        readings = (Reading(forms[0].source, forms[0].flags, WHOLE, MARKED),)
        forms = (dataclasses.replace(forms[0], readings=readings),)
    alone_punctuated = getattr(first, "alone_punctuated", entity not in NEEDS_A_WORD and entity != "CREDIT_CARD")
    return Rule(
        number,
        first.name,
        entity,
        forms,
        getattr(first, "validate_result", _unchecked),
        getattr(first, "invalidate_result", _unchecked),
        context,
        alone=getattr(first, "alone", False),
        alone_punctuated=alone_punctuated,
        any_case=entity in AS_WRITTEN or hasattr(first, "alone_punctuated") or not flags & regex.IGNORECASE,
        needs_word=special is None and (not alone_punctuated or _is_unsure(first)),
        groups=entity == "IBAN_CODE",
        special=special,
    )


def _is_unsure(recognizer: Any) -> bool:  # noqa: ANN401 - the package is untyped
    """Say whether nothing that a recogniser matches is a finding by itself."""
    is_checked = type(recognizer).validate_result is not PatternRecognizer.validate_result
    return not is_checked and all(part.score < SCORE_THRESHOLD for part in recognizer.patterns)


def _unchecked(_: str) -> None:
    return None

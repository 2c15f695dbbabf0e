"""Words beside a match that say what it is: Presidio's context rule, in words of any language, on both sides.

The contract: a match has context when one of its words stands in it, in the five words before it, or in the five
behind it up to the next punctuation. A word of up to four Latin letters stands by itself ("pan" is not in
"company"); of longer ones, and in scripts that write no spaces, being part of a word is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Protocol

import re2

from streams.adapters.pii.index import END, ONLY_END, automaton

WORDS_BEFORE: Final = 5
WORDS_BEHIND: Final = 5
SHORT_WORD: Final = 4
"""Characters up to which a word of Latin letters has to stand by itself."""

CHARACTERS_BEFORE: Final = 120
CHARACTERS_BEHIND: Final = 40
"""How far from a match a word is looked for at most."""
_LAST_WORDS: Final = re.compile(rf"\W*+\w++(?:\W++\w++){{{WORDS_BEFORE - 1}}}")
"""Over the reverse of a text."""
_FIRST_WORDS: Final = re.compile(rf"\W*+(?:\w++\W++){{{WORDS_BEHIND}}}(?=\w)")
_NO_WORD: Final = r"[^\pL\pN]"
_STOPS: Final = re.compile(r"[.,!?;](?=\s)|[\n。，、！？；]")
_AROUND: Final = " \t\r\n\"'`.,:;()[]<>"
LONGEST_WHOLE_FIELD: Final = 96
"""Longest field, in characters, that is looked at as one number."""


class Words(Protocol):
    """The words beside a match."""

    def beside(self, text: str, start: int, end: int) -> bool:
        """Say whether one of the words stands beside ``text[start:end]``."""
        ...


class ContextWords:
    """The context words of one recogniser.

    Args:
        words: In any case; the same word twice counts once.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(sorted({word.lower().strip() for word in words} - {""}))
        self._pattern = re2.compile(_any_of(self.words)) if self.words else None
        self._automaton = automaton([END, _any_of(self.words)])[0] if self.words else None

    def beside(self, text: str, start: int, end: int) -> bool:
        """Say whether one of the words stands beside ``text[start:end]``."""
        return self._pattern is not None and self.are_in(beside(text, start, end))

    def are_in(self, stretch: str) -> bool:
        """Say whether one of the words is in what is beside a match, in small letters."""
        if self._automaton is None or self._pattern is None:
            return False
        matched = self._automaton.Match(stretch)
        return matched != ONLY_END and (bool(matched) or self._pattern.search(stretch) is not None)


def is_whole_field(text: str, start: int, end: int) -> bool:
    """Say whether a field holds nothing but ``text[start:end]``, with spaces and punctuation around it."""
    return len(text) <= LONGEST_WHOLE_FIELD and not (text[:start] + text[end:]).strip(_AROUND)


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern of all words; those that are bounded alike share their bounds, whose classes are large."""
    by_bounds: dict[tuple[str, str], list[str]] = {}
    for word in words:
        is_bounded = len(word) <= SHORT_WORD and word.isascii()
        before = rf"(?:\A|{_NO_WORD})" if is_bounded and word[0].isalnum() else ""
        behind = rf"(?:\z|{_NO_WORD})" if is_bounded and word[-1].isalnum() else ""
        by_bounds.setdefault((before, behind), []).append(re2.escape(word))
    return "|".join(f"{before}(?:{'|'.join(items)}){behind}" for (before, behind), items in by_bounds.items())


def beside(text: str, start: int, end: int) -> str:
    """Return what is beside ``text[start:end]``, itself included, in small letters."""
    before = text[max(0, start - CHARACTERS_BEFORE) : start]
    words = _LAST_WORDS.match(before[::-1])
    if words is not None:
        before = before[len(before) - words.end() :]
    behind = text[end : end + CHARACTERS_BEHIND]
    stop = _STOPS.search(behind)
    if stop is not None:
        behind = behind[: stop.start()]
    words = _FIRST_WORDS.match(behind)
    if words is not None:
        behind = behind[: words.end()]
    return (before + text[start : min(end, start + CHARACTERS_BEFORE)] + behind).lower()

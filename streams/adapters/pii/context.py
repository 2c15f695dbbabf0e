"""Words beside a match that say what it is: Presidio's context rule, in words of any language, on both sides.

The contract: a match has context when one of its words stands in it, in the five words before it, or in the five
behind it up to the next punctuation. A word of up to four Latin letters stands by itself ("pan" is not in
"company"); of longer ones, and in scripts that write no spaces, being part of a word is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import re2

WORDS_BEFORE: Final = 5
WORDS_BEHIND: Final = 5
SHORT_WORD: Final = 4
"""Characters up to which a word of Latin letters has to stand by itself."""

_CHARACTERS_BEFORE: Final = 120
_CHARACTERS_BEHIND: Final = 40
_WORD: Final = re.compile(r"\w+")
_STOPS: Final = re.compile(r"[.,!?;](?=\s)|[\n。，、！？；]")
_AROUND: Final = " \t\r\n\"'`.,:;()[]<>"
LONGEST_WHOLE_FIELD: Final = 96
"""Longest field, in characters, that is looked at as one number."""


class ContextWords:
    """The context words of one recogniser.

    Args:
        words: In any case; the same word twice counts once.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(sorted({word.lower().strip() for word in words} - {""}))
        self._anywhere = re2.compile("|".join(re2.escape(word) for word in self.words))
        self._pattern = re.compile("|".join(_form(word) for word in self.words)) if self.words else None

    def beside(self, text: str, start: int, end: int) -> bool:
        """Say whether one of the words stands beside ``text[start:end]``."""
        # RE2 first, over the characters around, since it reads all words at once: most numbers stand beside none.
        if self._pattern is None or self._anywhere.search(_around(text, start, end)) is None:
            return False
        return self._pattern.search(_beside(text, start, end)) is not None


def is_whole_field(text: str, start: int, end: int) -> bool:
    """Say whether a field holds nothing but ``text[start:end]``, with spaces and punctuation around it."""
    return len(text) <= LONGEST_WHOLE_FIELD and not (text[:start] + text[end:]).strip(_AROUND)


def _form(word: str) -> str:
    if len(word) <= SHORT_WORD and word.isascii():
        before = r"(?<![^\W_])" if word[0].isalnum() else ""
        behind = r"(?![^\W_])" if word[-1].isalnum() else ""
        return before + re.escape(word) + behind
    return re.escape(word)


def _around(text: str, start: int, end: int) -> str:
    middle = text[start : min(end, start + _CHARACTERS_BEFORE)]
    return (text[max(0, start - _CHARACTERS_BEFORE) : start] + middle + text[end : end + _CHARACTERS_BEHIND]).lower()


def _beside(text: str, start: int, end: int) -> str:
    before = text[max(0, start - _CHARACTERS_BEFORE) : start]
    words = list(_WORD.finditer(before))
    if len(words) >= WORDS_BEFORE:
        before = before[words[-WORDS_BEFORE].start() :]
    behind = text[end : end + _CHARACTERS_BEHIND]
    stop = _STOPS.search(behind)
    if stop is not None:
        behind = behind[: stop.start()]
    words = list(_WORD.finditer(behind))
    if len(words) > WORDS_BEHIND:
        behind = behind[: words[WORDS_BEHIND].start()]
    return (before + text[start : min(end, start + _CHARACTERS_BEFORE)] + behind).lower()

"""One text, and what is asked about it for each of many matches: asked once, and kept until the text is done with.

The contract: answers are those that ``context`` gives; what is kept is only how they were come by. Whether any of a
rule's words is near at all is known for all rules at once, in blocks of the text: most matches stand beside none.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Final, TypeVar, cast

from streams.adapters.pii.context import (
    CHARACTERS_BEFORE,
    CHARACTERS_BEHIND,
    LONGEST_WHOLE_FIELD,
    ContextWords,
    beside,
    is_whole_field,
)

_BLOCK: Final = 256
_RUN_CHARACTERS: Final = 64
_PLAIN_RUN: Final = re.compile("[0-9A-Za-z]+")
_DIGIT: Final = frozenset(string.digits)
_NO_RULES: Final = frozenset[int]()

Answer = TypeVar("Answer")
There = Callable[[str], frozenset[int]]
"""Text -> numbers of the rules of whose words one is in it, and perhaps others."""


class Around:
    """One text.

    Args:
        text: The text.
        there: Which rules' words are in a text; None where all have to be looked for.
    """

    def __init__(self, text: str, there: There | None = None) -> None:
        self.text = text
        self.is_short = len(text) <= LONGEST_WHOLE_FIELD
        self._there = there
        self._rules = there(text) if there else None
        self._near: dict[int, frozenset[int]] = {}
        self._beside: dict[tuple[int, int], str] = {}
        self._pieces: dict[tuple[int, int], bool] = {}
        self._answers: dict[tuple[object, str], object] = {}

    def answer(self, ask: Callable[[str], Answer], value: str) -> Answer:
        """Ask about what is written somewhere in the text, once for each way that it is written."""
        key = (ask, value)
        if key not in self._answers:
            self._answers[key] = ask(value)
        return cast("Answer", self._answers[key])

    def has_words(self, number: int) -> bool:
        """Say whether one of a rule's words may be in the text."""
        return self._rules is None or number in self._rules

    def has_word_beside(self, number: int, words: ContextWords, start: int, end: int) -> bool:
        """Say whether one of a rule's words stands beside ``text[start:end]``."""
        if self._rules is not None and (number not in self._rules or number not in self._near_to(start, end)):
            return False
        span = (start, end)
        stretch = self._beside.get(span)
        if stretch is None:
            stretch = self._beside[span] = beside(self.text, start, end)
        return words.are_in(stretch)

    def is_whole(self, start: int, end: int) -> bool:
        """Say whether the field holds nothing but ``text[start:end]``."""
        return self.is_short and is_whole_field(self.text, start, end)

    def is_piece(self, start: int, end: int) -> bool:
        """Say whether a match is cut out of a longer run of letters and digits that holds further digits.

        Eleven digits in the middle of a SHA-256 can pass a checksum (of digests, 3 in 100 do): they are nobody's.
        """
        if not (_continues(self.text, start - 1, start) or _continues(self.text, end, end - 1)):
            return False
        span = (start, end)
        answer = self._pieces.get(span)
        if answer is None:
            answer = self._pieces[span] = _is_piece(self.text, start, end)
        return answer

    def _near_to(self, start: int, end: int) -> frozenset[int]:
        """Return the rules of whose words one may be near: of a match longer than is looked at, all of the text's."""
        if self._there is None or self._rules is None or end - start > CHARACTERS_BEFORE:
            return self._rules or _NO_RULES
        block = start // _BLOCK
        near = self._near.get(block)
        if near is None:
            first = block * _BLOCK
            last = first + _BLOCK + CHARACTERS_BEFORE + CHARACTERS_BEHIND
            near = self._near[block] = self._there(self.text[max(0, first - CHARACTERS_BEFORE) : last])
        return near


class BoundWords:
    """A rule's words in one text, for what looks through it by itself."""

    def __init__(self, around: Around, number: int, words: ContextWords) -> None:
        self._around = around
        self._number = number
        self._words = words

    def beside(self, text: str, start: int, end: int) -> bool:  # noqa: ARG002 - the text is the one that this is bound to
        """Say whether one of the words stands beside ``text[start:end]``."""
        return self._around.has_word_beside(self._number, self._words, start, end)


def _continues(text: str, outer: int, inner: int) -> bool:
    return 0 <= outer < len(text) and _is_plain(text[outer]) and _is_plain(text[inner])


def _is_plain(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _is_piece(text: str, start: int, end: int) -> bool:
    before = _PLAIN_RUN.match(text[max(0, start - _RUN_CHARACTERS) : start][::-1])
    after = _PLAIN_RUN.match(text, end, end + _RUN_CHARACTERS)
    glued_before = before.group() if before and _is_plain(text[start]) else ""
    glued_after = after.group() if after and _is_plain(text[end - 1]) else ""
    return not _DIGIT.isdisjoint(glued_before + glued_after)

"""Sentences and words, for summarizers, judge and fact counter alike. It knows nothing of the gate or its grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_BREAK: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_CODE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_WORD: Final = re.compile(r"[a-z0-9_]{3,}")
_STOPWORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
    the and for that this with from you your are was were been has have had not but its will can all any our out
    then than when what which who how why there here into also let now use using been being they them their should
    would could may might must does did done get got one two
    """,
    )
)
_SHORTEST: Final = 12
_LONGEST: Final = 320
_LEAST_WORDS: Final = 3
_MOSTLY_LETTERS: Final = 0.6


def pieces(text: str) -> list[str]:
    """Return a text's sentences and lines, without blank ones."""
    return [piece.strip() for piece in _BREAK.split(text) if piece.strip()]


def prose(text: str) -> list[str]:
    """Return those sentences of a text that read like sentences: no code, no output, none too short or too long."""
    return [piece for piece in pieces(_CODE.sub("\n", text)) if _is_prose(piece)]


def words(text: str) -> set[str]:
    """Return a text's content words, folded, with the commonest endings off."""
    return {_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOPWORDS}


def bounded(lines: list[str], most: int) -> list[str]:
    """Return lines up to a length; where they are too many, the middle gives way."""
    head: list[str] = []
    tail: list[str] = []
    room = most
    for line in _from_both_ends(lines):
        if len(line[1]) + 1 > room:
            break
        room -= len(line[1]) + 1
        (head if line[0] else tail).append(line[1])
    return head + tail[::-1]


def _from_both_ends(lines: list[str]) -> Iterator[tuple[bool, str]]:
    first, last = 0, len(lines) - 1
    while first <= last:
        yield True, lines[first]
        first += 1
        if first <= last:
            yield False, lines[last]
            last -= 1


def _is_prose(piece: str) -> bool:
    if not _SHORTEST <= len(piece) <= _LONGEST or len(piece.split()) < _LEAST_WORDS:
        return False
    return sum(letter.isalpha() or letter == " " for letter in piece) >= _MOSTLY_LETTERS * len(piece)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > _LEAST_WORDS:
            return word[: -len(ending)]
    return word

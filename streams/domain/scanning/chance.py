"""Does a finding rest on letters of encoded data beside it? Of enough random letters, every short word can be made.

The contract: base64 of an image, a digest or random identifiers hold "pw=", "/sa/" or "key" by chance, and what follows
looks like the secret that such a word would name. ``Doubts`` has the rule of a finding asked again without those
letters: what is still found rests on something else. Nor is a finding one that is hexadecimal digits and nothing else,
by whatever token digests may begin with, unless a word names it.

Noise is a run of letters, digits and the signs of base64 most of which no name could be made of. Whole words in it, of
``_WHOLE`` letters, stay where they are, for a path may lead over a digest to a word; hexadecimal digits are no noise:
no word for a secret can be made of them. The value itself is never taken out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

_ASKED: Final = 64
_TEXT_EACH: Final = 1024
"""How many findings are doubted, and characters of the text for which one more is. Beyond that all that was found
counts: such a text is made, or full of secrets."""

_BEFORE: Final = 400
"""Bytes before a value in which its rule finds the word that names it; all rules do with fewer."""
_AFTER: Final = 160
_SHORTEST: Final = 16
"""Letters and digits of a run: a name with numbers is rarely as long and then has words in it."""
_SHORTEST_MIXED: Final = 6
"""Of them, those that stand together with digits: a row of capital letters may be abbreviations."""
_LONG: Final = 40
"""Characters of a run of base64, or of a line of it, that need no noise before them to be some themselves."""
_WHOLE: Final = 4
"""Letters of a word, of one case or with a capital at its beginning, that is hardly made by chance."""

_RUN: Final = re.compile(rb"[A-Za-z0-9+/_=-]{16,}")
_OF_BASE64: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_NAME: Final = re.compile(rb"[_-]*(?:(?:[A-Z]?[a-z0-9]{1,15}|[A-Z0-9]{1,16})(?:[_=-]+|\Z))+")
"""Short words and numbers, each of one case, as names of variables and hosts have them: ``AWS_S3_V4_EU1_API_KEY=``."""
_PIECE: Final = re.compile(rb"[A-Za-z0-9]+")
_HEXADECIMAL: Final = re.compile(rb"[0-9a-f]+|[0-9A-F]+")
_DIGIT: Final = re.compile(rb"[0-9]")
_WORD: Final = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+")
_PART: Final = re.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SHORTEST_PART: Final = 3.5
"""Letters of a name's words and numbers, on the average."""

Asking: TypeAlias = Callable[[bytes, int], bool]
"""A part of a text, and where it begins in it -> whether a finding's rule finds the same value in it."""


class Doubts:
    """How often may still be asked whether a finding of one scan rests on chance."""

    __slots__ = ("_left",)

    def __init__(self, size: int) -> None:
        """Begin a scan.

        Args:
            size: Characters of all its texts.
        """
        self._left = _ASKED + size // _TEXT_EACH

    def confirm(self, text: bytes, start: int, end: int, is_found: Asking) -> bool:
        """Return whether a finding rests on more than chance, as far as may still be asked.

        Args:
            text: A UTF-8 text.
            start: Where the value that was found begins, in bytes.
            end: Where it ends.
            is_found: Asks its rule again.
        """
        if self._left == 0:
            return True
        self._left -= 1
        if _HEXADECIMAL.fullmatch(text, start, end) is not None and is_found(text[start:end], start):
            return False  # no word named it, and its own form says no more than a digest's
        rest = without_noise(text, start, end)
        return rest is None or is_found(*rest)


def without_noise(text: bytes, start: int, end: int) -> tuple[bytes, int] | None:
    """Return the surroundings of a value with an "x" for each letter of noise before it.

    Args:
        text: A UTF-8 text.
        start: Where the value begins, in bytes.
        end: Where it ends.

    Returns:
        The surroundings and where they begin in the text; none where there is no noise before the value.
    """
    first = max(0, start - _BEFORE)
    before = text[first:start]
    cleared = _RUN.sub(_cleared_run, before)
    joined = _within_base64(before, text[start : end + _AFTER])
    if joined:
        cleared = cleared[:-joined] + _PIECE.sub(_cleared, before[-joined:])
    return None if cleared == before else (cleared + text[start : end + _AFTER], first)


def _within_base64(before: bytes, after: bytes) -> int:
    """Return how much before a value stands in one run of base64 with it; none unless that is noise.

    A sign of base64 joins it to the value, and the run is long enough, or follows a line of base64. No name is written
    like that: "=" and ":" are no part of base64 but at its end.
    """
    if not before.endswith((b"+", b"/")):
        return 0
    left = next((place for place in range(len(before)) if before[-place - 1] not in _OF_BASE64), len(before))
    right = next((place for place, letter in enumerate(after) if letter not in _OF_BASE64), len(after))
    line = before[:-left].rstrip(b"\r\n").rpartition(b"\n")[2] if before[:-left].endswith(b"\n") else b""
    is_line = len(line) >= _LONG and _OF_BASE64.issuperset(line) and _is_noise(line)
    is_run = left + right >= _LONG and _is_noise(before[-left:] + after[:right])
    return left if is_line or is_run else 0


def _cleared_run(run: re.Match[bytes]) -> bytes:
    return _PIECE.sub(_cleared, run.group()) if _is_noise(run.group()) else run.group()


def _cleared(piece: re.Match[bytes]) -> bytes:
    """Return a whole word, or an "x" for each letter."""
    is_word = len(piece.group()) >= _WHOLE and _WORD.fullmatch(piece.group()) is not None
    return piece.group() if is_word else b"x" * len(piece.group())


def _is_noise(run: bytes) -> bool:
    if len(run) < _SHORTEST or _NAME.fullmatch(run) is not None:
        return False
    size = mixed = unnamed = 0
    for piece in _PIECE.findall(run):
        size += len(piece)
        if _HEXADECIMAL.fullmatch(piece) is None and not _reads_as_name(piece):
            unnamed += len(piece)
            mixed += len(piece) if _DIGIT.search(piece) is not None else 0
    return size >= _SHORTEST and mixed >= _SHORTEST_MIXED and 2 * unnamed >= size


def _reads_as_name(piece: bytes) -> bool:
    is_long = len(piece) >= _LONG and _DIGIT.search(piece) is not None
    return not is_long and len(piece) >= _SHORTEST_PART * len(_PART.findall(piece))

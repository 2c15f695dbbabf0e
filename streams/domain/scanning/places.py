"""Where ASCII patterns stand in any text, found by RE2 over one byte a character.

The contract: ``Pattern.spans`` gives the same places as the pattern's own ``re`` does, in linear time where that takes
it. What a text has few of is found by RE2, whose every answer costs some microseconds; what it has many of is found by
``re`` from there on, and so is what a short text has. Most texts have few, so that a look costs a fraction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import re2

_FEW: Final = 16
"""Matches that RE2 is asked for in any text."""

_APART: Final = 256
"""Characters a match, on average, from which on it is asked for more."""

_SHORT: Final = 200
"""Characters that ``re`` reads sooner than RE2 answers."""


def one_byte(text: str) -> bytes:
    """Return a text with one byte for each character: ASCII as it is; what is beyond Latin-1 is a ``?``."""
    return text.encode("latin-1", "replace")


class Pattern:
    """A pattern.

    Args:
        source: The pattern.
        flags: Of ``re``.
        quick: Whether RE2 reads it the same: it is of ASCII characters, and has no assertions and no classes by name.
        takes_marks: Whether it matches a ``?``, which is one only in ASCII texts.
    """

    __slots__ = ("_quick", "_slow", "_takes_marks", "source")

    def __init__(self, source: str, flags: int = 0, *, quick: bool = True, takes_marks: bool = False) -> None:
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.case_sensitive = not flags & re.IGNORECASE
        options.never_capture = True
        self._quick = re2.compile(source.encode("ascii"), options) if quick else None
        self._slow = re.compile(source, flags)
        self._takes_marks = takes_marks
        self.source = source

    def spans(self, text: str, raw: bytes | None = None) -> Iterator[tuple[int, int]]:
        """Yield where the pattern matches.

        Args:
            text: Any text.
            raw: It, as ``one_byte`` gives it, where that is at hand.
        """
        end = 0
        if self._quick and len(text) >= _SHORT and (text.isascii() or not self._takes_marks):
            for number, match in enumerate(self._quick.finditer(one_byte(text) if raw is None else raw), 1):
                span = match.span()
                yield span
                end = span[1]
                if number >= _FEW and number * _APART > end:
                    break
            else:
                return
        yield from (match.span() for match in self._slow.finditer(text, end))

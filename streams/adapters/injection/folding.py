"""One form for what readers take for the same: letters without case, accents, width and invisible company.

The contract: ``fold`` maps a text to code points and, for each, the place in the text that it came from. Compatibility
forms, case and accents are folded by a table that travels in the model's artifact, so that the interpreter's Unicode
version is of no consequence. Invisible characters are dropped, characters of the tag block become the ASCII they hide,
white space is a single space, a character that is repeated stands three times at most, letters of other scripts that
look Latin are Latin inside a word that has Latin letters, and letters written apart are put together.

It changes no text: what it returns is for measuring alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Codes: TypeAlias = npt.NDArray[np.uint32]
Places: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

_Letters: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
"""Code points, as bytes where all are ASCII: that is quicker, and the same."""

TABLE_SIZE: Final = 0x32000
"""Code points below this fold by the table; above, only the tag block and the last selectors have a meaning here."""

SPACE: Final = 0x20
DROPPED: Final = 0
"""What the table says of a character that is not there for a reader."""

SHORTEST_APART: Final = 3
"""Fewest letters, each alone between two separators, that count as one word written apart."""

MOST_REPEATS: Final = 3
"""Most equal characters in a row."""

_ASCII: Final = 0x80
_TAGS: Final = (0xE0020, 0xE007F)
_HIGH_DROPPED: Final = (0xE0000, 0xE0FFF)
_ASCII_LETTERS: Final = (0x61, 0x7A)
_ASCII_DIGITS: Final = (0x30, 0x39)
_UNDERSCORE: Final = 0x5F
_HYPHEN: Final = 0x2D
_LINE_FEED: Final = 0x0A
_FIRST_OTHER: Final = 0xAA
_SIGNS: Final = (0x2000, 0x2BFF)
"""Punctuation, arrows, mathematical and other signs: no letters, but for a few that folding has replaced."""

# ruff: noqa: RUF001 - look-alikes are what the table is of

CONFUSABLES: Final[Mapping[str, str]] = {
    # Folded letters of other scripts, and the Latin ones that they are taken for.
    "а": "a", "в": "b", "с": "c", "е": "e", "н": "h", "і": "i", "ј": "j", "к": "k", "м": "m", "о": "o", "р": "p",
    "т": "t", "у": "y", "х": "x", "ѕ": "s", "ԁ": "d", "ԛ": "q", "ԝ": "w", "һ": "h", "ӏ": "l", "г": "r", "п": "n",
    "α": "a", "β": "b", "ε": "e", "η": "n", "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "τ": "t", "υ": "u",
    "χ": "x", "ω": "w", "γ": "y", "σ": "o", "ς": "s", "ո": "n", "օ": "o", "ս": "u", "հ": "h", "ց": "g", "զ": "q",
    "ѵ": "v", "ґ": "r", "ѡ": "w",
}  # fmt: skip


class Folded(NamedTuple):
    """A folded text.

    Attributes:
        codes: Code points; between two words stands one space.
        places: For each, the index of the character of the text that it came from; ascending.
    """

    codes: Codes
    places: Places


class FoldTable:
    """The folding of single characters.

    Args:
        codes: For each code point below ``TABLE_SIZE`` the one that stands for it, or ``DROPPED``.
    """

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        of_ascii = codes[:_ASCII]
        self._of_ascii = bytes(of_ascii.tolist()).ljust(256) if int(of_ascii.max()) < _ASCII else None
        self._lookalikes = np.arange(TABLE_SIZE, dtype=np.uint32)
        for letter, latin in CONFUSABLES.items():
            self._lookalikes[ord(letter)] = ord(latin)

    def fold(self, text: str) -> Folded:
        """Fold a text."""
        codes: _Letters
        if self._of_ascii is not None and text.isascii():
            codes = np.frombuffer(text.encode("ascii").translate(self._of_ascii), np.uint8)
        else:
            codes = self._folded(_code_points(text))
        places = np.arange(codes.size)
        if not codes.all():
            codes, places = _chosen(codes, places, codes != DROPPED)
        if codes.size:
            for step in (_few_repeats, _together, _single_spaces):
                codes, places = step(codes, places)
        if codes.dtype == np.uint8:
            return Folded(codes.astype(np.uint32), places)
        return Folded(self._latin(codes), places)

    def fold_letters(self, text: str) -> str:
        """Fold each character by itself: for patterns, whose signs stand as they are."""
        codes = self._folded(_code_points(text))
        folded: str = codes[codes != DROPPED].astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        return folded

    def _folded(self, raw: Codes) -> Codes:
        if raw.size and int(raw.max()) >= TABLE_SIZE:
            codes = self._codes[np.minimum(raw, TABLE_SIZE - 1)]
            high = raw >= TABLE_SIZE
            codes[high] = raw[high]
            tags = (raw >= _TAGS[0]) & (raw < _TAGS[1])
            codes[(raw >= _HIGH_DROPPED[0]) & (raw <= _HIGH_DROPPED[1])] = DROPPED
            codes[tags] = self._codes[raw[tags] - np.uint32(0xE0000)]
            return codes
        return self._codes[raw]

    def _latin(self, codes: Codes) -> Codes:
        """Read look-alikes as Latin in every word that has a Latin letter."""
        known = np.minimum(codes, TABLE_SIZE - 1)
        other = self._lookalikes[known] != known
        if not other.any():
            return codes
        latin = (codes >= _ASCII_LETTERS[0]) & (codes <= _ASCII_LETTERS[1])
        words = np.cumsum(codes == SPACE)
        has_latin = np.zeros(int(words[-1]) + 1, np.bool_)
        has_latin[words[latin]] = True
        return np.where(other & has_latin[words], self._lookalikes[known], codes)


def _code_points(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4")).astype(np.uint32)


def is_word(codes: _Letters) -> Flags:
    """Say of each code point whether it is part of a word: no space, no ASCII or general punctuation."""
    return _WORDS.take(codes, mode="clip")


def _within(codes: Codes, bounds: tuple[int, int]) -> Flags:
    inside: Flags = (codes >= bounds[0]) & (codes <= bounds[1])
    return inside


def _words() -> Flags:
    codes = np.arange(TABLE_SIZE, dtype=np.uint32)
    ascii_word = _within(codes, _ASCII_LETTERS) | _within(codes, _ASCII_DIGITS) | (codes == _UNDERSCORE)
    word: Flags = ascii_word | (codes >= _FIRST_OTHER) & ~_within(codes, _SIGNS)
    return word


_WORDS: Final = _words()
"""Of each code point below ``TABLE_SIZE``; beyond, all are."""


def _chosen(codes: _Letters, places: Places, kept: Flags) -> tuple[_Letters, Places]:
    """Return what is kept."""
    index = kept.nonzero()[0]
    return codes.take(index), places.take(index)


def _few_repeats(codes: _Letters, places: Places) -> tuple[_Letters, Places]:
    """Drop what repeats the ``MOST_REPEATS`` characters before it: a ruled line says no more than a short one."""
    if codes.size <= MOST_REPEATS:
        return codes, places
    same = codes[1:] == codes[:-1]
    dropped = same[MOST_REPEATS - 1 :].copy()
    for back in range(1, MOST_REPEATS):
        dropped &= same[MOST_REPEATS - 1 - back : -back]
    if not dropped.any():
        return codes, places
    kept = np.ones(codes.size, np.bool_)
    kept[MOST_REPEATS:] = ~dropped
    return _chosen(codes, places, kept)


def _together(codes: _Letters, places: Places) -> tuple[_Letters, Places]:
    """Drop the separators between letters that are written apart, and a hyphen with the line's end after it."""
    word = is_word(codes)
    dropped = np.zeros(0, np.int64)
    alone = word.copy()
    alone[1:] &= ~word[:-1]
    alone[:-1] &= ~word[1:]
    if codes.size > 2 * SHORTEST_APART:
        dropped = _between(alone.nonzero()[0])
    if codes.size > 3:  # noqa: PLR2004 - letter, hyphen, break, letter
        broken = ((codes[1:-2] == _HYPHEN) & (codes[2:-1] == _LINE_FEED)).nonzero()[0]
        broken = broken[word[broken] & word[broken + 3]]
        dropped = np.concatenate((dropped, broken + 1, broken + 2))
    if not dropped.size:
        return codes, places
    kept = np.ones(codes.size, np.bool_)
    kept[dropped] = False
    return _chosen(codes, places, kept)


def _between(alone: Places) -> Places:
    """Return what stands between single letters, each one separator from the next, of which enough are in a row."""
    linked = np.diff(alone) == 2  # noqa: PLR2004 - a letter, one separator, a letter
    if alone.size < SHORTEST_APART or not (linked[1:] & linked[:-1]).any():
        return np.zeros(0, np.int64)
    run_starts = np.flatnonzero(np.concatenate(([True], ~linked)))
    lengths = np.diff(np.concatenate((run_starts, [alone.size])))
    long_run = np.repeat(lengths >= SHORTEST_APART, lengths)
    inside: Places = alone[:-1][linked & long_run[:-1]] + 1
    return inside


def _single_spaces(codes: _Letters, places: Places) -> tuple[_Letters, Places]:
    spaces = (codes == SPACE) | (codes == _LINE_FEED)
    codes = np.where(spaces, codes.dtype.type(SPACE), codes)
    kept = ~spaces
    kept[1:] |= kept[:-1]
    return _chosen(codes, places, kept)

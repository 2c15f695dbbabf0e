"""Makes the folding table of the injection model from Unicode's own data.

The table is stored in the artifact; see ``streams.adapters.injection.folding`` for what it is for.
"""

from __future__ import annotations

import unicodedata
from typing import Final

import numpy as np

from streams.adapters.injection.folding import DROPPED, SPACE, TABLE_SIZE, Codes

# ruff: noqa: RUF001 - signs that look like others are what the table is of

_SURROGATES: Final = range(0xD800, 0xE000)
_LATIN_MARKS: Final = range(0x300, 0x370)
_ARABIC_MARKS: Final = (*range(0x610, 0x61B), *range(0x64B, 0x660), 0x670, 0x640)
_NUKTA: Final = 0x93C
_INVISIBLE: Final = frozenset(
    (*range(0xFE00, 0xFE10), 0x34F, 0x115F, 0x1160, 0x3164, 0xFFA0, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800)
)
_BY_HAND: Final = {
    "ı": "i", "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŋ": "n", "ŧ": "t", "ɡ": "g", "ɑ": "a", "ɩ": "i",
    "ى": "ي", "ة": "ه", "ک": "ك", "ی": "ي", "ہ": "ه", "ۀ": "ه",
    "。": ".", "、": ",", "〈": "<", "〉": ">", "「": '"', "」": '"', "『": '"', "』": '"', "《": '"', "》": '"',
    "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "ʼ": "'", "`": "'", "´": "'",
    "।": ".", "۔": ".", "؟": "?", "،": ",", "؛": ";", "·": ".", "•": "*",
}  # fmt: skip


def fold_table() -> Codes:
    """Return the table: for each code point the one that stands for it."""
    return np.array([_folded(code) for code in range(TABLE_SIZE)], np.uint32)


def _folded(code: int) -> int:
    letter = chr(code)
    if code in _SURROGATES:
        return SPACE
    if letter == "\n":
        return code
    if letter in _BY_HAND:
        return ord(_BY_HAND[letter])
    if code in _INVISIBLE or unicodedata.category(letter) == "Cf" or _is_mark(code):
        return DROPPED
    return _of_category(letter, unicodedata.category(letter)) or _decomposed(letter)


def _of_category(letter: str, category: str) -> int | None:
    """Return what stands for all letters of some kinds: a space, a digit, a hyphen."""
    if letter.isspace() or category in {"Cc", "Zs", "Zl", "Zp"}:
        return SPACE
    if category == "Nd":
        return ord("0") + unicodedata.digit(letter)
    return ord("-") if category == "Pd" else None


def _decomposed(letter: str) -> int:
    """Return a letter's first one, in compatibility form and without case and marks."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", letter).casefold())
    first = (plain.lstrip() or " ")[0]
    if first in _BY_HAND:
        return ord(_BY_HAND[first])
    parts = unicodedata.normalize("NFD", first)
    if len(parts) > 1 and _is_mark(ord(parts[1])):
        first = parts[0]
    if first.isspace():
        return SPACE
    if unicodedata.category(first) == "Cf" or ord(first) in _LATIN_MARKS:
        return DROPPED
    return ord(_BY_HAND.get(first, first)) if ord(first) < TABLE_SIZE else ord(letter)


def _is_mark(code: int) -> bool:
    return code in _LATIN_MARKS or code in _ARABIC_MARKS or code == _NUKTA

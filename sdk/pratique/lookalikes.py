"""Letters as a reader takes them: which Latin ones a character is read as.

The contract: case, width, accents, and forms that letters have beside their plain one (small capitals, strokes,
circles, squares, flags) are gone; letters of other alphabets that look like one of the tag's are that one. Nothing else
is a letter: no mark, digit or sign, and nothing that Unicode says is ignored in display. It is for recognising the
delimiters' tag, and no view of any other text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

# ruff: noqa: RUF001 - look-alikes are what the table is of

_ALIKE: Final = {
    "a": "аαɑ⍺Ꭺ",
    "d": "ԁժᑯꓒꓓᎠᏧ",
    "e": "еєҽεɛ℮ΕⲉꓰᎬ",
    "m": "мΜϺⅿꓟᎷ",
    "n": "пηոռΝⲚꓠ",
    "r": "гґᴦⲅꭇꭈᎡᏒ",
    "s": "ѕςƽꜱՏꓢᏕᏚ",
    "t": "тτΤⲦꓔᎢ",
    "u": "υսʋꭎՍ",
    "y": "уүγყɣỿΥϒⲨꓬᎩᎽ",
}
LOOK_ALIKES: Final[Mapping[str, str]] = {other: letter for letter, others in _ALIKE.items() for other in others}
"""Letters that are taken for Latin ones which the tag has; without other case, where that looks the same."""

_BLANK: Final = frozenset("\u115f\u1160\u3164\uffa0\U00013441\U00013442")
"""Letters that show nothing: those that Unicode says are ignored in display, and two hieroglyphs."""
_LATIN: Final = re.compile(
    r"(?:LATIN (?:SMALL |CAPITAL )?LETTER (?:SMALL CAPITAL )?|INDICATOR SYMBOL LETTER )([A-Z])(?: WITH .*)?$"
)


@lru_cache(maxsize=16_384)
def letters_of(character: str) -> str:
    """Return the letters that a character is read as, in small case; none where it is no letter."""
    return "".join(map(_read, unicodedata.normalize("NFKD", character)))


def _read(character: str) -> str:
    if character in LOOK_ALIKES:
        return LOOK_ALIKES[character]
    if unicodedata.category(character).startswith("M"):  # the iota below a letter would be one, without case
        return ""
    return "".join(map(_letter, unicodedata.normalize("NFKD", character.casefold())))


def _letter(character: str) -> str:
    if character.isascii():
        return character if character.isalpha() else ""
    if character in LOOK_ALIKES:
        return LOOK_ALIKES[character]
    if character in _BLANK or unicodedata.category(character)[0] in "MCZ":
        return ""
    latin = _LATIN.search(unicodedata.name(character, ""))
    if latin is not None:
        return latin.group(1).lower()
    return character if character.isalpha() else ""

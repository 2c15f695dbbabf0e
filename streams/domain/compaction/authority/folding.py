"""A text as it is read: folded letter by letter, each with its place in the text as it was written.

The contract: case, width, accents and what a reader would not see (``text.UNSEEN``) are gone, the commonest letters of
other alphabets that look like Latin ones are those, and a change from lower to upper case inside a word is a
connector, so that ``userApproved`` shows its words. Letter by letter: cost is linear, and a place is never a guess.
It is a view for finding words; nothing is a quotation, or passes, because of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from streams.domain.compaction.text import UNSEEN

CONNECTOR: Final = "_"
"""Stands where a word changes from lower to upper case."""

_NOT_PLAIN: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f]|[a-z][A-Z]|[A-Za-z][*~]")
"""What an ASCII text holds that is more than a change of case away from its folded form."""
_EMPHASIS: Final = "*~"
"""Marks of bold or struck-out text; inside a word no reader sees them."""
_LONGEST_MARK: Final = 3

# Cyrillic and Greek letters that no reader tells from Latin ones, after case folding.
_LOOK_ALIKES: Final = dict(
    zip(
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u0261\u03b1\u03bf\u03c1\u03c5\u03bd\u03b9\u0131",
        "aeopcyxijsdhqgaopuvii",
        strict=True,
    )
)


class Folded(NamedTuple):
    """A folded text.

    Attributes:
        text: Its letters.
        places: Where in the text each letter is from; one more than there are letters, the last being the text's end.
    """

    text: str
    places: Sequence[int]


@lru_cache(maxsize=16_384)
def _letter(letter: str) -> str:
    if UNSEEN.match(letter) is not None:
        return ""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", letter).casefold())
    return "".join(item for item in decomposed if not unicodedata.combining(item))


def folded(text: str) -> Folded:
    """Fold a text."""
    if text.isascii() and _NOT_PLAIN.search(text) is None:
        return Folded(text.lower(), range(len(text) + 1))
    letters: list[str] = []
    places: list[int] = []
    before = ""
    for place, letter in enumerate(text):
        seen = _letter(letter)
        if not seen or (letter in _EMPHASIS and before.isalpha() and _letter_follows(text, place)):
            continue
        if letter.isupper() and before.islower():
            letters.append(CONNECTOR)
            places.append(place)
        before = letter
        for item in seen:
            letters.append(item)
            places.append(place)
    places.append(len(text))
    return Folded("".join(letters), places)


def _letter_follows(text: str, place: int) -> bool:
    return text[place + 1 : place + 1 + _LONGEST_MARK].lstrip(_EMPHASIS)[:1].isalpha()


def plain(word: str) -> str:
    """Return a Latin word without its disguise: look-alikes and digits that stand for letters."""
    if word.isascii():
        if word.isalpha():
            return word
        letters = sum(letter.isalpha() for letter in word)
        return word.translate(_DIGITS) if len(word) > letters >= _LEAST_LETTERS else word
    return "".join(_LOOK_ALIKES.get(letter, letter) for letter in word)


_LEAST_LETTERS: Final = 3
"""Fewest letters of a word whose digits are read as letters: ``z3`` and ``h2`` are names."""
_DIGITS: Final = str.maketrans("013457", "oleast")

"""A text as it is read: folded letter by letter, each with its place in the text as it was written.

The contract: case, width, accents and what a reader would not see (``text.UNSEEN``) are gone, the commonest letters of
other alphabets that look like Latin ones are those, and a change from lower to upper case inside a word is a
connector, so that ``userApproved`` shows its words. Letter by letter: cost is linear, and a place is never a guess.
It is a view for finding words; nothing is a quotation, or passes, because of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Final, NamedTuple

from streams.domain.compaction.text import LOOK_ALIKES, UNSEEN

CONNECTOR: Final = "_"
"""Stands where a word changes from lower to upper case."""

_NOT_PLAIN: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f]|[a-z][A-Z]|[A-Za-z][*~]")
"""What an ASCII text holds that is more than a change of case away from its folded form."""
_EMPHASISED: Final = re.compile(r"[Ula]\*")
_CHANGE: Final = "lU"
"""Classes of letters, as ``_class`` has them, where emphasis may be inside a word and where a word changes its case."""
_EMPHASIS: Final = "*~"
"""Marks of bold or struck-out text; inside a word no reader sees them."""
_LONGEST_MARK: Final = 3
_MOST_LETTERS: Final = 7
"""Most letters that one folds to. Two that stand for whole phrases (U+FDFA, U+FDFB) stay signs: a text of them would be
several times its size."""


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
    seen = "".join(item for item in decomposed if not unicodedata.combining(item))
    return seen if len(seen) <= _MOST_LETTERS else letter


def folded(text: str) -> Folded:
    """Fold a text."""
    if text.isascii() and _NOT_PLAIN.search(text) is None:
        return Folded(text.lower(), range(len(text) + 1))
    known = {ord(letter): _letter(letter) for letter in set(text)}
    classes = text.translate({code: _class(chr(code)) if seen else "" for code, seen in known.items()})
    if _EMPHASISED.search(classes) is not None:
        return _folded(text)
    one_to_one = all(len(seen) == 1 for seen in known.values())
    if _CHANGE not in classes:
        letters = text.translate(known)
        return Folded(letters, range(len(text) + 1) if one_to_one else _places(text, known))
    return _connected(text.translate(known), classes) if one_to_one else _folded(text)


def _class(letter: str) -> str:
    if letter.isupper():
        return "U"
    if letter.islower():
        return "l"
    return "a" if letter.isalpha() else "*" if letter in _EMPHASIS else "."


def _places(text: str, known: Mapping[int, str]) -> Sequence[int]:
    lengths = {code: len(seen) for code, seen in known.items()}
    counts = map(lengths.__getitem__, map(ord, text))
    return [*chain.from_iterable(map(repeat, range(len(text)), counts)), len(text)]


def _connected(letters: str, classes: str) -> Folded:
    """Put connectors where the case changes; each has the place of the letter after it."""
    changes = [place + 1 for place in _places_of(_CHANGE, classes)]
    starts, ends = [0, *changes], [*changes, len(letters)]
    places = list(range(changes[0]))
    for start, end in zip(changes, ends[1:], strict=True):
        places.append(start)
        places.extend(range(start, end))
    places.append(len(letters))
    return Folded(CONNECTOR.join(letters[start:end] for start, end in zip(starts, ends, strict=True)), places)


def _places_of(part: str, text: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _folded(text: str) -> Folded:
    """Fold any text, a letter at a time: what every shorter way is held to."""
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
        letters.append(seen)
        places += [place] * len(seen)
    places.append(len(text))
    return Folded("".join(letters), places)


def _letter_follows(text: str, place: int) -> bool:
    return text[place + 1 : place + 1 + _LONGEST_MARK].lstrip(_EMPHASIS)[:1].isalpha()


def plain(word: str) -> str:
    """Return a Latin word without its disguise: look-alikes and digits that stand for letters."""
    if word.isascii():
        if word.isalpha() or word.isdigit():
            return word
        letters = sum(letter.isalpha() for letter in word)
        return word.translate(_DIGITS) if len(word) > letters >= _LEAST_LETTERS else word
    return word.translate(LOOK_ALIKES)


_LEAST_LETTERS: Final = 3
"""Fewest letters of a word whose digits are read as letters: ``z3`` and ``h2`` are names."""
_DIGITS: Final = str.maketrans("013457", "oleast")

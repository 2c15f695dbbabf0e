"""A folded text's words, as far as they may matter to a claim.

The contract: one pass. Where words are written without spaces, the known ones are found, the longest at each place;
but where a word that only holds others runs into one that may matter, the letters are read as that one: 只|要求.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final, NamedTuple

from streams.domain.compaction.authority.folding import CONNECTOR, Folded, plain
from streams.domain.compaction.authority.vocabulary import ACCENT, ACCENTED, FIRST_IDEOGRAPH, Kind, Lexicon, has_accent

_IDEOGRAPHS: Final = f"{FIRST_IDEOGRAPH}-\U0003ffff"
_WORD: Final = re.compile(f"[{_IDEOGRAPHS}]+|[^\\W_{_IDEOGRAPHS}]+")
_CONNECTORS: Final = frozenset(f"{CONNECTOR}/\\@")
_PERSON: Final = int(Kind.PERSON)
_JOINING: Final = re.compile("[,;()\u3001\u2013\u2014]| - ")
_STOPPING: Final = re.compile(r"[.!?]\s")
_LABEL: Final = re.compile(r"[ \t*]{0,4}:")


class Word(NamedTuple):
    """A word of a text.

    Attributes:
        word: Folded.
        kind: What it does in a claim, as the lexicon has it; 0 where nothing.
        start: Where in the text it begins.
        inner: It is part of an identifier or path.
        joined: A comma stands before it.
        stopped: A full stop and a blank stand before it: where it begins with a small letter, the sentence may go on.
        labels: It is a person's, and a colon stands after it.
    """

    word: str
    kind: int
    start: int
    inner: bool
    joined: bool
    stopped: bool
    labels: bool


def words_of(text: Folded, lexicon: Lexicon, source: str) -> Iterator[Word]:
    """Yield the words of a text, in order.

    Args:
        text: The text, folded.
        lexicon: The tables.
        source: The text as it was written.
    """
    letters = text.text
    kinds, places = lexicon.kinds, text.places
    last = 0
    for match in _WORD.finditer(letters):
        start, end = match.span()
        wide = letters[start] >= FIRST_IDEOGRAPH
        for begin, stop in _known(letters, start, end, lexicon) if wide else ((start, end),):
            word = letters[begin:stop]
            if not wide and not (word.isascii() and word.isalpha()):
                word = plain(word)
            kind = kinds.get(word, 0)
            if kind and word in ACCENTED and has_accent(source[places[begin] : places[stop]]):
                kind = kinds.get(word + ACCENT, 0)
            before = letters[last:begin]
            connected, joined, stopped = _GAPS.get(before) or _gap(before)
            yield _new(
                Word,
                (
                    word,
                    kind,
                    places[begin],
                    connected or letters[stop : stop + 1] in _CONNECTORS,
                    joined,
                    stopped,
                    kind & _PERSON != 0 and _LABEL.match(letters, stop) is not None,
                ),
            )
            last = stop


def _gap(before: str) -> tuple[bool, bool, bool]:
    """Say whether what stands before a word makes it part of an identifier, parts claims, and may end a sentence."""
    connected = before[-1:] in _CONNECTORS
    return connected, _JOINING.search(before) is not None, _STOPPING.search(before) is not None


_new: Final = tuple.__new__
_GAPS: Final = {before: _gap(before) for before in ("", *string.whitespace, *string.punctuation, ". ", ", ")}
"""What most words have before them."""


def _known(letters: str, start: int, end: int, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    place = start
    while place < end:
        found = _longest(letters, place, end, lexicon)
        runs = lexicon.overlaps.get(letters[place : place + found]) if found else None
        inner = next((inner for inner, rest in runs if letters.startswith(rest, place + found)), 0) if runs else 0
        if inner:
            found = _longest(letters, place, place + inner, lexicon)
            if found:
                yield place, place + found
            place += inner
            continue
        if found:
            yield place, place + found
        place += found or 1


def _longest(letters: str, place: int, end: int, lexicon: Lexicon) -> int:
    """Return how many letters the longest known word that begins here has; 0 where none does."""
    known = lexicon.ideographs.get(letters[place], ())
    return next((len(word) for word in known if letters.startswith(word, place, end)), 0)

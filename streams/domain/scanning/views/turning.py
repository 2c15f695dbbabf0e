"""What is turned, turned back: letters shifted by thirteen, text backwards, digits and signs for letters.

The contract: text is turned only where it looks like it: a token of mixed letters and digits, alone; one that begins,
turned, as vendors' tokens do (``streams.domain.scanning.views.shapes``); a line with several words that only turned are
any. Prose, digests and long data have none of that. What is shifted keeps its places; what is backwards has that of all
of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

import re2

from streams.domain.scanning.views.joining import JOINED
from streams.domain.scanning.views.model import Edit, Made, View
from streams.domain.scanning.views.shapes import (
    LEET_MEANT,
    LEET_WORDS,
    REVERSED_SHAPES,
    REVERSED_WORDS,
    ROT13,
    ROT13_SHAPES,
    ROT13_WORDS,
)

REVERSED: Final = "reversed"
SHIFTED: Final = "rot13"
LEET: Final = "leet"

TURNS: Final = frozenset({REVERSED, SHIFTED, LEET})

_SHIFTED_TOKEN: Final = re2.compile(rf"(?:{'|'.join(ROT13_SHAPES)})[!-~]*")
_REVERSED_TOKEN: Final = re2.compile(rf"(?:{'|'.join(REVERSED_SHAPES)})")
_SHIFTED_WORD: Final = re2.compile(rf"(?i)\b(?:{'|'.join(ROT13_WORDS)})\b")
_REVERSED_WORD: Final = re2.compile(rf"(?i)\b(?:{'|'.join(REVERSED_WORDS)})\b")
_LEET_WORD: Final = re2.compile("(?i)" + "|".join(f"({word})" for word in LEET_WORDS))
_FEWEST_WORDS: Final = 2
_TOKEN: Final = re.compile(r"[0-9A-Za-z_.=+/:@~-]{20,}")
_MIXED: Final = re.compile(r"[A-Za-z][0-9]")
_LEAST_MIXED: Final = 3
_HEX_DIGITS: Final = re.compile(r"[0-9a-fA-F:.-]+")
_LONGEST: Final = 512

_PUT_TOGETHER: Final = frozenset({JOINED, "quoted-printable"})


def turned(text: str, held: frozenset[str]) -> list[list[Edit]]:
    """Return edits that turn text back, in layers; those of one layer do not overlap.

    Args:
        text: Any text.
        held: The families that it may hold.
    """
    layers = []
    for family, find in (
        ("rot13", _shifted_tokens),
        ("rot13-words", _shifted_lines),
        ("reversed", _reversed_tokens),
        ("reversed-words", _reversed_lines),
        ("leet", _meant),
    ):
        edits = list(find(text)) if family in held else []
        if edits:
            layers.append(edits)
    return layers


def turned_tokens(view: View, held: frozenset[str], read: AbstractSet[int]) -> list[list[Edit]]:
    """Return edits that turn each token of letters and digits back, to be read without what stands beside it.

    A token's own beginning shows whether it is one; the words beside it would make one of any string. What stood so in
    the view before was turned there. Of tokens that were put together only the first are turned, to the length of the
    longest: a list whose lines all seem to go on in the next would be read twice more for each way of that.

    Args:
        view: Any view.
        held: The families that it may hold.
        read: Where something begins or ends that reads otherwise already.
    """
    if "dense" not in held:
        return []
    tokens = [token for token in _new_tokens(view) if token.start() not in read and token.end() not in read]
    if not tokens:
        return []
    return [
        [
            Edit(token.start(), token.end(), token.group().translate(ROT13), SHIFTED, range(len(token.group())))
            for token in tokens
        ],
        [Edit(token.start(), token.end(), token.group()[::-1], REVERSED) for token in tokens],
    ]


def _new_tokens(view: View) -> Iterator[re.Match[str]]:
    """Yield tokens of letters and digits that the last rewriting made or changed, of those put together the first."""
    made, place, left = view.made, 0, _LONGEST
    for token in _TOKEN.finditer(view.text):
        start, end = token.span()
        while place < len(made) and made[place].end <= start:
            place += 1
        if place == len(made):
            return
        if made[place].start < end and _is_dense(token.group()):
            if _is_put_together(start, end, made[place]):
                left -= end - start
                if left < 0:
                    continue
            yield token


def _is_put_together(start: int, end: int, made: Made) -> bool:
    """Say whether a token is of parts, one of which was made by putting them together."""
    return made.kind in _PUT_TOGETHER and not (made.start <= start and end <= made.end)


def _is_dense(token: str) -> bool:
    """Say whether a token mixes letters and digits, and is no digest, number or long data."""
    return len(token) <= _LONGEST and len(_MIXED.findall(token)) >= _LEAST_MIXED and not _HEX_DIGITS.fullmatch(token)


def _shifted_tokens(text: str) -> Iterator[Edit]:
    for token in _SHIFTED_TOKEN.finditer(text):
        if text[token.start() - 1 : token.start()].isalnum():
            continue
        yield Edit(token.start(), token.end(), token.group().translate(ROT13), SHIFTED, range(len(token.group())))


def _reversed_tokens(text: str) -> Iterator[Edit]:
    place = 0
    for ending in _REVERSED_TOKEN.finditer(text):
        before = text[max(place, ending.start() - _LONGEST) : ending.start()]
        start = ending.start() - len(before.split(" ")[-1].split("\n")[-1])
        if not text[ending.end() : ending.end() + 1].isalnum():
            yield Edit(start, ending.end(), text[start : ending.end()][::-1], REVERSED)
            place = ending.end()


def _shifted_lines(text: str) -> Iterator[Edit]:
    for start, end in _lines_with(_SHIFTED_WORD, text):
        yield Edit(start, end, text[start:end].translate(ROT13), SHIFTED, range(end - start))


def _reversed_lines(text: str) -> Iterator[Edit]:
    for start, end in _lines_with(_REVERSED_WORD, text):
        yield Edit(start, end, text[start:end][::-1], REVERSED)


def _lines_with(words: re2._Regexp, text: str) -> Iterator[tuple[int, int]]:
    """Yield the lines that hold several words."""
    start = 0
    for line in text.splitlines(keepends=True):
        if len({word.lower() for word in words.findall(line)}) >= _FEWEST_WORDS:
            yield start, start + len(line)
        start += len(line)


def _meant(text: str) -> Iterator[Edit]:
    for word in _LEET_WORD.finditer(text):
        meant = LEET_MEANT[(word.lastindex or 1) - 1]
        if word.group().lower() != meant:
            yield Edit(word.start(), word.end(), meant, LEET, range(len(meant)))

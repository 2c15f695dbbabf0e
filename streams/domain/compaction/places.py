"""Where in a summary a conflict rule or marker matched: places in its views, mapped back to the text as it is.

The contract: for people who look for the words; no verdict depends on it. ``view_places`` makes the very views of
``text.conflict_views``, a few characters at a time, so that it knows where each letter is from. It compares what it
made with them, and says that it doesn't know where they differ (Unicode can join letters over any distance): a place
is right or null, never a guess. Cost is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from streams.domain.compaction.conflicts import PatternRule
from streams.domain.compaction.text import SEPARATORS, UNSEEN, conflict_views
from streams.domain.normal_form import nfkc

_RUN: Final = re.compile(r"[\x00-\x7f][^\x00-\x7f]*|[^\x00-\x7f]+")
"""What may be normalised by itself: no ASCII letter joins what stands before it."""


class Letter(NamedTuple):
    """A letter of a view, and the stretch of the text it is from."""

    letter: str
    start: int
    end: int


def match_place(text: str, rule: PatternRule) -> tuple[int, int] | None:
    """Return the first place that a rule matches in a text; null where it matches none, or one that is not known."""
    for view, letters in zip(conflict_views(text), view_places(text), strict=False):
        encoded = view.encode("utf-8")
        found = rule.first_match(encoded)
        if found is None:
            continue
        start, end = (len(encoded[:offset].decode("utf-8")) for offset in found)
        if start == end:
            return None
        return letters[start].start, letters[end - 1].end
    return None


def view_places(text: str) -> tuple[Sequence[Letter], ...]:
    """Return the letters of each of a text's conflict views; nothing where they can't be told."""
    views = conflict_views(text)
    for stretches in (_letters, _runs):
        visible = _collapsed(_visible(text, stretches))
        made = (_folded(visible), _collapsed(_taken_apart(visible)))[: len(views)]
        if tuple("".join(item.letter for item in letters) for letters in made) == views:
            return made
    return ()


def _letters(text: str) -> Iterator[tuple[int, int]]:
    return ((place, place + 1) for place in range(len(text)))


def _runs(text: str) -> Iterator[tuple[int, int]]:
    return (run.span() for run in _RUN.finditer(text))


def _visible(text: str, stretches: Callable[[str], Iterator[tuple[int, int]]]) -> list[Letter]:
    return [
        Letter(letter, start, end)
        for start, end in stretches(text)
        for letter in nfkc(text[start:end])
        if UNSEEN.match(letter) is None
    ]


def _folded(letters: Sequence[Letter]) -> list[Letter]:
    return [Letter(folded, start, end) for letter, start, end in letters for folded in nfkc(nfkc(letter).casefold())]


def _collapsed(letters: Sequence[Letter]) -> list[Letter]:
    kept: list[Letter] = []
    space: Letter | None = None
    for item in letters:
        if item.letter.isspace():
            space = space or Letter(" ", item.start, item.end)
            continue
        if space is not None and kept:
            kept.append(space)
        space = None
        kept.append(item)
    return kept


def _taken_apart(visible: Sequence[Letter]) -> list[Letter]:
    apart: list[Letter] = []
    for item in visible:
        if apart and _changes_case(apart[-1].letter, item.letter):
            apart.append(Letter(" ", item.start, item.start))
        apart.append(item)
    words = [item._replace(letter=" ") if item.letter in SEPARATORS else item for item in _folded(apart)]
    last = len(words) - 1
    return [
        item._replace(letter=" ") if item.letter == "." and place != last and words[place + 1].letter != " " else item
        for place, item in enumerate(words)
    ]


def _changes_case(first: str, second: str) -> bool:
    lower = "a" <= first <= "z" or "0" <= first <= "9"
    return lower and "A" <= second <= "Z"

"""Small changes to characters, put together into one edit for each stretch of text that has several.

The contract: ``stretched`` takes changes in order and apart from each other; those near each other become one edit, in
which every character keeps its place. It is linear in changes and in the characters between those of one stretch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from streams.domain.scanning.views.model import Edit

NEAR: Final = 16
"""Characters between two changes of one stretch."""


class Change(NamedTuple):
    """Characters that are dropped, or replaced one by one.

    Attributes:
        start: Offset of the first one.
        end: Offset after the last one.
        text: What stands for them: nothing, or as many characters.
        kind: How they were read.
    """

    start: int
    end: int
    text: str
    kind: str


def apart(changes: Iterable[Change]) -> list[Change]:
    """Return changes in order, without those that overlap one before them."""
    kept: list[Change] = []
    end = 0
    for change in sorted(changes, key=_span):
        if change.start >= end:
            kept.append(change)
            end = change.end
    return kept


def _span(change: Change) -> tuple[int, int]:
    """Sort the longer of two changes at one place first."""
    return change.start, -change.end


def stretched(text: str, changes: Sequence[Change], low: int, high: int) -> Iterator[Edit]:
    """Yield one edit for each stretch of changes that leaves any text.

    Args:
        text: Any text.
        changes: What changes in it.
        low: Where a stretch may begin at the earliest.
        high: Where it may end at the latest.
    """
    ends = [place for place, (one, other) in enumerate(pairwise(changes), 1) if other.start - one.end > NEAR]
    for first, last in pairwise([0, *ends, len(changes)]):
        edit = _edit(text, changes[first:last], low, high) if first < last else None
        if edit is not None:
            yield edit


def _edit(text: str, changes: Sequence[Change], low: int, high: int) -> Edit | None:
    # What is dropped is known by what stands beside it: a letter before and one after belong to the stretch.
    start = max(low, changes[0].start - (not changes[0].text))
    end = min(high, changes[-1].end + (not changes[-1].text))
    parts: list[str] = []
    places: list[int] = []
    place = start
    dropped = False
    for begin, until, said, _ in changes:
        parts.append(text[place:begin])
        if said:
            parts.append(said)
            places += range(place - start, until - start)
        else:
            places += range(place - start, begin - start)
            dropped = True
        place = until
    parts.append(text[place:end])
    places += range(place - start, end - start)
    kind = "+".join(sorted({change.kind for change in changes}, reverse=True))
    if not places:
        return None
    return Edit(start, end, "".join(parts), kind, places if dropped else range(end - start))

"""Small changes to characters, put together into one edit for each stretch of text that has several.

The contract: ``stretched`` takes changes in order and apart from each other; those near each other become one edit, in
which every character keeps its place. It is linear in changes and in the characters between those of one stretch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    for change in sorted(changes, key=_span):
        if not kept or change.start >= kept[-1].end:
            kept.append(change)
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
    first = 0
    for place, change in enumerate(changes):
        following = changes[place + 1].start if place + 1 < len(changes) else None
        if following is None or following - change.end > NEAR:
            edit = _edit(text, changes[first : place + 1], low, high)
            if edit is not None:
                yield edit
            first = place + 1


def _edit(text: str, changes: Sequence[Change], low: int, high: int) -> Edit | None:
    # What is dropped is known by what stands beside it: a letter before and one after belong to the stretch.
    start = max(low, changes[0].start - (not changes[0].text))
    end = min(high, changes[-1].end + (not changes[-1].text))
    parts: list[str] = []
    places: list[int] = []
    place = start
    dropped = False
    for change in changes:
        parts += (text[place : change.start], change.text)
        places += range(place - start, change.start - start)
        if change.text:
            places += range(change.start - start, change.end - start)
        else:
            dropped = True
        place = change.end
    parts.append(text[place:end])
    places += range(place - start, end - start)
    kind = "+".join(sorted({change.kind for change in changes}, reverse=True))
    if not places:
        return None
    return Edit(start, end, "".join(parts), kind, places if dropped else range(end - start))

"""All readings of a text: what its characters seem, what is encoded in it, and that again, to a depth.

The contract: ``readings`` yields the text itself first, then one view for every way that it reads otherwise, outermost
disguises first. No two say the same. A text without a disguise costs a few looks, and has no other reading. Work is
bounded by ``ViewLimits``, and in proportion to the text.

It finds nothing and judges nothing: an encoding is no finding. What is found in a view is reported where the view says
that it stands (``View.place``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from streams.domain.policy.model import ViewLimits
from streams.domain.scanning.views.alphabets import Runs
from streams.domain.scanning.views.budget import Budget
from streams.domain.scanning.views.clearing import cleared
from streams.domain.scanning.views.encodings import STRING_ESCAPE, decoded
from streams.domain.scanning.views.families import families
from streams.domain.scanning.views.joining import JOINED, joined
from streams.domain.scanning.views.limits import DEFAULT_LIMITS, most_read
from streams.domain.scanning.views.model import CONTEXT, Edit, View, plain, rewrite, whole_edits
from streams.domain.scanning.views.terminal import has_only_colours, shown
from streams.domain.scanning.views.turning import TURNS, turned, turned_tokens

OVER_LINES: Final = frozenset({"broken-line", "odd-words"})
"""Families that are not looked for in lines that are a string's: keys and other data in lines would read too often."""


def readings(text: str, limits: ViewLimits = DEFAULT_LIMITS) -> Iterator[View]:
    """Yield the readings of a text, the text itself first.

    Args:
        text: Any text.
        limits: Bounds of depth and size.

    Raises:
        TooLargeError: The readings exceed ``max_characters``, or what a text of that length may have (``most_read``).
    """
    first = plain(text)
    yield first
    reader = _Reader(text, limits)
    frontier = [first]
    for _ in range(limits.max_depth):
        inner: list[View] = []
        for view in frontier:
            for made, deeper in reader.undone(view):
                yield made
                if deeper:
                    inner.append(made)
        frontier = inner


class _Reader:
    def __init__(self, text: str, limits: ViewLimits) -> None:
        self._budget = Budget(limits.max_characters, most_read(len(text)))
        self._runs = Runs(self._budget)
        self._seen = {text}

    def undone(self, view: View) -> Iterator[tuple[View, bool]]:
        """Yield what a view reads as once one disguise is taken off, and whether there may be another below.

        Characters come first: what is encoded, torn or turned may hold any that are not what they seem. What a terminal
        shows is read on like any other text, since what stood apart stands side by side there.
        """
        clear = self._new(view, cleared(view.text))
        if clear is not None:
            yield clear, False
        for base in (view, clear):
            if base is None:
                continue
            sequences = shown(base.text)
            bare = self._new(base, sequences)
            if bare is not None:
                yield bare, True
                # What was decoded to a text with colours all over is read on without them alone.
                if view.kinds and _is_all(base, bare, sequences):
                    continue
            for edits, context in self._layers(base):
                made = self._new(base, edits, context)
                if made is not None:
                    yield made, True

    def _layers(self, view: View) -> Iterator[tuple[list[Edit], int]]:
        """Yield edits that make one reading each, and how much of what stands beside them belongs to it."""
        held = families(view.text)
        if held:
            layers = decoded(view.text, held, self._runs)
            # What was put together or turned round in one go is not once more: that would only make other parts of it.
            if JOINED not in view.kinds:
                layers += joined(view.text, held - OVER_LINES if view.kinds == (STRING_ESCAPE,) else held)
            if not TURNS.intersection(view.kinds):
                layers += turned(view.text, held)
                read = {place for edits in layers for edit in edits for place in (edit.start, edit.end)}
                yield from ((edits, 0) for edits in turned_tokens(view, held, read))
            yield from ((edits, CONTEXT) for edits in layers)

    def _new(self, view: View, edits: Sequence[Edit], context: int = CONTEXT) -> View | None:
        edits = whole_edits(view, edits)
        made = rewrite(view, edits, context) if edits else None
        if made is None or made.text in self._seen:
            return None
        self._budget.spend(len(made.text))
        self._seen.add(made.text)
        return made


def _is_all(base: View, bare: View, sequences: Sequence[Edit]) -> bool:
    """Say whether a view without a terminal's sequences lacks nothing else, and these are colours."""
    dropped = sum(edit.end - edit.start - len(edit.text) for edit in sequences)
    return len(bare.text) + dropped == len(base.text) and has_only_colours(base.text)

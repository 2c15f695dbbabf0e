"""A view of a text, and how it is rewritten into the next one without losing where anything came from.

The contract: a ``View`` is text in pieces, in order and without gaps. A piece that was copied, or replaced letter for
letter, knows the place of each of its characters; one that was decoded knows the run that it was decoded from, all of
it, so that whoever masks a finding masks what can be decoded again; one of no length stands for what was dropped.
Pieces ascend in the original, so ``place`` is monotone, and never leaves it.

``rewrite`` keeps only what stands near an edit: what is far from every edit was read before. It is linear in pieces and
edits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

CONTEXT: Final = 96
"""Characters that are kept on both sides of an edit: the words beside a number say what it is."""

BETWEEN: Final = "\n\n"
"""Stands for what was left out; no finding may reach across it."""

_NO_TOKEN: Final = re.compile(r"[^A-Za-z0-9_+/=.@-]")


class Edit(NamedTuple):
    """A stretch of a view that reads otherwise.

    Attributes:
        start: Offset of its first character in the view.
        end: Offset after its last one.
        text: What it says.
        kind: How it was read, in our own words.
        aligned: Whether each character of ``text`` stands for the one at its place; both have one length then.
    """

    start: int
    end: int
    text: str
    kind: str
    aligned: bool = False


class Piece(NamedTuple):
    """A stretch of a view's text of one origin.

    Attributes:
        start: Offset in the view.
        end: Offset after it.
        low: Where its origin begins in the original text.
        high: Where that ends.
        kinds: How it was read, outermost first; none where it stands so in the original.
        aligned: Whether characters stand for those of the original one by one.
        left_out: Whether it only stands for what was left out.
    """

    start: int
    end: int
    low: int
    high: int
    kinds: tuple[str, ...] = ()
    aligned: bool = True
    left_out: bool = False


class Place(NamedTuple):
    """Where a stretch of a view stands in the original text, and how it was read."""

    start: int
    end: int
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a text.

    Attributes:
        text: What it says.
        pieces: Where from, in order, without gaps.
    """

    text: str
    pieces: tuple[Piece, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """How it was read: every word of every piece, in order of appearance."""
        return _merged(piece.kinds for piece in self.pieces)

    def place(self, start: int, end: int) -> Place | None:
        """Return where a stretch comes from; none where it reaches across what was left out.

        Args:
            start: Offset of its first character.
            end: Offset after its last one, not before ``start``; both within the text.
        """
        inside = list(self.between(start, max(start + 1, end)))
        if not inside or any(piece.left_out for piece in inside):
            return None
        low, high = inside[0].low, inside[-1].high
        return Place(low, max(low, high), _merged(piece.kinds for piece in inside))

    def between(self, start: int, end: int) -> Iterator[Piece]:
        """Yield the pieces of a stretch, cut to it."""
        index = max(0, bisect_right(self.pieces, start, key=_start) - 1)
        for piece in self.pieces[index : bisect_right(self.pieces, end, key=_start)]:
            first, last = max(start, piece.start), min(end, piece.end)
            if first < last:
                yield _cut(piece, first, last)
            elif start < piece.start == piece.end < end:
                yield piece


def plain(text: str) -> View:
    """Return a text as the view that it is of itself."""
    return View(text, (Piece(0, len(text), 0, len(text)),))


def rewrite(view: View, edits: Sequence[Edit]) -> View | None:
    """Return a view with edits made and what is far from all of them left out; none where nothing is left.

    Args:
        view: What is rewritten.
        edits: Ascending and apart from each other, each within the text and not empty.
    """
    builder = _Builder()
    for first, last, inside in _windows(view.text, edits):
        if builder.size:
            builder.leave_out()
        place = first
        for edit in inside:
            builder.copy(view, place, edit.start)
            builder.replace(view, edit)
            place = edit.end
        builder.copy(view, place, last)
    return builder.view() if builder.size else None


class _Builder:
    """Puts a view together, piece after piece."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._pieces: list[Piece] = []
        self.size = 0

    def copy(self, view: View, start: int, end: int) -> None:
        if start < end:
            shift = self.size - start
            self._pieces += [
                piece._replace(start=piece.start + shift, end=piece.end + shift) for piece in view.between(start, end)
            ]
            self._add(view.text[start:end])

    def replace(self, view: View, edit: Edit) -> None:
        inside = list(view.between(edit.start, edit.end))
        if edit.aligned:
            shift = self.size - edit.start
            self._pieces += [
                piece._replace(start=piece.start + shift, end=piece.end + shift, kinds=(*piece.kinds, edit.kind))
                for piece in inside
            ]
        else:
            kinds = (*_merged(piece.kinds for piece in inside), edit.kind)
            low, high = inside[0].low, inside[-1].high
            left_out = any(piece.left_out for piece in inside)
            end = self.size + len(edit.text)
            self._pieces.append(Piece(self.size, end, low, high, kinds, aligned=False, left_out=left_out))
        self._add(edit.text)

    def leave_out(self) -> None:
        high = self._pieces[-1].high
        self._pieces.append(Piece(self.size, self.size + len(BETWEEN), high, high, aligned=False, left_out=True))
        self._add(BETWEEN)

    def view(self) -> View:
        return View("".join(self._parts), tuple(self._pieces))

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self.size += len(text)


def _windows(text: str, edits: Sequence[Edit]) -> Iterator[tuple[int, int, list[Edit]]]:
    """Yield stretches that hold edits with what stands beside them, apart from each other."""
    first = last = -1
    inside: list[Edit] = []
    for edit in edits:
        low = _from(text, edit.start)
        if inside and low > last:
            yield first, last, inside
            inside = []
        if not inside:
            first = max(low, last, 0)
        inside.append(edit)
        last = max(last, _upto(text, edit.end))
    if inside:
        yield first, last, inside


def _from(text: str, start: int) -> int:
    """Return where a window begins: at a token's edge, where there is one."""
    low = max(0, start - CONTEXT)
    if low == 0:
        return 0
    edge = _NO_TOKEN.search(text, low, start)
    return edge.start() if edge else low


def _upto(text: str, end: int) -> int:
    high = min(len(text), end + CONTEXT)
    if high == len(text):
        return high
    edge = _NO_TOKEN.search(text[end:high][::-1])
    return high - edge.start() if edge else high


def _cut(piece: Piece, start: int, end: int) -> Piece:
    if piece.start == start and piece.end == end:
        return piece
    if not piece.aligned:
        return piece._replace(start=start, end=end)
    return piece._replace(
        start=start, end=end, low=piece.low + start - piece.start, high=piece.high - (piece.end - end)
    )


def _merged(several: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return how several stretches were read: as the one says that says anything, else every word once, in order."""
    distinct = tuple(dict.fromkeys(kinds for kinds in several if kinds))
    if len(distinct) <= 1:
        return distinct[0] if distinct else ()
    return tuple(dict.fromkeys(kind for kinds in distinct for kind in kinds))


def _start(piece: Piece) -> int:
    return piece.start

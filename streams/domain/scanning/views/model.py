"""A view of a text, and how it is rewritten into the next one without losing where anything came from.

The contract: a ``View`` is text in pieces, in order and without gaps. A piece that was copied, replaced letter for
letter or only lost letters knows the place of each of its characters; one that was decoded knows the run that it was
decoded from, all of it, so that whoever masks a finding masks what can be decoded again. Pieces ascend in the original,
so ``place`` is monotone, and never leaves it.

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

_LONGEST_TOKEN: Final = 512
"""Characters beside an edit in which the edge of a token is looked for: of half a token the rest would stay."""

BETWEEN: Final = "\n\n"
"""Stands for what was left out; no finding may reach across it."""

_NO_TOKEN: Final = re.compile(r"[^A-Za-z0-9_+/=.@-]")


class Edit(NamedTuple):
    """A stretch of a view that reads otherwise.

    Attributes:
        start: Offset of its first character in the view.
        end: Offset after its last one.
        text: What it says; not empty.
        kind: How it was read, in our own words.
        places: For each character of ``text``, which one of the stretch it is or stands for, ascending from 0; none
            where all of the stretch stands for all of the text.
    """

    start: int
    end: int
    text: str
    kind: str
    places: Sequence[int] | None = None


class Piece(NamedTuple):
    """A stretch of a view's text of one origin.

    Attributes:
        start: Offset in the view.
        end: Offset after it.
        low: Where its origin begins in the original text.
        high: Where that ends.
        places: For each character its place in the original text, ascending; none where the origin is no closer known.
        kinds: How it was read, outermost first; none where it stands so in the original.
        left_out: Whether it only stands for what was left out.
    """

    start: int
    end: int
    low: int
    high: int
    places: Sequence[int] | None
    kinds: tuple[str, ...] = ()
    left_out: bool = False


class Made(NamedTuple):
    """A stretch of a view that the last rewriting made: all of a text that stands so in the original."""

    start: int
    end: int
    kind: str


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
        made: What the last rewriting made of it, in order; all else stood so in the view before.
    """

    text: str
    pieces: tuple[Piece, ...]
    made: tuple[Made, ...]

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
        first = max(0, bisect_right(self.pieces, start, key=_start) - 1)
        inside = _Cursor(self.pieces, first).take(start, max(start + 1, end))
        if not inside or any(piece.left_out for piece in inside):
            return None
        return Place(inside[0].low, inside[-1].high, _merged(piece.kinds for piece in inside))


def plain(text: str) -> View:
    """Return a text as the view that it is of itself."""
    size = len(text)
    return View(text, (Piece(0, size, 0, size, range(size)),), (Made(0, size, ""),))


def whole_edits(view: View, edits: Sequence[Edit]) -> Sequence[Edit]:
    """Return the edits that reach over nothing that was left out: what such a one says stands nowhere.

    Args:
        view: What is rewritten.
        edits: Ascending and apart from each other.
    """
    gaps = [piece for piece in view.pieces if piece.left_out]
    if not gaps:
        return edits
    kept: list[Edit] = []
    place = 0
    for edit in edits:
        while place < len(gaps) and gaps[place].end <= edit.start:
            place += 1
        if place == len(gaps) or gaps[place].start >= edit.end:
            kept.append(edit)
    return kept


def rewrite(view: View, edits: Sequence[Edit], context: int = CONTEXT) -> View:
    """Return a view with edits made and what is far from all of them left out.

    Args:
        view: What is rewritten.
        edits: At least one; ascending and apart from each other, each within the text and not empty.
        context: Characters that are kept on both sides of an edit.
    """
    builder = _Builder(view)
    for first, last, inside in _windows(view.text, edits, context):
        builder.leave_out()
        place = first
        for edit in inside:
            builder.copy(place, edit.start)
            builder.replace(edit)
            place = edit.end
        builder.copy(place, last)
    return builder.view()


class _Cursor:
    """Takes stretches of pieces, each beginning where or after the one before ended."""

    def __init__(self, pieces: Sequence[Piece], first: int = 0) -> None:
        self._pieces = pieces
        self._next = first

    def take(self, start: int, end: int) -> list[Piece]:
        pieces, place = self._pieces, self._next
        taken: list[Piece] = []
        while place < len(pieces):
            piece = pieces[place]
            first, last = piece[:2]
            if first >= end:
                break
            if last > start:
                inside = first >= start and last <= end
                taken.append(piece if inside else _cut(piece, max(start, first), min(end, last)))
            if last > end:
                break
            place += 1
        self._next = place
        return taken


class _Builder:
    """Puts a view together, piece after piece."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._cursor = _Cursor(view.pieces)
        self._parts: list[str] = []
        self._pieces: list[Piece] = []
        self._made: list[Made] = []
        self._size = 0

    def copy(self, start: int, end: int) -> None:
        if start < end:
            shift = self._size - start
            for first, last, low, high, places, kinds, left_out in self._cursor.take(start, end):
                self._pieces.append(Piece(first + shift, last + shift, low, high, places, kinds, left_out))
            self._size = end + shift
            self._parts.append(self._view.text[start:end])

    def replace(self, edit: Edit) -> None:
        inside = self._cursor.take(edit.start, edit.end)
        if len(inside) == 1:
            kinds, below = (*inside[0].kinds, edit.kind), inside[0].places
        else:
            kinds = (*_merged(piece.kinds for piece in inside), edit.kind)
            below = _joined(self._view.text, inside, edit.places)
        places: Sequence[int] | None = None
        low, high = inside[0].low, inside[-1].high
        if edit.places is not None and below is not None:
            if isinstance(edit.places, range):
                places = below
            else:
                places = [below[place] for place in edit.places]
                low, high = places[0], places[-1] + 1
        left_out = any(piece.left_out for piece in inside)
        self._made.append(Made(self._size, self._size + len(edit.text), edit.kind))
        self._piece(self._size + len(edit.text), low, high, places, kinds, left_out=left_out)
        self._parts.append(edit.text)

    def leave_out(self) -> None:
        """Say that something is left out here, unless nothing stands before it."""
        if self._size:
            high = self._pieces[-1].high
            self._piece(self._size + len(BETWEEN), high, high, None, (), left_out=True)
            self._parts.append(BETWEEN)

    def view(self) -> View:
        return View("".join(self._parts), tuple(self._pieces), tuple(self._made))

    def _piece(
        self,
        end: int,
        low: int,
        high: int,
        places: Sequence[int] | None,
        kinds: tuple[str, ...],
        *,
        left_out: bool,
    ) -> None:
        self._pieces.append(Piece(self._size, end, low, high, places, kinds, left_out))
        self._size = end


def _windows(text: str, edits: Sequence[Edit], context: int) -> Iterator[tuple[int, int, list[Edit]]]:
    """Yield stretches that hold edits with what stands beside them, apart from each other."""
    first = last = 0
    inside: list[Edit] = []
    for edit in edits:
        if inside and edit.start - context > last:
            end = _upto(text, inside[-1].end, context)
            if end < edit.start:  # else both stand in one long token
                yield first, end, inside
                last, inside = end, []
        if not inside:
            first = max(last, _from(text, edit.start, context))
        inside.append(edit)
        last = edit.end + context
    if inside:
        yield first, _upto(text, inside[-1].end, context), inside


def _from(text: str, start: int, context: int) -> int:
    """Return where a window begins: at a token's edge, where there is one."""
    low = max(0, start - context)
    edge = _NO_TOKEN.search(text, low, start) if low else None
    if edge or not low or not context:
        return edge.start() if edge else low
    further = max(0, start - _LONGEST_TOKEN)
    edge = _NO_TOKEN.search(text[further:low][::-1])
    return low - edge.start() if edge else further if not further else low


def _upto(text: str, end: int, context: int) -> int:
    high = min(len(text), end + context)
    edge = _NO_TOKEN.search(text[end:high][::-1]) if high < len(text) else None
    if edge or high == len(text) or not context:
        return high - edge.start() if edge else high
    further = min(len(text), end + _LONGEST_TOKEN)
    edge = _NO_TOKEN.search(text, high, further)
    return edge.start() if edge else further if further == len(text) else high


def _cut(piece: Piece, start: int, end: int) -> Piece:
    first, last, low, high, places, kinds, left_out = piece
    if first == start and last == end:
        return piece
    if places is None:
        return Piece(start, end, low, high, None, kinds, left_out)
    places = places[start - first : end - first]
    return Piece(start, end, places[0], places[-1] + 1, places, kinds, left_out)


def _joined(text: str, pieces: Sequence[Piece], kept: Sequence[int] | None) -> Sequence[int] | None:
    """Return the places of several stretches; none where a character that is kept has none.

    A blank or a line break that was written as an escape stands where that begins: no finding ends with one.
    """
    if len(pieces) == 1 or kept is None:
        return pieces[0].places if len(pieces) == 1 else None
    joined: list[int] = []
    for piece in pieces:
        if piece.places is not None:
            joined += piece.places
        else:
            is_blank = piece.end - piece.start == 1 and text[piece.start].isspace()
            joined += [piece.low if is_blank else _NOWHERE] * (piece.end - piece.start)
    return joined if all(joined[place] != _NOWHERE for place in kept) else None


_NOWHERE: Final = -1


def _merged(several: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return how several stretches were read: as the one says that says anything, else every word once, in order."""
    distinct = tuple(dict.fromkeys(kinds for kinds in several if kinds))
    if len(distinct) <= 1:
        return distinct[0] if distinct else ()
    return tuple(dict.fromkeys(kind for kinds in distinct for kind in kinds))


def _start(piece: Piece) -> int:
    return piece.start

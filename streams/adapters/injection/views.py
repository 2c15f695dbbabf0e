"""The texts that one text can be read as: itself, what is encoded in it, and parts of it turned round or shifted.

The contract: ``Reader.views`` yields the folded text first, then parts that read better another way (backwards, ROT13,
leetspeak), then what is decoded, by encoding, and what is turned in it; each cut to what is read at once. Every view
knows where its code points stand in the original text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from streams.adapters.injection.folding import SPACE, Codes, FoldTable, Places
from streams.adapters.injection.grams import MAX_CODES
from streams.adapters.injection.turning import (
    LEET,
    REVERSED,
    ROT13,
    PairTable,
    Turns,
    shifted,
    unleeted,
)
from streams.domain.scanning.decoding import Layer, decoded_layers

PLAIN: Final = "plain"

_BETWEEN: Final = "\n"

OVERLAP: Final = 1024
"""Code points that two parts of a long text share, so that no window is lost between them."""


class View(NamedTuple):
    """One reading of a text.

    Attributes:
        kind: How it was read: names of encodings and turns, from our words alone.
        codes: Folded code points.
        places: For each, the index of the character of the original text that it came from.
    """

    kind: str
    codes: Codes
    places: Places


class Reader:
    """Reads texts in all ways.

    Args:
        table: Folds characters.
        pairs: How common neighbours are.
    """

    def __init__(self, table: FoldTable, pairs: PairTable) -> None:
        self._table = table
        self._turns = Turns(pairs)

    def views(self, text: str) -> Iterator[View]:
        """Yield the views of a text, the plain one first; their number grows with its length alone."""
        layers = list(decoded_layers(text))
        # What is read decoded, all of it, is not read as it stands: how something is encoded says nothing about it.
        folded = self._table.fold(_without(text, layers))
        yield from self._with_turned(View(PLAIN, folded.codes, folded.places))
        by_kind: dict[str, list[Layer]] = {}
        for layer in layers:
            by_kind.setdefault("+".join(layer.encodings), []).append(layer)
        for kind, of_kind in by_kind.items():
            yield from self._with_turned(self._decoded(kind, of_kind))

    def _decoded(self, kind: str, layers: Sequence[Layer]) -> View:
        """Return layers as one text: many small ones cost no more than a long one."""
        folded = self._table.fold(_BETWEEN.join(layer.text for layer in layers))
        sizes = np.array([len(layer.text) + len(_BETWEEN) for layer in layers], np.int64)
        starts = np.array([layer.start for layer in layers], np.int64)
        lengths = np.array([max(1, layer.end - layer.start) for layer in layers], np.int64)
        # What is inside a run is reported as the run: its share of the text is its share of the run.
        owner = np.searchsorted(np.cumsum(sizes), folded.places, side="right")
        inside = folded.places - (np.cumsum(sizes) - sizes)[owner]
        return View(kind, folded.codes, starts[owner] + inside * lengths[owner] // sizes[owner])

    def _with_turned(self, whole: View) -> Iterator[View]:
        for start in range(0, max(1, whole.codes.size - OVERLAP), MAX_CODES - OVERLAP):
            part = slice(start, start + MAX_CODES)
            view = whole._replace(codes=whole.codes[part], places=whole.places[part])
            yield view
            by_way: dict[str, list[View]] = {}
            for way, first, last in self._turns.parts(view.codes):
                kind = way if view.kind == PLAIN else f"{view.kind}+{way}"
                turned = View(kind, _TURNS[way](view.codes[first:last]), view.places[first:last])
                if way == REVERSED:
                    turned = turned._replace(places=turned.places[::-1])
                by_way.setdefault(way, []).append(turned)
            for parts in by_way.values():
                # A block at least lies between two parts, so that this is no longer than the view.
                yield _joined(parts[0].kind, parts)


_TURNS: Final[Mapping[str, Callable[[Codes], Codes]]] = {
    REVERSED: lambda codes: codes[::-1],
    ROT13: shifted,
    LEET: unleeted,
}


def _joined(kind: str, parts: Sequence[View]) -> View:
    """Return parts as one text, a space after each."""
    if len(parts) == 1:
        return parts[0]
    space = np.array([SPACE], np.uint32)
    codes = np.concatenate([item for part in parts for item in (part.codes, space)])
    places = np.concatenate(
        [item for part in parts for item in (part.places, part.places[-1:] if part.places.size else _FIRST)]
    )
    return View(kind, codes, places)


_FIRST: Final = np.zeros(1, np.int64)


def _without(text: str, layers: Sequence[Layer]) -> str:
    """Return the text with white space in the place of every run that was decoded whole."""
    spans = sorted({(layer.start, layer.end) for layer in layers if layer.whole})
    parts: list[str] = []
    place = 0
    for start, end in spans:
        if end > place:
            parts += (text[place : max(place, start)], " " * (end - max(place, start)))
            place = end
    return "".join(parts) + text[place:]

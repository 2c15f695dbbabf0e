"""Which concepts a folded text names, and where: thousands of stems in many languages, found in one vectorised pass.

The contract: ``find`` gives every place where a stem stands, with its concept. A stem stands where its code points do:
where a word begins, unless it may stand anywhere, and with a word's end after it where it asks for that.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from streams.adapters.injection.folding import Codes, Flags, is_word
from streams.adapters.injection.grams import Buckets, Grams, Hashes, beginning_hashes, substring_hashes

ANYWHERE: Final = 1
WHOLE: Final = 2
"""Flags of a stem: it may stand inside a word; a word must end with it."""

SHORTEST: Final = 2
LONGEST: Final = 63
"""Lengths of stems, in code points."""

LONG: Final = 4
"""Stems at least as long are looked for by their first four code points, shorter ones by their first two."""

_FILTER_BITS: Final = 16


class Stems(NamedTuple):
    """The stems of a lexicon, by ascending key; one that stands for several concepts is there several times.

    Attributes:
        keys: Hashes of the folded stems.
        lengths: Their lengths in code points.
        flags: ``ANYWHERE`` and ``WHOLE``.
        concepts: Which concept.
    """

    keys: Hashes
    lengths: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint8]
    concepts: npt.NDArray[np.uint8]


class Hits(NamedTuple):
    """Where concepts stand."""

    positions: Buckets
    concepts: Buckets


class Lexicon:
    """Finds the stems of a lexicon.

    Args:
        stems: Sorted by key.
        beginnings: The hashes of each stem's first code points, ``LONG`` or else ``SHORTEST`` of them, in its order.
    """

    def __init__(self, stems: Stems, beginnings: Hashes) -> None:
        self._stems = stems
        self._filters = [
            _Filter(length, stems, beginnings, chosen)
            for length, chosen in ((SHORTEST, stems.lengths < LONG), (LONG, stems.lengths >= LONG))
        ]

    def find(self, codes: Codes, grams: Grams) -> Hits:
        """Return all hits in a folded text, in no order."""
        count = codes.size - SHORTEST + 1
        if count < 1:
            return Hits(np.zeros(0, np.int64), np.zeros(0, np.int64))
        word = np.zeros(codes.size + 1, np.bool_)
        word[:-1] = is_word(codes)
        starts = np.ones(codes.size, np.bool_)
        starts[1:] = ~word[:-2]
        lengths = np.zeros(count, np.uint64)
        for item in self._filters:
            found = item.lengths(grams.prefixes, starts)
            lengths[: found.size] |= found
        places = np.flatnonzero(lengths)
        lengths = lengths[places]
        # All lengths at once: a place and a length make a candidate.
        bits = np.unpackbits(lengths.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
        rows, sizes = np.nonzero(bits)
        starting = places[rows]
        inside = starting + sizes <= codes.size
        starting, sizes = starting[inside], sizes[inside]
        hashes = substring_hashes(grams.prefixes, starting, starting + sizes)
        stems = self._stems
        first = np.searchsorted(stems.keys, hashes)
        positions, concepts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        # Several stems may share a key; each is looked at in turn.
        while True:
            same = first < stems.keys.size
            same[same] = stems.keys[first[same]] == hashes[same]
            starting, sizes, hashes, first = starting[same], sizes[same], hashes[same], first[same]
            if not starting.size:
                return Hits(np.concatenate(positions), np.concatenate(concepts))
            flags = stems.flags[first]
            stands = (((flags & ANYWHERE) > 0) | starts[starting]) & (((flags & WHOLE) == 0) | ~word[starting + sizes])
            stands &= stems.lengths[first] == sizes
            positions.append(starting[stands])
            concepts.append(stems.concepts[first[stands]].astype(np.int64))
            first = first + 1


class _Filter:
    """Says of a position which lengths of stems can begin there, by the hash of its first code points."""

    def __init__(self, length: int, stems: Stems, beginnings: Hashes, chosen: Flags) -> None:
        self._length = length
        slots, lengths = _slots(beginnings[chosen]), stems.lengths[chosen]
        anywhere = (stems.flags[chosen] & ANYWHERE) > 0
        self._inside = _lengths_by_slot(slots[anywhere], lengths[anywhere])
        self._at_starts = _lengths_by_slot(slots, lengths)

    def lengths(self, prefixes: Hashes, starts: Flags) -> Hashes:
        if prefixes.size <= self._length:
            return np.zeros(0, np.uint64)
        slots = _slots(beginning_hashes(prefixes, self._length))
        return np.where(starts[: slots.size], self._at_starts[slots], self._inside[slots])


def _lengths_by_slot(slots: Buckets, lengths: npt.NDArray[np.uint8]) -> Hashes:
    """Return for each slot the lengths of the stems that begin with it, as bits."""
    bits = np.zeros(1 << _FILTER_BITS, np.uint64)
    np.bitwise_or.at(bits, slots, np.uint64(1) << lengths.astype(np.uint64))
    return bits


def _slots(hashes: Hashes) -> Buckets:
    return ((hashes * np.uint64(0xD6E8FEB86659FD93)) >> np.uint64(64 - _FILTER_BITS)).astype(np.int64)

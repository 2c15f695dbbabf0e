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
        self._by_length: list[tuple[int, Stems]] = []
        self._filters = [
            _Filter(length, stems, beginnings, chosen)
            for length, chosen in ((SHORTEST, stems.lengths < LONG), (LONG, stems.lengths >= LONG))
        ]
        for length in sorted({int(item) for item in stems.lengths}):
            chosen = stems.lengths == length
            self._by_length.append((length, Stems(*(column[chosen] for column in stems))))

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
            bits = item.lengths(grams.prefixes, starts)
            lengths[: bits.size] |= bits
        places = np.flatnonzero(lengths)
        lengths = lengths[places]
        positions, concepts = [], []
        for length, stems in self._by_length:
            possible = places[(lengths >> np.uint64(length)) & np.uint64(1) > 0]
            possible = possible[possible + length <= codes.size]
            if not possible.size:
                continue
            hashes = substring_hashes(grams.prefixes, possible, possible + length)
            first = np.searchsorted(stems.keys, hashes)
            # Several stems may share a key; each is looked at in turn.
            while True:
                inside = first < stems.keys.size
                possible, hashes, first = possible[inside], hashes[inside], first[inside]
                same = stems.keys[first] == hashes
                possible, hashes, first = possible[same], hashes[same], first[same]
                if not possible.size:
                    break
                flags = stems.flags[first]
                stands = (((flags & ANYWHERE) > 0) | starts[possible]) & (
                    ((flags & WHOLE) == 0) | ~word[possible + length]
                )
                positions.append(possible[stands])
                concepts.append(stems.concepts[first[stands]].astype(np.int64))
                first = first + 1
        if not positions:
            return Hits(np.zeros(0, np.int64), np.zeros(0, np.int64))
        return Hits(np.concatenate(positions), np.concatenate(concepts))


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

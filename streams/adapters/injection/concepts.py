"""Which concepts a folded text names, and where: thousands of stems in many languages, found in one vectorised pass.

The contract: ``find`` gives every place where a stem stands, with its concept. A stem stands where its code points do:
where a word begins, unless it may stand anywhere, and with a word's end after it where it asks for that.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from streams.adapters.injection.folding import Codes, Flags
from streams.adapters.injection.grams import Buckets, Grams, Hashes, mixed_inverses, substring_hashes

ANYWHERE: Final = 1
WHOLE: Final = 2
"""Flags of a stem: it may stand inside a word; a word must end with it."""

SHORTEST: Final = 2
LONGEST: Final = 63
"""Lengths of stems, in code points."""

LONG: Final = 4
"""Stems at least as long are looked for by their first four code points, shorter ones by their first two."""

_TOP_BITS: Final = 16
_FILTER_BITS: Final = 16
_AT_STARTS: Final = 1 << _FILTER_BITS
_INSIDE, _STARTING = np.uint8(1), np.uint8(2)
_LENGTH_BITS: Final = 6
_PAIR_BITS: Final = _FILTER_BITS + 1 + _LENGTH_BITS
_SLOT_MIX: Final = 0xD6E8FEB86659FD93


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
        self._keys, self._firsts, self._counts = np.unique(stems.keys, return_index=True, return_counts=True)
        tops = (stems.keys >> np.uint64(64 - _TOP_BITS)).astype(np.int64)
        self._has_key = np.bincount(tops, minlength=1 << _TOP_BITS) > 0
        self._filters = [
            _Filter(length, stems, beginnings, chosen)
            for length, chosen in ((SHORTEST, stems.lengths < LONG), (LONG, stems.lengths >= LONG))
        ]
        # Of both filters together, which lengths stems of a slot have.
        pairs = np.concatenate([item.pairs + (place << _PAIR_BITS) for place, item in enumerate(self._filters)])
        counts = np.bincount(pairs >> _LENGTH_BITS, minlength=len(self._filters) << (_PAIR_BITS - _LENGTH_BITS))
        self._lengths = pairs & ((1 << _LENGTH_BITS) - 1)
        # Where they begin, and how many they are, in one number: a slot is somewhere else in memory each time.
        self._rows = ((np.cumsum(counts) - counts << _LENGTH_BITS) + counts).astype(np.int32)

    def find(self, codes: Codes, grams: Grams) -> Hits:
        """Return all hits in a folded text, in no order."""
        if codes.size < SHORTEST:
            return Hits(np.zeros(0, np.int64), np.zeros(0, np.int64))
        word = np.zeros(codes.size + 1, np.bool_)
        word[:-1] = grams.word
        starts = np.ones(codes.size, np.bool_)
        np.logical_not(word[:-2], out=starts[1:])
        # All lengths at once: a place and a length make a candidate.
        wanted = starts.view(np.uint8) + _INSIDE
        found = [item.places(grams.prefixes, wanted) for item in self._filters]
        starting = np.concatenate([places for places, _ in found])
        slots = np.concatenate([slots for _, slots in found])
        slots += starts.take(starting) * np.int64(_AT_STARTS)
        slots[found[0][0].size :] += 1 << (_PAIR_BITS - _LENGTH_BITS)
        rows = self._rows.take(slots).astype(np.int64)
        counts = rows & ((1 << _LENGTH_BITS) - 1)
        starting = np.repeat(starting, counts)
        sizes = self._lengths.take(np.repeat(rows >> _LENGTH_BITS, counts) + _within(counts))
        # What would end beyond the text is cut, and then no stem of its length.
        hashes = substring_hashes(grams.prefixes, starting, np.minimum(starting + sizes, codes.size))
        # Nine of ten candidates are no stem, which the first bits of their hashes say.
        maybe = self._has_key.take((hashes >> np.uint64(64 - _TOP_BITS)).view(np.int64)).nonzero()[0]
        starting, sizes, hashes = starting[maybe], sizes[maybe], hashes[maybe]
        key = np.searchsorted(self._keys, hashes)
        same = (self._keys.take(key, mode="clip") == hashes).nonzero()[0]
        # Several stems may share a key: a place is there for each of them.
        counts = self._counts.take(key.take(same))
        same, key = np.repeat(same, counts), np.repeat(key.take(same), counts)
        starting, sizes = starting.take(same), sizes.take(same)
        stem = self._firsts.take(key) + _within(counts)
        flags = self._stems.flags.take(stem)
        stands = ((flags & ANYWHERE) > 0) | starts.take(starting)
        stands &= ((flags & WHOLE) == 0) | ~word.take(starting + sizes, mode="clip")
        stands &= self._stems.lengths.take(stem) == sizes
        return Hits(starting[stands], self._stems.concepts.take(stem[stands]).astype(np.int64))


def _within(counts: Buckets) -> Buckets:
    """Return for rows of so many the place of each in its own row."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - counts, counts)


class _Filter:
    """Says of a position which lengths of stems can begin there, by the hash of its first code points.

    A slot is a part of that hash and whether a word begins there; most have no stem, which a small table says first.
    """

    def __init__(self, length: int, stems: Stems, beginnings: Hashes, chosen: Flags) -> None:
        self._length = length
        slots = ((beginnings[chosen] * np.uint64(_SLOT_MIX)) >> np.uint64(64 - _FILTER_BITS)).astype(np.int64)
        anywhere = (stems.flags[chosen] & ANYWHERE) > 0
        slots = np.concatenate((slots[anywhere], slots + _AT_STARTS))
        lengths = stems.lengths[chosen].astype(np.int64)
        self.pairs = np.unique((slots << _LENGTH_BITS) + np.concatenate((lengths[anywhere], lengths)))
        used = np.zeros((2, _AT_STARTS), np.bool_)
        used.reshape(-1)[self.pairs >> _LENGTH_BITS] = True
        self._used = used[0] * _INSIDE | used[1] * _STARTING

    def places(self, prefixes: Hashes, wanted: npt.NDArray[np.uint8]) -> tuple[Buckets, Buckets]:
        """Return where a stem may begin, and the slots of what stands there."""
        count = prefixes.size - self._length
        if count < 1:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        hashes = prefixes[self._length :] - prefixes[:count]
        hashes *= mixed_inverses(_SLOT_MIX)[:count]
        hashes >>= np.uint64(64 - _FILTER_BITS)
        slots = hashes.view(np.int64)
        places = (self._used.take(slots) & wanted[:count]).nonzero()[0]
        return places, slots.take(places)

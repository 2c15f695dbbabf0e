"""Which parts of a text read more like language backwards, with letters moved by thirteen, or with digits as letters.

The contract: ``turned_parts`` compares how common a text's pairs of neighbouring letters are with how common they would
be the other way, window by window, and returns the parts where another way is clearly better. Text in a known language
gives none, so that looking costs little. How common pairs are is counted when the model is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from streams.adapters.injection.folding import Codes
from streams.adapters.injection.grams import Buckets

PAIR_BITS: Final = 13
"""Logarithm of the size of the table of pairs."""

PairTable = npt.NDArray[np.int8]

REVERSED: Final = "reversed"
ROT13: Final = "rot13"
LEET: Final = "leet"

MARGIN: Final = 3
"""How much better the other way must be on average, in the table's units: sixths of a doubling."""

_BLOCK: Final = 32
_WINDOW_BLOCKS: Final = 2
_A, _Z, _HALF, _LETTERS = 0x61, 0x7A, 13, 26
_MIX: Final = 0x9E3779B1
_WORD: Final = 1 << 32


def pair_buckets(first: Codes, second: Codes) -> Buckets:
    """Return the bucket of each pair of neighbours."""
    mixed = (first.astype(np.uint64) * np.uint64(_MIX) + second.astype(np.uint64)) * np.uint64(_MIX)
    return ((mixed & np.uint64(_WORD - 1)) >> np.uint64(32 - PAIR_BITS)).astype(np.int64)


def shifted(codes: Codes) -> Codes:
    """Return the text in ROT13."""
    letters = (codes >= _A) & (codes <= _Z)
    return np.where(letters, (codes - np.uint32(_A) + np.uint32(_HALF)) % np.uint32(_LETTERS) + np.uint32(_A), codes)


_LEET: Final = dict(zip("0134578+@$!|", "oieastbtasil", strict=True))
_MEANT: Final = np.array([ord(_LEET.get(chr(code), chr(code))) for code in range(0x80)], np.uint32)
_FEWEST_LEET: Final = 3


def unleeted(codes: Codes) -> Codes:
    """Return the text with the letters that digits and signs stand for."""
    return np.where(codes < _MEANT.size, _MEANT[np.minimum(codes, _MEANT.size - 1)], codes)


def turned_parts(codes: Codes, table: PairTable) -> Iterator[tuple[str, int, int]]:
    """Yield the parts that read better another way: the way, first and last-plus-one code point."""
    if codes.size < _BLOCK // 2:
        return
    plain = table[pair_buckets(codes[:-1], codes[1:])].astype(np.int64)
    ways = [(REVERSED, table[pair_buckets(codes[1:], codes[:-1])].astype(np.int64))]
    letters = (codes >= _A) & (codes <= _Z)
    if int(letters.sum()) * 2 > codes.size:
        moved = shifted(codes)
        ways.append((ROT13, table[pair_buckets(moved[:-1], moved[1:])].astype(np.int64)))
    meant = unleeted(codes)
    changed = meant != codes
    if int((changed[1:] & letters[:-1]).sum() + (changed[:-1] & letters[1:]).sum()) >= _FEWEST_LEET:
        ways.append((LEET, table[pair_buckets(meant[:-1], meant[1:])].astype(np.int64)))
    starts = np.arange(0, plain.size, _BLOCK)
    sizes = np.diff(np.concatenate((starts, [plain.size])))
    for way, values in ways:
        gain = np.add.reduceat(values - plain, starts) - MARGIN * sizes
        better = gain + np.concatenate((gain[1:], [0])) > 0 if gain.size > 1 else gain > 0
        spread = better.copy()
        spread[1:] |= better[:-1]
        spread[:-1] |= better[1:]
        edges = np.diff(spread.astype(np.int8), prepend=0, append=0)
        for first, last in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
            yield way, int(first) * _BLOCK, min(int(last) * _BLOCK, codes.size)

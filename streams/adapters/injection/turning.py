"""Which parts of a text read more like language backwards, with letters moved by thirteen, or with digits as letters.

The contract: ``Turns.parts`` compares how common a text's pairs of neighbouring letters are with how common they would
be the other way, window by window, and returns the parts where another way is clearly better. Text in a known language
gives none, so that looking costs little. How common pairs are is counted when the model is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from streams.adapters.injection.folding import Codes, Flags
from streams.adapters.injection.grams import Buckets, runs

PAIR_BITS: Final = 13
"""Logarithm of the size of the table of pairs."""

PairTable = npt.NDArray[np.int8]
Sums = npt.NDArray[np.signedinteger[Any]]

REVERSED: Final = "reversed"
ROT13: Final = "rot13"
LEET: Final = "leet"

MARGIN: Final = 3
"""How much better the other way must be on average, in the table's units: sixths of a doubling."""

_BLOCK: Final = 32
_WINDOW_BLOCKS: Final = 2
_A, _HALF, _LETTERS = 0x61, 13, 26
_MIX: Final = 0x9E3779B1
_WORD: Final = 1 << 32


def pair_buckets(first: Codes, second: Codes) -> Buckets:
    """Return the bucket of each pair of neighbours."""
    mixed = (first.astype(np.uint64) * np.uint64(_MIX) + second.astype(np.uint64)) * np.uint64(_MIX)
    return ((mixed & np.uint64(_WORD - 1)) >> np.uint64(32 - PAIR_BITS)).astype(np.int64)


def _letters(codes: Codes) -> Flags:
    small: Flags = codes - np.uint32(_A) < np.uint32(_LETTERS)
    return small


def shifted(codes: Codes) -> Codes:
    """Return the text in ROT13."""
    return np.where(
        _letters(codes), (codes - np.uint32(_A) + np.uint32(_HALF)) % np.uint32(_LETTERS) + np.uint32(_A), codes
    )


_LEET: Final = dict(zip("0134578+@$!|", "oieastbtasil", strict=True))
_ASCII: Final = np.arange(0x80, dtype=np.uint32)
_MEANT: Final = np.array([ord(_LEET.get(chr(code), chr(code))) for code in range(0x80)], np.uint32)
_FEWEST_LEET: Final = 3


def unleeted(codes: Codes) -> Codes:
    """Return the text with the letters that digits and signs stand for."""
    return np.where(codes < _MEANT.size, _MEANT[np.minimum(codes, _MEANT.size - 1)], codes)


class Turns:
    """Finds the parts of texts that read better another way.

    Args:
        table: How common pairs are.
    """

    def __init__(self, table: PairTable) -> None:
        self._table = table
        # Of two ASCII characters, what each way gains is known beforehand.
        first, second = (np.repeat(_ASCII, _ASCII.size), np.tile(_ASCII, _ASCII.size))
        plain = self._values(first, second)
        gains = {
            REVERSED: self._values(second, first) - plain,
            ROT13: self._values(shifted(first), shifted(second)) - plain,
            LEET: self._values(unleeted(first), unleeted(second)) - plain,
        }
        self._gains = {way: (values - MARGIN).astype(np.int32) for way, values in gains.items()}

    def parts(self, codes: Codes) -> Iterator[tuple[str, int, int]]:
        """Yield the parts that read better another way: the way, first and last-plus-one code point."""
        if codes.size < _BLOCK // 2:
            return
        starts = np.arange(0, codes.size - 1, _BLOCK)
        ways = dict(self._ways(codes))
        gain = np.array([np.add.reduceat(gains, starts) for gains in ways.values()])
        gain[:, :-1] += gain[:, 1:].copy()
        better = gain > 0
        if not better.any():
            return
        spread = better.copy()
        spread[:, 1:] |= better[:, :-1]
        spread[:, :-1] |= better[:, 1:]
        for way, blocks in zip(ways, spread, strict=True):
            for first, last in zip(*runs(blocks), strict=True):
                yield way, int(first) * _BLOCK, min(int(last) * _BLOCK, codes.size)

    def _ways(self, codes: Codes) -> Iterator[tuple[str, Sums]]:
        """Yield the ways that are worth a look, and what each pair gains by it beyond the margin."""
        is_ascii = int(codes.max()) < _ASCII.size
        letters = _letters(codes)
        ways = [REVERSED]
        if int(np.count_nonzero(letters)) * 2 > codes.size:
            ways.append(ROT13)
        meant = _MEANT.take(codes) if is_ascii else unleeted(codes)
        changed = meant != codes
        beside = np.count_nonzero(changed[1:] & letters[:-1]) + np.count_nonzero(changed[:-1] & letters[1:])
        if beside >= _FEWEST_LEET:
            ways.append(LEET)
        if is_ascii:
            pairs = codes[:-1] * np.uint32(_ASCII.size)
            pairs += codes[1:]
            yield from ((way, self._gains[way].take(pairs)) for way in ways)
            return
        plain = self._values(codes[:-1], codes[1:])
        for way in ways:
            if way == REVERSED:
                values = self._values(codes[1:], codes[:-1])
            else:
                turned = shifted(codes) if way == ROT13 else meant
                values = self._values(turned[:-1], turned[1:])
            yield way, values - plain - MARGIN

    def _values(self, first: Codes, second: Codes) -> Buckets:
        return self._table[pair_buckets(first, second)].astype(np.int64)

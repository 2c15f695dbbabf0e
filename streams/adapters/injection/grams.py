"""What is counted in a folded text: hashed character n-grams, hashed words in ones, twos and threes, and concepts.

The contract: ``read_grams`` gives for every position the buckets of the n-grams that begin there. A substring's hash
depends on its code points alone (a polynomial modulo 2^64), so a word has the same bucket wherever it stands. All of it
is unsigned 64-bit arithmetic, which wraps the same way on every machine.

The hash is no secret and resists no collisions on purpose: whoever makes texts collide changes what they themselves
score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from streams.adapters.injection.folding import SPACE, Codes, Flags, is_word

Hashes: TypeAlias = npt.NDArray[np.uint64]
Buckets: TypeAlias = npt.NDArray[np.int64]

CHARACTER_BITS: Final = 19
WORD_BITS: Final = 18
"""Logarithms of the sizes of the two weight tables."""

MAX_CODES: Final = 1 << 15
"""Longest text that is read at once; callers cut longer ones."""

CHARACTER_ORDERS: Final = (2, 3, 4, 5)
"""Lengths of character n-grams; pairs count only where a character is a syllable or a word (CJK, Hangul)."""

WORD_ORDERS: Final = (1, 2, 3)

OPENING_ORDERS: Final = (1, 2)
"""Numbers of words that are counted apart where they open a sentence: orders are mostly given there."""

_BASE: Final = 0x9E3779B97F4A7C15
_MIX: Final = (0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3)
_WORD_MIX: Final = (0x1D8E4E27C47D124F, 0xEB44ACCAB455D165, 0x9C6D62D5B0F4A4B1)
_MODULUS: Final = 1 << 64
_FIRST_SYLLABIC: Final = 0x2E80
_DIGIT: Final = 0x30
_DIGITS: Final = 10
_OPENING_MIX: Final = 0x9E3779B1
_BREAKS: Final = np.isin(np.arange(0x80), [ord(sign) for sign in '.!?:;*#>|[]{}()"`'])


class Everywhere(NamedTuple):
    """N-grams of one length, position by position.

    Attributes:
        there: Whether one begins at the position.
        buckets: Its bucket; of no meaning where none begins.
    """

    there: Flags
    buckets: Buckets


@dataclass(frozen=True)
class Grams:
    """The n-grams of a folded text.

    Attributes:
        everywhere: Character n-grams of each order, by position: most positions have one.
        words: For each number of words, and again for those that open a sentence, the positions where one begins, and
            its buckets.
        openings: Where sentences open.
        prefixes: For concepts: hash of all before each position.
        word: Whether each code point is part of a word.
        size: Number of code points.
    """

    everywhere: tuple[Everywhere, ...]
    words: tuple[tuple[Buckets, Buckets], ...]
    openings: Buckets
    prefixes: Hashes
    word: Flags
    size: int

    @cached_property
    def characters(self) -> tuple[tuple[Buckets, Buckets], ...]:
        """A pair for each order: the positions where an n-gram begins, and its buckets."""
        places = [there.nonzero()[0] for there, _ in self.everywhere]
        return tuple((place, buckets[place]) for place, (_, buckets) in zip(places, self.everywhere, strict=True))


@cache
def _powers() -> tuple[Hashes, Hashes]:
    """Return the powers of the base and of its inverse."""
    inverse = pow(_BASE, -1, _MODULUS)
    powers, inverses = [1], [1]
    for _ in range(MAX_CODES):
        powers.append(powers[-1] * _BASE % _MODULUS)
        inverses.append(inverses[-1] * inverse % _MODULUS)
    return np.array(powers, np.uint64), np.array(inverses, np.uint64)


@cache
def mixed_inverses(factor: int) -> Hashes:
    """Return by the place where a substring begins what its difference of prefixes is multiplied with, mixed in."""
    return _powers()[1] * np.uint64(factor)


def prefix_hashes(codes: Codes) -> Hashes:
    """Return for each position the hash of all code points before it."""
    prefixes = np.zeros(codes.size + 1, np.uint64)
    np.cumsum((codes.astype(np.uint64) + np.uint64(1)) * _powers()[0][: codes.size], out=prefixes[1:])
    return prefixes


def substring_hashes(prefixes: Hashes, starts: Buckets, ends: Buckets) -> Hashes:
    """Return the hashes of substrings, each the same wherever it stands."""
    hashes: Hashes = (prefixes[ends] - prefixes[starts]) * _powers()[1][starts]
    return hashes


def without_digits(codes: Codes) -> Codes:
    """Return the code points with one digit in place of all."""
    return np.where(codes - np.uint32(_DIGIT) < np.uint32(_DIGITS), np.uint32(_DIGIT), codes)


def read_grams(codes: Codes) -> Grams:
    """Return the n-grams of a folded text of at most ``MAX_CODES`` code points."""
    plain = without_digits(codes)
    prefixes = prefix_hashes(plain)
    everywhere = tuple(_character_grams(plain, prefixes))
    word = is_word(plain)
    starts, ends = runs(word)
    hashes = substring_hashes(prefixes, starts, ends)
    words = list(_word_grams(starts, hashes))
    opens = _opens(plain, starts, ends)
    words += [_opening_grams(*words[WORD_ORDERS.index(order)], opens) for order in OPENING_ORDERS]
    return Grams(everywhere, tuple(words), starts[opens], prefixes, word, codes.size)


def runs(flags: Flags) -> tuple[Buckets, Buckets]:
    """Return where runs of set flags start, and their last-plus-one places."""
    if not flags.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    edges = (flags[1:] != flags[:-1]).nonzero()[0] + 1
    if flags[0]:
        edges = np.append(0, edges)
    if flags[-1]:
        edges = np.append(edges, flags.size)
    return edges[::2], edges[1::2]


def _opens(codes: Codes, starts: Buckets, ends: Buckets) -> Flags:
    """Say of each word whether a sentence, a clause after a colon, or a line of a list opens with it."""
    breaks = np.zeros(codes.size + 1, np.int32)
    np.cumsum(_BREAKS.take(codes, mode="clip"), out=breaks[1:])
    opens = np.ones(starts.size, np.bool_)
    np.greater(breaks[starts[1:]], breaks[ends[:-1]], out=opens[1:])
    return opens


def _opening_grams(positions: Buckets, buckets: Buckets, opens: Flags) -> tuple[Buckets, Buckets]:
    chosen = opens[: positions.size]
    return positions[chosen], (buckets[chosen] * _OPENING_MIX) & ((1 << WORD_BITS) - 1)


def _character_grams(codes: Codes, prefixes: Hashes) -> Iterator[Everywhere]:
    """Yield the n-grams of each order that have no space inside; at their ends they may."""
    for order, mix in zip(CHARACTER_ORDERS, _MIX, strict=False):
        count = codes.size - order + 1
        if count < 1 or (order == CHARACTER_ORDERS[0] and int(codes.max()) < _FIRST_SYLLABIC):
            yield Everywhere(np.zeros(0, np.bool_), np.zeros(0, np.int64))
            continue
        if order == CHARACTER_ORDERS[0]:
            there = (codes[:-1] >= _FIRST_SYLLABIC) & (codes[1:] >= _FIRST_SYLLABIC)
        elif order == CHARACTER_ORDERS[1]:
            letters = codes != SPACE
            there = letters[1:-1]
        else:
            there = there[:count] & letters[order - 2 : -1]
        hashes = prefixes[order:] - prefixes[:count]
        hashes *= mixed_inverses(mix)[:count]
        hashes >>= np.uint64(64 - CHARACTER_BITS)
        yield Everywhere(there, hashes.view(np.int64))


def _word_grams(starts: Buckets, hashes: Hashes) -> Iterator[tuple[Buckets, Buckets]]:
    mixed = hashes * np.uint64(_WORD_MIX[0])
    for order in WORD_ORDERS:
        if order > 1:
            mixed = mixed[:-1]
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(_WORD_MIX[1]) + hashes[order - 1 :]
        buckets = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(_WORD_MIX[2])
        yield starts[: mixed.size], (buckets >> np.uint64(64 - WORD_BITS)).view(np.int64)

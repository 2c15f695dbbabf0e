"""What is counted in a folded text: hashed character n-grams, hashed words in ones, twos and threes, and concepts.

The contract: ``read_grams`` gives for every position the buckets of the n-grams that begin there. A substring's hash
depends on its code points alone (a polynomial modulo 2^64), so a word has the same bucket wherever it stands. All of it
is unsigned 64-bit arithmetic, which wraps the same way on every machine.

The hash is no secret and resists no collisions on purpose: whoever makes texts collide changes what they themselves
score.
"""

from __future__ import annotations

from functools import cache
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
_DIGITS: Final = (0x30, 0x39)
_OPENING_MIX: Final = 0x9E3779B1
_BREAKS: Final = np.isin(np.arange(0x80), [ord(sign) for sign in '.!?:;*#>|[]{}()"`'])


class Grams(NamedTuple):
    """The n-grams of a folded text.

    Attributes:
        characters: A pair for each order: the positions where an n-gram begins, and its buckets.
        words: The same for each number of words, and again for those that open a sentence.
        openings: Where sentences open.
        prefixes: For concepts: hash of all before each position.
        word: Whether each code point is part of a word.
        size: Number of code points.
    """

    characters: tuple[tuple[Buckets, Buckets], ...]
    words: tuple[tuple[Buckets, Buckets], ...]
    openings: Buckets
    prefixes: Hashes
    word: Flags
    size: int


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
    return np.where((codes >= _DIGITS[0]) & (codes <= _DIGITS[1]), np.uint32(_DIGITS[0]), codes)


def read_grams(codes: Codes) -> Grams:
    """Return the n-grams of a folded text of at most ``MAX_CODES`` code points."""
    plain = without_digits(codes)
    prefixes = prefix_hashes(plain)
    spaces = np.zeros(codes.size + 1, np.int32)
    np.cumsum(plain == SPACE, out=spaces[1:])
    characters = tuple(_character_grams(plain, prefixes, spaces, order) for order in CHARACTER_ORDERS)
    word = is_word(plain)
    starts, ends = runs(word)
    hashes = substring_hashes(prefixes, starts, ends)
    words = [_word_grams(starts, hashes, order) for order in WORD_ORDERS]
    opens = _opens(plain, starts, ends)
    words += [_opening_grams(*words[WORD_ORDERS.index(order)], opens) for order in OPENING_ORDERS]
    return Grams(characters, tuple(words), starts[opens], prefixes, word, codes.size)


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
    np.cumsum(_BREAKS[np.minimum(codes, _BREAKS.size - 1)], out=breaks[1:])
    opens: Flags = breaks[starts] > np.concatenate(([-1], breaks[ends[:-1]]))[: starts.size]
    return opens


def _opening_grams(positions: Buckets, buckets: Buckets, opens: Flags) -> tuple[Buckets, Buckets]:
    chosen = opens[: positions.size]
    return positions[chosen], (buckets[chosen] * _OPENING_MIX) & ((1 << WORD_BITS) - 1)


def _character_grams(
    codes: Codes, prefixes: Hashes, spaces: npt.NDArray[np.int32], order: int
) -> tuple[Buckets, Buckets]:
    """Return the n-grams that have no space inside; at their ends they may."""
    count = codes.size - order + 1
    if count < 1:
        nothing = np.zeros(0, np.int64)
        return nothing, nothing
    if order == CHARACTER_ORDERS[0]:
        inside = (codes[:-1] >= _FIRST_SYLLABIC) & (codes[1:] >= _FIRST_SYLLABIC)
    else:
        inside = spaces[order - 1 : order - 1 + count] == spaces[1 : 1 + count]
    hashes = (prefixes[order:] - prefixes[:count]) * mixed_inverses(_MIX[order - 2])[:count]
    buckets = (hashes >> np.uint64(64 - CHARACTER_BITS)).view(np.int64)
    positions = inside.nonzero()[0]
    return positions, buckets[positions]


def _word_grams(starts: Buckets, hashes: Hashes, order: int) -> tuple[Buckets, Buckets]:
    count = starts.size - order + 1
    if count < 1:
        nothing = np.zeros(0, np.int64)
        return nothing, nothing
    mixed = hashes[:count] * np.uint64(_WORD_MIX[0])
    for place in range(1, order):
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(_WORD_MIX[1]) + hashes[place : place + count]
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(_WORD_MIX[2])
    return starts[:count], (mixed >> np.uint64(64 - WORD_BITS)).view(np.int64)

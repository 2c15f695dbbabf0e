"""What each window of a view has: buckets of n-grams, concepts, pairs of concepts in their order.

The contract: the same function reads texts for learning and for scoring, so that the two can't come apart. Positions
are those of the view's code points; a thing belongs to the window that it begins in.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from streams.adapters.injection.concepts import Lexicon
from streams.adapters.injection.folding import Codes
from streams.adapters.injection.grams import Buckets, Grams, read_grams

MAX_CONCEPTS: Final = 128
"""Concepts that a lexicon may have."""

NEAR: Final = 48
"""Code points between two concepts that still make an ordered pair."""

NEXT: Final = 3
"""How many of the following concepts each one makes a pair with."""


class Counted(NamedTuple):
    """A view, counted.

    Attributes:
        grams: Its n-grams.
        positions: Where concepts begin; ascending.
        concepts: Which; at one position each stands once.
        pair_positions: Where the first of two concepts begins, or one that opens a sentence; ascending.
        pairs: ``MAX_CONCEPTS`` times the first, plus the second; the same twice where it opens a sentence.
        size: Number of code points.
    """

    grams: Grams
    positions: Buckets
    concepts: Buckets
    pair_positions: Buckets
    pairs: Buckets
    size: int


def count(codes: Codes, lexicon: Lexicon) -> Counted:
    """Count what is in a view of at most ``MAX_CODES`` code points."""
    grams = read_grams(codes)
    hits = lexicon.find(codes, grams)
    distinct = np.sort(hits.positions * MAX_CONCEPTS + hits.concepts)
    is_new = np.ones(distinct.size, np.bool_)
    np.not_equal(distinct[1:], distinct[:-1], out=is_new[1:])
    distinct = distinct[is_new]
    positions, concepts = distinct // MAX_CONCEPTS, distinct % MAX_CONCEPTS
    opens = np.zeros(codes.size, np.bool_)
    opens[grams.openings] = True
    # What a sentence opens with is mostly what it asks for: a concept that stands there makes a pair with itself.
    seconds = np.arange(positions.size)[:, None] + _SECONDS
    beyond = np.append(positions, _NOWHERE).take(seconds, mode="clip")
    with_second = np.append(concepts, 0).take(seconds, mode="clip")
    makes = (beyond - positions[:, None] <= NEAR) & (with_second != concepts[:, None])
    makes[:, -1] = opens.take(positions)
    first, _ = makes.nonzero()
    pairs = concepts.take(first) * MAX_CONCEPTS + with_second[makes]
    return Counted(grams, positions, concepts, positions.take(first), pairs, codes.size)


_SECONDS: Final = np.append(np.arange(1, NEXT + 1), 0)
"""How much further on the second of two concepts is than the first: the next ones, and the first itself."""

_NOWHERE: Final = 1 << 40
"""Beyond every text."""

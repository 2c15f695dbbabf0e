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
    places, pairs = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for skip in range(1, min(NEXT, positions.size - 1) + 1):
        first, second = concepts[:-skip], concepts[skip:]
        near = (positions[skip:] - positions[:-skip] <= NEAR) & (first != second)
        places.append(positions[:-skip][near])
        pairs.append((first * MAX_CONCEPTS + second)[near])
    # What a sentence opens with is mostly what it asks for: a concept that stands there makes a pair with itself.
    opens = np.zeros(codes.size, np.bool_)
    opens[grams.openings] = True
    opening = opens[positions]
    places.append(positions[opening])
    pairs.append(concepts[opening] * (MAX_CONCEPTS + 1))
    place, pair = np.concatenate(places), np.concatenate(pairs)
    order = np.argsort(place, kind="stable")
    return Counted(grams, positions, concepts, place[order], pair[order], codes.size)

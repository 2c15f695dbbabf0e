"""What the model learns from: windows of texts as sparse rows of features, counted by the detector's own code.

The contract: a window's row holds what ``streams.adapters.injection.scorer`` sums up for it, number by number, so that
what is learnt is what is later added up. Of a long text some windows are drawn, by a seeded generator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from infra.models.injection.corpora import Row
from infra.models.injection.fold_table import fold_table
from infra.models.injection.lexicon import compile_stems, read_concepts
from streams.adapters.injection.concepts import Lexicon, Stems
from streams.adapters.injection.counts import MAX_CONCEPTS, Counted, count
from streams.adapters.injection.folding import FoldTable
from streams.adapters.injection.grams import CHARACTER_BITS, WORD_BITS, Hashes
from streams.adapters.injection.scorer import Smoothing
from streams.adapters.injection.turning import PAIR_BITS, PairTable, pair_buckets
from streams.adapters.injection.views import Reader
from streams.adapters.injection.windows import BLOCK, SCALES, block_count, window_bounds

CHARACTERS: Final = 0
WORDS: Final = CHARACTERS + (1 << CHARACTER_BITS)
CONCEPTS: Final = WORDS + (1 << WORD_BITS)
PAIRS: Final = CONCEPTS + MAX_CONCEPTS
ORDERED: Final = PAIRS + MAX_CONCEPTS**2
WINDOW: Final = ORDERED + MAX_CONCEPTS**2
FEATURES: Final = WINDOW + len(SCALES)
"""Where each block of features begins, and how many features there are."""

BEGINNINGS: Final = (CHARACTERS, WORDS, CONCEPTS, PAIRS, ORDERED, WINDOW)

MOST_WINDOWS: Final = {True: 16, False: 4}
"""Most windows of an attack and of another text that are learnt from."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Tools:
    """What reads a text: the same for learning and for scoring."""

    table: FoldTable
    lexicon: Lexicon
    stems: Stems
    beginnings: Hashes
    pairs: PairTable

    @property
    def reader(self) -> Reader:
        """Yields a text's views."""
        return Reader(self.table, self.pairs)


@dataclass(frozen=True, slots=True)
class Examples:
    """Windows as rows of a sparse matrix.

    Attributes:
        features: Their features.
        values: The features' values, in the same order.
        starts: Where each window's features begin, and where the last one's end.
        texts: Which text each window is of; ascending.
    """

    features: npt.NDArray[np.int32]
    values: Floats
    starts: Ints
    texts: Ints


def make_tools(rows: Sequence[Row]) -> Tools:
    """Return what reads texts; how common two neighbouring letters are is counted over some."""
    table = FoldTable(fold_table())
    stems, beginnings = compile_stems(read_concepts(), table)
    counts = np.zeros(1 << PAIR_BITS)
    for row in rows:
        codes = table.fold(row.text).codes[:2000]
        if codes.size > 1 and not row.obfuscation:
            counts += np.bincount(pair_buckets(codes[:-1], codes[1:]), minlength=1 << PAIR_BITS)
    pairs = np.clip(np.round(6 * np.log2(counts + 0.5)), -6, 127).astype(np.int8)
    return Tools(table, Lexicon(stems, beginnings), stems, beginnings, pairs)


def make_examples(rows: Sequence[Row], tools: Tools, *, seed: int) -> Examples:
    """Count the windows of texts."""
    draw = np.random.default_rng(seed)
    features: list[npt.NDArray[np.int32]] = []
    values: list[Floats] = []
    texts: list[int] = []
    reader = tools.reader
    for index, row in enumerate(rows):
        windows = [
            (counted, bounds)
            for view in reader.views(row.text)
            if view.codes.size
            for counted in [count(view.codes, tools.lexicon)]
            for bounds in window_bounds(block_count(counted.size))
        ]
        most = MOST_WINDOWS[row.attack]
        chosen = range(len(windows)) if len(windows) <= most else sorted(draw.permutation(len(windows))[:most])
        for place in chosen:
            counted, (first, last, scale) = windows[place]
            of_window = list(_features(counted, int(first), int(last)))
            features.append(np.concatenate([*(part for part, _ in of_window), [WINDOW + scale]]).astype(np.int32))
            values.append(np.concatenate([*(part for _, part in of_window), [1.0]]).astype(np.float32))
            texts.append(index)
    starts = np.concatenate(([0], np.cumsum([part.size for part in features])))
    return Examples(np.concatenate(features), np.concatenate(values), starts, np.array(texts, np.int64))


def _features(counted: Counted, first: int, last: int) -> Iterator[tuple[Ints, npt.NDArray[np.float64]]]:
    low, high = first * BLOCK, last * BLOCK
    for begins, smoothing, parts in (
        (CHARACTERS, Smoothing.CHARACTERS, counted.grams.characters),
        (WORDS, Smoothing.WORDS, counted.grams.words),
        (ORDERED, Smoothing.ORDERED, ((counted.pair_positions, counted.pairs),)),
    ):
        inside = np.sort(np.concatenate([_between(positions, items, low, high) for positions, items in parts]))
        edges = np.flatnonzero(np.diff(inside, prepend=-1, append=-1))
        yield inside[edges[:-1]] + begins, np.diff(edges) / np.sqrt(inside.size + smoothing)
    present = np.unique(_between(counted.positions, counted.concepts, low, high))
    yield present + CONCEPTS, np.full(present.size, 1 / np.sqrt(present.size + Smoothing.CONCEPTS))
    firsts, seconds = np.triu_indices(present.size, 1)
    pairs = present[firsts] * MAX_CONCEPTS + present[seconds]
    yield pairs + PAIRS, np.full(pairs.size, 1 / np.sqrt(pairs.size + Smoothing.PAIRS))


def _between(positions: Ints, items: Ints, low: int, high: int) -> Ints:
    first, last = np.searchsorted(positions, (low, high))
    return items[first:last]

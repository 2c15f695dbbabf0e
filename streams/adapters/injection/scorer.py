"""Scores texts: sums of integer weights over windows, the highest ones together, and what they mean as a probability.

The contract: ``assess`` is a function of the text, the artifact and the rules alone, the same on every machine: only
integers are added, multiplied and shifted. It takes time and memory linear in the text. The score is calibrated on
sources that the model had not seen (docs/reference/injection-model.md); it grows with the evidence and is no verdict.
Rules (``signals``) read the same views; one that matches makes the score at least ``SIGNAL_SCORE``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pratique.contract.canonical import canonical_sha256
from pratique.errors import ConfigurationError
from streams.adapters.injection.artifact import Artifact, read_artifact
from streams.adapters.injection.concepts import Lexicon, Stems
from streams.adapters.injection.counts import MAX_CONCEPTS, Counted, count
from streams.adapters.injection.folding import TABLE_SIZE, FoldTable
from streams.adapters.injection.grams import Buckets, Everywhere
from streams.adapters.injection.pooling import Sums, highest, together, with_breadth
from streams.adapters.injection.signals import Signals, packaged_families
from streams.adapters.injection.views import PLAIN, Reader, View
from streams.adapters.injection.windows import BLOCK, block_count, window_bounds

SCORE_UNIT: Final = 1_000_000
"""Scores are whole millionths."""

SIGNAL_SCORE: Final = 900_000
"""Least score, in millionths, of a text in which a rule matches: as sure as the corpora let one say (card)."""

LOWEST_LOGIT: Final = -(1 << 40)
"""Below every logit that a window can have."""

_ROOT_BITS: Final = 20


class Smoothing:
    """Added to a block of features' number before its root divides their sum: few features can't say much."""

    CHARACTERS: Final = 16
    WORDS: Final = 4
    CONCEPTS: Final = 4
    PAIRS: Final = 4
    ORDERED: Final = 4


_SMOOTHINGS: Final = np.array(
    [Smoothing.CHARACTERS, Smoothing.WORDS, Smoothing.ORDERED, Smoothing.CONCEPTS, Smoothing.PAIRS], np.int64
)[:, None]
"""In the order of the artifact's factors."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a text scores.

    Attributes:
        score: From 0 to 1, in whole millionths.
        start: First character of the window that scored highest.
        end: Last-plus-one character of it.
        kind: How that window was read: ``plain``, or names of encodings and turns; where a rule decides, the name of
            its family, after how the text was read if that is not plain.
    """

    score: float
    start: int
    end: int
    kind: str


class Found(NamedTuple):
    """A rule that matches.

    Attributes:
        kind: Its family, and how the text was read.
        start: Its first character in the text.
        end: Its last-plus-one.
    """

    kind: str
    start: int
    end: int


class Best(NamedTuple):
    """The window that speaks most for an attack.

    Attributes:
        logit: What it says together with the next ones, in fixed point, less what the number of windows takes.
        kind: How it was read.
        start: Its first character in the text.
        end: Its last-plus-one.
        signal: The first rule that matches in any reading, or null.
    """

    logit: int
    kind: str
    start: int
    end: int
    signal: Found | None = None


class Scorer:
    """A loaded model.

    Args:
        artifact: What was read.
    """

    def __init__(self, artifact: Artifact) -> None:
        arrays = artifact.arrays
        families, signals_sha256 = packaged_families()
        self.sha256 = canonical_sha256({"model": artifact.sha256, "signals": signals_sha256})
        self.card = artifact.card
        self.lexicon = Lexicon(Stems(*(arrays[f"stem_{name}"] for name in Stems._fields)), arrays["stem_beginnings"])
        self.table = FoldTable(_fold_codes(arrays))
        self.reader = Reader(self.table, arrays["pair_frequencies"])
        self._signals = Signals(families, self.table)
        self._characters = arrays["character_weights"]
        self._words = arrays["word_weights"]
        # Sums of whole numbers below 2^53 are exact in doubles, in any order, and NumPy multiplies doubles far faster.
        self._concepts = arrays["concept_weights"].astype(np.float64)
        self._pairs = arrays["pair_weights"].astype(np.float64)
        self._ordered = arrays["ordered_weights"]
        self._scales = arrays["scale_weights"].astype(np.int64)
        self._factors = arrays["block_factors"].astype(np.int64)[:, None]
        self._breadth = int(arrays["breadth_weight"][0])
        self._doubling = int(arrays["doubling_weight"][0])
        self._knots = arrays["calibration_logits"].astype(np.int64), arrays["calibration_scores"].astype(np.int64)

    @property
    def revision(self) -> str:
        """Which model this is: name, version, and a digest that covers every number of it and every rule."""
        return f"{self.card['name']}-{self.version}.{self.sha256}"

    @property
    def version(self) -> str:
        """The card's version."""
        return str(self.card["version"])

    def assess(self, text: str) -> Assessment:
        """Score a text; an empty one scores lowest."""
        best = self.best(text)
        score = self.calibrated(best.logit)
        if best.signal is not None and score < SIGNAL_SCORE:
            return Assessment(SIGNAL_SCORE / SCORE_UNIT, best.signal.start, best.signal.end, best.signal.kind)
        return Assessment(score / SCORE_UNIT, best.start, best.end, best.kind)

    def best(self, text: str) -> Best:
        """Return a text's best window; where there is nothing to read, one of no length and the lowest logit."""
        best: Best | None = None
        signal: Found | None = None
        windows = 0
        tops: list[Sums] = []
        for view in self.reader.views(text):
            if not view.codes.size:
                continue
            logits, bounds = self.window_logits(count(view.codes, self.lexicon))
            windows += logits.size
            tops.append(highest(logits))
            top = int(np.argmax(logits))
            signal = signal or self._signal(view)
            if best is None or int(logits[top]) > best.logit:
                best = Best(int(logits[top]), view.kind, *_span(view, bounds[top]))
        if best is None:
            return Best(LOWEST_LOGIT, PLAIN, 0, 0)
        logit = with_breadth(together(np.concatenate(tops), self._doubling), windows, self._breadth)
        return best._replace(logit=logit, signal=signal)

    def _signal(self, view: View) -> Found | None:
        """Return the first rule that matches in a view."""
        found = self._signals.find(view.codes)
        if found is None:
            return None
        places = view.places[found.start : found.end]
        kind = found.family if view.kind == PLAIN else f"{view.kind}/{found.family}"
        return Found(kind, int(places.min()), int(places.max()) + 1)

    def calibrated(self, logit: int) -> int:
        """Return a logit's score in millionths, between the calibration's knots in a straight line."""
        logits, scores = self._knots
        place = int(np.searchsorted(logits, logit, side="right"))
        if place == 0:
            return int(scores[0])
        if place == logits.size:
            return int(scores[-1])
        low, high = int(logits[place - 1]), int(logits[place])
        first, last = int(scores[place - 1]), int(scores[place])
        return first + (last - first) * (logit - low) // (high - low)

    def window_logits(self, counted: Counted) -> tuple[Sums, Sums]:
        """Return the logits of all windows of a view, in fixed point, and the windows' bounds in blocks."""
        blocks = block_count(counted.size)
        bounds = window_bounds(blocks)
        firsts, lasts, scales = bounds[:, 0], bounds[:, 1], bounds[:, 2]
        grams = counted.grams
        # Of each kind of features, the sum of the weights of all that begin before a block's end, and their number.
        upto = np.zeros((2, 3, blocks + 1), np.int64)
        by_block = upto[..., 1:]
        by_block[:, 0] = _everywhere(grams.everywhere, self._characters, blocks)
        by_block[:, 1] = _by_block(grams.words, self._words, blocks)
        by_block[:, 2] = _by_block(((counted.pair_positions, counted.pairs),), self._ordered, blocks)
        np.cumsum(by_block, axis=2, out=by_block)
        sums, sizes = np.zeros((2, len(_SMOOTHINGS), firsts.size), np.int64)
        sums[:3], sizes[:3] = upto.take(lasts, axis=2) - upto.take(firsts, axis=2)
        used, there = _present(counted, blocks, firsts, lasts)
        numbers = there.sum(axis=1).astype(np.int64)
        sums[3], sizes[3] = there @ self._concepts[used], numbers
        sums[4] = ((there @ self._pairs[used[:, None], used]) * there).sum(axis=1)
        sizes[4] = numbers * (numbers - 1) // 2
        sizes += _SMOOTHINGS
        total: Sums = (sums * self._factors * _roots_upto(int(sizes.max()))[sizes] >> _ROOT_BITS).sum(axis=0)
        total += self._scales[scales]
        return total, bounds


@cache
def _roots(size: int) -> Sums:
    """Return the reciprocals of the roots of the numbers below, in fixed point."""
    return np.array([0] + [math.isqrt((1 << 2 * _ROOT_BITS) // number) for number in range(1, size)], np.int64)


def _roots_upto(most: int) -> Sums:
    return _roots(1 << max(12, (most + 1).bit_length()))


def _by_block(
    parts: Sequence[tuple[Buckets, Buckets]], weights: npt.NDArray[np.integer[Any]], blocks: int
) -> tuple[Sums, Sums]:
    """Return the sum of the weights of all features that begin in each block, and their number."""
    places = np.concatenate([positions for positions, _ in parts]) // BLOCK
    values = weights.take(np.concatenate([buckets for _, buckets in parts]))
    # Sums of whole numbers below 2^53 are exact in doubles, in any order.
    return np.bincount(places, values, blocks).astype(np.int64), np.bincount(places, minlength=blocks)


def _everywhere(parts: Sequence[Everywhere], weights: npt.NDArray[np.integer[Any]], blocks: int) -> tuple[Sums, Sums]:
    """Return the same of features that most positions have."""
    # A block has few enough for their sum to be exact in floats.
    both = np.zeros((2, blocks * BLOCK), np.float32)
    for there, buckets in parts:
        both[0, : there.size] += weights.take(buckets) * there
        both[1, : there.size] += there
    sums, numbers = (both.reshape(2, blocks, BLOCK) @ _ONES).astype(np.int64)
    return sums, numbers


_ONES: Final = np.ones(BLOCK, np.float32)


def _present(counted: Counted, blocks: int, firsts: Sums, lasts: Sums) -> tuple[Sums, npt.NDArray[np.float64]]:
    """Return the concepts of a view, and for each window a one where one of them begins in it, else a zero."""
    used = np.bincount(counted.concepts, minlength=MAX_CONCEPTS).nonzero()[0]
    columns = np.zeros(MAX_CONCEPTS, np.int64)
    columns[used] = np.arange(used.size)
    cells = np.bincount(
        counted.positions // BLOCK * used.size + columns[counted.concepts], minlength=blocks * used.size
    )
    # What overflows is as good: no window holds so many of a concept that its number comes round.
    upto = np.zeros((blocks + 1, used.size), np.int16)
    np.cumsum(cells.reshape(blocks, used.size), axis=0, dtype=np.int16, out=upto[1:])
    return used, (upto.take(lasts, axis=0) != upto.take(firsts, axis=0)).astype(np.float64)


def _span(view: View, bounds: Sums) -> tuple[int, int]:
    places = view.places[int(bounds[0]) * BLOCK : int(bounds[1]) * BLOCK]
    return int(places.min()), int(places.max()) + 1


def _fold_codes(arrays: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.uint32]:
    codes = np.arange(TABLE_SIZE, dtype=np.uint32)
    codes[arrays["fold_from"]] = arrays["fold_to"]
    return codes


@cache
def load_scorer() -> Scorer:
    """Return the packaged model, read once.

    Raises:
        ConfigurationError: It can't be read, or is no model that this code knows.
    """
    try:
        return Scorer(read_artifact())
    except (KeyError, IndexError, ValueError) as error:
        raise ConfigurationError("injection model lacks a part; install it anew") from error

"""Logistic regression over windows, where only some windows of an attack need to be one.

The contract: ``learn`` is a function of the examples and a seed. A text that is no attack teaches that every window of
it is none; an attack teaches that one of its windows is, and which is decided by the model so far. Sources weigh by the
root of their size. N-grams and concepts are left out at times, whole blocks at once, so that each learns to do without
the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from infra.models.injection.examples import BEGINNINGS, CONCEPTS, FEATURES, WINDOW, Examples, Floats

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Settings:
    """How it is learnt.

    Attributes:
        steps: Passes over all windows.
        equal_steps: Passes in which all windows of an attack weigh the same.
        rate: Learning rate at its highest.
        decay: Pull towards zero.
        scales: What a block of features' values are multiplied with: higher ones are learnt faster and shrink less.
        left_out: How often n-grams, and how often concepts, are left out.
        temperature: How far below an attack's best window another still counts.
        fewest_texts: Texts that a feature must be in.
    """

    steps: int = 72
    equal_steps: int = 18
    rate: float = 0.1
    decay: float = 1e-6
    scales: tuple[float, ...] = (1.0, 0.7, 1.0, 1.0, 1.0, 1.0)
    left_out: tuple[float, float] = (0.2, 0.1)
    temperature: float = 1.0
    fewest_texts: int = 2


class Learnt(NamedTuple):
    """A linear model; its bias is in the weights of the windows' scales."""

    weights: Doubles


_FIRST_DECAY: Final = 0.9
_SECOND_DECAY: Final = 0.98


def learn(
    examples: Examples,
    attacks: npt.NDArray[np.bool_],
    text_weights: Doubles,
    settings: Settings,
    *,
    seed: int,
) -> Learnt:
    """Learn from the texts that weigh anything.

    Args:
        examples: The windows of all texts.
        attacks: Which texts are attacks.
        text_weights: How much each text counts; 0 for one that is held out.
        settings: How.
        seed: Of what is left out when.
    """
    rows = np.flatnonzero(text_weights[examples.texts] > 0)
    texts = examples.texts[rows]
    matrix = sparse.csr_matrix(
        (examples.values, examples.features, examples.starts), shape=(examples.texts.size, FEATURES)
    )[rows]
    active = _active(matrix, texts, settings.fewest_texts)
    blocks = np.searchsorted(BEGINNINGS, active, side="right") - 1
    scales = np.array(settings.scales, np.float32)[blocks]
    # N-grams come before concepts, so that each pass multiplies each half once.
    middle = int(np.searchsorted(blocks, BEGINNINGS.index(CONCEPTS)))
    halves = [matrix[:, active[:middle]], matrix[:, active[middle:]]]
    turned = [half.T.tocsr() for half in halves]
    first = np.flatnonzero(np.diff(texts, prepend=-1))
    sizes = np.diff(np.concatenate((first, [texts.size])))
    truth = attacks[texts].astype(np.float32)
    whole = (text_weights / text_weights.sum())[texts].astype(np.float32)

    draw = np.random.default_rng(seed)
    weights = np.zeros(blocks.size + 1, np.float32)  # the last is the bias, which is never left out
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, settings.steps + 1):
        scaled = weights[:-1] * scales
        sums = [half @ part for half, part in zip(halves, (scaled[:middle], scaled[middle:]), strict=True)]
        kept = [(draw.random(rows.size) >= rate).astype(np.float32) for rate in settings.left_out]
        logits = sums[0] * kept[0] + sums[1] * kept[1] + weights[-1]
        share: Doubles = 1 / np.repeat(sizes, sizes)
        if step > settings.equal_steps:
            share = _shares((sums[0] + sums[1]) / settings.temperature, first, sizes)
        each = np.where(truth > 0, whole * share, whole)
        errors = ((1 / (1 + np.exp(-logits)) - truth) * each).astype(np.float32)
        slopes = np.concatenate([half @ (errors * part) for half, part in zip(turned, kept, strict=True)])
        slope = np.append(slopes * scales + np.float32(settings.decay) * weights[:-1], errors.sum())
        mean[:] = np.float32(_FIRST_DECAY) * mean + np.float32(1 - _FIRST_DECAY) * slope
        square[:] = np.float32(_SECOND_DECAY) * square + np.float32(1 - _SECOND_DECAY) * slope * slope
        pace = settings.rate * min(1, step / 5) * (1 - 0.95 * step / settings.steps)
        root = np.sqrt(square / (1 - _SECOND_DECAY**step)) + np.float32(1e-9)
        weights -= (np.float32(pace) * (mean / (1 - _FIRST_DECAY**step)) / root).astype(np.float32)
    learnt = np.zeros(FEATURES)
    learnt[active] = weights[:-1] * scales
    learnt[WINDOW:] += weights[-1]
    return Learnt(learnt)


def _active(matrix: Any, texts: npt.NDArray[np.int64], fewest: int) -> npt.NDArray[np.int64]:  # noqa: ANN401 - no types
    """Return the features that are in enough texts, ascending."""
    owners = np.cumsum(np.diff(texts, prepend=texts[:1]) > 0)
    ones = np.ones(texts.size, np.bool_)
    of_texts = sparse.csr_matrix((ones, (owners, np.arange(texts.size))), shape=(int(owners[-1]) + 1, texts.size))
    present = sparse.csr_matrix((np.ones(matrix.nnz, np.bool_), matrix.indices, matrix.indptr), shape=matrix.shape)
    return np.flatnonzero(np.bincount((of_texts @ present).indices, minlength=FEATURES) >= fewest)


def _shares(logits: Floats, first: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> Doubles:
    """Return how a text's weight is shared among its windows: the likelier ones get more."""
    powers = np.exp((logits - np.repeat(np.maximum.reduceat(logits, first), sizes)).astype(np.float64))
    shares: Doubles = powers / np.repeat(np.add.reduceat(powers, first), sizes)
    return shares

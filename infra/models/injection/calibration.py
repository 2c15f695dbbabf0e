"""What a sum of weights means as a probability, and how sure a measured rate is.

The contract: calibration is isotonic regression on texts that were held out, weighted to a stated share of attacks: a
score of 0.3 says that of 100 texts that score so, 30 are attacks, where that share of all texts are.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

BASE_RATE: Final = 0.05
"""The share of attacks that scores are calibrated for."""

LOWEST: Final = 0.001
"""No score is nearer to 0 or to 1: nothing is measured there."""

_MOST_KNOTS: Final = 48
_Z: Final = 1.959964

Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class Calibration(NamedTuple):
    """Knots of a rising line."""

    logits: Doubles
    scores: Doubles

    def __call__(self, logits: Doubles) -> Doubles:
        """Return the scores of logits."""
        return np.interp(logits, self.logits, self.scores)


def calibrate(logits: Doubles, attacks: Flags) -> Calibration:
    """Fit a calibration."""
    share = attacks.mean()
    weights = np.where(attacks, BASE_RATE / share, (1 - BASE_RATE) / (1 - share))
    distinct, places = np.unique(logits, return_inverse=True)
    sums: Doubles = np.bincount(places, weights).astype(np.float64)
    centres, values, masses = _pooled(distinct, np.bincount(places, weights * attacks) / sums, sums)
    while centres.size > _MOST_KNOTS:  # join the two neighbours that differ least
        place = int(np.argmin(np.diff(values)))
        joined = masses[place] + masses[place + 1]
        for items in (centres, values):
            items[place] = (items[place] * masses[place] + items[place + 1] * masses[place + 1]) / joined
        masses[place] = joined
        centres, values, masses = (np.delete(items, place + 1) for items in (centres, values, masses))
    return Calibration(centres, np.clip(values, LOWEST, 1 - LOWEST))


def _pooled(logits: Doubles, truth: Doubles, weights: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Pool adjacent violators: return the pools' mean logits, mean truths and weights."""
    pools: list[tuple[float, float, float]] = []
    for logit, value, weight in zip(logits, truth, weights, strict=True):
        pools.append((float(logit), float(value), float(weight)))
        while len(pools) > 1 and pools[-2][1] >= pools[-1][1]:
            (logit_b, value_b, weight_b), (logit_a, value_a, weight_a) = pools.pop(), pools.pop()
            mass = weight_a + weight_b
            pools.append(
                (
                    (logit_a * weight_a + logit_b * weight_b) / mass,
                    (value_a * weight_a + value_b * weight_b) / mass,
                    mass,
                )
            )
    centres, values, masses = (np.array(column) for column in zip(*pools, strict=True))
    return centres, values, masses


def interval(found: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a rate."""
    if not of:
        return 0.0, 1.0
    rate, square = found / of, _Z**2
    middle = (rate + square / (2 * of)) / (1 + square / of)
    half = _Z * math.sqrt(rate * (1 - rate) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)

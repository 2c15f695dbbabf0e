"""From what was learnt to the artifact's whole numbers.

The contract: the detector adds these numbers up in integer arithmetic; a weight is off by half a unit of its table at
most.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from infra.models.injection.calibration import Calibration
from infra.models.injection.examples import BEGINNINGS, FEATURES, Tools
from infra.models.injection.fold_table import fold_table
from infra.models.injection.learning import Learnt
from streams.adapters.injection.artifact import Array
from streams.adapters.injection.concepts import Stems
from streams.adapters.injection.counts import MAX_CONCEPTS
from streams.adapters.injection.folding import TABLE_SIZE
from streams.adapters.injection.pooling import ONE
from streams.adapters.injection.scorer import SCORE_UNIT

BREADTH: Final = 0.65
"""What a doubling of a text's windows takes from its logit."""

DOUBLING: Final = 0.75
"""What a doubling of the windows that say the same adds to it."""

_NARROW: Final = 127
_WIDE: Final = 32767


def arrays_of(learnt: Learnt, tools: Tools, calibration: Calibration) -> dict[str, Array]:
    """Return the artifact's arrays."""
    blocks = [learnt.weights[first:last] for first, last in zip(BEGINNINGS, (*BEGINNINGS[1:], FEATURES), strict=True)]
    characters, words, concepts, pairs, ordered, scales = blocks
    tables = [
        _quantized(values, most)
        for values, most in (
            (characters, _NARROW),
            (words, _NARROW),
            (ordered, _WIDE),
            (concepts, _WIDE),
            (pairs, _WIDE),
        )
    ]
    folded = fold_table()
    changed = np.flatnonzero(folded != np.arange(TABLE_SIZE, dtype=np.uint32)).astype(np.uint32)
    logits = np.round(calibration.logits * ONE).astype(np.int64)
    kept = np.diff(logits, prepend=logits[0] - 1) > 0
    return {
        "character_weights": tables[0][0].astype(np.int8),
        "word_weights": tables[1][0].astype(np.int8),
        "ordered_weights": tables[2][0].astype(np.int16),
        "concept_weights": tables[3][0].astype(np.int16),
        "pair_weights": tables[4][0].astype(np.int16).reshape(MAX_CONCEPTS, MAX_CONCEPTS),
        "block_factors": np.array([factor for _, factor in tables], np.int32),
        "scale_weights": np.round(scales * ONE).astype(np.int32),
        "breadth_weight": np.array([round(BREADTH * ONE)], np.int32),
        "doubling_weight": np.array([round(DOUBLING * ONE)], np.int32),
        "calibration_logits": logits[kept].astype(np.int32),
        "calibration_scores": np.round(calibration.scores * SCORE_UNIT).astype(np.int32)[kept],
        "fold_from": changed,
        "fold_to": folded[changed],
        "pair_frequencies": tools.pairs,
        "stem_beginnings": tools.beginnings,
        **{f"stem_{name}": getattr(tools.stems, name) for name in Stems._fields},
    }


def _quantized(values: npt.NDArray[np.float64], most: int) -> tuple[npt.NDArray[np.int64], int]:
    """Return whole numbers of at most ``most``, and what one of them is in the fixed point of logits."""
    largest = float(np.abs(values).max(initial=0.0))
    factor = max(1, math.ceil(largest * ONE / most))
    return np.round(values * ONE / factor).astype(np.int64), factor

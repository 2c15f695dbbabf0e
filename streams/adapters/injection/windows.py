"""Which parts of a text are judged: overlapping windows of a few lengths, made of equal blocks.

The contract: every position of a text is in a window of each length, or in one that holds all of the text. Sums over
windows come from sums over blocks, so their number costs next to nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

BLOCK: Final = 32
"""Code points in a block."""

SCALES: Final = ((4, 1), (12, 3), (32, 8))
"""Window lengths and the steps between them, in blocks."""

Bounds = npt.NDArray[np.int64]


@lru_cache(maxsize=256)
def window_bounds(blocks: int) -> Bounds:
    """Return first and last-plus-one block of every window of a text of so many blocks, and its scale."""
    rows: list[tuple[int, int, int]] = []
    for scale, (length, step) in enumerate(SCALES):
        if blocks <= length:
            rows.append((0, blocks, scale))
            break
        starts = range(0, blocks - length + step, step)
        rows += [(min(start, blocks - length), min(start, blocks - length) + length, scale) for start in starts]
    return np.array(rows, np.int64).reshape(-1, 3)


def block_count(size: int) -> int:
    """Return the number of blocks of a text of so many code points."""
    return -(-size // BLOCK)

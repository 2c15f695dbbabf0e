"""What the windows of a text say together: what the highest says, and more where others come near it.

The contract: whole numbers in fixed point alone, so that it is the same on every machine. An attack is mostly in
several windows; what one window of an honest text has by chance is in that one alone. However long a text is,
``MOST_COUNTED`` of its windows count at most, and their number lowers what they say.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

ONE: Final = 1 << 16
"""One, in the fixed point of logits."""

MOST_COUNTED: Final = 32
"""How many windows count together, and from which number on it lowers the logit no further."""

Sums = npt.NDArray[np.int64]

_MOST_HALVINGS: Final = 32
"""From there nothing is left of one in fixed point."""


def highest(logits: Sums) -> Sums:
    """Return the windows' logits that count, in any order."""
    return logits if logits.size <= MOST_COUNTED else np.partition(logits, -MOST_COUNTED)[-MOST_COUNTED:]


def together(logits: Sums, doubling: int) -> int:
    """Return what at least one window, and others, say together.

    Args:
        logits: Of the windows, in fixed point.
        doubling: What a doubling of the windows that say the same adds.
    """
    if logits.size == 1:  # as most texts are
        return int(logits[0])
    counted = highest(logits)
    top = counted.max()
    below = (top - counted) * ONE // doubling
    # Powers of a half, in straight lines between whole ones, as the logarithm is below.
    shares = (2 * ONE - (below & (ONE - 1))) >> (1 + np.minimum(below >> 16, _MOST_HALVINGS))
    return int(top) + (doubling * (binary_logarithm(int(shares.sum())) - binary_logarithm(ONE)) >> 16)


def with_breadth(logit: int, windows: int, breadth: int) -> int:
    """Return the logit of the best of so many windows: the more there are, the higher the best one is by chance.

    Beyond ``MOST_COUNTED`` that counts no further: nobody is to hide an attack by writing much around it.
    """
    return logit - (breadth * binary_logarithm(min(windows, MOST_COUNTED)) >> 16)


def binary_logarithm(number: int) -> int:
    """Return the logarithm to base 2 in fixed point, in straight lines between powers of two."""
    power = number.bit_length() - 1
    return (power << 16) + ((number << 16 >> power) - ONE)

"""Rates with their 95 % intervals, and whether two differ beyond them.

The contract: intervals of a rate are Wilson's (1927), which hold for few rows and for rates near 0 and 1. Two rates are
compared by the interval of their difference that Newcombe (1998, method 10) builds from Wilson's. It takes the two for
independent; for one corpus scanned twice it is wider than need be, so that what it reports did change.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

_Z: Final = 1.959963984540054
"""The normal distribution's two-sided 95 % point."""


class Interval(NamedTuple):
    """An interval, its ends included."""

    low: float
    high: float


class Rate(NamedTuple):
    """So many of so many.

    Attributes:
        found: How many.
        of: Of how many; a rate of nothing is unknown: its interval is everything.
    """

    found: int
    of: int

    @property
    def share(self) -> float:
        """The rate, 0 to 1."""
        return self.found / self.of if self.of else 0.0

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval."""
        if not self.of:
            return Interval(0.0, 1.0)
        share, square = self.share, _Z**2
        middle = (share + square / (2 * self.of)) / (1 + square / self.of)
        half = _Z * math.sqrt(share * (1 - share) / self.of + square / (4 * self.of**2)) / (1 + square / self.of)
        # At the ends the formula is exact, and floating point is not.
        low = 0.0 if self.found == 0 else max(0.0, middle - half)
        high = 1.0 if self.found == self.of else min(1.0, middle + half)
        return Interval(low, high)


def difference(before: Rate, after: Rate) -> Interval:
    """Return the 95 % interval of ``after - before``, each of which is a rate of something."""
    change = after.share - before.share
    below = math.hypot(after.share - after.interval.low, before.interval.high - before.share)
    above = math.hypot(after.interval.high - after.share, before.share - before.interval.low)
    return Interval(change - below, change + above)

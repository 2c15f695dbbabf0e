"""What a measurement of the ledger came to, and what it is held to."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LedgerSpeed:
    """What one measurement came to; rates are medians, per second.

    Attributes:
        fingerprints: How many the ledger held.
        lookup_ms: A look-up of 32 fingerprints that are all quarantined.
        lookup_unknown_ms: One of 32 that are not.
        lookup_small_ms: The first in a ledger of a thousand.
        raw_read_ms: A pipelined read of the first's 64 keys.
        raw_read_unknown_ms: A pipelined read of the second's.
        transitions_per_second: From a signed command in its topic to the view that look-ups read.
        raw_transactions_per_second: What they write, written in transactions.
        rebuilt_per_second: Entries of the audit, into a fresh namespace.
        raw_consumed_per_second: The same entries, consumed.
        raw_written_per_second: The same keys and values, written.
        view_bytes: What the view's Redis holds more than with an empty view.
        raw_bytes: What a raw Redis holds more than an empty one.
        taken_over_seconds: From a writer's start to its being ready.
        lookup_ratio: Look-ups of what is quarantined, of raw reads: of each round, the median of them.
        lookup_unknown_ratio: Look-ups of what is not, likewise.
        lookup_flat_ratio: How long look-ups take of those in a ledger of a thousand, likewise.
        transition_ratio: Transitions, of raw transactions, likewise.
        rebuild_ratio: Rebuilds, of the slower of consuming and writing in the same round, likewise.
    """

    fingerprints: int
    lookup_ms: float
    lookup_unknown_ms: float
    lookup_small_ms: float
    raw_read_ms: float
    raw_read_unknown_ms: float
    transitions_per_second: float
    raw_transactions_per_second: float
    rebuilt_per_second: float
    raw_consumed_per_second: float
    raw_written_per_second: float
    view_bytes: float
    raw_bytes: float
    taken_over_seconds: float
    lookup_ratio: float
    lookup_unknown_ratio: float
    lookup_flat_ratio: float
    transition_ratio: float
    rebuild_ratio: float


@dataclass(frozen=True, slots=True)
class Bound:
    """A ratio and what it has to be.

    Attributes:
        name: What it is of.
        value: What it came to.
        least: Smallest that is allowed; 0 where it is bounded above.
        most: Largest that is allowed; null where it is bounded below alone.
    """

    name: str
    value: float
    least: float = 0.0
    most: float | None = None

    @property
    def is_kept(self) -> bool:
        """Whether it is what it has to be."""
        return self.least <= self.value and (self.most is None or self.value <= self.most)


def bounds(speed: LedgerSpeed) -> tuple[Bound, ...]:
    """Return what a measurement is held to."""
    lookups = min(speed.lookup_ratio, speed.lookup_unknown_ratio)
    return (
        Bound("look-up of 32, of a raw pipelined read", lookups, least=0.5),
        Bound("look-up in all, of one in a thousand", speed.lookup_flat_ratio, most=1.25),
        Bound("transitions, of raw transactions", speed.transition_ratio, least=0.1),
        Bound("rebuild, of the slower of raw consume and write", speed.rebuild_ratio, least=0.5),
        Bound("memory, of raw Redis", speed.view_bytes / speed.raw_bytes, most=1.3),
    )


def median_ratio(measured: Sequence[float], raw: Sequence[float]) -> float:
    """Return the median of what each round comes to of what it is held to, which was measured in the same round.

    A machine's speed changes between rounds more than within one.

    Raises:
        ValueError: There are not as many of both, or none.
    """
    return statistics.median([value / held_to for value, held_to in zip(measured, raw, strict=True)])


def slower(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Return the slower rate of each round.

    Raises:
        ValueError: There are not as many of both.
    """
    return [min(rates) for rates in zip(first, second, strict=True)]

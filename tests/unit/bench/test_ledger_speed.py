"""What a measurement is held to: each ratio the right way round, and missed just beyond its bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.bench.ledger_speed import Bound, LedgerSpeed, bounds, median_ratio, slower

JUST: LedgerSpeed = LedgerSpeed(
    fingerprints=1_000_000,
    lookup_ms=2.0,
    lookup_unknown_ms=1.0,
    lookup_small_ms=1.6,
    raw_read_ms=1.0,
    raw_read_unknown_ms=0.5,
    transitions_per_second=100.0,
    raw_transactions_per_second=1000.0,
    rebuilt_per_second=50.0,
    raw_consumed_per_second=300.0,
    raw_written_per_second=100.0,
    view_bytes=1300.0,
    raw_bytes=1000.0,
    taken_over_seconds=1.0,
    lookup_ratio=0.5,
    lookup_unknown_ratio=0.5,
    lookup_flat_ratio=1.25,
    transition_ratio=0.1,
    rebuild_ratio=0.5,
)
"""Just within every bound."""


def test_everything_just_within_its_bound_is_kept() -> None:
    assert [bound.is_kept for bound in bounds(JUST)] == [True] * 5


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("look-up of 32", {"lookup_ratio": 0.49}),
        ("look-up of 32", {"lookup_unknown_ratio": 0.49}),
        ("look-up in all", {"lookup_flat_ratio": 1.26}),
        ("transitions", {"transition_ratio": 0.099}),
        ("rebuild", {"rebuild_ratio": 0.49}),
        ("memory", {"view_bytes": 1301.0}),
    ],
)
def test_what_is_beyond_its_bound_alone_is_missed(name: str, changes: dict[str, Any]) -> None:
    missed = [bound.name for bound in bounds(replace(JUST, **changes)) if not bound.is_kept]
    assert [found for found in missed if found.startswith(name)] == missed != []


def test_each_round_is_held_to_the_slower_of_both() -> None:
    assert slower([300.0, 100.0], [100.0, 300.0]) == [100.0, 100.0]


def test_a_ratio_is_of_rounds_and_not_of_a_machine_that_slows_down() -> None:
    assert median_ratio([50.0, 30.0, 2.0], [100.0, 50.0, 5.0]) == 0.5
    with pytest.raises(ValueError, match="zip"):
        median_ratio([1.0], [1.0, 2.0])


def test_bound_without_a_largest_value_is_bounded_below_alone() -> None:
    assert Bound("a", 1e9, least=0.5).is_kept
    assert not Bound("a", 0.4, least=0.5).is_kept

"""Rates with Wilson's intervals, and Newcombe's interval of a difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.evaluation.rates import Interval, Rate, difference

rates = st.integers(1, 10_000).flatmap(lambda of: st.builds(Rate, st.integers(0, of), st.just(of)))


@pytest.mark.parametrize(
    ("rate", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17 (1998), 857: table I, method 3
        (Rate(81, 263), 0.2553, 0.3662),
        (Rate(15, 148), 0.0624, 0.1605),
        (Rate(0, 20), 0.0, 0.1611),
        (Rate(1, 29), 0.0061, 0.1718),
    ],
)
def test_intervals_are_those_that_were_published(rate: Rate, low: float, high: float) -> None:
    assert rate.interval == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("before", "after", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17 (1998), 873: table II, method 10; differences there are before - after
        (Rate(56, 70), Rate(48, 80), -0.3339, -0.0524),
        (Rate(9, 10), Rate(3, 10), -0.8090, -0.1705),
        (Rate(10, 10), Rate(0, 10), -1.0, -0.6075),
        (Rate(0, 10), Rate(0, 10), -0.2775, 0.2775),
    ],
)
def test_differences_are_those_that_were_published(before: Rate, after: Rate, low: float, high: float) -> None:
    assert difference(before, after) == pytest.approx((low, high), abs=5e-5)


@given(rates)
def test_an_interval_holds_its_rate_and_lies_within_0_and_1(rate: Rate) -> None:
    low, high = rate.interval
    assert 0 <= low <= rate.share <= high <= 1
    assert low < high


@given(rates, rates)
def test_a_difference_turned_around_is_its_negative(one: Rate, other: Rate) -> None:
    forth, back = difference(one, other), difference(other, one)
    assert (forth.low, forth.high) == pytest.approx((-back.high, -back.low))


@given(rates)
def test_a_rate_does_not_differ_from_itself(rate: Rate) -> None:
    low, high = difference(rate, rate)
    assert low <= 0 <= high


def test_a_rate_of_nothing_is_unknown() -> None:
    assert Rate(0, 0).interval == Interval(0.0, 1.0)

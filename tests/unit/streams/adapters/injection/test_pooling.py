"""Windows say together what the highest says and a bounded part more, however many there are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.injection.pooling import MOST_COUNTED, ONE, binary_logarithm, together, with_breadth

LOGITS = st.integers(-(1 << 24), 1 << 24)
DOUBLINGS = st.integers(ONE // 4, 2 * ONE)


def said(doubling: int, *logits: int) -> int:
    return together(np.array(logits, np.int64), doubling)


@given(DOUBLINGS, st.lists(LOGITS, min_size=1, max_size=80), LOGITS)
def test_together_is_what_the_highest_says_and_a_bounded_part_more(
    doubling: int, logits: list[int], other: int
) -> None:
    here = said(doubling, *logits)
    assert here == said(doubling, *sorted(logits))
    assert max(logits) <= here <= max(logits) + 5 * doubling
    assert said(doubling, *logits, min(logits)) >= here
    assert said(doubling, *logits, max(logits) + abs(other)) >= here


@given(DOUBLINGS, LOGITS)
def test_each_doubling_of_windows_that_say_the_same_adds_the_same(doubling: int, logit: int) -> None:
    steps = [said(doubling, *[logit] * (1 << power)) - logit for power in range(8)]
    assert steps == [min(power, 5) * doubling for power in range(8)]
    assert MOST_COUNTED == 1 << 5


@given(DOUBLINGS, LOGITS)
def test_a_window_far_below_adds_nothing(doubling: int, logit: int) -> None:
    assert said(doubling, logit, logit - 20 * doubling) == logit


@given(DOUBLINGS, st.lists(LOGITS, min_size=1, max_size=MOST_COUNTED))
def test_it_is_near_the_logarithm_of_the_sum_of_powers(doubling: int, logits: list[int]) -> None:
    top = max(logits)
    exact = top + doubling * math.log2(sum(2.0 ** ((logit - top) / doubling) for logit in logits))
    assert said(doubling, *logits) == pytest.approx(exact, abs=doubling * 0.18 + 2)


@given(st.integers(1, 1 << 40), st.integers(0, 2 * ONE))
def test_the_number_of_windows_takes_more_up_to_a_bound(windows: int, breadth: int) -> None:
    taken = -with_breadth(0, windows, breadth)
    assert 0 <= taken <= 5 * breadth + 1
    assert taken <= -with_breadth(0, windows + 1, breadth)
    assert binary_logarithm(windows) <= binary_logarithm(windows + 1)

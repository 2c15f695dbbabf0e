"""What the benchmark of the flow makes of its rounds."""

from __future__ import annotations

import pytest

from tests.bench.flow import Round, of_ceiling


def test_every_round_is_compared_with_its_own_ceiling() -> None:
    # The machine was four times as fast in the last round: flow and ceiling of different rounds say nothing together.
    rounds = (Round(100, 500), Round(110, 500), Round(400, 2000))
    assert of_ceiling(rounds) == pytest.approx(0.2)


def test_one_round_that_was_disturbed_decides_nothing() -> None:
    assert of_ceiling((Round(100, 500), Round(5, 500), Round(100, 500))) == pytest.approx(0.2)

"""What the benchmark of consistency measures is what it says: requests that pass, of the size asked for."""

from __future__ import annotations

import pytest

from pratique.contract.reasons import Outcome
from tests.bench.consistency import Cost, check, growth
from tests.bench.consistency_baseline import baseline
from tests.bench.consistency_inputs import Size, case
from tests.bench.worst import Worst, text_of


@pytest.mark.parametrize(
    "size",
    [
        Size(constraints=10, summary=1, messages=8),
        Size(constraints=50, summary=4_000, messages=20, narrative=2_000),
        Size(constraints=300, summary=1, messages=4),
    ],
    ids=["small", "narrative", "more constraints than predicates"],
)
def test_a_request_passes_and_has_its_size(size: Size) -> None:
    asked = case(size)
    result = check(asked)
    assert (result.outcome, result.reasons) == (Outcome.PASS, ())
    assert len(asked.question.source_messages) == size.messages
    ids = asked.question.expected_invariant_ids + asked.question.expected_commitment_ids
    assert len(ids) == size.constraints
    assert ("narrative_text" in asked.candidate_json) == bool(size.narrative)
    baseline(asked.request)  # whoever validates it refuses nothing


def test_a_text_is_made_of_its_recipe_again_and_again() -> None:
    assert text_of((("ab", 2), ("c", 1)), 12) == "ababcababcab"
    assert text_of((("ab", 500),), 3) == "aba"


def test_growth_is_that_of_the_last_step() -> None:
    def costs(*milliseconds: float) -> list[Cost]:
        return [Cost("", Size(summary=1_000 * place), 0, taken, 1.0) for place, taken in enumerate(milliseconds, 1)]

    assert growth(costs(1, 2, 3, 4), lambda size: size.summary) == pytest.approx(1)
    assert growth(costs(1, 2, 3, 6), lambda size: size.summary) == pytest.approx(3)


def test_a_worst_text_is_as_bad_as_at_either_size() -> None:
    assert Worst((("a", 1),), 20.0, 50.0, 10.0).ratio == 5
    assert Worst((("a", 1),), 60.0, 50.0, 10.0).ratio == 6

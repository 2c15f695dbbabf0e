"""A rebuild goes on where the view stands when Redis was slow for a while, and ends where going on would not help."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pratique.errors import PratiqueError, UnavailableError
from streams.adapters.ledger_applier import LedgerApplier
from streams.adapters.ledger_log import StoppingError
from streams.adapters.ledger_rebuild import PAUSE_SECONDS, TRIES, fill_partition
from streams.adapters.redis_ledger import ViewConflictError
from streams.errors import LedgerBrokenError, LedgerViewIncompleteError

CAUGHT_UP = 7
SLOW = UnavailableError("TimeoutError")
SENT_TWICE = ViewConflictError("OFFSET")


class Applier:
    """Fails in these ways, one after the other, and then catches up."""

    def __init__(self, *failures: PratiqueError) -> None:
        self._failures = iter(failures)
        self.places: list[tuple[str, int]] = []

    def catch_up_with(self, namespace: str, partition: int) -> int:
        """Fail, or catch up."""
        self.places.append((namespace, partition))
        for failure in self._failures:
            raise failure
        return CAUGHT_UP


def fill(applier: Any) -> list[float]:  # noqa: ANN401 - a fake
    """Fill a partition; return the pauses that were made."""
    pauses: list[float] = []
    assert fill_partition(cast("LedgerApplier", applier), "1", 3, pauses.append) == CAUGHT_UP
    return pauses


@pytest.mark.parametrize("failures", [(), (SLOW,), (SLOW, SENT_TWICE), (SLOW,) * (TRIES - 1)])
def test_a_redis_that_is_slow_for_a_while_is_waited_for(failures: tuple[PratiqueError, ...]) -> None:
    applier = Applier(*failures)
    assert fill(applier) == [PAUSE_SECONDS] * len(failures)
    assert applier.places == [("1", 3)] * (len(failures) + 1)


@pytest.mark.parametrize("failure", [SLOW, SENT_TWICE])
def test_not_for_ever(failure: PratiqueError) -> None:
    applier = Applier(*[failure] * (TRIES + 1))
    with pytest.raises(type(failure)):
        fill(applier)
    assert len(applier.places) == TRIES


@pytest.mark.parametrize(
    "failure",
    [
        ViewConflictError("REVISION"),
        LedgerBrokenError("no audit entry"),
        LedgerViewIncompleteError("is not there"),
        StoppingError("told to end"),
    ],
)
def test_what_waiting_does_not_mend_is_raised_at_once(failure: PratiqueError) -> None:
    applier = Applier(failure)
    with pytest.raises(type(failure)):
        fill(applier)
    assert len(applier.places) == 1

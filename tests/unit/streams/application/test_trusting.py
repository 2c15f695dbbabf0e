"""Trust is the newest that was verified, also while nobody can be asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pratique.contract.trust import TrustTarget
from streams.application.trusting import LastKnownTrust
from streams.errors import PolicyError, PolicyExpiredError, PolicyNotLoadedError, PolicyUnavailableError
from tests.fakes.evidence import TRUST
from tests.fakes.steps import FakeStore
from tests.unit.streams.application.compactions import pinned_set

FAILURES = [PolicyError("x"), PolicyExpiredError("x"), PolicyUnavailableError("x")]


class Store(FakeStore):
    failure: Exception | None = None

    def trust(self) -> TrustTarget:
        if self.failure is not None:
            raise self.failure
        return super().trust()


@pytest.fixture
def store() -> Store:
    return Store(pinned_set(), TRUST)


def test_it_is_the_stores_of_now(store: Store) -> None:
    trust = LastKnownTrust(store)
    assert trust() is TRUST
    store.target = replace(TRUST, revision=2)
    assert trust().revision == 2


@pytest.mark.parametrize("failure", FAILURES, ids=repr)
def test_it_is_the_last_one_while_there_is_no_newer(store: Store, failure: Exception) -> None:
    trust = LastKnownTrust(store)
    trust()
    store.failure = failure
    assert trust() is TRUST
    store.failure = None
    store.target = replace(TRUST, revision=3)
    assert trust().revision == 3


@pytest.mark.parametrize("failure", [*FAILURES, PolicyNotLoadedError("x")], ids=repr)
def test_without_any_it_is_waited_for(store: Store, failure: Exception) -> None:
    store.failure = failure
    with pytest.raises(PolicyNotLoadedError):
        LastKnownTrust(store)()

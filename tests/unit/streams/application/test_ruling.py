from __future__ import annotations

from dataclasses import replace

import pytest

from pratique.contract.reasons import ReasonCode
from pratique.contract.records import Origin
from streams.application.ruling import LastKnownRules
from streams.domain.policy.model import PolicySet
from streams.errors import (
    CommandRefusedError,
    PolicyError,
    PolicyExpiredError,
    PolicyNotLoadedError,
    PolicyUnavailableError,
)
from tests.unit.streams.application.recalls import recall_set as policy_set
from tests.unit.streams.domain.quarantine.automatics import AT_ONCE, RULE


class Store:
    """A policy store that says what it is told to."""

    def __init__(self) -> None:
        base = policy_set()
        self.answer: PolicySet | Exception = replace(
            base,
            recall=replace(base.recall, auto_quarantine=RULE),
            compaction=replace(base.compaction, auto_quarantine=AT_ONCE),
        )
        self.version = 1
        self.asked = 0

    def newest(self, policy_id: str) -> PolicySet:
        assert policy_id == "default"
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    @property
    def rules(self) -> LastKnownRules:
        return LastKnownRules(self.newest, lambda: self.version)


def test_each_origin_has_its_own_rule_read_once_a_version() -> None:
    store = Store()
    rules = store.rules
    assert [rules("default", origin) for origin in (Origin.RECALL, Origin.COMPACTION)] == [RULE, AT_ONCE]
    assert store.asked == 1
    store.version = 2
    store.answer = policy_set()
    assert rules("default", Origin.RECALL) is None
    assert store.asked == 2


@pytest.mark.parametrize("error", [PolicyExpiredError("x"), PolicyUnavailableError("x"), PolicyNotLoadedError("x")])
def test_what_was_known_stands_while_policy_is_away(error: Exception) -> None:
    store = Store()
    rules = store.rules
    rules("default", Origin.RECALL)
    store.version, store.answer = 2, error
    assert rules("default", Origin.RECALL) == RULE


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PolicyExpiredError("x"), ReasonCode.POLICY_EXPIRED),
        (PolicyUnavailableError("x"), ReasonCode.POLICY_UNAVAILABLE),
        (PolicyNotLoadedError("x"), ReasonCode.POLICY_UNAVAILABLE),
    ],
)
def test_where_nothing_was_known_the_addition_is_refused(error: Exception, code: ReasonCode) -> None:
    store = Store()
    store.answer = error
    with pytest.raises(CommandRefusedError) as caught:
        store.rules("default", Origin.RECALL)
    assert caught.value.code is code


def test_a_policy_that_is_none_has_no_rule() -> None:
    store = Store()
    store.answer = PolicyError("no such policy")
    assert store.rules("default", Origin.RECALL) is None

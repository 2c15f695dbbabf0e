from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.reasons import ReasonCode
from streams.domain.policy import documents
from streams.domain.policy.model import QuarantineEffect, QuarantineRule
from streams.domain.policy.quarantine_rules import DAY_MS, LISTABLE_CODES
from streams.errors import PolicyError
from tests.unit.streams.domain.policy import samples

READERS: dict[str, tuple[Callable[[Any], Any], Callable[[], dict[str, Any]]]] = {
    "compaction policy": (documents.compaction_policy, samples.compaction),
    "recall policy": (documents.recall_policy, samples.recall),
}
RULE: dict[str, Any] = {
    "codes": ["ROLE_ASSERTION", "INJECTION"],
    "minimum_characters": 24,
    "hourly_quota": 20,
    "expires_after_ms": 30 * DAY_MS,
}
WRONG: list[tuple[str, object]] = [
    ("codes", []),
    ("codes", ["INJECTION", "INJECTION"]),
    ("codes", ["KNOWN_FINGERPRINT"]),
    ("codes", ["DETECTOR_ERROR"]),
    ("codes", ["EVIDENCE_TIMEOUT"]),
    ("codes", ["no such code"]),
    ("codes", "INJECTION"),
    ("minimum_characters", 15),
    ("minimum_characters", 24.0),
    ("hourly_quota", 0),
    ("hourly_quota", 1001),
    ("hourly_quota", True),
    ("expires_after_ms", 2 * DAY_MS - 1),
    ("expires_after_ms", 401 * DAY_MS),
    ("effect", "GLOBAL"),
    ("effect", None),
    ("scope", "global"),
]


@pytest.mark.parametrize("name", READERS)
def test_a_policy_without_a_rule_puts_nothing_into_the_ledger(name: str) -> None:
    read, sample = READERS[name]
    assert read(sample()).auto_quarantine is None


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("effect", [None, *QuarantineEffect])
def test_a_rule_is_read_and_its_default_effect_is_review(name: str, effect: QuarantineEffect | None) -> None:
    read, sample = READERS[name]
    stated = RULE if effect is None else {**RULE, "effect": effect.value}
    assert read({**sample(), "auto_quarantine": stated}).auto_quarantine == QuarantineRule(
        (ReasonCode.INJECTION, ReasonCode.ROLE_ASSERTION), 24, 20, 30 * DAY_MS, effect or QuarantineEffect.REVIEW
    )


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(("field", "value"), WRONG)
def test_a_rule_out_of_bounds_is_refused_by_its_field(name: str, field: str, value: object) -> None:
    read, sample = READERS[name]
    with pytest.raises(PolicyError, match=f"^{name}: auto_quarantine: field {field}"):
        read({**sample(), "auto_quarantine": {**RULE, field: value}})


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("missing", RULE)
def test_a_rule_states_every_bound(name: str, missing: str) -> None:
    read, sample = READERS[name]
    stated = {field: value for field, value in RULE.items() if field != missing}
    with pytest.raises(PolicyError, match=f"field {missing} is missing"):
        read({**sample(), "auto_quarantine": stated})


@pytest.mark.parametrize("value", [None, [], "REVIEW", 1])
def test_a_rule_that_is_none_is_refused_or_absent(value: object) -> None:
    policy = {**samples.recall(), "auto_quarantine": value}
    if value is None:
        assert documents.recall_policy(policy).auto_quarantine is None
    else:
        with pytest.raises(PolicyError, match="auto_quarantine: is no JSON object"):
            documents.recall_policy(policy)


@given(st.sampled_from(ReasonCode))
def test_only_findings_in_a_text_can_be_listed(code: ReasonCode) -> None:
    policy = {**samples.recall(), "auto_quarantine": {**RULE, "codes": [code.value]}}
    if code in LISTABLE_CODES:
        assert documents.recall_policy(policy).auto_quarantine is not None
    else:
        with pytest.raises(PolicyError, match="lists what is none of"):
            documents.recall_policy(policy)

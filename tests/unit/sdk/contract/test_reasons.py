"""The reason table: complete, actionable, ordered, and append-only."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.reasons import (
    REASONS,
    FindingStatus,
    Outcome,
    Reason,
    ReasonCode,
    Severity,
    sorted_reasons,
)
from pratique.contract.records import StatedReason
from tests.vectors.generate_reference import RELEASED_REASONS

ANY_REASON = st.builds(
    Reason,
    st.sampled_from(ReasonCode),
    st.sampled_from(["", "candidate", "candidate.summary_text"]),
    st.sampled_from(["gate", "grammar", "kingfisher"]),
    st.sampled_from(Severity),
)


def test_every_code_has_one_row() -> None:
    assert set(REASONS) == set(ReasonCode)
    assert sorted(row.rank for row in REASONS.values()) == list(range(len(ReasonCode)))


@pytest.mark.parametrize("code", ReasonCode)
def test_code_is_its_own_name_and_its_row_says_what_to_do(code: ReasonCode) -> None:
    row = REASONS[code]
    assert code.value == code.name
    for sentence in (row.meaning, row.remedy):
        assert sentence.endswith(".")
        assert len(sentence.split()) >= 3
    assert row.outcome is not Outcome.PASS
    assert row.finding_status is not FindingStatus.NO_FINDING


@pytest.mark.parametrize("code", ReasonCode)
def test_outcome_and_finding_status_go_together_as_in_the_seed(code: ReasonCode) -> None:
    row = REASONS[code]
    assert (row.outcome, row.finding_status) in {
        (Outcome.FAIL, FindingStatus.FINDING),
        (Outcome.INSUFFICIENT_DATA, FindingStatus.UNKNOWN),
        (Outcome.ERROR, FindingStatus.UNKNOWN),
    }


def test_released_codes_are_never_taken_away_or_turned() -> None:
    released = json.loads(RELEASED_REASONS.read_text(encoding="utf-8"))
    assert released, "no released reasons: the check would check nothing"
    for name, (outcome, finding_status) in released.items():
        row = REASONS[ReasonCode(name)]
        assert [row.outcome.value, row.finding_status.value] == [outcome, finding_status]


@given(ANY_REASON, ANY_REASON, ANY_REASON)
def test_order_is_total(a: Reason, b: Reason, c: Reason) -> None:
    assert (a < b) + (b < a) + (a == b) == 1
    assert not (a < b < c) or a < c
    assert (a <= b) == (a < b or a == b)


@given(st.lists(ANY_REASON, max_size=8), st.randoms(use_true_random=False))
def test_sorted_reasons_are_distinct_and_do_not_depend_on_the_order_given(
    reasons: list[Reason], random: object
) -> None:
    shuffled = list(reasons)
    random.shuffle(shuffled)  # type: ignore[attr-defined] # hypothesis types it as an object
    ordered = sorted_reasons(reasons)
    assert ordered == sorted_reasons(shuffled) == sorted_reasons(frozenset(reasons)) == sorted_reasons(tuple(reasons))
    assert len(set(ordered)) == len(ordered)
    assert set(ordered) == set(reasons)
    assert all(first < second for first, second in itertools.pairwise(ordered))


def test_conflict_comes_before_what_could_not_be_parsed() -> None:
    conflict, unparsed = Reason.of(ReasonCode.PREDICATE_CONFLICT), Reason.of(ReasonCode.CLAUSE_UNPARSED)
    assert sorted_reasons([unparsed, conflict])[0] is conflict


def test_who_asks_comes_before_what_is_asked() -> None:
    first = sorted_reasons([Reason.of(code) for code in ReasonCode])[:2]
    assert [item.code for item in first] == [ReasonCode.SIGNATURE_INVALID, ReasonCode.SIGNER_NOT_AUTHORISED]


@pytest.mark.parametrize("code", ReasonCode)
def test_stated_reason_keeps_all_and_finds_its_meaning(code: ReasonCode) -> None:
    reason = Reason.of(code, "candidate", "grammar")
    stated = StatedReason.of(reason)
    assert (stated.code, stated.path, stated.detector) == (code.value, "candidate", "grammar")
    assert stated.severity == REASONS[code].severity.value
    assert stated.meaning == reason.meaning


def test_code_newer_than_this_release_has_no_meaning_here() -> None:
    assert StatedReason("SOMETHING_NEW", "", "gate", "HIGH").meaning is None

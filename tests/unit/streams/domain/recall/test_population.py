"""Reconciliation: exactly one finding for each expected memory, in whatever order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.canonical import JsonValue
from pratique.contract.digests import recall_population_sha256
from pratique.contract.reasons import FindingStatus, Outcome
from pratique.errors import MalformedError
from streams.domain.recall.population import MemoryKey, Observed, RollUp, population_reasons, reconcile
from tests.unit.streams.domain.recall.samples import key

CLEAN = (Outcome.PASS, FindingStatus.NO_FINDING)
FOUND = (Outcome.PASS, FindingStatus.FINDING)
ERROR = (Outcome.ERROR, FindingStatus.UNKNOWN)

KEYS = st.builds(MemoryKey, *(st.sampled_from(["a", "b", "\u00fc"]) for _ in range(4)))
POPULATION = st.lists(KEYS, unique=True, min_size=1, max_size=8)


def observed(keys: Sequence[MemoryKey], *statuses: tuple[Outcome, FindingStatus]) -> list[Observed]:
    return [Observed(item, *(statuses[place] if place < len(statuses) else CLEAN)) for place, item in enumerate(keys)]


def codes(expected: Sequence[MemoryKey], found: Sequence[MemoryKey]) -> set[tuple[str, str]]:
    return {(reason.code.value, reason.path) for reason in population_reasons(expected, found)}


@pytest.mark.parametrize(
    ("statuses", "body"),
    [
        ((CLEAN, CLEAN), {"control_status": "PASS", "finding_status": "NO_FINDING"}),
        ((CLEAN, FOUND), {"control_status": "PASS", "finding_status": "FINDING"}),
    ],
)
def test_a_complete_population_is_counted_and_digested(
    statuses: tuple[tuple[Outcome, FindingStatus], ...], body: dict[str, JsonValue]
) -> None:
    keys = [key("e1"), key("e2")]
    counted: dict[str, JsonValue] = {"evaluated_count": 2, "population_sha256": recall_population_sha256(keys)}
    assert reconcile(keys, observed(keys, *statuses)).body() == body | counted


def test_one_error_makes_all_unknown_and_gives_no_digest() -> None:
    keys = [key("e1"), key("e2"), key("e3")]
    assert reconcile(keys, observed(keys, FOUND, ERROR)).body() == {
        "control_status": "ERROR",
        "finding_status": "UNKNOWN",
        "evaluated_count": 3,
    }


def test_missing_and_extra_are_listed_sorted_and_come_before_errors() -> None:
    found = [key("e9"), key("e1"), key("e1", tenant="tenant-b")]
    assert reconcile([key("e3"), key("e2"), key("e1")], observed(found, ERROR)).body() == {
        "control_status": "INSUFFICIENT_DATA",
        "finding_status": "UNKNOWN",
        "missing": [["tenant-a", "recall-1", "e2", "v1"], ["tenant-a", "recall-1", "e3", "v1"]],
        "extra": [["tenant-a", "recall-1", "e9", "v1"], ["tenant-b", "recall-1", "e1", "v1"]],
    }


def test_the_same_names_in_two_tenants_are_two_memories() -> None:
    both = [key("e1"), key("e1", tenant="tenant-b")]
    assert reconcile(both, observed(both)).evaluated_count == 2
    assert not reconcile([both[0]], observed([both[1]])).complete
    assert recall_population_sha256([both[0]]) != recall_population_sha256([both[1]])


@pytest.mark.parametrize(
    ("expected", "found", "code"),
    [
        ([key("e1"), key("e1")], [key("e1")], "POPULATION_DUPLICATED"),
        ([key("e1")], [key("e1"), key("e1")], "POPULATION_DUPLICATED"),
        ([key("")], [key("e1")], "MESSAGE_INVALID"),
        ([key("e1")], [key("e1"), key("e1", version="")], "MESSAGE_INVALID"),
    ],
)
def test_duplicates_and_absent_identities_have_no_roll_up(
    expected: list[MemoryKey], found: list[MemoryKey], code: str
) -> None:
    with pytest.raises(MalformedError) as refused:
        reconcile(expected, observed(found))
    assert refused.value.code == code


def test_every_place_that_is_wrong_is_named() -> None:
    expected = [key("e1"), key("e2"), key("e1"), key("")]
    found = [key("e1"), key("e3"), key("e3"), key("e1", tenant="")]
    assert codes(expected, found) == {
        ("POPULATION_DUPLICATED", "expected_entries[2]"),
        ("POPULATION_DUPLICATED", "entries[2]"),
        ("POPULATION_MISSING", "expected_entries[1]"),
        ("POPULATION_MISSING", "expected_entries[3]"),
        ("POPULATION_EXTRA", "entries[1]"),
        ("POPULATION_EXTRA", "entries[2]"),
        ("POPULATION_EXTRA", "entries[3]"),
        ("MESSAGE_INVALID", "expected_entries[3]"),
        ("MESSAGE_INVALID", "entries[3]"),
    }


@given(POPULATION, st.data())
def test_order_never_matters(keys: list[MemoryKey], data: st.DataObject) -> None:
    statuses = data.draw(st.lists(st.sampled_from([CLEAN, FOUND, ERROR]), min_size=len(keys), max_size=len(keys)))
    findings = observed(keys, *statuses)
    shuffled = reconcile(data.draw(st.permutations(keys)), data.draw(st.permutations(findings)))
    assert shuffled == reconcile(keys, findings)
    assert shuffled.complete


@given(POPULATION, POPULATION)
def test_reasons_and_roll_up_say_the_same(expected: list[MemoryKey], found: list[MemoryKey]) -> None:
    roll_up = reconcile(expected, observed(found))
    assert set(roll_up.missing) == set(expected) - set(found)
    assert set(roll_up.extra) == set(found) - set(expected)
    assert bool(population_reasons(expected, found)) == (not roll_up.complete)


@given(POPULATION, st.data())
def test_only_clean_and_complete_is_no_finding(keys: list[MemoryKey], data: st.DataObject) -> None:
    spoilt = data.draw(st.sampled_from(keys))
    how = data.draw(st.sampled_from([FOUND, ERROR, None]))
    findings = [Observed(item, *(how if item == spoilt and how else CLEAN)) for item in keys]
    if how is None:
        findings = [item for item in findings if item.key != spoilt]
    assert reconcile(keys, findings).finding_status is not FindingStatus.NO_FINDING


def test_an_empty_population_is_complete_and_only_that() -> None:
    assert reconcile([], []) == RollUp(
        Outcome.PASS, FindingStatus.NO_FINDING, evaluated_count=0, population_sha256=recall_population_sha256([])
    )
    assert not reconcile([], observed([key("e1")])).complete

"""Admission: nothing of an incomplete recall, never an entry that is not clean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.records import Disposition
from streams.domain.recall.admission import Assessed, admit

ADMITTED, WITHHELD = Disposition.ADMITTED, Disposition.WITHHELD


def assessed(*clean: bool) -> list[Assessed]:
    return [Assessed(f"e{place}", "v1", "a" * 64, "f" * 64, item) for place, item in enumerate(clean)]


@pytest.mark.parametrize(
    ("clean", "whole", "partial", "dispositions"),
    [
        ((True, True), True, False, [ADMITTED, ADMITTED]),
        ((True, False), True, False, [WITHHELD, WITHHELD]),
        ((True, False), True, True, [ADMITTED, WITHHELD]),
        ((True, True), False, False, [WITHHELD, WITHHELD]),
        ((True, True), False, True, [WITHHELD, WITHHELD]),
        ((False, False), True, True, [WITHHELD, WITHHELD]),
        ((), True, True, []),
    ],
)
def test_the_rule(
    clean: tuple[bool, ...],
    whole: bool,  # noqa: FBT001 - a case's column
    partial: bool,  # noqa: FBT001 - the same
    dispositions: list[Disposition],
) -> None:
    decided = admit(assessed(*clean), whole=whole, partial_admission=partial)
    assert [item.disposition for item in decided] == dispositions


def test_an_entry_keeps_its_names() -> None:
    (decided,) = admit([Assessed("e1", "v2", "b" * 64, None, clean=True)], whole=True, partial_admission=False)
    assert (decided.entry_id, decided.memory_version, decided.content_sha256, decided.finding_id) == (
        "e1",
        "v2",
        "b" * 64,
        None,
    )


@given(st.lists(st.booleans()), st.booleans(), st.booleans())
def test_admitted_is_clean_and_whole(clean: list[bool], whole: bool, partial: bool) -> None:  # noqa: FBT001 - drawn
    for known, decided in zip(clean, admit(assessed(*clean), whole=whole, partial_admission=partial), strict=True):
        assert decided.disposition is WITHHELD or (known and whole)

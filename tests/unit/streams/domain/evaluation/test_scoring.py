"""Counting: recall and false positives apart, by group, and what was not scanned in neither."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.reasons import ReasonCode
from streams.domain.evaluation.rows import Folder
from streams.domain.evaluation.scoring import ALL, MARKED, GroupKey, Measure, PartKey, Tally, score
from streams.domain.scanning.finding import Category
from tests.unit.streams.domain.evaluation.builders import outcome

RECALL = PartKey(Folder.SECRETS, Category.SECRET, Measure.RECALL)
EVERY = GroupKey(ALL, "")


def test_a_row_counts_once_and_only_for_its_own_category() -> None:
    (part,) = score(
        [
            outcome(Category.SECRET, Category.SECRET, Category.PII),
            outcome(Category.PII),
            outcome(),
            outcome(error=ReasonCode.DETECTOR_TIMEOUT),
        ]
    )
    assert part.key == RECALL
    assert part.total == Tally(rows=3, found=1, any=2, errors=1)


def test_rows_to_detect_and_clean_ones_are_never_mixed() -> None:
    parts = score([outcome(Category.SECRET), outcome(Category.SECRET, detect=False), outcome(detect=False)])
    assert {part.key.measure: part.total.rate for part in parts} == {
        Measure.RECALL: (1, 1),
        Measure.FALSE_POSITIVES: (1, 2),
    }


def test_a_benign_row_counts_against_every_category() -> None:
    parts = score([outcome(Category.PII, folder=Folder.BENIGN, detect=False)])
    assert {part.key.category: part.total.found for part in parts} == {
        Category.SECRET: 0,
        Category.PII: 1,
        Category.INJECTION: 0,
        Category.HIDDEN_TEXT: 0,
    }


def test_groups_are_of_what_rows_say() -> None:
    rows = [outcome(Category.SECRET, lang="de"), outcome(lang="de", marked=True), outcome(Category.SECRET, lang="en")]
    (part,) = score(rows)
    assert {group: tally.rate for group, tally in part.groups.items()} == {
        EVERY: (2, 3),
        GroupKey(MARKED, "no"): (2, 2),
        GroupKey(MARKED, "yes"): (0, 1),
        GroupKey("lang", "de"): (1, 2),
        GroupKey("lang", "en"): (1, 1),
    }


@given(
    st.lists(
        st.builds(
            outcome,
            st.sampled_from(Category),
            folder=st.sampled_from(Folder),
            detect=st.booleans(),
            marked=st.booleans(),
            error=st.none() | st.just(ReasonCode.TOO_LARGE),
            lang=st.sampled_from(["de", "en", "fr"]),
        ),
        max_size=30,
    ).flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows)))
)
def test_order_does_not_matter_and_every_grouping_adds_up(given_rows: tuple[list, list]) -> None:  # type: ignore[type-arg]
    rows, shuffled = given_rows
    parts = score(rows)
    assert parts == score(shuffled)
    assert [list(part.groups) for part in parts] == [list(part.groups) for part in score(shuffled)]
    for part in parts:
        for by in (MARKED, "lang"):
            tallies = [tally for group, tally in part.groups.items() if group.by == by]
            assert sum(tally.rows for tally in tallies) == part.total.rows
            assert sum(tally.found for tally in tallies) == part.total.found
            assert sum(tally.errors for tally in tallies) == part.total.errors

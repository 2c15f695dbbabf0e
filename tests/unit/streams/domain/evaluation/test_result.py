"""The result comes back from its document; a regression is what lies beyond its interval, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.canonical import parse_json
from pratique.contract.reasons import ReasonCode
from pratique.errors import MalformedError
from streams.domain.evaluation.result import CorpusFile, Evaluation, read_parts, regressions
from streams.domain.evaluation.scoring import FEWEST, Part, score
from streams.domain.scanning.finding import Category
from tests.unit.streams.domain.evaluation.builders import found, outcome


def evaluation(parts: tuple[Part, ...]) -> Evaluation:
    versions = {"pratique": "1", "scanner": "scripted/1", "policy": "p"}
    return Evaluation(versions, "a" * 64, "b" * 64, (CorpusFile("pii/é.jsonl", "c" * 64, 3),), {"TOO_LARGE": 1}, parts)


def what(before: list[Any], after: list[Any]) -> set[tuple[str, str, str]]:
    return {(item.group.by, item.group.value, item.what) for item in regressions(score(before), score(after))}


def test_a_document_comes_back_whole() -> None:
    parts = score([*found(3, 30, lang="de"), outcome(detect=False), outcome(error=ReasonCode.TOO_LARGE, lang="中")])
    done = evaluation(parts)
    assert json.loads(done.text()) == done.body()
    assert read_parts(parse_json(done.text())) == parts


@given(st.integers(0, 200), st.integers(0, 200))
def test_an_unchanged_scanner_never_regresses(count: int, errors: int) -> None:
    rows = [*found(count, 200, lang="de"), *(outcome(error=ReasonCode.TOO_LARGE) for _ in range(errors))]
    clean = found(count, 200, detect=False)
    assert what([*rows, *clean], [*rows, *clean]) == set()


@given(st.integers(0, 200), st.integers(0, 200))
def test_better_is_no_regression(one: int, other: int) -> None:
    worse, better = sorted((one, other))
    assert what(found(worse, 200), found(better, 200)) == set()
    assert what(found(better, 200, detect=False), found(worse, 200, detect=False)) == set()


@pytest.mark.parametrize(
    ("detect", "before", "after", "regressed"),
    [
        (True, 180, 179, False),
        (True, 180, 168, False),  # 90.0 % to 84.0 %: the interval of the difference is -12.7 to 0.7 points
        (True, 180, 165, True),
        (False, 0, 2, False),
        (False, 0, 12, True),
    ],
)
def test_a_regression_is_beyond_the_interval(*, detect: bool, before: int, after: int, regressed: bool) -> None:
    seen = what(found(before, 200, detect=detect), found(after, 200, detect=detect))
    assert ("all", "", "recall" if detect else "false_positives") in seen if regressed else seen == set()


def test_a_group_can_regress_alone() -> None:
    before = [*found(1_000, 1_000, lang="en"), *found(30, 30, lang="ko")]
    after = [*found(1_000, 1_000, lang="en"), *found(20, 30, lang="ko")]
    assert ("lang", "ko", "recall") in what(before, after)
    assert ("lang", "en", "recall") not in what(before, after)


def test_a_small_group_says_nothing() -> None:
    few = FEWEST - 1
    before = [*found(1_000, 1_000, lang="en"), *found(few, few, lang="ko")]
    after = [*found(1_000, 1_000, lang="en"), *found(0, few, lang="ko")]
    assert {group for group, _, _ in what(before, after)}.isdisjoint({"lang"})


def test_rows_that_are_not_scanned_any_more_are_a_regression() -> None:
    failed = [outcome(error=ReasonCode.DETECTOR_ERROR) for _ in range(20)]
    assert ("all", "", "errors") in what(found(200, 200), [*found(180, 180), *failed])
    assert ("all", "", "errors") in what(found(200, 200), [outcome(error=ReasonCode.DETECTOR_ERROR)] * 200)


def test_a_part_that_is_gone_is_a_regression() -> None:
    assert what([outcome(), outcome(detect=False)], [outcome()]) == {("all", "", "missing")}


def test_a_regression_says_where_and_how_much() -> None:
    (worse,) = (item for item in regressions(score(found(190, 200)), score(found(150, 200))) if item.group.by == "all")
    body = worse.body()
    assert (body["before"], body["after"]) == ([190, 200], [150, 200])
    assert (body["category"], body["folder"], body["measure"]) == ("SECRET", "secrets", "recall")
    low, high = worse.change
    assert low < -0.2 < high < 0


def _without_total(document: dict[str, Any]) -> None:
    document["parts"][0]["groups"].pop(0)


def _of_a_group(**changes: object) -> Any:  # noqa: ANN401 - a change to a document
    return lambda document: document["parts"][0]["groups"][0].update(changes)


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update(schema_version="pratique.evaluation.v2"),
        lambda document: document.update(parts="all"),
        lambda document: document.update(parts=["all"]),
        lambda document: document.pop("parts"),
        lambda document: document["parts"][0].update(folder="elsewhere"),
        lambda document: document["parts"][0].pop("groups"),
        _without_total,
        _of_a_group(by="mood"),
        _of_a_group(value=3),
        _of_a_group(rows=-1),
        _of_a_group(rows=True),
        _of_a_group(found=10_000),
    ],
)
def test_a_document_of_another_form_is_refused(change: Any) -> None:  # noqa: ANN401 - a change to a document
    document = json.loads(evaluation(score([outcome(Category.SECRET)])).text())
    change(document)
    with pytest.raises(MalformedError):
        read_parts(document)

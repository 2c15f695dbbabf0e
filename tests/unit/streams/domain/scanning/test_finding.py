"""Findings hold where and what kind, and nothing that a text could travel in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.errors import MalformedError
from streams.domain.scanning.finding import Category, Finding, ordered

FINDING = Finding(Category.SECRET, "kingfisher", "betterleaks.jwt", "summary_text", 3, 9, 0.9)


def test_a_finding_comes_back_from_its_body() -> None:
    assert Finding.of(FINDING.body()) == FINDING


@pytest.mark.parametrize(
    "difference",
    [
        {"category": "GOSSIP"},
        {"detector": "bob@example.com said"},
        {"type": ""},
        {"type": "x" * 129},
        {"type": None},
        {"path": 1},
        {"start": -1},
        {"start": 10},
        {"end": 9.5},
        {"end": True},
        {"score": "high"},
        {"score": True},
    ],
)
def test_anything_else_is_none(difference: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        Finding.of({**FINDING.body(), **difference})


def test_a_body_without_a_key_is_none() -> None:
    with pytest.raises(MalformedError):
        Finding.of({key: value for key, value in FINDING.body().items() if key != "end"})


@given(st.permutations([replace(FINDING, path=path, start=start) for path in ("b", "a") for start in (1, 2)] * 2))
def test_order_is_that_of_fields_then_text_and_repeats_are_gone(findings: list[Finding]) -> None:
    assert [(item.path, item.start) for item in ordered(findings, ["b", "a"])] == [
        ("b", 1),
        ("b", 2),
        ("a", 1),
        ("a", 2),
    ]


def test_a_finding_elsewhere_is_none_of_this_scan() -> None:
    with pytest.raises(MalformedError):
        ordered([FINDING], ["other"])

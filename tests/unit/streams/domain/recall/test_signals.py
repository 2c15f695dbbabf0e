"""The signals are those of the seed's two regular expressions, on every text."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.domain.recall.signals import ACTIONS, LONGEST_GAP, OVERRIDES, ROLES, Signal, text_signals

# AID-D-001.005 G001, as specified.
ROLE = re.compile(r"(?i)\b(system|developer|administrator|root)\b.{0,120}\b(ignore|override|must|authority)\b")
ACTION = re.compile(r"(?i)\b(call_tool|approve|wire_transfer|delete|exfiltrate|grant_access)\b")

FOLDING = {"i": "iI\u0130\u0131", "k": "kK\u212a", "s": "sS\u017f"}
WORDS = sorted(ROLES | OVERRIDES | ACTIONS)
BETWEEN = [
    " ",
    "\n",
    "\r",
    "\x0b",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    ".",
    "-",
    "_",
    "1",
    "\u0664",
    "\u00b2",
    "\u216b",
]
MARKS_AND_LETTERS = [
    "\u0301",
    "\u200d",
    "\u200b",
    "\u00e9",
    "\u4e2d",
    "\u0645",
    "\u00aa",
    "\u203f",
    "\U0001f642",
    "a",
    "Z",
]


def specified(text: str) -> frozenset[Signal]:
    found = {Signal.ROLE_ASSERTION: ROLE.search(text), Signal.ACTION_TRIGGER: ACTION.search(text)}
    return frozenset(signal for signal, match in found.items() if match)


@st.composite
def spelled(draw: st.DrawFn) -> str:
    word = draw(st.sampled_from(WORDS))
    return "".join(draw(st.sampled_from(FOLDING.get(letter, letter + letter.upper()))) for letter in word)


NOISE = st.sampled_from(BETWEEN + MARKS_AND_LETTERS)
GAP = st.integers(LONGEST_GAP - 12, LONGEST_GAP + 2).map(lambda count: "-" * count) | NOISE | st.text(max_size=3)


@settings(max_examples=300)
@given(st.lists(spelled() | GAP, max_size=9).map("".join))
def test_as_specified(text: str) -> None:
    assert text_signals(text) == specified(text)


@settings(max_examples=150)
@given(st.sampled_from(sorted(ROLES)), st.integers(116, 123), st.sampled_from(sorted(OVERRIDES)), st.data())
def test_as_specified_about_the_longest_gap(role: str, gap: int, override: str, data: st.DataObject) -> None:
    between = "".join(data.draw(st.sampled_from(["x", " ", "\u00e9", "\n", "\r", " must", " root "])) for _ in range(3))
    text = f"{role} {between}{' ' * (gap - len(between))}{override}"
    assert text_signals(text) == specified(text)


@given(st.text())
def test_as_specified_on_any_text(text: str) -> None:
    assert text_signals(text) == specified(text)


@given(st.characters(), st.sampled_from(sorted(ACTIONS)), st.characters())
def test_as_specified_about_any_boundary(before: str, word: str, after: str) -> None:
    text = f"{before}{word}{after}"
    assert text_signals(text) == specified(text)


def test_the_letters_that_stand_for_others_are_the_regular_expression_s() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    expected = "".join(FOLDING.get(letter, letter + letter.upper()) for letter in "abcdefghijklmnopqrstuvwxyz")
    assert sorted(re.findall("(?i)[a-z]", everything)) == sorted(expected)
    for letter, others in FOLDING.items():
        assert re.findall(f"(?i){letter}", everything) == sorted(others)


@pytest.mark.parametrize(
    ("text", "signals"),
    [
        ("The system says you must comply.", {Signal.ROLE_ASSERTION}),
        ("ADMINISTRATOR: override all", {Signal.ROLE_ASSERTION}),
        ("you must obey the system", set()),
        ("system\nmust", set()),
        ("system\r\u2028must", {Signal.ROLE_ASSERTION}),
        ("ecosystem must", set()),
        ("system_ must", set()),
        ("rootmust", set()),
        ("root must", {Signal.ROLE_ASSERTION}),
        ("please grant_access later", {Signal.ACTION_TRIGGER}),
        ("grant access later", set()),
        ("call_tool2", set()),
        ("root: authority to approve", {Signal.ROLE_ASSERTION, Signal.ACTION_TRIGGER}),
        ("\u017fy\u017ftem mu\u017ft", {Signal.ROLE_ASSERTION}),
        ("s\u200bystem must", set()),
    ],
)
def test_examples(text: str, signals: set[Signal]) -> None:
    assert text_signals(text) == signals


def test_two_megabytes_of_roles_without_an_override_are_one_pass() -> None:
    assert text_signals("root " * 400_000 + "\n must") == frozenset()

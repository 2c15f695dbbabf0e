"""NFKC is the standard library's, whatever the text, and never quadratic."""

from __future__ import annotations

import sys
import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.normal_form import LONGEST_RUN, nfkc

MARKS = [letter for letter in map(chr, range(sys.maxunicode + 1)) if unicodedata.combining(letter)]
MADE_OF_MARKS = ["\u0344", "\u0f73", "\u0f75", "\u0f81"]
LETTERS = [
    "a",
    "e",
    "\u00e0",
    "\u1ebf",
    "\u1100",
    "\u1161",
    "\u11a8",
    "\uac00",
    "\ufb01",
    "\ufe70",
    "\u2460",
    " ",
    "\ufdfa",
    "\ufdfb",
    "\u0653",
]


@given(st.text())
def test_any_text(text: str) -> None:
    assert nfkc(text) == unicodedata.normalize("NFKC", text)


@given(st.lists(st.sampled_from(LETTERS + MADE_OF_MARKS) | st.sampled_from(MARKS), max_size=6 * LONGEST_RUN))
def test_runs_of_marks(letters: list[str]) -> None:
    text = "".join(letters)
    assert nfkc(text) == unicodedata.normalize("NFKC", text)


@given(
    st.sampled_from(LETTERS),
    st.lists(
        st.sampled_from([*MADE_OF_MARKS, "\u0300", "\u0316", "\u0f71", "\u0f72", "\u3099", "\u0338"]), min_size=33
    ),
)
def test_long_runs_of_marks_that_move_and_compose(letter: str, marks: list[str]) -> None:
    text = "x" + letter + "".join(marks) + "y"
    assert nfkc(text) == unicodedata.normalize("NFKC", text)


def test_a_quarter_of_a_megabyte_of_marks_in_the_worst_order_is_no_work() -> None:
    # The standard library would need about ten thousand million steps for these.
    pairs = 100_000
    assert nfkc("a" + "\u0300\u0316" * pairs) == "\u00e0" + "\u0316" * pairs + "\u0300" * (pairs - 1)
    assert nfkc("a" + "\u0f73" * pairs) == "a" + "\u0f71" * pairs + "\u0f72" * pairs


PHRASES = "\ufdfa" * 5_000


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("\u0301" * 64 + PHRASES, 2),
        ("\u0301".join(PHRASES), 10),  # a mark belongs to the eighteen letters before it
        ("x" * 5_000 + "\u0316\u0301" * 64, 2),
        ("e\u0301" * 5_000, 2),
    ],
    ids=["a run, then phrases", "phrases with marks", "letters, then a run", "letters with marks"],
)
def test_each_letter_is_normalised_a_few_times_at_most(text: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A letter that stands for a phrase, or a run of marks anywhere, once made every letter of the text cost."""
    given, real = [0], unicodedata.normalize

    def counting(form: Literal["NFC", "NFD", "NFKC", "NFKD"], letters: str) -> str:
        given[0] += len(letters)
        return real(form, letters)

    monkeypatch.setattr(unicodedata, "normalize", counting)
    found = nfkc(text)
    monkeypatch.undo()
    assert given[0] <= most * len(text)
    assert found == real("NFKC", text)

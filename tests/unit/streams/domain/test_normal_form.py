"""NFKC is the standard library's, whatever the text, and never quadratic."""

from __future__ import annotations

import sys
import unicodedata

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

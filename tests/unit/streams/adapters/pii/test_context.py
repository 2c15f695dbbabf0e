"""Words beside a match: the look at the characters around rules out nothing that the words would tell."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from streams.adapters.pii import context
from streams.adapters.pii.context import ContextWords

WORDS = ContextWords(["pan", "tel", "passport", "αμκα", "cédula"])
PIECES = ["pan", "company", "Tel", "passport", "ΑΜΚΑ", "Cédula", "12345", "a", "_", "-", ". ", ", ", " ", "\n", "x1"]


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.lists(st.sampled_from(PIECES), max_size=30))
@example(["pan"], [" x"] * 9)
@example(["tel "], ["_"])
def test_ruling_out_by_characters_changes_nothing(before: list[str], behind: list[str]) -> None:
    head, value = "".join(before), "4711"
    text = head + value + "".join(behind)
    start, end = len(head), len(head) + len(value)
    pattern = re.compile("|".join(context._form(word) for word in WORDS.words))
    assert WORDS.beside(text, start, end) == bool(pattern.search(context._beside(text, start, end)))

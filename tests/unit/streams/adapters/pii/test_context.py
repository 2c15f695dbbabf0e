"""Words beside a match: what is read at once is what the words tell one by one."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from streams.adapters.pii.context import CHARACTERS_BEFORE, CHARACTERS_BEHIND, SHORT_WORD, ContextWords

WORDS = ContextWords(["pan", "tel", "passport", "αμκα", "cédula", "r.č."])
PIECES = ["pan", "company", "Tel", "passport", "ΑΜΚΑ", "Cédula", "12345", "a", "_", "-", ". ", ", ", " ", "\n", "x1"]


def is_in(word: str, stretch: str) -> bool:
    if len(word) > SHORT_WORD or not word.isascii():
        return word in stretch
    return re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", stretch) is not None


def stretch_beside(head: str, value: str, tail: str) -> str:
    """Five words before, five behind up to the next punctuation."""
    before, behind = head[-CHARACTERS_BEFORE:], tail[:CHARACTERS_BEHIND]
    words = [match.start() for match in re.finditer(r"\w+", before)]
    if len(words) >= 5:
        before = before[words[-5] :]
    behind = re.split(r"[.,!?;](?=\s)|[\n。，、！？；]", behind, maxsplit=1)[0]
    words = [match.start() for match in re.finditer(r"\w+", behind)]
    if len(words) > 5:
        behind = behind[: words[5]]
    return (before + value + behind).lower()


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.lists(st.sampled_from(PIECES), max_size=30))
@example(["pan"], [" x"] * 9)
@example(["tel "], ["_"])
@example(["a-"], [])
def test_a_word_is_looked_for_in_five_words_on_both_sides(before: list[str], behind: list[str]) -> None:
    head, value, tail = "".join(before), "4711", "".join(behind)
    stretch = stretch_beside(head, value, tail)
    expected = any(is_in(word, stretch) for word in WORDS.words)
    assert WORDS.beside(head + value + tail, len(head), len(head) + len(value)) == expected

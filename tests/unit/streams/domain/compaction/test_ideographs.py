"""The lexer of ideographs: its spans are the text, and narrow text is read as the other lexer reads it (hypothesis)."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from streams.domain.compaction.ideographs import is_wide, lex_ideographic
from streams.domain.compaction.lexer import Quotation, RawClause, Unread, lex
from streams.domain.compaction.writing import Writing

NARROW = ["a", "src/a.py", "(", ")", ".", ",", ":", '"', "\u201c", "\u201d", " ", "\n", "\u00a0", "\u00e9", "1.5"]
WIDE = [
    "\u6587",
    "\u4ef6",
    "\u3042",
    "\u30ab\u3099",
    "\u3002",
    "\u3001",
    "\uff08",
    "\uff09",
    "\u300c",
    "\u300d",
    "\u3000",
]


def told(text: str, *, ideographic: bool) -> list[tuple[object, ...]]:
    read = lex_ideographic(text) if ideographic else lex(text)
    return [
        (found.start,) if isinstance(found, Unread) else (list(found.tokens), found.start, found.end) for found in read
    ]


@example('a(""')
@example('."')
@settings(max_examples=300)
@given(st.lists(st.sampled_from(NARROW), max_size=14).map("".join))
def test_narrow_text_is_read_as_elsewhere(text: str) -> None:
    assert told(text, ideographic=True) == told(text, ideographic=False)


@settings(max_examples=300)
@given(st.lists(st.sampled_from([*NARROW, *WIDE]), max_size=14).map("".join) | st.text(max_size=30))
def test_spans_are_the_text_and_tokens_are_in_it(text: str) -> None:
    position = 0
    for found in lex_ideographic(text):
        assert found.start == position
        if isinstance(found, RawClause):
            stretch = text[found.start : found.end]
            assert all((token.text if isinstance(token, Quotation) else token) in stretch for token in found.tokens)
            position = found.end
        else:
            position = len(text)
    assert position == len(text)


@given(st.sampled_from(WIDE[:4]), st.sampled_from(["", " ", "\n"]))
def test_white_space_between_ideographs_means_nothing(letter: str, space: str) -> None:
    (read,) = lex_ideographic(f"{letter}{space}{letter}\u3002{space}")
    assert isinstance(read, RawClause)
    assert read.tokens == [letter, letter]


def test_letters_are_composed_where_they_are_and_stay_what_they_are_elsewhere() -> None:
    assert Writing.COMPOSED.composed("e\u0301") == "\u00e9"
    assert Writing.PLAIN.composed("e\u0301") == "e\u0301"
    assert Writing.COMPOSED.composed("\u212ae\u0301") == "\u212ae\u0301"
    assert [is_wide(letter) for letter in "a\u00e9.\u6587\u30fc\uff08"] == [False, False, False, True, True, True]

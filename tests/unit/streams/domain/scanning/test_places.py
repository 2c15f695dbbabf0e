"""Patterns that RE2 looks for stand where ``re`` finds them, whatever else is in a text."""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.domain.scanning import decoding, places
from streams.domain.scanning.places import Pattern, one_byte
from streams.domain.scanning.views import alphabets, encodings

PATTERNS: Final = {
    value.source: value
    for value in (
        *(value for module in (decoding, alphabets, encodings) for value in vars(module).values()),
        *(pattern for _, _, pattern, _ in encodings._ESCAPES),
    )
    if isinstance(value, Pattern)
}
PARTS: Final = (
    *("%41", "&#65;", "&amp;", "\\u0041", "\\u{41}", "\\x41", "\\101", "=41", "=\n", "=\r\n", "0x41, ", "41 ", "065,"),
    *(
        "chr(65)+",
        "CHAR(65)",
        "01000001",
        "YWJjZGVmZ2hpamtsbW5v",
        "MFRGGZDFMZTWQ2LK",
        "0123456789abcdef",
        "<~87cURD]~>",
    ),
    *(" ", "?", "??", "\n", "a", "é", "\u00df", "\u017f", "\u212a", "\u4e00", "\U0001f600", "U+0041 ", "- .", "!#$%&("),
)
texts = st.lists(
    st.tuples(st.sampled_from(PARTS) | st.text(max_size=4), st.sampled_from((1, 1, 2, 8, 40))), max_size=20
).map(lambda parts: "".join(chain.from_iterable([part] * count for part, count in parts)))


@settings(max_examples=60)
@given(texts)
def test_places_are_those_of_re(text: str) -> None:
    for source, pattern in PATTERNS.items():
        flags = re.IGNORECASE if pattern is alphabets._CHARACTERS else 0
        expected = [match.span() for match in re.finditer(source, text, flags)]
        with pytest.MonkeyPatch.context() as patch:
            for shortest in (0, places._SHORT):
                patch.setattr(places, "_SHORT", shortest)
                assert list(pattern.spans(text, one_byte(text))) == expected


def test_nearly_every_pattern_is_looked_for_by_re2() -> None:
    assert len([pattern for pattern in PATTERNS.values() if pattern._quick is not None]) > 15


@given(texts, st.integers(1, 4), st.integers(1, 64))
def test_places_are_the_same_wherever_re_takes_over(text: str, few: int, apart: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "_SHORT", 0)
        patch.setattr(places, "_FEW", few)
        patch.setattr(places, "_APART", apart)
        for pattern in (decoding.BASE64, alphabets._PAIRS):
            assert list(pattern.spans(text)) == [match.span() for match in re.finditer(pattern.source, text)]


@given(texts)
def test_quoted_printable_takes_the_letters_beside_it(text: str) -> None:
    runs = re.finditer(r"[!-<>-~]?(?:=[0-9A-F]{2}|=\r?\n)+[!-<>-~]?", text)
    expected = [match.span() for match in runs if encodings._quoted(match.group()) not in {"", match.group()}]
    assert [(edit.start, edit.end) for edit in encodings._quoted_runs(text)] == expected


def test_one_byte_keeps_places() -> None:
    assert one_byte("a\u00e9\u4e00\U0001f600?") == b"a\xe9???"

"""Every shorter way to fold a text gives what folding it a letter at a time does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.compaction.authority.folding import _folded, folded

LETTERS = (
    "aZ9 .*~_\u200b\u00ad\x08\u00c9\u00e9\u0130\u01c5\ufdfa\ufb03\u00bd\u0301\u0430\u0410\u7528\uff35\U0001d400\u00df"
)


@given(st.text(st.sampled_from(LETTERS) | st.characters(codec="utf-8"), max_size=30))
def test_every_way_to_fold_is_the_same(text: str) -> None:
    short, whole = folded(text), _folded(text)
    assert short.text == whole.text
    assert list(short.places) == list(whole.places)


@pytest.mark.parametrize(
    ("text", "letters", "places"),
    [
        ("aBc", "a_bc", [0, 1, 1, 2, 3]),
        ("a\u200bB", "a_b", [0, 2, 2, 3]),
        ("\u00e9T\u00e9T", "e_te_t", [0, 1, 1, 2, 3, 3, 4]),
        ("\ufb03 x", "ffi x", [0, 0, 0, 1, 2, 3]),
        ("us**er", "user", [0, 1, 4, 5, 6]),
    ],
)
def test_places_are_those_of_the_text(text: str, letters: str, places: list[int]) -> None:
    assert folded(text).text == letters
    assert list(folded(text).places) == places

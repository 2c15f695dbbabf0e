"""Texts that readers take for the same have one form, and each of its letters knows where it came from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.models.injection.fold_table import fold_table
from streams.adapters.injection.folding import TABLE_SIZE, FoldTable
from streams.adapters.injection.scorer import load_scorer

TABLE = FoldTable(fold_table())


def folded(text: str) -> str:
    return "".join(map(chr, TABLE.fold(text).codes))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Read   THIS\n\nnow", "read this now"),
        ("re\u200bad\u00ad \u2060this\ufeff", "read this"),
        ("\uff32\uff25\uff21\uff24", "read"),
        ("\U0001d5ff\U0001d5f2\U0001d5ee\U0001d5f1", "read"),
        ("r\u0435\u0430d this", "read this"),
        ("это по-русски", "это по-русски"),
        ("caf\u00e9 cafe\u0301 stra\u00dfe", "cafe cafe strase"),
        ("r e a d this", "read this"),
        ("r-e-a-d this", "read this"),
        ("r e this", "r e this"),
        ("hy-\nphen", "hyphen"),
        ("ok" + "".join(chr(0xE0000 + ord(letter)) for letter in " now"), "ok now"),
        ("a\x00b", "a b"),
        ("a\ud800b", "a b"),
        ("\u0661\u0662\u0663", "123"),
        ("\u201cso\u201d", '"so"'),
        ("noooooo ====== 1000000", "nooo === 1000"),
        ("", ""),
        ("\u200b\u200b", ""),
    ],
)
def test_one_form(text: str, form: str) -> None:
    assert folded(text) == form


@given(st.text(st.characters(exclude_categories=[]), max_size=200))
def test_places_ascend_within_the_text(text: str) -> None:
    codes, places = TABLE.fold(text)
    assert codes.size == places.size <= len(text)
    assert (np.diff(places) > 0).all()
    assert not codes.size or 0 <= places[0] <= places[-1] < len(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_no_two_spaces_are_neighbours(text: str) -> None:
    assert "  " not in folded(text)
    assert "\n" not in folded(text)


def test_the_artifact_has_the_table_of_this_code() -> None:
    """Another Python's Unicode tables differ here and there; then the artifact's is the one that counts."""
    every = "".join(map(chr, (*range(0x20, 0xD800), *range(0xE000, TABLE_SIZE)))).replace("\n", "")
    same = load_scorer().reader._table.fold(every).codes
    assert np.mean(same[:10_000] == TABLE.fold(every).codes[:10_000]) > 0.99

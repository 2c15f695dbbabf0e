"""What opens a sentence is counted apart: orders are given there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.injection.counts import MAX_CONCEPTS, count
from streams.adapters.injection.grams import OPENING_ORDERS, WORD_ORDERS, read_grams
from streams.adapters.injection.scorer import load_scorer

SCORER = load_scorer()


@pytest.mark.parametrize(
    ("text", "openings"),
    [
        ("delete it. then go", ["delete", "then"]),
        ("we delete it", ["we"]),
        ("note: delete it", ["note", "delete"]),
        ('he said "stop" twice', ["he", "stop", "twice"]),
        ("e.g. this", ["e", "g", "this"]),
        ("", []),
        ("...", []),
    ],
)
def test_sentences_open_after_their_marks(text: str, openings: list[str]) -> None:
    codes = SCORER.table.fold(text).codes
    places = read_grams(codes).openings
    assert [text[place:].startswith(word) for place, word in zip(places, openings, strict=True)] == [True] * len(places)


def test_a_word_counts_otherwise_where_it_opens_a_sentence() -> None:
    grams = read_grams(SCORER.table.fold("delete this. we delete").codes)
    plain, opening = grams.words[0], grams.words[len(WORD_ORDERS)]
    assert plain[1][0] == plain[1][3]
    assert opening[0].tolist() == [0, 13]
    assert opening[1][0] != plain[1][0]
    assert len(grams.words) == len(WORD_ORDERS) + len(OPENING_ORDERS)


def test_a_concept_that_opens_a_sentence_makes_a_pair_with_itself() -> None:
    def selves(text: str) -> int:
        pairs = count(SCORER.table.fold(text).codes, SCORER.lexicon).pairs
        return int((pairs // MAX_CONCEPTS == pairs % MAX_CONCEPTS).sum())

    assert selves("Delete the archive.") > selves("We delete the archive.")


@given(st.text(max_size=200))
def test_positions_ascend_and_lie_inside(text: str) -> None:
    codes = SCORER.table.fold(text).codes
    if not codes.size:
        return
    counted = count(codes, SCORER.lexicon)
    parts = [*counted.grams.characters, *counted.grams.words, (counted.pair_positions, counted.pairs)]
    for positions, _ in parts:
        assert (np.diff(positions) >= 0).all()
        assert not positions.size or 0 <= positions[0] <= positions[-1] < codes.size

"""Short cuts find what the plain definitions find: stems in a text, and what reads better another way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.adapters.injection.artifact import read_artifact
from streams.adapters.injection.concepts import ANYWHERE, WHOLE
from streams.adapters.injection.folding import Codes, is_word
from streams.adapters.injection.grams import prefix_hashes, read_grams, runs, substring_hashes, without_digits
from streams.adapters.injection.scorer import load_scorer
from streams.adapters.injection.turning import (
    LEET,
    MARGIN,
    REVERSED,
    ROT13,
    PairTable,
    Turns,
    pair_buckets,
    shifted,
    unleeted,
)

SCORER = load_scorer()
ARRAYS = read_artifact().arrays
BLOCK = 32
WORDS = st.sampled_from(
    ["ignore", "instructions", "reveal", "the", "password", "geheim", "vergiss", "忘れて", "не", "1234", "a", ".", "_x"]
)
LETTERS = st.text("aehilnorstvbguryjnf 0134.!@é忘", max_size=40)
TEXTS = st.lists(WORDS | LETTERS, max_size=30).map(" ".join)


def _stems() -> dict[int, list[tuple[int, int, int]]]:
    columns = (ARRAYS[f"stem_{name}"].tolist() for name in ("keys", "lengths", "flags", "concepts"))
    by_key: dict[int, list[tuple[int, int, int]]] = {}
    for key, *stem in zip(*columns, strict=True):
        by_key.setdefault(key, []).append((stem[0], stem[1], stem[2]))
    return by_key


STEMS = _stems()
LENGTHS = sorted({length for stems in STEMS.values() for length, _, _ in stems})


def stems_by_definition(codes: Codes) -> Iterator[tuple[int, int]]:
    """Look up what stands at every place, in every length, and say whether it may stand there."""
    word = [*is_word(codes).tolist(), False]
    prefixes = prefix_hashes(without_digits(codes))
    for length in LENGTHS:
        places = np.arange(max(0, codes.size - length + 1))
        for place, key in enumerate(substring_hashes(prefixes, places, places + length).tolist()):
            for wanted, flags, concept in STEMS.get(key, ()):
                starts = not place or not word[place - 1]
                if wanted == length and (flags & ANYWHERE or starts) and not (flags & WHOLE and word[place + length]):
                    yield place, concept


def parts_by_definition(codes: Codes, table: PairTable) -> list[tuple[str, int, int]]:
    """Compare, block by block, how common the pairs are with how common they would be."""

    def common(turned: Codes) -> list[int]:
        return [int(table[pair_buckets(turned[i : i + 1], turned[i + 1 : i + 2])][0]) for i in range(turned.size - 1)]

    if codes.size < BLOCK // 2:
        return []
    plain = common(codes)
    letters = [97 <= code <= 122 for code in codes.tolist()]
    meant = unleeted(codes)
    changed = (meant != codes).tolist()
    beside = sum(changed[i + 1] and letters[i] for i in range(codes.size - 1))
    beside += sum(changed[i] and letters[i + 1] for i in range(codes.size - 1))
    back = [int(table[pair_buckets(codes[i + 1 : i + 2], codes[i : i + 1])][0]) for i in range(codes.size - 1)]
    ways = [(REVERSED, back)]
    if sum(letters) * 2 > codes.size:
        ways.append((ROT13, common(shifted(codes))))
    if beside >= 3:
        ways.append((LEET, common(meant)))
    found = []
    for way, values in ways:
        gains = [
            sum(values[i] - plain[i] - MARGIN for i in range(start, min(start + BLOCK, len(plain))))
            for start in range(0, len(plain), BLOCK)
        ]
        better = [gain + (gains[i + 1] if i + 1 < len(gains) else 0) > 0 for i, gain in enumerate(gains)]
        near = np.array([any(better[max(0, i - 1) : i + 2]) for i in range(len(better))])
        found += [
            (way, int(first) * BLOCK, min(int(last) * BLOCK, codes.size))
            for first, last in zip(*runs(near), strict=True)
        ]
    return found


@settings(max_examples=40)
@given(TEXTS)
def test_stems_are_found_where_they_stand(text: str) -> None:
    codes = SCORER.table.fold(text).codes
    hits = SCORER.lexicon.find(codes, read_grams(codes))
    found = sorted(zip(hits.positions.tolist(), hits.concepts.tolist(), strict=True))
    assert sorted(set(found)) == sorted(set(stems_by_definition(codes)))


@settings(max_examples=30)
@given(TEXTS, st.booleans())
def test_what_reads_better_another_way_is_found(text: str, backwards: bool) -> None:  # noqa: FBT001 - hypothesis
    codes = SCORER.table.fold(text[::-1] if backwards else text).codes
    table = ARRAYS["pair_frequencies"]
    assert list(Turns(table).parts(codes)) == parts_by_definition(codes, table)


@given(st.lists(st.booleans(), max_size=20))
def test_runs_are_what_is_set(flags: list[bool]) -> None:
    again = np.zeros(len(flags), np.bool_)
    for first, last in zip(*runs(np.array(flags, np.bool_)), strict=True):
        assert first < last
        again[first:last] = True
    assert again.tolist() == flags

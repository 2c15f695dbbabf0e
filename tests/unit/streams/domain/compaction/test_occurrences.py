"""Looking for many stretches of text at once finds what looking for each by itself does."""

from __future__ import annotations

from functools import partial

import pytest
import re2
from hypothesis import example, given
from hypothesis import strategies as st

from streams.domain.compaction import occurrences
from streams.domain.compaction.occurrences import FEW_STEPS, GROUP_BYTES, PIECE_BYTES, occurring, occurs

LETTERS = st.sampled_from("ab.*\\\x00\n\u00e9\u7528\ud83d\U0001f600")
STRETCHES = st.builds(
    lambda unit, count, rest: unit * count + rest,
    st.text(LETTERS, min_size=1, max_size=4),
    st.integers(1, PIECE_BYTES),
    st.text(LETTERS, max_size=3),
)


@given(st.lists(STRETCHES, max_size=6), st.lists(STRETCHES, max_size=4))
@example(["a" * PIECE_BYTES + "b" * PIECE_BYTES], ["b" * PIECE_BYTES + "a" * PIECE_BYTES])
@example(["ab"], ["a", "b"])
@example(["\u7528"], ["\u7527\u7529"])
def test_what_is_found_is_what_is_in_a_text(stretches: list[str], texts: list[str]) -> None:
    stretches += [text[len(text) // 3 :] for text in texts]
    assert occurring(stretches, texts) == {words for words in stretches if any(words in text for text in texts)}
    assert all(occurs(words, text) == (words in text) for words in stretches for text in texts)


def test_pieces_of_many_automata_are_all_found() -> None:
    stretches = [f"{number:04}" * 30 for number in range(2 * GROUP_BYTES // PIECE_BYTES)]
    assert occurring([*stretches, "4321" * 30], ["".join(stretches)]) == set(stretches)


@pytest.mark.parametrize("memory", [1, 20_000])
def test_where_an_automaton_has_no_room_nothing_is_missed(monkeypatch: pytest.MonkeyPatch, memory: int) -> None:
    monkeypatch.setattr(occurrences, "_MAX_MEMORY_BYTES", memory)
    assert occurring(["a" * 500, "b" * 500, "cd"], ["xa" + "a" * 500, "dc"]) == {"a" * 500}


def test_an_automaton_that_gives_up_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(re2.Set, "Match", lambda _self, _text: None)
    assert occurring(["ab", "abc"], ["xab"]) == {"ab"}


def test_a_long_text_is_searched_for_one_stretch_too() -> None:
    text = "a" * FEW_STEPS
    found = partial(occurs, text=f"{text}b")
    assert found("a" * 40 + "b")
    assert not found("a" * 40 + "b" + "a" * 40)

"""Words in a text: none that is there is left out."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.adapters.pii.addresses import NAMED_FORM, STREET_FORMS
from streams.adapters.pii.needles import Needles, folded, needles_of
from streams.adapters.pii.words import WORDS_IN_MATCH

WORDS = ["паспорт", "bsn", "οδός", "kimlik", "\u0130stanbul", "passport", "電話"]
NEEDLES = Needles([[word] for word in WORDS])
HINTS = [form.hint for forms in STREET_FORMS.values() for form in forms]


def test_a_word_is_there_in_any_case_and_a_group_of_none_always_is() -> None:
    assert Needles([["паспорт"], [], ["bsn"]]).there("Её ПАСПОРТ") == {0, 1}


@settings(max_examples=60)
@given(st.lists(st.sampled_from([*WORDS, "ΟΔΟΣ", "ΟΔΌΣ", " ", "x", "Σ"]), max_size=5).map("".join), st.booleans())
def test_what_small_letters_tell_is_there(text: str, upper: bool) -> None:  # noqa: FBT001 - drawn
    written = text.upper() if upper else text
    expected = {number for number, word in enumerate(WORDS) if word.lower() in written.lower()}
    assert NEEDLES.there(written) >= expected


@pytest.mark.parametrize("letters", ["\u0130", "\u017f", "\u212a", "ς"])
def test_letters_that_ignoring_case_makes_one_are_folded_alike(letters: str) -> None:
    alike = [other for other in "iksσ" if regex.fullmatch(other, letters, flags=regex.IGNORECASE)]
    assert {folded(letters)} == {folded(other) for other in alike}


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        ("hr[ab]", ["hra", "hrb"]),
        (r"\d,? (?:Via|Viale) ", [", Via ", ", Viale ", " Via ", " Viale "]),
        (r"(?:ul\.|al\.) ?", ["ul. ", "ul.", "al. ", "al."]),
        (r"[A-Z]{2} \d{5}", []),
        (r"ab\d|[A-Z]x", []),
        (NAMED_FORM.hint, []),
    ],
)
def test_words_that_begin_what_a_pattern_matches(hint: str, words: list[str]) -> None:
    assert sorted(needles_of(hint)) == sorted(words)


@settings(max_examples=60)
@given(st.data())
def test_what_a_hint_matches_holds_one_of_its_words(data: st.DataObject) -> None:
    hint = data.draw(st.sampled_from([*HINTS, *WORDS_IN_MATCH.values()]))
    text = data.draw(st.from_regex(hint, fullmatch=True))[:200]
    words = needles_of(hint)
    assert not words or any(folded(word) in folded(text) for word in words)

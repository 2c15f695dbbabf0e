"""A text as a model is given it: offsets stay, pieces cover it, and what is left out is exactly what is said."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.names.text import OVERLAP, PIECE, RUN, SIGNS, own_text, pieces
from streams.adapters.pii.foreign import ForeignCheck

GERMAN = "Wir haben mit der Abteilung gesprochen, und sie wird sich bald bei uns melden, wenn es noch nicht fertig ist."
ENGLISH = "Then the rest of the team went to the meeting, and they said that it would be done by the end of the week."
FRENCH = (
    "Nous avons parlé avec les autres, et ils ont dit que tout sera fait pour la fin de la semaine, mais sans elle."
)
FOREIGN = {language: ForeignCheck([language]) for language in ("de", "en", "fr", "zh")}
PARAGRAPHS = st.lists(
    st.sampled_from([ENGLISH, GERMAN, FRENCH, "日本" * 40, "Margaret Thatcher."]), min_size=1, max_size=4
).map(" ".join)
TEXTS = st.lists(
    st.sampled_from([ENGLISH, GERMAN, "\n\n", "\n \t\n", " ", "(", "x" * 300, "(" * 300, "a," * 200, "日本" * 40]),
    max_size=12,
).map("".join)


@given(text=st.text(max_size=300) | TEXTS)
def test_nothing_moves_and_only_spaces_are_written(text: str) -> None:
    for others in ([], [FOREIGN["de"]]):
        own = own_text(text, FOREIGN["en"], others)
        assert len(own) == len(text)
        assert all(now in (was, " ") for was, now in zip(text, own, strict=True))


@given(text=st.text("ab \n", min_size=1, max_size=50), times=st.integers(1, 2 * PIECE // 10))
def test_pieces_are_of_the_text_and_every_short_stretch_is_in_one(text: str, times: int) -> None:
    whole = text * times
    parts = list(pieces(whole))
    end = 0
    for start, piece in parts:
        assert whole[start : start + len(piece)] == piece
        assert len(piece) <= PIECE
        assert start == 0 or end - start >= OVERLAP
        assert start + len(piece) > end
        end = start + len(piece)
    assert end == len(whole)


def test_a_text_of_nothing_has_no_pieces() -> None:
    assert list(pieces("")) == []


def test_paragraphs_in_another_language_are_left_out_and_only_those() -> None:
    text = f"{ENGLISH}\n\n{GERMAN}\n \nBob went home.\n\n{GERMAN}"
    own = own_text(text, FOREIGN["en"], [FOREIGN["fr"], FOREIGN["de"]])
    assert own.split() == f"{ENGLISH} Bob went home.".split()
    assert own.index("Bob") == text.index("Bob")
    assert own_text(text, FOREIGN["en"], []) == text


@given(paragraph=PARAGRAPHS, languages=st.sets(st.sampled_from(sorted(FOREIGN)), min_size=1))
def test_a_paragraph_is_read_by_all_that_is_in_no_single_language(paragraph: str, languages: set[str]) -> None:
    read = {
        language
        for language in languages
        if not own_text(paragraph, FOREIGN[language], [FOREIGN[other] for other in languages - {language}]).isspace()
    }
    possible = {language for language in languages if not FOREIGN[language].is_foreign(paragraph)}
    assert read == (possible or languages)


def test_a_paragraph_that_mixes_languages_is_read_by_each_model() -> None:
    for first, second in combinations([ENGLISH, GERMAN, FRENCH], 2):
        text = f"{first} {second} " * 3
        for language in ("de", "en", "fr"):
            others = [FOREIGN[other] for other in ("de", "en", "fr") if other != language]
            assert own_text(text, FOREIGN[language], others) == text


def test_a_long_run_of_signs_is_loosened_and_short_ones_and_words_are_not() -> None:
    assert own_text("(" * RUN, FOREIGN["en"], []) == (("(" * (SIGNS - 1)) + " ") * (RUN // SIGNS)
    for text in ("(" * (RUN - 1), "x" * (4 * RUN), "a, b " * RUN):
        assert own_text(text, FOREIGN["en"], []) == text

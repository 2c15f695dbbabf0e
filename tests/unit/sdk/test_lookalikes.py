"""What a character is read as, held to Unicode's own data and to every other table of look-alikes that there is."""

from __future__ import annotations

import unicodedata

import pytest

from pratique.lookalikes import LOOK_ALIKES, letters_of
from pratique.untrusted import TAG
from streams.adapters.injection.folding import CONFUSABLES
from streams.domain.compaction import text
from streams.domain.scanning.views.confusables import LATIN
from tests.unit.sdk.disguises import IGNORABLE, MARKS, WHITE, forms

OF_TAG = set(TAG) - {"_"}
FOLDED = {chr(other): chr(latin) for other, latin in text.LOOK_ALIKES.items()}


@pytest.mark.parametrize("characters", [IGNORABLE, WHITE, MARKS], ids=["ignored", "white space", "marks"])
def test_what_is_not_seen_is_no_letter(characters: str) -> None:
    assert len(characters) > 20
    assert {letters_of(character) for character in characters} == {""}


def test_no_mark_is_a_letter_of_the_tag() -> None:
    assert [mark for mark in MARKS + WHITE + IGNORABLE if set(letters_of(mark)) & OF_TAG] == []


@pytest.mark.parametrize("table", [LATIN, CONFUSABLES, FOLDED], ids=["views", "injection", "authority"])
def test_no_other_table_knows_a_letter_of_the_tag_that_is_not_known_here(table: dict[str, str]) -> None:
    known = {other: latin.lower() for other, latin in table.items() if latin.lower() in OF_TAG}
    assert {other: letters_of(other) for other in known} == known


@pytest.mark.parametrize("letter", sorted(OF_TAG))
def test_a_letter_is_read_in_every_form(letter: str) -> None:
    assert {letters_of(form) for form in forms(letter)} == {letter}
    accented = (unicodedata.normalize("NFC", letter + mark) for mark in "\u0301\u0308\u0323\u030c")
    assert {letters_of(form) for made in accented for form in made} <= {letter, ""}


def test_names_of_latin_forms_are_read() -> None:
    forms = ("\u1d1c", "\u0111", "\U0001f184", "\U0001f164", "\u24b0", "\ua731", "\u0167")
    assert [letters_of(form) for form in forms] == ["u", "d", "u", "u", "u", "s", "t"]


def test_look_alikes_are_of_the_tag_alone_and_honest_letters_stay() -> None:
    assert set(LOOK_ALIKES.values()) == OF_TAG
    assert [letters_of(letter) for letter in "xQ\u0436\u4e2d\u05d0"] == ["x", "q", "\u0436", "\u4e2d", "\u05d0"]
    assert [letters_of(sign) for sign in "5_/<\u20ac\U0001f600"] == [""] * 6

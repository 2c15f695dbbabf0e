"""Where a rule matched, in the text as it is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.compaction.conflicts import PatternRule
from streams.domain.compaction.places import match_place, view_places
from streams.domain.compaction.text import conflict_views

LETTERS = st.text("aB1 .-_/\\\t\n\u200b\u00a0éÄß\ufb01\uff21\u0301\u0915日\u1100\u1161\U0001f600\x00\u0130\u017f")


@pytest.mark.parametrize(
    ("text", "pattern", "found"),
    [
        ("Then TELL them.", r"\btell\b", "TELL"),
        ("Then  te\u200bll\n them.", r"tell them", "te\u200bll\n them"),
        ("File tellThem/the_secret.", r"tell them the secret", "tellThem/the_secret"),
        ("Die ﬁnale Straße.", r"finale strasse", "ﬁnale Straße"),
        ("日本 \uff34ell.", r"tell", "\uff34ell"),
        ("cafe\u0301 tell", r"tell", "tell"),
        ("src/a.b is told.", r"a b is", "a.b is"),
        ("It ends. tell", r"ends\. tell", "ends. tell"),
    ],
)
def test_the_place_is_that_of_the_letters_as_they_were_written(text: str, pattern: str, found: str) -> None:
    place = match_place(text, PatternRule.compile("rule", frozenset(), pattern))
    assert place is not None
    assert text[slice(*place)] == found


def test_what_does_not_match_has_no_place() -> None:
    assert match_place("Nothing here.", PatternRule.compile("rule", frozenset(), "secret")) is None
    assert match_place("Nothing here.", PatternRule.compile("rule", frozenset(), r"\b")) is None


@given(LETTERS)
def test_letters_are_those_of_the_views_and_stand_in_order(text: str) -> None:
    places = view_places(text)
    if places:
        assert tuple("".join(item.letter for item in view) for view in places) == conflict_views(text)
    for view in places:
        assert all(first.start <= second.start for first, second in pairwise(view))
        assert all(0 <= item.start <= item.end <= len(text) for item in view)


@given(st.text(st.characters(codec="ascii")))
def test_ascii_can_always_be_told(text: str) -> None:
    assert len(view_places(text)) == len(conflict_views(text))

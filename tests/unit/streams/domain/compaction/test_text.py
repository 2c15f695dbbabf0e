"""The views that conflict rules see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.compaction.text import conflict_views, free_pieces


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("Tell  the\n\tSECRET.", "tell the secret."),
        ("te\u200bll the sec\u00adret", "tell the secret"),
        ("te\u2060l\ufeffl\u202e the secret", "tell the secret"),
        ("t\U000e0065ell", "tell"),
        ("tell\ufe0f", "tell"),
        ("\uff34\uff45\uff4c\uff4c", "tell"),
        ("\U0001d42d\U0001d41e\U0001d425\U0001d425", "tell"),
        ("STRASSE", "strasse"),
        ("Stra\u00dfe", "strasse"),
        ("o\ufb03ce", "office"),
        ("tell\u00a0the\u2003secret", "tell the secret"),
        ("te\x08ll\x1b", "tell"),
        ("\u212aey", "key"),
    ],
)
def test_the_first_view_folds_and_shows(text: str, view: str) -> None:
    assert conflict_views(text)[0] == view


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("File tell/the_secret-now.", "file tell the secret now."),
        ("tellTheSecret", "tell the secret"),
        ("v1.2 tell.the.secret. Done.", "v1 2 tell the secret. done."),
        ("tell\\the\\secret", "tell the secret"),
    ],
)
def test_the_second_view_takes_compounds_apart(text: str, apart: str) -> None:
    assert conflict_views(text)[1] == apart


def test_one_view_where_nothing_is_compound() -> None:
    assert conflict_views("Tell the secret. Now.") == ("tell the secret. now.",)


@given(st.text(), st.text())
def test_unseen_characters_hide_nothing(left: str, right: str) -> None:
    hidden = conflict_views(f"{left} tell\u200b\u2061the\U000e0001 secret {right}")[0]
    assert "tellthe secret" in hidden


@given(st.text())
def test_views_are_collapsed_and_folded(text: str) -> None:
    for view in conflict_views(text):
        assert view == " ".join(view.split())
        assert view.isascii() is False or view == view.lower()


@given(st.text(alphabet=st.sampled_from('ab .!?\n"\u201c\u201d-*1\u3002\u200b\u00ab'), max_size=60))
def test_pieces_of_free_text_lie_in_order_inside_it(text: str) -> None:
    (start, end), *pieces = free_pieces(text)
    assert (start, end) == (0, len(text))
    last = 0
    for start, end in pieces:
        assert last <= start < end <= len(text)
        assert text[start:end].strip()
        last = end


def test_pieces_of_free_text_are_its_lines_quotations_and_sentences() -> None:
    text = 'Notes\n- first item\n2. second item. And "quoted words" here! Last\u3002End'
    assert [text[start:end].strip() for start, end in free_pieces(text)][1:] == [
        "Notes",
        "first item",
        "second item",
        "And",
        "quoted words",
        "here",
        "Last",
        "End",
    ]

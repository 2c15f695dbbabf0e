"""Views keep where everything came from: places ascend, stay inside the original, and hold what they stand for."""

from __future__ import annotations

import operator

from hypothesis import given
from hypothesis import strategies as st

from streams.domain.scanning.views.model import BETWEEN, CONTEXT, Edit, View, plain, rewrite

_RUNS = st.lists(st.builds(operator.mul, st.sampled_from("ab 1"), st.integers(1, 400)), min_size=1, max_size=6)
TEXTS = st.one_of(st.text("ab 1", min_size=1, max_size=400), _RUNS.map("".join))
"""Words, and tokens that are longer than what is kept beside an edit."""


@st.composite
def rewritten(draw: st.DrawFn) -> tuple[str, View]:
    """Draw a text and a view of it that was rewritten up to three times."""
    text = draw(TEXTS)
    view = plain(text)
    for number in range(draw(st.integers(1, 3))):
        edits = draw(edits_of(view.text, f"way{number}"))
        view = rewrite(view, edits) if edits else view
    return text, view


@st.composite
def edits_of(draw: st.DrawFn, text: str, kind: str) -> list[Edit]:
    bounds = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    edits = []
    for start, end in zip(bounds[::2], bounds[1::2], strict=False):
        if draw(st.booleans()):
            edits.append(Edit(start, end, text[start:end].upper(), kind, range(end - start)))
        elif draw(st.booleans()):
            kept = sorted(draw(st.sets(st.integers(0, end - start - 1), min_size=1)))
            edits.append(Edit(start, end, "".join(text[start + place] for place in kept), kind, kept))
        else:
            edits.append(Edit(start, end, draw(st.text("XYZ", min_size=1, max_size=5)), kind))
    return edits


@given(rewritten())
def test_pieces_cover_the_view_and_ascend_in_the_original(drawn: tuple[str, View]) -> None:
    text, view = drawn
    assert "".join(view.text[piece.start : piece.end] for piece in view.pieces) == view.text
    for before, after in zip(view.pieces, view.pieces[1:], strict=False):
        assert before.end == after.start
        assert before.low <= after.low
        assert before.high <= after.high
    for piece in view.pieces:
        assert 0 <= piece.low <= piece.high <= len(text)


@given(rewritten(), st.data())
def test_places_are_inside_the_original_and_ascend(drawn: tuple[str, View], data: st.DataObject) -> None:
    text, view = drawn
    low, high = sorted((data.draw(st.integers(0, len(view.text))), data.draw(st.integers(0, len(view.text)))))
    place = view.place(low, high)
    if place is not None:
        assert 0 <= place.start <= place.end <= len(text)
        first = view.place(low, low + 1)
        assert first is None or first.start == place.start


@given(rewritten(), st.data())
def test_what_was_copied_stands_so_in_the_original(drawn: tuple[str, View], data: st.DataObject) -> None:
    text, view = drawn
    piece = data.draw(st.sampled_from(view.pieces)) if view.pieces else None
    if piece is not None and piece.places is not None and not piece.kinds:
        assert view.text[piece.start : piece.end] == text[piece.low : piece.high]
        place = view.place(piece.start, piece.end)
        assert place is None or place[:2] == (piece.low, max(piece.low, piece.high))


def test_what_is_decoded_is_in_its_run_and_what_is_beside_it_is_not() -> None:
    view = rewrite(plain("key: RUN now"), [Edit(5, 8, "the secret", "way")])
    assert view.text == "key: the secret now"
    assert view.place(9, 15) == (5, 8, ("way",))
    assert view.place(0, 4) == (0, 4, ())
    assert view.place(2, 18) == (2, 11, ("way",))


def test_what_is_far_from_an_edit_is_left_out_at_a_word_and_nothing_reaches_across() -> None:
    far = "words " * CONTEXT
    view = rewrite(plain(f"A {far} B"), [Edit(0, 1, "one", "way"), Edit(len(far) + 3, len(far) + 4, "two", "way")])
    assert len(view.text) < 3 * CONTEXT
    assert set(view.text.split()) == {"one", "two", "words"}
    gap = view.text.index(BETWEEN)
    assert view.place(gap - 1, gap + len(BETWEEN) + 1) is None
    assert view.place(gap - 1, gap) is not None


def test_two_edits_of_one_long_token_stand_in_one_stretch() -> None:
    token = "x" * (2 * CONTEXT + 40)
    view = rewrite(
        plain(f"A-{token}-B"), [Edit(0, 1, "one", "way"), Edit(len(token) + 3, len(token) + 4, "two", "way")]
    )
    assert view.text == f"one-{token}-two"


def test_dropped_characters_are_part_of_what_is_found_around_them() -> None:
    view = rewrite(plain("se-cr-et"), [Edit(1, 7, "ecre", "way", [0, 2, 3, 5])])
    assert view.text == "secret"
    assert view.place(0, 6) == (0, 8, ("way",))
    assert view.place(0, 1) == (0, 1, ())
    assert view.place(2, 4) == (3, 5, ("way",))


def test_the_same_twice_is_said_twice() -> None:
    once = rewrite(plain("RUN"), [Edit(0, 3, "run", "way")])
    twice = rewrite(once, [Edit(0, 3, "it", "way")])
    assert twice.place(0, 2) == (0, 3, ("way", "way"))
    assert twice.kinds == ("way", "way")

"""A terminal's sequences are taken off where they stand, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.scanning.views.model import View
from streams.domain.scanning.views.readings import readings
from streams.domain.scanning.views.terminal import has_only_colours, without_sequences
from tests.fakes.tokens import token

TOKEN: Final = token("digitalocean")
SEQUENCES: Final = [
    "\x1b[0m",
    "\x1b[m",
    "\x1b[K",
    "\x1b[01;31m",
    "\x1b[38;2;1;22;133m",
    "\x1b[4:3m",
    "\x1b[?25l",
    "\x1b[2J",
    "\x1b[1 q",
    "\x1b]0;a title\x07",
    "\x1b]8;;https://acme.example/a?b=c\x1b\\",
    "\x1b]8;id=1;\x07",
    "\x1bPq#0\x1b\\",
    "\x1b(B",
    "\x1b=",
    "\x1b7",
    "\x9b1m",
]
"""One of each kind."""


def shown_in(text: str, meant: str) -> tuple[View, int]:
    """Return the first reading that holds a text, and where."""
    return next((view, view.text.index(meant)) for view in readings(text) if meant in view.text)


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("before", ["", "Output: ", "\x1b[1m", "See \x1b]8;;file:///a\x1b\\it\x1b]8;;\x1b\\ and "])
@pytest.mark.parametrize("every", [1, 7, 30])
def test_what_sequences_stand_in_is_read_at_its_place(sequence: str, before: str, every: int) -> None:
    written = sequence.join(TOKEN[place : place + every] for place in range(0, len(TOKEN), every))
    text = f"{before}{sequence}{written}{sequence} and so on"
    view, start = shown_in(text, TOKEN)
    place = view.place(start, start + len(TOKEN))
    assert place is not None
    assert text[place.start : place.end] == written
    assert place.kinds == ("unhidden",)


@given(
    st.lists(st.lists(st.sampled_from(SEQUENCES), max_size=2), min_size=len(TOKEN) - 1, max_size=len(TOKEN) - 1),
    st.sampled_from(["", "plain words ", "\x1b[32mok\x1b[0m "]),
)
def test_any_sequences_between_a_token_s_characters_hide_nothing(between: list[list[str]], before: str) -> None:
    written = TOKEN[0] + "".join("".join(run) + letter for run, letter in zip(between, TOKEN[1:], strict=True))
    text = f"{before}\x1b[1m{written}\x1b[0m"
    view, start = shown_in(text, TOKEN)
    place = view.place(start, start + len(TOKEN))
    assert place is not None
    assert text[place.start : place.end] == written


@pytest.mark.parametrize("escape", ["\\u001b", "\\x1b", "\\x1B", "\\u{1b}", "\\033", "\\33", "\\e", "^[", "\u241b", ""])
def test_a_colour_is_taken_off_however_its_escape_is_written(escape: str) -> None:
    written = TOKEN[:20] + f"{escape}[0m{escape}[1;32m" + TOKEN[20:]
    text = f"Of a terminal: {escape}[31mThe{escape}[0m key is {escape}[32m{written}{escape}[0m, as it was shown."
    view, start = shown_in(text, TOKEN)
    place = view.place(start, start + len(TOKEN))
    assert place is not None
    assert text[place.start : place.end] == written


def test_what_is_decoded_and_then_dropped_leaves_what_stands_beside_it_its_place() -> None:
    lines = [f"\x1b[32mname{number}\x1b[0m: \x1b[1mvalue{number}\x1b[0m" for number in range(40)]
    text = json.dumps("\n".join(lines))
    view, start = shown_in(text, "name20: value20")
    place = view.place(start, start + len("name20: value20"))
    assert place is not None
    assert text[place.start : place.end] == "name20\\u001b[0m: \\u001b[1mvalue20"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a zero-width inside: ab\x1b[0\u200bmcd", "abcd"),
        ("a wide sign beside: ab\x1b[0m\uff3f\x1b[1mcd", "ab_cd"),
        ("a letter of another script: \x1b[0m\u0440\x1b[1mass", "pass"),
        ("hidden in an address \x1b]8;;x:gh\u200bp\x07 ", "ghp"),
        ("an end that was cut off \x1b[1mab\x1b[3", "ab"),
        ("escape alone: pass\x1bword", "password"),
        ("of \x1b]8;;no end", "of ]8;;no end"),
        ("in base64: \x1b[1mdGhlIHF1aWNr\x1b[0mIGJyb3duIGZveA==\x1b[m", "the quick brown fox"),
    ],
)
def test_what_stands_beside_other_disguises_is_read(written: str, meant: str) -> None:
    assert shown_in(written, meant)


@pytest.mark.parametrize(
    "text",
    ["sum(rate(x[5m])) by (a)", "a[1;2] and [10mg] of it", "PS1='\\e' and x[33]", "[m] and [K]", "a list[33m of 3"],
)
def test_what_looks_like_a_sequence_and_is_none_has_one_reading(text: str) -> None:
    assert [view.text for view in readings(text)] == [text]


@pytest.mark.parametrize(
    "line", ["\x1b[32m+    return b%d\x1b[m\n", "\x1b[2m17:%02d\x1b[0m \x1b[32m INFO\x1b[0m done\n"]
)
@pytest.mark.parametrize("written", [str, json.dumps])
def test_colours_all_over_a_text_keep_it_far_below_its_bound(line: str, written: Callable[[str], str]) -> None:
    text = written("".join(line % number for number in range(1_000)))
    assert sum(len(view.text) for view in readings(text)) < 4 * len(text)


@pytest.mark.parametrize(
    "unit", ["\x1b", "\x1b[", "\x1b]", "\x1b[1", "\x1b[0m", "a\x1b[0m", "[0m", "\\e[", "\x1bPa", "\x9b1"]
)
def test_readings_of_sequences_are_no_longer_than_a_few_times_the_text(unit: str) -> None:
    text = unit * (40_000 // len(unit))
    assert sum(len(view.text) for view in readings(text)) <= 8 * len(text)


@pytest.mark.parametrize(
    ("text", "only"), [("\x1b[1ma\x1b[K", True), ("\x1b[1m\x1b]0;a\x07", False), ("\x1b[1A", False)]
)
def test_colours_alone_are_told(text: str, only: bool) -> None:  # noqa: FBT001 - a table's column
    assert has_only_colours(text) is only


@pytest.mark.parametrize(
    "value", ["\x1b[0m", "\\u001b[0m", "\\033[1;39", "\x1b[1;3", "^[[0m", "[1;39m", "\\e[0m\\e[1m"]
)
def test_a_value_of_sequences_says_nothing(value: str) -> None:
    assert without_sequences(value) == ""


@pytest.mark.parametrize("value", ["", "a[0m", "[a]", "x1b[", "plain"])
def test_a_value_without_sequences_stays(value: str) -> None:
    assert without_sequences(value) == value

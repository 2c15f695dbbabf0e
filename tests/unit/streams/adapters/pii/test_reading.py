"""RE2's reading of a pattern rules out no text in which the pattern has a match."""

from __future__ import annotations

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streams.adapters.pii import index
from streams.adapters.pii.reading import FAR, WHOLE, Reading, readable

FLAGS = regex.IGNORECASE | regex.MULTILINE | regex.DOTALL
SOURCES = [
    r"\b[A-Z]{2}\d{3}\b",
    r"(?<![\w-])\d{2}([ -]?)\d{2}\1\d{2}(?![\w-])",
    r"(?i)(ab|cd\d)?x{2,}y",
    r"[^a]\s\w",
    r"k\d+",
    r"(?:\d[ -]?){3,5}",
    r"\w{2,3}(?=k)",
    r"[0-9a-f]{4}|i\d",
]
TEXTS = st.text(alphabet="abcdxyXYAKki01 -_.\u212aé\u0661\xa0\u0130\u0131\ud800", max_size=14)


@pytest.mark.parametrize("room", [WHOLE, FAR, 3])
@pytest.mark.parametrize("source", SOURCES)
@settings(max_examples=40)
@given(TEXTS)
@example("xxy")
def test_a_pattern_that_matches_may_match(source: str, room: float, text: str) -> None:
    matches = [match.group() for match in regex.finditer(source, text, flags=FLAGS, overlapped=True)]
    reading = Reading(source, FLAGS, room)
    assert reading.may_match(readable(text)) or not matches
    assert reading.may_match_marked(readable(text)) or all(match.isdecimal() for match in matches)


@pytest.mark.parametrize(
    ("source", "text", "whole", "marked"),
    [
        (r"\d{3}-?\d{3}", "123456", True, False),
        (r"\d{3}-?\d{3}", "123-456", True, True),
        (r"\d{6}", "123456", True, False),
        (r"[A-F\d]{3}", "12F", True, True),
        (r"[A-F\d]{3}", "123", True, False),
        (r"AB\d{3}", "ab123", False, False),
    ],
)
def test_it_does_rule_out(source: str, text: str, *, whole: bool, marked: bool) -> None:
    reading = Reading(source, 0, WHOLE)
    assert (reading.may_match(readable(text)), reading.may_match_marked(readable(text))) == (whole, marked)


def test_what_it_cannot_read_may_match() -> None:
    reading = Reading(r"\p{L}+", 0, WHOLE)
    assert reading.may_match(b"")
    assert reading.may_match_marked(b"")


def test_an_automaton_that_gives_up_rules_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Exhausted:
        def Match(self, _: object) -> list[int]:  # noqa: N802 - RE2's name
            return []

    monkeypatch.setattr("streams.adapters.pii.reading.automaton", lambda *_, **__: (Exhausted(), []))
    assert Reading("a", 0, WHOLE).may_match(b"")
    assert index.ONLY_END

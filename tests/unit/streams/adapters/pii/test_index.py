"""The index rules out no pattern that matches, and changes no finding."""

from __future__ import annotations

from functools import cache

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streams.adapters.pii.around import Around
from streams.adapters.pii.index import PatternIndex, widened
from streams.adapters.pii.judgement import judged
from streams.adapters.pii.rules import Match
from streams.adapters.pii.scanner import Scanner
from streams.adapters.presidio import PresidioDetector
from streams.adapters.presidio_profiles import SUPPORTED_LANGUAGES
from streams.domain.scanning.request import ScanProfile
from tests.unit.streams.adapters.pii.numbers import EXAMPLES

FLAGS = regex.IGNORECASE | regex.MULTILINE | regex.DOTALL
PIECES = [
    *(value for _, value in EXAMPLES),
    *("+49 151 2345678", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "bob@example.com", "AB12 CDE", "::1"),
    *("93.184.216.34", "00:1b:44:11:3a:b7", "RX-123456", "HRB 1234", "34 ABC 1234", "12.03.1984", "RSSMRA85T10A562S"),
    *("passport", "geboren", "born", "BSN", "plaka", "Straße 5", "Calle Real 7", "12 Elm Street", "\u0661\u0662\u0663"),
    *("\u212a", "\u017f", "\u0130", "é", "電話", ",", ". ", "-", "\n", "\xa0", "a", "Z", "0", "7", "_", "/"),
]


@cache
def scanner() -> Scanner:
    detector = PresidioDetector()
    languages = tuple(sorted(SUPPORTED_LANGUAGES))
    return detector.scanner(ScanProfile(languages, detector.supported_entity_types(languages)))


def test_every_pattern_can_be_read() -> None:
    assert scanner().index.unread == ()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from(["", " ", " ", "\n"]))
def test_findings_are_those_of_every_pattern_over_the_whole_text(pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    assert scanner().matches(text) == scanner().matches(text, indexed=False)


WORST = [
    *("call 555-123-4567 ", "tel 030 1234567 ", "+49 151 2345678 ", "12345678901 ", "123456789 ", "123-45-6789 "),
    *("card 4111111111111111 ", "1.2.3.4 ", "1.1.", "2001:db8::1 ", "01:23:45:67:89:ab ", "passport AB1234567 "),
    *(
        "born 12.03.1984 ",
        "DE89 3704 0044 0532 0130 00 ",
        "065 ",
        "1234 ",
        "00",
        "4",
        "12-",
        "A1B2C3D4 ",
        "id 12345678 ",
    ),
    *(
        "RSSMRA85T10A562S ",
        "12 Elm Street ",
        "ul. A 1 ",
        "12 bis rue A ",
        "jane.doe@example.com ",
        "X1 ",
        "1/2 ",
        "ab:",
    ),
]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(WORST + PIECES), st.sampled_from([1, 1, 2, 5, 30])), min_size=1, max_size=5))
@example([("1", 97), ("12345678901 ", 2), ("passport ", 1), ("AB1234567 ", 2)])
@example([("x", 200), ("12 bis rue Victor, ", 1)])
def test_the_same_of_what_is_repeated(recipe: list[tuple[str, int]]) -> None:
    text = "".join(piece * count for piece, count in recipe)[:1_500]
    assert scanner().matches(text) == scanner().matches(text, indexed=False)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="0123456789 abkisKISAZ.-/:@()+\n\u017f\u212a\u0130\u0131\u0664é", max_size=60))
def test_the_same_of_any_text(text: str) -> None:
    assert scanner().matches(text) == scanner().matches(text, indexed=False)


@pytest.mark.parametrize(
    "source",
    [
        r"\b[A-Z]{2}\d{3}\b",
        r"(?<![\w-])\d{2}([ -]?)\d{2}\1\d{2}(?![\w-])",
        r"(?i)(ab|cd\d)?x{2,}y",
        r"[^a]\s\w",
        r"k\d+",
    ],
)
@given(st.text(alphabet="abcdxyXYAK01 -_.\u212aé\u0661\xa0", max_size=14))
def test_a_pattern_that_matches_is_a_candidate(source: str, text: str) -> None:
    index = PatternIndex([source])
    if regex.search(source, text, flags=FLAGS):
        assert list(index.candidates(text)) == [0]


def test_a_pattern_that_it_cannot_read_is_always_one() -> None:
    index = PatternIndex([r"\p{L}+", r"\d{9}"])
    assert list(index.candidates("!")) == [0]


def test_an_automaton_that_gives_up_rules_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Exhausted:
        def Match(self, _: object) -> list[int]:  # noqa: N802 - RE2's name
            return []

    index = PatternIndex(["a1", "b2"])
    monkeypatch.setattr(index, "_set", Exhausted())
    assert list(index.candidates("")) == [0, 1]


def test_a_wider_pattern_is_cut_short() -> None:
    assert len(widened(r"\d{400}")) < len(widened(r"\d{4}[a-z]{400}")) < 100


@pytest.mark.parametrize(
    "piece", ["1-", "12 ", "a@b.", "ab:", "1.", "+1 ", "12.03.1984 ", "Rua ", "AB12 CD34 ", "4111 "]
)
def test_what_is_judged_grows_with_the_text_alone(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = 0

    def count(match: Match, around: Around) -> float:
        nonlocal counted
        counted += 1
        return judged(match, around)

    monkeypatch.setattr("streams.adapters.pii.scanner.judged", count)
    scanner().matches(piece * 400)
    once, counted = counted, 0
    scanner().matches(piece * 800)
    assert counted <= 2 * once + 2 * len(scanner().rules)

"""Characters that hide text are found; the same characters at their work are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.scanning.hidden import CARRIER, IN_WORDS, ORDER, SELECTORS, TAGS, hidden_text

TAGGED = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
CARRIED = "\U0001f600" + "".join(chr(0xE0100 + byte - 16) for byte in b"obey")


@pytest.mark.parametrize(
    ("kind", "before", "hidden", "after"),
    [
        (TAGS, "Nice day.", TAGGED, " Bye."),
        (TAGS, "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", TAGGED, ""),
        (SELECTORS, CARRIED[0], CARRIED[1:], " Bye."),
        (SELECTORS, "", "a\ufe01b\ufe02c\ufe03d\ufe04", "e"),
        (ORDER, "access = '", "user\u202e \u2066// admin\u2069 \u2066", "'"[:0]),
        (ORDER, "'''say ", "\u2067''' ; return\u2069", " more"),
        (CARRIER, "Hello ", "\u200b\u200c" * 8, " there"),
        (CARRIER, "", "\u3164" * 8, ""),
        (IN_WORDS, "i", "\u200bgnore wo\u200b", "rds"),
        (IN_WORDS, "\u0440", "\u2060\u0443\u0441\u2060", "\u0441\u043a\u0438\u0439"),
        (IN_WORDS, "", "i\u00adg\u00adn\u00ado\u00adr\u00ad", "e"),
        (IN_WORDS, "p", "\ufeffa\ufeff", "y"),
    ],
)
def test_what_hides_is_found_at_its_place(kind: str, before: str, hidden: str, after: str) -> None:
    if kind == ORDER and "\u202e" in hidden:
        before, hidden = before + hidden[:4], hidden[4:]
    (found,) = hidden_text(before + hidden + after)
    assert (found.kind, found.start, found.end) == (kind, len(before), len(before) + len(hidden))
    assert 0.5 < found.score <= 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain words.",
        "\ufeffA file with a mark of its byte order.",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f\u200d\U0001f525",
        "1\ufe0f\u20e3 #\ufe0f\u20e3 \u2602\ufe0e",
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f won",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u06a9\u062a\u0627\u0628\u200c\u0647\u0627",
        "\u0915\u094d\u200d\u0937 \u0930\u094d\u200d\u092f \u0915\u094d\u200c\u0937",
        "\u0e01\u200b\u0e02\u200b\u0e04 \u1780\u200b\u1781\u200b\u1782",
        "\u845b\U000e0100 \u8fbb\U000e0101",
        "Donau\u00addampf\u00adschiff\u00adfahrt und Wort\u00adtren\u00adnung",
        "Auf\u200clage",
        "System.\u200bCollections\u200b.Generic and Some\u200bLong\u200bName",
        "\u05e9\u05dc\u05d5\u05dd \u202bthe \u05e9\u05dd\u202c and \u200f1\u200e",
        "to \u2068Ann\u2069: \u2068three\u2069 letters",
        "\u202aC:\\Users\\ann",
        "\u1820\u180b\u1821",
    ],
)
def test_what_does_its_work_is_not(text: str) -> None:
    assert hidden_text(text) == []


@given(st.text(max_size=200))
def test_places_are_in_the_text_and_in_order(text: str) -> None:
    found = hidden_text(text)
    assert all(0 <= item.start < item.end <= len(text) for item in found)
    assert found == sorted(found, key=lambda item: (item.start, item.end, item.kind))


@given(st.text(st.characters(codec="ascii"), max_size=200))
def test_ascii_hides_nothing(text: str) -> None:
    assert hidden_text(text) == []

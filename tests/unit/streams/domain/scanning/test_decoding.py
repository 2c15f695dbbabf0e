"""What is written in another alphabet is read; what decodes to nothing readable is no text; work stays bounded."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.scanning import decoding
from streams.domain.scanning.decoding import MAX_DEPTH, decoded_layers

TEXT = "the quick brown fox jumps over the lazy dog"
RAW = TEXT.encode()
MORSE = "- .... . / --.- ..- .. -.-. -.- / -... .-. --- .-- -. / ..-. --- -..-"


def texts(text: str) -> list[str]:
    return [layer.text for layer in decoded_layers(text)]


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("base64", base64.b64encode(RAW).decode()),
        ("base64", base64.urlsafe_b64encode("ÿþ ÿþ ÿþ ÿþ words".encode()).decode().rstrip("=")),
        ("base64", base64.encodebytes(RAW * 3).decode().strip()),
        ("base64", json.dumps(base64.encodebytes(RAW * 3).decode().strip()).strip('"')),
        ("base64", json.dumps(base64.encodebytes(RAW * 3).decode().strip().replace("\n", "\r\n")).strip('"')),
        ("base64", json.dumps(json.dumps(base64.encodebytes(RAW * 3).decode().strip())).strip('"\\')),
        ("base64", json.dumps(base64.b64encode(b"words ?~?~?~?~ words").decode()).replace("/", "\\/").strip('"')),
        ("base64", base64.b64encode(TEXT.encode("utf-16-le")).decode()),
        ("base32", base64.b32encode(RAW).decode()),
        ("hex", RAW.hex()),
        ("hex", RAW.hex(" ")),
        ("binary", " ".join(f"{byte:08b}" for byte in RAW)),
        ("percent", "".join(f"%{byte:02X}" for byte in RAW)),
        ("html", "".join(f"&#{ord(letter)};" for letter in TEXT)),
        ("html", "".join(f"&#x{ord(letter):x};" for letter in TEXT)),
        ("unicode-escape", "".join(f"\\u{ord(letter):04x}" for letter in TEXT)),
        ("hex-escape", "".join(f"\\x{byte:02x}" for byte in RAW)),
        ("octal-escape", "".join(f"\\{byte:03o}" for byte in RAW)),
        ("quoted-printable", "".join(f"={byte:02X}" for byte in RAW)),
    ],
)
def test_what_is_encoded_is_read_at_its_place(encoding: str, written: str) -> None:
    layers = [layer for layer in decoded_layers(f"Notes: {written} and so on.") if layer.encodings == (encoding,)]
    assert any("words" in layer.text or TEXT in layer.text for layer in layers)
    for layer in layers:
        assert (layer.start, layer.end) <= (7, 7 + len(written) + 1)
        assert layer.start >= 0


def test_morse_is_read_without_its_signs() -> None:
    assert any("the quick brown fox" in text for text in texts(MORSE))


def test_a_code_inside_a_code_is_read_to_a_depth() -> None:
    written = TEXT
    for _ in range(MAX_DEPTH):
        written = base64.b64encode(written.encode()).decode()
    assert TEXT in texts(written)
    assert TEXT not in texts(base64.b64encode(written.encode()).decode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain words, 100 % of them, cost 5 & 6.",
        base64.b64encode(bytes(range(128, 256))).decode(),
        "f" * 64,
        "a/path/with/many/parts/in/it/and/one.more",
        "%zz&bogus;\\u12\\x",
        "\ud800\ud800%41%42",
    ],
)
def test_what_is_no_code_gives_nothing(text: str) -> None:
    assert texts(text) == []


HIDDEN = {
    "a byte that is none of a text": base64.b64encode(RAW + b"\xff").decode(),
    "bytes before it": (b"\xfe\xff\x80" + RAW).hex(),
    "control characters": base64.b64encode(RAW + b"\x01" * 60).decode(),
    "zeros": base64.b64encode(RAW + b"\x00" * 61).decode(),
    "zeros and no UTF-8": base64.b64encode(RAW + b"\x00" * 61 + b"\xe9").decode(),
    "a line of words after it": base64.b64encode(RAW + b"  ").decode().rstrip("=") + "\nThanks, it is this.",
    "a string's line of words after it": base64.b64encode(RAW + b"  ").decode().rstrip("=") + "\\nThanks, it is this.",
    "a line of letters before it": "a_rather_long_line\n" + base64.b64encode(RAW).decode(),
    "letters after pairs": RAW.hex(" ") + " be",
    "many bits": "".join(f"{byte:08b}" for byte in RAW) + "00100000" * 10_000,
    "escaped control characters": "".join(f"%{byte:02x}" for byte in RAW) + "%01" * 20,
}


@pytest.mark.parametrize("how", HIDDEN)
def test_what_is_added_to_a_run_hides_nothing(how: str) -> None:
    assert any(TEXT in text for text in texts(HIDDEN[how]))


def test_words_behind_a_string_s_line_hide_no_short_run_before_it() -> None:
    assert "short no. 12" in texts(base64.b64encode(b"short no. 12").decode() + "\\nThere are more")


def test_zeros_between_words_make_no_other_text_of_them() -> None:
    zeros = "%00" * 40
    (layer,) = decoded_layers(zeros.join((zeros, "the quick brown fox ", "jumps over it", zeros)))
    assert (layer.text, layer.whole) == ("the quick brown fox jumps over it", True)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (base64.b64encode(RAW).decode(), [True]),
        (base64.b64encode(RAW + b"\xff").decode(), [False]),
        ("with_the_words_of_a_run/" + base64.b64encode(RAW).decode(), [False]),
        (base64.b64encode(base64.b64encode(RAW) + b"\xff").decode(), [False, False]),
    ],
)
def test_a_run_that_is_read_in_part_is_no_whole_one(text: str, *, whole: list[bool]) -> None:
    assert [layer.whole for layer in decoded_layers(text)] == whole


@given(st.text(max_size=300))
def test_any_text_may_be_given(text: str) -> None:
    for layer in decoded_layers(text):
        assert 0 <= layer.start <= layer.end <= len(text)
        assert 1 <= len(layer.encodings) <= MAX_DEPTH


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cn", "Co"]), min_size=12, max_size=80))
def test_what_was_encoded_comes_back(text: str) -> None:
    found = texts(base64.b64encode(text.encode()).decode())
    assert text in found or not any(map(str.isalpha, text)) or not _readable(text)


def _readable(text: str) -> bool:
    return sum(letter.isprintable() or letter.isspace() for letter in text) >= 0.9 * len(text)


@pytest.mark.parametrize("unit", ["A", "0", "01", "%41", "&#65;", "\\u0041", ".- ", "41 ", "=41", "AAAAAAAAAAAAAAAA "])
def test_layers_are_no_longer_than_a_few_times_the_text(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    assert sum(len(layer.text) for layer in decoded_layers(text)) <= 8 * len(text)


PARTS = [
    "aGVsbG8gd29ybGQgYWdhaW4h",
    "MFRGGZDFMZTWQ2LK",
    "aGVsbG8gd29ybGQgYWdh\\naW4hIGFuZCBtb3Jl",
    "\\n",
    "\\/",
    "00ff" * 6,
    "41 42:43,44 45 46 47 48 ",
    "01000001",
    " ",
    ".- -... ",
]
MORE = [
    "%41",
    "&#65;",
    "&lt;",
    "\\u0041",
    "\\U00000041",
    "U+0041 ",
    "\\x41",
    "\\101",
    "=41",
    "/ ",
    "word ",
    "\u00b7\u2212 ",
    "\ud800",
]


@given(st.lists(st.sampled_from([*PARTS, *MORE]) | st.text(max_size=3), max_size=24).map("".join))
def test_a_look_beforehand_keeps_nothing_from_being_read(text: str) -> None:
    """One automaton says which alphabets are there, and a count of signs which escapes: nothing else is looked for."""
    quick = list(decoded_layers(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "_alphabets_in", lambda _: frozenset(decoding._ALPHABET_NAMES))
        patch.setattr(decoding, "_MARKS", {})
        assert list(decoded_layers(text)) == quick

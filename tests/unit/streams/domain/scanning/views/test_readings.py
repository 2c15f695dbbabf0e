"""What is disguised is read where it stands; a text without a disguise has one reading; bounds hold."""

# ruff: noqa: RUF001 - look-alikes are meant

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.errors import TooLargeError
from streams.domain.policy.model import ViewLimits
from streams.domain.scanning.decoding import Reading
from streams.domain.scanning.views import alphabets, joining
from streams.domain.scanning.views.limits import READ_ANYWAY, READ_OF_EACH, most_read
from streams.domain.scanning.views.model import Edit, View
from streams.domain.scanning.views.readings import readings
from streams.domain.scanning.views.stretches import apart
from tests.bench.together import TOGETHER, disguised

PHRASE: Final = "the quick fox no. 4711 at Dock_Five"
RAW: Final = PHRASE.encode()


def lines(text: str, width: int) -> str:
    return "\n".join(text[place : place + width] for place in range(0, len(text), width))


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


DISGUISES: Final[dict[str, tuple[str, Callable[[str], str]]]] = {
    "base64": ("base64", _base64),
    "base64 for addresses": ("base64", lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")),
    "base64 in lines": ("base64", lambda text: lines(base64.b64encode((text * 3).encode()).decode(), 20)),
    "base64 in lines of a string": (
        "base64",
        lambda text: json.dumps(lines(base64.b64encode((text * 3).encode()).decode(), 60).replace("\n", "\r\n")),
    ),
    "base64 in a string of a string": ("base64", lambda text: json.dumps(json.dumps(lines(_base64(text * 3), 60)))),
    "base64 with slashes of a string": ("base64", lambda text: json.dumps(_base64(text + "~?~?")).replace("/", "\\/")),
    "base64 in a data URL": (
        "base64",
        lambda text: "data:text/plain;base64," + base64.b64encode(text.encode()).decode(),
    ),
    "gzip": ("base64+gzip", lambda text: base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()),
    "zlib": ("hex+gzip", lambda text: zlib.compress(text.encode()).hex()),
    "bzip2": ("base64+bzip2", lambda text: base64.b64encode(bz2.compress(text.encode())).decode()),
    "xz": ("base64+xz", lambda text: base64.b64encode(lzma.compress(text.encode())).decode()),
    "base64 backwards": ("reversed+base64", lambda text: _base64(text + "..")[::-1]),
    "UTF-16": ("base64", lambda text: base64.b64encode(text.encode("utf-16-le")).decode()),
    "UTF-16 with a mark": ("base64", lambda text: base64.b64encode(text.encode("utf-16")).decode()),
    "base32": ("base32", lambda text: base64.b32encode(text.encode()).decode()),
    "hex": ("hex", lambda text: text.encode().hex()),
    "hex in pairs": ("hex", lambda text: text.encode().hex(" ")),
    "hex with a sign": ("hex", lambda text: "0x" + text.encode().hex()),
    "hex as a list": ("hex", lambda text: ", ".join(f"0x{byte:02x}" for byte in text.encode())),
    "hex in groups": ("hex", lambda text: " ".join(re.findall(".{1,4}", text.encode().hex()))),
    "numbers": ("decimal", lambda text: ", ".join(str(byte) for byte in text.encode())),
    "numbers in lines": ("decimal", lambda text: json.dumps(list(text.encode()), indent=4)),
    "numbers in lines of a string": ("decimal", lambda text: json.dumps(json.dumps(list(text.encode()), indent=4))),
    "numbers without a sign": ("decimal", lambda text: "\n   ".join(str(byte) for byte in text.encode())),
    "hex in indented lines": ("hex", lambda text: ",\n        ".join(f"0x{byte:02x}" for byte in text.encode())),
    "calls": ("decimal", lambda text: " + ".join(f"chr({byte})" for byte in text.encode())),
    "base85": ("base85", lambda text: base64.b85encode(text.encode()).decode()),
    "ascii85": ("ascii85", lambda text: base64.a85encode(text.encode(), adobe=True).decode()),
    "base64 in smaller groups": ("joined+base64", lambda text: " ".join(re.findall(".{1,8}", _base64(text)))),
    "base64 in groups": ("joined+base64", lambda text: " ".join(re.findall(".{1,12}", _base64(text)))),
    "base64 after a word": ("base64", lambda text: "the_name/" + _base64(text)),
    "bits": ("binary", lambda text: " ".join(f"{byte:08b}" for byte in text.encode())),
    "percent": ("percent", lambda text: "".join(f"%{byte:02X}" for byte in text.encode())),
    "entities": ("html", lambda text: "".join(f"&#{ord(letter)};" for letter in text)),
    "entities in hex": ("html", lambda text: "".join(f"&#x{ord(letter):x};" for letter in text)),
    "code points": ("unicode-escape", lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text)),
    "code points in braces": ("unicode-escape", lambda text: "".join(f"\\u{{{ord(letter):x}}}" for letter in text)),
    "long code points": ("unicode-escape", lambda text: "".join(f"\\U{ord(letter):08x}" for letter in text)),
    "code points by name": ("unicode-escape", lambda text: " ".join(f"U+{ord(letter):04X}" for letter in text)),
    "code points of a string": ("unicode-escape", lambda text: "".join(f"\\\\u{ord(letter):04x}" for letter in text)),
    "bytes of a string": ("hex-escape", lambda text: "".join(f"\\\\x{byte:02x}" for byte in text.encode())),
    "octal bytes of a string": ("octal-escape", lambda text: "".join(f"\\\\{byte:03o}" for byte in text.encode())),
    "bytes": ("hex-escape", lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode())),
    "octal bytes": ("octal-escape", lambda text: "".join(f"\\{byte:03o}" for byte in text.encode())),
    "quoted-printable": ("quoted-printable", lambda text: "".join(f"={byte:02X}" for byte in text.encode())),
    "wide": ("normalised", lambda text: "".join(_wide(letter) for letter in text)),
    "bold": ("normalised", lambda text: "".join(_bold(letter) for letter in text)),
    "other digits": ("normalised", lambda text: "".join(_digit(letter) for letter in text)),
    "look-alikes": ("confusables", lambda text: text.translate(str.maketrans("oeaxDF", "оеахᎠF"))),
    "no width": ("unhidden", "\u200b".join),
    "soft hyphens": ("unhidden", "\u00ad".join),
    "joiners": ("unhidden", "\u2060".join),
    "tags": ("unhidden", lambda text: "".join(chr(0xE0000 + ord(letter)) for letter in text)),
    "selectors": ("unhidden", lambda text: "\U0001f600" + "".join(chr(0xE0100 + byte - 16) for byte in text.encode())),
    "bits without width": ("unhidden", lambda text: "".join(_bits(byte) for byte in text.encode())),
}


def _wide(letter: str) -> str:
    return chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter


def _bold(letter: str) -> str:
    if letter.isascii() and letter.islower():
        return chr(ord(letter) - ord("a") + 0x1D41A)
    return chr(ord(letter) - ord("0") + 0x1D7CE) if letter.isdigit() else letter


def _digit(letter: str) -> str:
    return chr(ord(letter) - ord("0") + 0x0660) if letter.isdigit() else letter


def _bits(byte: int) -> str:
    return f"{byte:08b}".replace("0", "\u200b").replace("1", "\u200c")


def found(text: str, phrase: str = PHRASE, limits: ViewLimits | None = None) -> list[tuple[View, int]]:
    """Return the readings that hold a phrase, and where."""
    views = readings(text) if limits is None else readings(text, limits)
    return [(view, view.text.index(phrase)) for view in views if phrase in view.text]


@pytest.mark.parametrize("how", DISGUISES)
def test_what_is_disguised_is_read_at_its_place(how: str) -> None:
    kind, disguise = DISGUISES[how]
    written = disguise(PHRASE)
    before = "Notes of Monday: "
    (view, start), *_ = found(f"{before}{written} and so on.")
    place = view.place(start, start + len(PHRASE))
    assert place is not None
    assert len(before) <= place.start < place.end <= len(before) + len(written) + 1
    assert kind in "+".join(place.kinds)
    assert view.text.startswith("Notes of Monday: ") or how == "base64 in lines"


@pytest.mark.parametrize("outer", DISGUISES)
@pytest.mark.parametrize("inner", ["base64", "hex", "percent", "code points"])
def test_one_disguise_in_another_is_taken_off_too(outer: str, inner: str) -> None:
    written = DISGUISES[outer][1](DISGUISES[inner][1](PHRASE))
    assert found(f"Notes: {written} and so on.")


TOKEN: Final = base64.b64decode("ZG9wX3YxXzFhMmIzYzRkNWU2ZjcwODE5YTJiM2M0ZDVlNmY3MDgx").decode()
ROT13: Final = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm"
)
TORN: Final[dict[str, tuple[str, str]]] = {
    "added up": ("joined", '"' + '" + "'.join(re.findall(".{1,9}", TOKEN)) + '"'),
    "side by side": ("joined", "'" + "' '".join(re.findall(".{1,9}", TOKEN)) + "'"),
    "over lines of code": ("joined", '"' + '" \\\n    "'.join(re.findall(".{1,9}", TOKEN)) + '"'),
    "a list": ("joined", "['" + "', '".join(re.findall(".{1,9}", TOKEN)) + "'].join('')"),
    "letter by letter": ("joined", " ".join(TOKEN)),
    "with hyphens": ("joined", "-".join(TOKEN)),
    "with hyphens in a sentence": ("joined", "-".join(f"is {TOKEN} so")),
    "with two signs": ("joined", ", ".join(TOKEN)),
    "a letter a line": ("joined", "\n".join(TOKEN)),
    "two lines": ("joined", TOKEN[:14] + "\n" + TOKEN[14:]),
    "an indented line": ("joined", TOKEN[:14] + "\\\r\n      " + TOKEN[14:]),
    "many lines": ("joined", "\n".join(re.findall(".{1,5}", TOKEN))),
    "in groups": ("joined", " ".join(re.findall(".{1,6}", TOKEN))),
    "in small groups": ("joined", " ".join(re.findall(".{1,5}", TOKEN))),
    "shifted": ("rot13", TOKEN.translate(ROT13)),
    "backwards": ("reversed", TOKEN[::-1]),
    "backwards in base64": ("base64+reversed", _base64(TOKEN[::-1])),
    "base64 backwards of lines": ("joined+base64", _base64(TOKEN)[:30] + '" + "' + _base64(TOKEN)[30:]),
}


@pytest.mark.parametrize("how", TORN)
def test_a_token_that_is_torn_or_turned_is_read_at_its_place(how: str) -> None:
    kind, written = TORN[how]
    before = "Notes of Monday:\n" if "\n" in written else "Notes of Monday: "
    (view, start), *_ = found(f"{before}{written} and so on.", TOKEN)
    place = view.place(start, start + len(TOKEN))
    assert place is not None
    assert "+".join(place.kinds) == kind
    assert len(before) <= place.start < place.end <= len(before) + len(written)


def as_string(text: str, times: int, *, slashes: bool = False) -> str:
    for _ in range(times):
        text = json.dumps(text)
        text = text.replace("/", "\\/") if slashes else text
    return text


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("between", ["\n", "\t", "\r\n", "\b", "\f", '"', ": /"])
def test_what_follows_a_string_s_escape_is_read_without_its_letter(between: str, times: int) -> None:
    before = between.replace("\b", " ").replace("\f", " ")
    text = as_string(f"of it{between}{TOKEN}{between}there", times, slashes="/" in between)
    (view, start), *_ = found(text, f"of it{before}{TOKEN}{before}there")
    start += len("of it" + before)
    place = view.place(start, start + len(TOKEN))
    assert place is not None
    assert text[place.start : place.end] == TOKEN


WORDS: Final = st.lists(st.text("abCD01.,:-", min_size=1, max_size=8), min_size=2, max_size=8)


@given(
    words=WORDS,
    between=st.sampled_from(["\n", "\t", "\r\n", '"', "/", '\n\t"']),
    times=st.integers(1, 4),
    slashes=st.booleans(),
)
def test_what_was_written_as_a_string_comes_back(words: list[str], between: str, times: int, *, slashes: bool) -> None:
    text = as_string(between.join(words), times, slashes=slashes)
    (view, start), *_ = found(text, between.join(words))
    for word in words:
        place = view.place(start, start + len(word))
        assert place is not None
        assert text[place.start : place.end] == word
        start += len(word + between)


@pytest.mark.parametrize("unit", ["a\\n", "1\\t", '\\"a\\": ', "a\\_", "a\\/"])
def test_signs_that_are_escaped_all_along_are_a_few_pieces(unit: str) -> None:
    assert max(len(view.pieces) for view in readings(unit * 500)) < 16


def test_what_only_looks_like_an_escape_is_read_as_it_stands_too() -> None:
    path = r"C:\new\table\report.txt"
    assert [view.text for view in readings(path)] == [path, "C:\new\table\report.txt"]


@pytest.mark.parametrize("escaped", ["_", ".", "*", "#", "+", "=", "@", ":", "~", "-"])
def test_an_escaped_sign_inside_a_token_is_read_as_the_sign(escaped: str) -> None:
    text = f"see ab\\{escaped}cd\\{escaped}\\{escaped}ef there"
    (view, start), *_ = found(text, f"ab{escaped}cd{escaped}{escaped}ef")
    place = view.place(start, start + 8 + len(escaped))
    assert place is not None
    assert text[place.start : place.end] == text[4:-6]
    assert place.kinds == ("markdown-escape",)


@pytest.mark.parametrize("text", [r"\d+\.\d+", r"[\w\-]+ \_ \*", r"\_word\_", r"a \- b"])
def test_an_escaped_sign_beside_a_token_is_none_inside_it(text: str) -> None:
    assert [view.text for view in readings(text)] == [text]


def test_what_stands_in_a_run_s_next_line_is_read_as_it_stands() -> None:
    written = _base64(PHRASE * 2)[:64]
    assert found(json.dumps(f"{written}\n{TOKEN}\nThere"), f"\n{TOKEN}\n")


def test_signs_around_a_string_hide_nothing_behind_its_escapes() -> None:
    assert found(f"see <~{base64.a85encode(RAW).decode()}\\nAB12CD34EF56~> there", "\nAB12CD34EF56")


def test_words_behind_an_escape_hide_no_run_before_it() -> None:
    assert found(json.dumps(f"see {_base64('short no. 12')}\nThere are more"), "short no. 12")


@pytest.mark.parametrize("slashes", [False, True])
def test_data_in_lines_of_a_string_has_no_more_readings_than_it_may(*, slashes: bool) -> None:
    data = base64.b64encode(b"".join(sha256(bytes([number])).digest() for number in range(256)) * 2).decode()
    list(readings(as_string("-----BEGIN DATA-----\n" + lines(data, 64), 1, slashes=slashes)))


def test_a_data_url_says_its_content_alone() -> None:
    (view, start), *_ = found(
        f"see data:text/plain;charset=utf-8;base64,{_base64(PHRASE)} there", f"see {PHRASE} there"
    )
    assert view.place(start, start + len(view.text)) is not None
    assert found(f"data:;base64,{_base64(PHRASE)}")


def test_what_is_short_is_tried_where_it_ends_as_only_base64_does() -> None:
    assert found(f"the number {_base64('555 0137')} is", "the number 555 0137 is")


def test_a_letter_that_is_broken_over_a_quoted_line_is_read() -> None:
    assert found("na=C3=\n=AFve =3D caf=C3=A9", "na\u00efve = caf\u00e9")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Gur cnffjbeq vf frperg naq ybat", "The password is secret and long"),
        ("gnol dna terces si drowssap ehT", "The password is secret and long"),
        ("my p4ssw0rd is long", "my password is long"),
        ("MY P@$$WORD IS LONG", "MY password IS LONG"),
    ],
)
def test_a_sentence_that_is_turned_is_read(written: str, meant: str) -> None:
    assert found(f"{written}\nNext line", meant)


def test_depth_is_policy_s() -> None:
    written = PHRASE
    for _ in range(3):
        written = base64.b64encode(written.encode()).decode()
    assert found(written, limits=ViewLimits(max_depth=3))
    assert not found(written, limits=ViewLimits(max_depth=2))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain words, 100 % of them, at 5 & 6 for x=10.",
        "f" * 64,
        "See src/module_name/file_name.py, line 12,\nand https://example.com/a/b_c?d=e\nfor the test_case_name.",
        "1. one\n2. two\n3. three\n\n- a\n- b\n- c\n",
        'print("hello", "world", sep=", ")',
        "a b c, or x - y - z; e.g. i.e. o.k.",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 file.txt",
        base64.b64encode(bytes(range(128, 256)) * 4).decode(),
        "Ein Satz über Größe, naïve Café-Gäste und 5 € – fertig.",
        "Обычный текст, в нём 12 слов.",
        "中文句子，有全角标点：没有别的。",
        "می‌خواهم کتاب‌ها را بخوانم",
        "क्‍ष और र्‍य",
        "\U0001f469\u200d\U0001f4bb \U0001f3f4\u200d\u2620\ufe0f",
    ],
)
def test_a_text_without_a_disguise_has_one_reading(text: str) -> None:
    assert [view.text for view in readings(text)] == [text]


@given(st.text(max_size=300))
def test_any_text_may_be_read(text: str) -> None:
    views = list(readings(text))
    assert views[0].text == text
    assert len({view.text for view in views}) == len(views)
    for view in views:
        place = view.place(0, len(view.text))
        assert place is None or 0 <= place.start <= place.end <= len(text)


@given(
    st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=12, max_size=60),
    st.sampled_from(sorted(DISGUISES)),
)
def test_what_was_disguised_comes_back(word: str, how: str) -> None:
    if how in {"look-alikes", "other digits", "bold", "base64 in groups", "base64 in smaller groups", "base85"}:
        return  # of some words they leave nothing, or no letter that shows the script
    assert found(f"Notes: {DISGUISES[how][1](word)} and so on.", word)


BOMB: Final = base64.b64encode(gzip.compress(b"a" * 3_000_000, mtime=0)).decode()


def test_a_bomb_is_too_large() -> None:
    with pytest.raises(TooLargeError):
        list(readings(BOMB, ViewLimits(max_characters=2_000_000)))


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress, zlib.compress])
def test_a_bomb_of_another_form_is_too_large(pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(TooLargeError):
        list(readings(base64.b64encode(pack(b"a" * 3_000_000)).decode(), ViewLimits(max_characters=2_000_000)))


def test_a_bomb_inside_a_bomb_is_too_large() -> None:
    inner = gzip.compress(gzip.compress(b"\0" * 50_000_000, mtime=0), mtime=0)
    with pytest.raises(TooLargeError):
        list(readings(base64.b64encode(inner).decode()))


def test_a_stream_that_breaks_off_says_what_it_said() -> None:
    packed = gzip.compress(b"".join(b"line %d of the quick fox\n" % number for number in range(200)), mtime=0)
    assert found(base64.b64encode(packed[: len(packed) // 2]).decode(), "line 3 of the quick fox")


UNITS: Final = [
    "A", "0", "01", "%41", "&#65;", "\\u0041", "\\x41", "\\101", ".- ", "41 ", "=41", "AAAAAAAAAAAAAAAA ", "QQ==",
    "&amp;", "\u200bA", "\u200b", "\uff21", "\u0430a", "\U000e0041", "\u00ada", '"a" + "b"', "a-b-", "1 2 ",
    "\n1a2b", "\\\\", "\u202e", "<~", "'' ",
    "\\n", "\\\\n", '\\"', "\\/", "\\n1a2b", "a\\_b", "\\\\u0041", "65\n", "65,\n    ",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_readings_are_no_longer_than_a_few_times_the_text(unit: str) -> None:
    text = unit * (40_000 // len(unit))
    assert sum(len(view.text) for view in readings(text)) <= 8 * len(text)


def read_of(text: str) -> int:
    """Return how many characters of readings are made of a text, until it is refused or all are."""
    read = -len(text)
    try:
        for view in readings(text):
            read += len(view.text)
    except TooLargeError:
        pass
    return read


@pytest.mark.parametrize("unit", TOGETHER)
@pytest.mark.parametrize("characters", [3_000, 30_000])
def test_disguises_side_by_side_are_refused_since_they_read_as_every_choice_of_them(unit: str, characters: int) -> None:
    with pytest.raises(TooLargeError):
        list(readings(disguised(TOGETHER[unit], characters)))


@pytest.mark.parametrize("unit", TOGETHER)
@pytest.mark.parametrize("characters", [300, 3_000, 30_000])
@pytest.mark.parametrize("share", [1, 0.2, 0.05, 0.01])
def test_readings_are_in_proportion_to_the_text(unit: str, characters: int, share: float) -> None:
    assert read_of(disguised(TOGETHER[unit], characters, share)) <= READ_ANYWAY + READ_OF_EACH * characters


def test_a_policy_bound_is_kept_where_it_is_the_lower_one() -> None:
    with pytest.raises(TooLargeError):
        found("%41" * 4_000, limits=ViewLimits(max_characters=3_000))
    assert found("%41" * 4_000, "A" * 4_000, ViewLimits(max_characters=4_000))


def test_what_is_packed_may_say_more_than_it_could_be_read_as() -> None:
    said = "".join(f"line {number * 7919 % 9973} of the fox\n" for number in range(400))
    packed = base64.b64encode(gzip.compress(said.encode(), mtime=0)).decode()
    assert most_read(len(packed)) < 2 * len(said)
    assert found(packed, "line 7919 of the fox")


def test_tokens_that_stand_apart_are_not_put_together_over_what_was_left_out() -> None:
    lines_of_data = lines("".join(f"q{number}Rs{number * 7}Tu" for number in range(200)), 64)
    views = list(readings(lines_of_data))
    assert {view.kinds for view in views} == {(), ("rot13",), ("reversed",), ("joined",)}
    assert not any(piece.left_out and piece.high > piece.low for view in views for piece in view.pieces)


def test_a_run_that_stands_in_many_readings_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[str] = []
    ordinary = alphabets._long

    def recorded(run: str, start: int, reading: Reading) -> Iterator[Edit]:
        decoded.append(run)
        return ordinary(run, start, reading)

    monkeypatch.setattr(alphabets, "_long", recorded)
    views = list(readings(f"p4ssw0rd %41 {_base64(PHRASE)} \\u0041 \u0430a"))
    assert sum(_base64(PHRASE) in view.text for view in views) > 1
    assert len(decoded) == len(set(decoded))


@pytest.mark.parametrize("unit", UNITS)
def test_readings_have_no_more_pieces_than_characters(unit: str) -> None:
    text = unit * (4_000 // len(unit))
    assert all(len(view.pieces) <= 2 * len(text) + 1 for view in readings(text))


@pytest.mark.parametrize("text", ["1-" * 500, "s e c r e t " * 100, "a, b, " * 200])
def test_a_seam_between_letters_is_said_once_however_many_patterns_see_it(text: str) -> None:
    seams = [(change.start, change.end) for change in joining._apart(text)]
    assert len(seams) == len(set(seams))
    assert seams
    assert apart(joining._apart(text)) == sorted(joining._apart(text))

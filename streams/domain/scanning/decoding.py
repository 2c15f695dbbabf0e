"""Texts that are written inside a text in another alphabet: base64, base32, hex, escapes, entities, binary, Morse.

The contract: ``decoded_layers`` finds every run that decodes to something readable, to a bounded depth, each with the
place of the run in the original text and the encodings on the way. A run that decodes to nothing readable is no text;
of one that is readable in part, the longer stretches are read, and what is added before or after hides nothing.
Every step is linear in what it reads: patterns have nothing after what repeats without bound, so that they never go
back. No layer is longer than the one it comes from by more than a constant factor: there is no bomb to be had. An
encoding is no finding; it is looked through because others look through it.

It does not see text hidden by invisible characters or letters alone; folding does (``streams.adapters.injection``).
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import re2

from streams.domain.scanning.places import Pattern, one_byte

MAX_DEPTH: Final = 2
"""Encodings inside each other that are looked through."""

SHORTEST_LETTERS: Final = 8
"""Fewest characters that a decoded text must have."""

_GAP: Final = 48
"""Characters between two escapes that still belong to one run."""

_READABLE: Final = 0.9

_SHORTEST_STRETCH: Final = 24
_STRETCH: Final = re.compile(rf"[^\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]{{{_SHORTEST_STRETCH},}}")
"""What is read of bytes that are no text as a whole: too long to stand in other data by chance."""

_ESCAPED_BREAK: Final = r"(?:\\{1,16}r)?\\{1,16}n"
"""A line's end inside a string, however often that was written as a string itself."""

_LETTER: Final = r"(?:[A-Za-z0-9+/_-]|\\{1,16}/)"
BASE64: Final = Pattern(rf"{_LETTER}{{16,}}(?:(?:\r?\n ?|{_ESCAPED_BREAK}){_LETTER}{{4,}})*={{0,2}}")
"""A run in one line or several; in a string its lines end, and its slashes stand, as escapes."""

UNESCAPED: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}(?:\r?\n ?[A-Za-z0-9+/_-]{4,})*={0,2}")
"""The same as it is written outside of strings."""

BASE32: Final = Pattern(r"[A-Z2-7]{16,}={0,6}")
_HEX: Final = Pattern(r"(?:0[xX])?[0-9a-fA-F]{16,}|[0-9a-fA-F]{2}(?:[ :,][0-9a-fA-F]{2}){7,}")
BINARY: Final = Pattern(r"[01]{8}(?:[ ,]?[01]{8}){3,}")
MORSE: Final = Pattern("[.\\-\u00b7\u2212]{1,6}(?:[ /|]{1,3}[.\\-\u00b7\u2212]{1,6}){7,}", quick=False)
_UNICODE_ESCAPE: Final = r"\\u\{[0-9A-Fa-f]{1,6}\}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}|U\+[0-9A-Fa-f]{4,6} ?"
_ESCAPES: Final[tuple[tuple[str, re.Pattern[str], int], ...]] = (
    ("percent", re.compile(r"%[0-9A-Fa-f]{2}"), 3),
    ("html", re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});"), 3),
    ("unicode-escape", re.compile(_UNICODE_ESCAPE), 3),
    ("hex-escape", re.compile(r"\\x[0-9A-Fa-f]{2}"), 3),
    ("octal-escape", re.compile(r"\\[0-3][0-7]{2}"), 3),
    ("quoted-printable", re.compile(r"=[0-9A-F]{2}"), 3),
)

_MORSE_CODES: Final = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. "
    ".-.-.- --..-- ..--.. .----. -..-. ---... -....- -.-.-- -.--. -.--.- .-... .-..-. .-.-. -...- -.-.-. ..--.- .--.-."
)
_LETTERS_OF_MORSE: Final = dict(
    zip(_MORSE_CODES.split(), "abcdefghijklmnopqrstuvwxyz0123456789.,?'/:-!()&\"+=;_@", strict=True)
)


@dataclass(frozen=True, slots=True)
class Layer:
    """A decoded text.

    Attributes:
        text: What it says.
        start: Where its run begins in the original text.
        end: Where it ends.
        encodings: The outermost first.
        whole: Whether all of the run is in the text; else what it says as it stands may matter too.
    """

    text: str
    start: int
    end: int
    encodings: tuple[str, ...]
    whole: bool = True


def decoded_layers(text: str, *, max_depth: int = MAX_DEPTH) -> Iterator[Layer]:
    """Yield the texts that are encoded in a text, then those in them.

    Args:
        text: Any text.
        max_depth: Encodings inside each other that are looked through.
    """
    layers = [Layer(text, 0, len(text), ())]
    for depth in range(max_depth):
        inner = []
        for layer in layers:
            for name, start, end, decoded in _runs(layer.text):
                place = (layer.start + start, layer.start + end) if depth == 0 else (layer.start, layer.end)
                inner.append(Layer(decoded.text, *place, (*layer.encodings, name), layer.whole and decoded.whole))
        yield from inner
        layers = inner


class Decoded(NamedTuple):
    """What a run says.

    Attributes:
        text: As text.
        whole: Whether that is all of it.
        inner: What was undone inside the run, in our own words.
    """

    text: str
    whole: bool = True
    inner: tuple[str, ...] = ()


Reading: TypeAlias = Callable[[bytes], Decoded | None]
"""Says whether bytes are a text, and which."""


def _runs(text: str) -> Iterator[tuple[str, int, int, Decoded]]:
    held = _alphabets_in(text)
    raw = one_byte(text)
    for name, pattern, decode in _ALPHABETS:
        for start, end in pattern.spans(text, raw) if name in held else ():
            decoded = decode(text[start:end], text_of)
            if decoded is not None:
                if decoded.text != text[start:end]:
                    yield name, start, end, decoded
            elif "\\" in text[start:end]:
                # What stands behind an escape may be no part of it.
                yield from _unescaped_runs(text, start, end)
    for name, escape, fewest in _ESCAPES:
        for start, end in _clusters(text, name, escape, fewest):
            decoded = _unescaped(name, escape, text[start:end])
            if decoded is not None:
                yield name, start, end, decoded


def _unescaped_runs(text: str, start: int, end: int) -> Iterator[tuple[str, int, int, Decoded]]:
    for run in UNESCAPED.finditer(text, start, end):
        decoded = base64_text(run.group(), text_of)
        if decoded is not None and decoded.text != run.group():
            yield "base64", *run.span(), decoded


def _alphabets_in(text: str) -> frozenset[str]:
    """Return the alphabets that a text has runs of: one linear look, since most texts have few."""
    found = frozenset(_ALPHABET_NAMES[index] for index in _ALPHABET_SET.Match(text.encode("utf-8", "replace")) or ())
    return found if _ALWAYS in found else frozenset(_ALPHABET_NAMES)


def _clusters(text: str, name: str, pattern: re.Pattern[str], fewest: int) -> Iterator[tuple[int, int]]:
    """Yield runs of escapes with little between them, with the words that they begin and end in."""
    marks = _MARKS.get(name, ())
    if marks and sum(map(text.count, marks)) < fewest:
        return
    start = end = count = 0
    for match in pattern.finditer(text):
        if count and match.start() - end > _GAP:
            if count >= fewest:
                yield _to_words(text, start, end)
            count = 0
        if not count:
            start = match.start()
        end = match.end()
        count += 1
    if count >= fewest:
        yield _to_words(text, start, end)


_MARKS: Final = {
    "percent": ("%",),
    "html": ("&",),
    "quoted-printable": ("=",),
    "unicode-escape": ("\\u", "\\U", "U+"),
    "hex-escape": ("\\x",),
    "octal-escape": ("\\",),
}
"""One of which each escape begins with."""


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    low, high = max(0, start - _GAP), min(len(text), end + _GAP)
    before, after = text.rfind(" ", low, start), text.find(" ", end, high)
    return (before + 1 if before >= 0 else low), (after if after >= 0 else high)


def _unescaped(name: str, pattern: re.Pattern[str], run: str) -> Decoded | None:
    if name == "html":
        return Decoded(html.unescape(run))
    if name == "unicode-escape":
        return Decoded(_surrogates(pattern.sub(_code_point, run)))
    digits = {"percent": 1, "quoted-printable": 1, "hex-escape": 2, "octal-escape": 1}[name]
    base = 8 if name == "octal-escape" else 16
    raw = bytearray()
    place = 0
    for match in pattern.finditer(run):
        raw += run[place : match.start()].encode("utf-8", "replace")
        raw.append(int(match.group()[digits:], base))
        place = match.end()
    raw += run[place:].encode("utf-8", "replace")
    return text_of(bytes(raw), strict=False)


def _code_point(match: re.Match[str]) -> str:
    code = int(match.group().strip("\\uU+{} "), 16)
    return chr(code) if code < 0x110000 else "\ufffd"  # noqa: PLR2004 - the end of Unicode


def _surrogates(text: str) -> str:
    """Join surrogate pairs; a lone one is no character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def base64_text(run: str, reading: Reading) -> Decoded | None:
    """Return what a run of base64 says, in one line or several."""
    letters = run.rstrip("=")
    if "\\" in letters:
        letters = _BREAK.sub("\n", letters).replace("\\", "")
    if "-" in letters or "_" in letters:
        letters = letters.translate(_URL_SAFE)
    lines = letters.split()
    if len(lines) == 1:
        return reading(_base64_bytes(lines[0]))
    found = reading(_base64_bytes("".join(lines)))
    if found is not None and found.whole:
        return found
    # A line before it that is no part of it has moved all letters, and one after it has ended the text.
    by_line = reading(b"".join(map(_base64_bytes, lines)))
    return None if by_line is None else by_line._replace(whole=False)


def _base64_bytes(letters: str) -> bytes:
    """Return what letters stand for; a last one that stands for nothing is passed over."""
    spare = len(letters) % 4
    return binascii.a2b_base64(letters[:-1] if spare == 1 else letters + _PADDING[spare])


_BREAK: Final = re.compile(_ESCAPED_BREAK)
_PADDING: Final = ("", "", "==", "=")


_URL_SAFE: Final = str.maketrans("-_", "+/")


def base32_text(run: str, reading: Reading) -> Decoded | None:
    """Return what a run of base32 says."""
    letters = run.rstrip("=")
    letters = letters[: len(letters) // 8 * 8 + _BASE32_TAILS[len(letters) % 8]]
    try:
        return reading(base64.b32decode(letters + "=" * (-len(letters) % 8)))
    except (ValueError, binascii.Error):
        return None


_BASE32_TAILS: Final = (0, 0, 2, 2, 4, 5, 5, 7)


def hex_text(run: str, reading: Reading) -> Decoded | None:
    """Return what a run of hexadecimal digits says, with signs between pairs or without."""
    digits = re.sub(r"^0[xX]|[ :,]", "", run)
    return reading(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def binary_text(run: str, reading: Reading) -> Decoded | None:
    """Return what a run of bits says."""
    bits = run.replace(" ", "").replace(",", "")
    bits = bits[: len(bits) // 8 * 8]
    return reading(int(bits, 2).to_bytes(len(bits) // 8, "big"))


def morse_text(run: str, _: Reading) -> Decoded | None:
    """Return what a run of Morse code says."""
    words = re.split(r"\s*[/|]\s*|\s{3,}", run.replace("\u00b7", ".").replace("\u2212", "-"))
    letters = [[_LETTERS_OF_MORSE.get(letter, "") for letter in word.split()] for word in words]
    known = sum(bool(letter) for word in letters for letter in word)
    total = sum(map(len, letters))
    readable = known >= SHORTEST_LETTERS and known >= _READABLE * total
    return Decoded(" ".join(map("".join, letters))) if readable else None


def text_of(raw: bytes, *, strict: bool = True) -> Decoded | None:
    """Return bytes as text, where they are one: UTF-8, or Latin letters in UTF-16, which have zeros between them.

    Args:
        raw: Any bytes.
        strict: Whether a byte that is no character makes them none.
    """
    if len(raw) < SHORTEST_LETTERS:
        return None
    # Read as UTF-16, zeros that are added to a text would make another one of it; left out, they change nothing.
    encoding, plain = ("latin-1", raw.replace(b"\0", b"")) if raw.count(0) * 3 >= len(raw) else ("utf-8", raw)
    text = plain.decode("utf-8", "replace")
    if "\ufffd" in text and encoding == "latin-1":
        text = plain.decode(encoding)
    if strict and "\ufffd" in text:
        if len(text) < _SHORTEST_STRETCH:
            return None
        is_text = False
    else:
        readable = sum(letter.isprintable() or letter.isspace() for letter in text)
        is_text = readable >= _READABLE * len(text)
    found = Decoded(text) if is_text else Decoded(" ".join(_STRETCH.findall(text)), whole=False)
    return found if any(map(str.isalpha, found.text)) else None


_ALPHABETS: Final[tuple[tuple[str, Pattern, Callable[[str, Reading], Decoded | None]], ...]] = (
    ("base64", BASE64, base64_text),
    ("base32", BASE32, base32_text),
    ("hex", _HEX, hex_text),
    ("binary", BINARY, binary_text),
    ("morse", MORSE, morse_text),
)

_ALWAYS: Final = "always"
"""Matches every text: a set that does not say so ran out of memory, and said nothing."""
_ALPHABET_NAMES: Final = (_ALWAYS, *(name for name, _, _ in _ALPHABETS))


def _alphabet_set() -> re2.Set:
    patterns = re2.Set.SearchSet()
    for pattern in (r"\A", *(pattern.source for _, pattern, _ in _ALPHABETS)):
        patterns.Add(pattern)
    patterns.Compile()
    return patterns


_ALPHABET_SET: Final = _alphabet_set()

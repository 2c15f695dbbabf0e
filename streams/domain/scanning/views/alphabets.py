"""Runs in alphabets of their own: base64 in its variants, base32, base85, numbers of three bases, Morse.

The contract: ``alphabets`` yields one edit for each way that a run stands for something readable; for what stands for
nothing, none. A run may have been torn into groups or lines; one with something else glued before it is read from the
separator on. Each run is decoded a fixed number of times at most.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from streams.domain.scanning.decoding import (
    BASE32,
    BASE64,
    BINARY,
    MORSE,
    SHORTEST_LETTERS,
    UNESCAPED,
    Decoded,
    Reading,
    base32_text,
    base64_text,
    binary_text,
    hex_text,
    morse_text,
)
from streams.domain.scanning.places import Pattern, one_byte
from streams.domain.scanning.views.budget import Budget
from streams.domain.scanning.views.model import Edit
from streams.domain.scanning.views.unpacking import said_by

_WORDS: Final = re.compile(r"[a-z/_+\\-]*")
"""What no alphabet makes of a text: sixteen letters and signs without one capital or digit."""

_PADDED: Final = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{10,15}={1,2}(?![A-Za-z0-9+/_=-])")
"""A run that is too short to be tried as such, but ends as only base64 does."""

_HEX: Final = Pattern(r"(?:0[xX])?[0-9a-fA-F]{16,}")
_PAIRS: Final = Pattern(r"[0-9a-fA-F]{2}(?:[ :,][0-9a-fA-F]{2}){7,}")
_BETWEEN: Final = r"(?:[,;]{1,2}[ \t\r\n]{0,32}|[ \t\r\n]{1,32}(?:[,;][ \t\r\n]{0,32})?)"
"""What stands between the numbers of a list, in one line or indented in several; it is read in one way alone."""

_HEX_LIST: Final = Pattern(rf"0x[0-9a-fA-F]{{2}}(?:{_BETWEEN}0x[0-9a-fA-F]{{2}}){{7,}}")
_HEX_GROUPS: Final = Pattern(r"[0-9a-fA-F]{4,16}(?:[ :-][0-9a-fA-F]{2,16}){2,}")
_DECIMALS: Final = Pattern(rf"[0-9]{{2,3}}(?:{_BETWEEN}[0-9]{{2,3}}){{7,}}")
_CHARACTERS: Final = Pattern(r"(?:ch(?:a?)r(?:code)?\([0-9]{2,3}\)[ \t]?[+.&|,]{0,2}[ \t]?){4,}", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[0-9]{2,3}")
_BASE85: Final = Pattern(r"[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{20,}", takes_marks=True)
_MARKED85: Final = Pattern(r"<~[!-uz\s]{10,}~>", quick=False)
_ASCII85: Final = Pattern(r"[!-uz]{20,}", takes_marks=True)
_NOT_OF_WORDS: Final = re.compile(r"[!#$%&()*;<>?@^`{|}~\"'\[\]\\,]")
_LEAST_SIGNS: Final = 3
_SEPARATOR: Final = re.compile(r"[/_-]")
_MOST_GLUED: Final = 64
_SHORTEST_RUN: Final = 16
_CONTROL: Final = re.compile(rb"[\x00-\x1f\x7f]")
_TRIED: Final = 32
_MOST_TRIES: Final = 4
_BYTE: Final = 256

_Read = Callable[[str, Reading], Decoded | None]


class Runs:
    """What runs stand for, of all readings of a field: most stand in many of them, and each is decoded once.

    Args:
        budget: Is spent by what is unpacked.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._said: dict[tuple[str, str, str], list[Edit]] = {}

    def long(self, run: str, start: int) -> Iterator[Edit]:
        """Yield what a long run of letters and digits stands for."""
        return self._edits(("long-run", "", run), start, lambda: _long(run, 0, self._reading))

    def of_family(self, family: str, name: str, read: _Read, run: str, start: int) -> Iterator[Edit]:
        """Yield what a run of an alphabet stands for."""
        return self._edits((family, name, run), start, lambda: _edit(name, 0, run, read(run, self._reading)))

    def _edits(self, key: tuple[str, str, str], start: int, find: Callable[[], Iterable[Edit]]) -> Iterator[Edit]:
        edits = self._said.get(key)
        if edits is None:
            edits = self._said[key] = list(find())
        return (edit._replace(start=start + edit.start, end=start + edit.end) for edit in edits)

    def _reading(self, raw: bytes) -> Decoded | None:
        return said_by(raw, self._budget)


def alphabets(text: str, held: frozenset[str], runs: Runs) -> Iterator[Edit]:
    """Yield the runs of a text that stand for something readable.

    Args:
        text: Any text.
        held: The families of disguises that it may hold.
        runs: Says what runs stand for.

    Raises:
        TooLargeError: Something unpacks to more than is left.
    """
    raw = one_byte(text)
    if "padded" in held:
        for padded in _PADDED.finditer(text):
            yield from runs.of_family("padded", "base64", base64_text, padded.group(), padded.start())
    if "long-run" in held:
        for start, end in BASE64.spans(text, raw):
            if not _WORDS.fullmatch(text, start, end):
                yield from runs.long(text[start:end], start)
    for family, name, pattern, read in _FAMILIES:
        if family in held:
            for start, end in pattern.spans(text, raw):
                yield from runs.of_family(family, name, read, text[start:end], start)


def _long(run: str, start: int, reading: Reading) -> Iterator[Edit]:
    """Yield what a long run of letters and digits stands for in any of the alphabets that have these."""
    said = base64_text(run, reading)
    if "\\" in run and (said is None or not said.whole):
        # What stands behind an escape may be no part of it.
        for line in UNESCAPED.finditer(run):
            yield from _long(line.group(), start + line.start(), reading)
        return
    yield from _edit("base64", start, run, said)
    if said is None:
        yield from _glued(run, start, reading)
    # Backwards letters can make sense forwards by chance, so that both are readings.
    backwards = run.rstrip("=")[::-1]
    if (
        "\n" not in run
        and "\\" not in run
        and not _WORDS.fullmatch(backwards, 0, _SHORTEST_RUN)
        and base64_text(backwards[:_TRIED], _whole)
    ):
        yield from _edit("reversed+base64", start, run, base64_text(backwards, reading))
    for name, pattern, read in (("base32", BASE32, base32_text), ("hex", _HEX, hex_text)):
        for first, last in pattern.spans(run):
            yield from _edit(name, start + first, run[first:last], read(run[first:last], reading))


def _glued(run: str, start: int, reading: Reading) -> Iterator[Edit]:
    """Yield what a run says from a separator on, where its beginning is a name or path and no part of it."""
    tried = 0
    for separator in _SEPARATOR.finditer(run, 0, _MOST_GLUED):
        if tried == _MOST_TRIES or _WORDS.fullmatch(run, separator.end(), separator.end() + _SHORTEST_RUN):
            continue
        rest = run[separator.end() :]
        if len(rest) >= _SHORTEST_RUN and base64_text(rest[:_TRIED], _whole):
            tried += 1
            yield from _edit("base64", start + separator.end(), rest, base64_text(rest, reading))


def _whole(raw: bytes) -> Decoded | None:
    if _CONTROL.search(raw):
        return None
    text = raw.decode("utf-8", "replace").rstrip("\ufffd")
    return Decoded(text) if text.isprintable() and raw.startswith(text[:1].encode()) else None


def _edit(name: str, start: int, run: str, said: Decoded | None) -> Iterator[Edit]:
    if said is not None and said.text and said.text != run:
        yield Edit(start, start + len(run), said.text, "+".join((name, *said.inner)))


def _hex_of(run: str, reading: Reading) -> Decoded | None:
    digits = "".join(re.findall(r"[0-9a-fA-F]{2,}", run.replace("0x", " ")))
    return reading(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _decimal_text(run: str, reading: Reading) -> Decoded | None:
    numbers = [int(number) for number in _NUMBER.findall(run)]
    return reading(bytes(numbers)) if max(numbers) < _BYTE else None


def _base85_text(run: str, reading: Reading) -> Decoded | None:
    return _of_signs(run, base64.b85decode, reading)


def _ascii85_text(run: str, reading: Reading) -> Decoded | None:
    return _of_signs(run, base64.a85decode, reading)


def _marked85_text(run: str, reading: Reading) -> Decoded | None:
    try:
        return reading(base64.a85decode(run, adobe=True))
    except ValueError:
        return None


def _of_signs(run: str, decode: Callable[[str], bytes], reading: Reading) -> Decoded | None:
    """Decode a run that has signs no word has; one that ends with a sentence's sign is tried without it as well."""
    if len(set(_NOT_OF_WORDS.findall(run))) < _LEAST_SIGNS:
        return None
    for part in (run, run.rstrip(").,;!?'\"")):
        try:
            said = reading(decode(part))
        except (ValueError, binascii.Error):
            continue
        if said is not None and said.whole and len(said.text) >= SHORTEST_LETTERS:
            return said
    return None


_FAMILIES: Final[tuple[tuple[str, str, Pattern, _Read], ...]] = (
    ("pairs", "hex", _PAIRS, hex_text),
    ("hex-list", "hex", _HEX_LIST, _hex_of),
    ("hex-groups", "hex", _HEX_GROUPS, _hex_of),
    ("decimals", "decimal", _DECIMALS, _decimal_text),
    ("chr", "decimal", _CHARACTERS, _decimal_text),
    ("binary", "binary", BINARY, binary_text),
    ("morse", "morse", MORSE, morse_text),
    ("base85", "base85", _BASE85, _base85_text),
    ("base85", "ascii85", _ASCII85, _ascii85_text),
    ("ascii85", "ascii85", _MARKED85, _marked85_text),
)

"""Runs of a text that are encoded, as edits: alphabets (base64, hex and others) and escapes (``%41``, ``&#65;`` …).

The contract: ``decoded`` returns edits in layers; those of one layer do not overlap, so that each layer is one reading.
Two alphabets that both make sense of one run are two readings. Escapes are undone where they stand, one run of
neighbours at a time; an alphabet's run is undone as a whole. Everything is linear in the text: patterns have nothing
after what repeats without bound.
"""

from __future__ import annotations

import html
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from streams.domain.scanning.places import Pattern
from streams.domain.scanning.views.alphabets import Runs, alphabets
from streams.domain.scanning.views.model import Edit

STRING_ESCAPE: Final = "string-escape"


def decoded(text: str, held: frozenset[str], runs: Runs) -> list[list[Edit]]:
    """Return what is encoded in a text, in layers of edits.

    Args:
        text: Any text.
        held: The families of disguises that it may hold.
        runs: Says what runs of alphabets stand for.

    Raises:
        TooLargeError: Something unpacks to more than is left.
    """
    said = [_with_address(text, edit) for edit in alphabets(text, held, runs)]
    return _layers([*said, *_escapes(text, held), *_backslashes(text, held, said)])


def _with_address(text: str, edit: Edit) -> Edit:
    """Return an edit of a data URL's content as one of all of the URL, whose beginning is no part of what it says."""
    if not text.startswith(_DATA_SIGN, edit.start - len(_DATA_SIGN)):
        return edit
    start = text.rfind("data:", max(0, edit.start - _LONGEST_ADDRESS), edit.start)
    return edit if start < 0 else edit._replace(start=start)


_DATA_SIGN: Final = ";base64,"
_LONGEST_ADDRESS: Final = 128


def _escapes(text: str, held: frozenset[str]) -> Iterator[Edit]:
    for name, family, pattern, undo in _ESCAPES:
        if family in held:
            for start, end in pattern.spans(text):
                run = text[start:end]
                said = undo(run)
                if said and said != run:
                    yield Edit(start, end, said, name)
    if "quoted-printable" in held:
        yield from _quoted_runs(text)


def _quoted_runs(text: str) -> Iterator[Edit]:
    """Yield runs of quoted-printable with the letters beside them, so that a join of two lines alone says something."""
    place = 0
    for start, end in _QUOTED_RUN.spans(text):
        first = start - 1 if start > place and _BESIDE_QUOTED.match(text, start - 1) else start
        place = end + 1 if _BESIDE_QUOTED.match(text, end) else end
        run = text[first:place]
        said = _quoted(run)
        if said and said != run:
            yield Edit(first, place, said, "quoted-printable")


def _backslashes(text: str, held: frozenset[str], said: Sequence[Edit]) -> Iterator[Edit]:
    """Yield signs and letters that are written with a backslash before them.

    Those that stand in a run of base64 break its lines, and are undone there. Text with many has one edit for
    several, since each costs as much as some twenty characters do.
    """
    for kind, pattern, one in _BACKSLASHES:
        if kind in held:
            start = end = 0
            for first, last in _outside(pattern.spans(text), said):
                if end and not _GAP.fullmatch(text, end, first):
                    yield _unescaped(text, start, end, kind, one)
                    end = 0
                start, end = (start if end else first), last
            if end:
                yield _unescaped(text, start, end, kind, one)


def _outside(spans: Iterable[tuple[int, int]], said: Sequence[Edit]) -> Iterator[tuple[int, int]]:
    """Yield spans but those that lie in base64 of which all is text."""
    runs = sorted((edit.start, edit.end) for edit in said if edit.kind.startswith("base64"))
    ends = list(accumulate((end for _, end in runs), max))
    for span in spans:
        before = bisect_right(runs, (span[0], sys.maxsize)) if runs else 0
        if not before or ends[before - 1] < span[1]:
            yield span


def _unescaped(text: str, start: int, end: int, kind: str, one: re.Pattern[str]) -> Edit:
    """Return what a stretch says each of whose escapes, however often it was escaped itself, stands for one sign."""
    parts: list[str] = []
    places: list[int] = []
    place = start
    for escape in one.finditer(text, start, end):
        parts += (text[place : escape.start()], _SAID_BY.get(escape[1], escape[1]))
        places += range(place - start, escape.start() - start + 1)
        place = escape.end()
    said = "".join(parts)
    # A single one is all of what it stands for.
    return Edit(start, end, said, kind, places if len(said) > 1 else None)


_GAP: Final = re.compile(r"[^\\%&=]{0,4}")
"""What may stand between two escapes of one edit: little, and no escape of another kind."""

_SAID_BY: Final = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}

_BACKSLASHES: Final = (
    (STRING_ESCAPE, Pattern(r"(?:\\{1,16}[bfnrt\"/])+"), re.compile(r"\\{1,16}([bfnrt\"/])")),
    (
        "markdown-escape",
        Pattern(r"(?<=[0-9A-Za-z])(?:\\[_*.#+=@:~-])+(?=[0-9A-Za-z/])", quick=False),
        re.compile(r"\\([_*.#+=@:~-])"),
    ),
)


def _of_digits(digits: int, base: int) -> Callable[[str], str]:
    """Return what undoes escapes of a sign, perhaps a letter, and a number of digits."""

    def undo(run: str) -> str:
        mark = run[0]
        return _characters(bytes(int(part[-digits:], base) for part in run.split(mark) if part))

    return undo


def _characters(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    return raw.decode("latin-1") if "\ufffd" in text else text


_CODE_POINT: Final = re.compile(r"[0-9A-Fa-f]{2,8}")


def _code_points(run: str) -> str:
    codes = [int(digits, 16) for digits in _CODE_POINT.findall(run.replace("U+", " ").replace("u", " "))]
    text = "".join(chr(code) if code < 0x110000 else "\ufffd" for code in codes)  # noqa: PLR2004 - the end of Unicode
    # Surrogate pairs are joined; a lone one is no character.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _quoted(run: str) -> str:
    """Undo quoted-printable, in which a sign at a line's end joins it to the next."""
    raw = bytearray()
    for match in _QUOTED.finditer(run):
        digits, letter = match.groups()
        raw += bytes([int(digits, 16)]) if digits else (letter or "").encode("utf-8", "replace")
    return _characters(bytes(raw))


_QUOTED: Final = re.compile(r"=([0-9A-F]{2})|=\r?\n|([^=])")


_QUOTED_RUN: Final = Pattern(r"(?:=[0-9A-F]{2}|=\r?\n)+")
_BESIDE_QUOTED: Final = re.compile("[!-<>-~]")

_ESCAPES: Final[tuple[tuple[str, str, Pattern, Callable[[str], str | None]], ...]] = (
    ("percent", "percent", Pattern(r"(?:%[0-9A-Fa-f]{2})+"), _of_digits(2, 16)),
    ("html", "html", Pattern(r"(?:&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});)+"), html.unescape),
    (
        "unicode-escape",
        "escape",
        Pattern(r"(?:\\{1,16}(?:u\{[0-9A-Fa-f]{2,6}\}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}))+"),
        _code_points,
    ),
    ("unicode-escape", "code-point", Pattern(r"(?:U\+[0-9A-Fa-f]{4,6}(?: |\b)){3,}", quick=False), _code_points),
    ("hex-escape", "escape", Pattern(r"(?:\\{1,16}x[0-9A-Fa-f]{2})+"), _of_digits(2, 16)),
    ("octal-escape", "escape", Pattern(r"(?:\\{1,16}[0-3][0-7]{2}){2,}"), _of_digits(3, 8)),
)


def _layers(edits: Iterable[Edit]) -> list[list[Edit]]:
    """Put edits that overlap into different layers, in their order."""
    layers: list[list[Edit]] = []
    for edit in sorted(edits, key=_span):
        layer = next((layer for layer in layers if layer[-1].end <= edit.start), None)
        if layer is None:
            layers.append([edit])
        else:
            layer.append(edit)
    return layers


def _span(edit: Edit) -> tuple[int, int]:
    return edit.start, -edit.end

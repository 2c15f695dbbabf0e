"""What is torn apart, put together: letters with separators, strings added up, tokens in groups or over lines.

The contract: ``joined`` returns edits that drop what stands between the parts; every character keeps its place. Prose
is left alone: its words, even one a line, have nothing of a token. Which families a text may hold is the caller's to
find out (``streams.domain.scanning.views.families``), so that a text without any costs nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from streams.domain.scanning.views.model import Edit
from streams.domain.scanning.views.stretches import Change, apart, stretched

JOINED: Final = "joined"

_QUOTES: Final = "[\"'`]"
_ADDED: Final = re.compile(
    rf"(?<!\\)({_QUOTES})(?:\s{{0,16}}(?:\|\||[+.&~])\s{{0,32}}|\s{{1,16}}|\s{{0,4}}\\\r?\n\s{{0,32}})(?=\1)."
)
_LISTED: Final = re.compile(rf"(?<!\\)({_QUOTES})\s{{0,16}},\s{{0,32}}(?=\1).")

_APART: Final = re.compile(r"(?<!\S)\S([ ,;:|/*~._\n-])(?:\S\1){3,}")
_APART_SENTENCE: Final = re.compile(r"(?<!\S)\S([:|/*~_-])(?:[^\n]\1){3,}")
_APART_WIDER: Final = re.compile(r"(?<!\S)\S([ ,;:|/*~._\n-]{2,3})(?:\S\1){3,}")

_OF_WORD: Final = re.compile(r"[A-Za-z0-9]")
_FEWEST_LETTERS: Final = 4

_RUN: Final = "[A-Za-z0-9+/=_-]"
_PROSE: Final = r"[A-Za-z]?[a-z]+|[A-Z]+|[0-9]+|[a-z]+(?:-[a-z]+)+|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*"
_WORD: Final = re.compile(f"(?={_RUN}{{2}})(?:({_PROSE})(?!{_RUN})|{_RUN}+)")
"""A run of two or more; its group where it is one of prose."""
_BLANK: Final = re.compile(r"[ \t\r\n]{1,4}")
_FEWEST_PARTS: Final = 3
_SHORTEST_JOINED: Final = 16

_PART: Final = re.compile(r"[\w+/=@:.%~-]{1,128}")
_LONGEST_PART: Final = 128
_SEAM: Final = re.compile(r"[ \t]{0,64}")
_OF_TOKEN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+/=@:.%~-")
_BEFORE_BREAK: Final = _OF_TOKEN | set(" \t\r\\")
_MARGIN: Final = 8
_SHORTEST_BROKEN: Final = 20
_HAS_BOTH: Final = re.compile(r"[A-Za-z][0-9]|[0-9][A-Za-z]|://|[A-Za-z0-9]@[A-Za-z0-9]")
_LETTER: Final = re.compile(r"[A-Za-z]")
_BROKEN_WORD: Final = re.compile(r"[A-Za-z_.]+:?|[0-9.:/-]+")


def joined(text: str, held: frozenset[str]) -> list[list[Edit]]:
    """Return edits that put parts together, in layers; those of one layer do not overlap.

    Args:
        text: Any text.
        held: The families that it may hold.
    """
    layers = []
    for family, find in (
        ("concatenation", _added),
        ("listed", _listed),
        ("apart", _apart),
        ("broken-line", _broken),
        ("odd-words", _odd),
    ):
        if family in held:
            edits = list(stretched(text, apart(find(text)), 0, len(text)))
            if edits:
                layers.append(edits)
    return layers


def _added(text: str) -> Iterator[Change]:
    for seam in _ADDED.finditer(text):
        yield Change(seam.start(), seam.end(), "", JOINED)


def _listed(text: str) -> Iterator[Change]:
    for seam in _LISTED.finditer(text):
        yield Change(seam.start(), seam.end(), "", JOINED)


def _apart(text: str) -> Iterator[Change]:
    """Yield what stands between letters with separators; what several patterns see is said once."""
    spans: set[tuple[int, int]] = set()
    for pattern in (_APART_SENTENCE, _APART, _APART_WIDER):
        for run in pattern.finditer(text):
            if len(_OF_WORD.findall(run.group())) < _FEWEST_LETTERS:
                continue
            width = len(run.group(1))
            # The last letter has no separator after it, or it begins a word that is not part of the run.
            alone = text[run.end() + 1 : run.end() + 2].isspace() or run.end() + 1 >= len(text)
            places = range(run.start() + 1, run.end() - (0 if alone else width), width + 1)
            spans.update(zip(places, range(places.start + width, run.end() + width, width + 1), strict=False))
    return (Change(start, end, "", JOINED) for start, end in spans)


def _odd(text: str) -> Iterator[Change]:
    """Yield the blanks between parts of a token: several in a row that are no words, or are all as long."""
    parts: list[tuple[int, int]] = []
    odd_ones = 0
    for word in _WORD.finditer(text):
        size = word.end() - word.start()
        odd = word.lastindex is None
        if len(parts) == 1 and not odd_ones and size != parts[0][1] - parts[0][0]:
            parts, odd_ones = [word.span()], odd  # as mostly in prose: the word before is no part
            continue
        near = bool(parts) and _BLANK.fullmatch(text, parts[-1][1], word.start()) is not None
        alike = near and (size == parts[-1][1] - parts[-1][0] or (word.group().isdigit() and len(parts) > 1))
        if len(parts) == 1 and not odd_ones and not alike:
            parts = []  # a word before the first part
        elif not near or not (odd or alike):
            yield from _between(text, parts, odd_ones)
            parts, odd_ones = [], 0
        parts.append(word.span())
        odd_ones += odd
    yield from _between(text, parts, odd_ones)


def _between(text: str, parts: list[tuple[int, int]], odd_ones: int) -> Iterator[Change]:
    size = sum(end - start for start, end in parts)
    if 2 * odd_ones < len(parts) or size < _SHORTEST_JOINED:
        return
    mixed = len(parts) > 1 and size >= _SHORTEST_BROKEN and all(_HAS_BOTH.search(text, *part) for part in parts)
    if len(parts) >= _FEWEST_PARTS or mixed:
        for before, after in pairwise(parts):
            yield Change(before[1], after[0], "", JOINED)


def _broken(text: str) -> Iterator[Change]:
    """Yield the breaks of lines that stand inside a token, of lines that are nothing else too."""
    parts: list[str] = []
    seams: list[Change] = []
    for seam, left, right, alone in _seams(text):
        if seams and seams[-1].end + len(parts[-1]) == seam.start:
            parts.append(right)
            seams.append(seam)
        else:
            yield from _kept(parts, seams)
            parts, seams = [left, right], [seam]
        if not alone:
            yield from _kept(parts, seams)
            parts, seams = [], []
    yield from _kept(parts, seams)


def _seams(text: str) -> Iterator[tuple[Change, str, str, bool]]:
    """Yield breaks between parts of tokens, with these, and whether the second is all of its line."""
    place = text.find("\n")
    while place >= 0:
        end = place + 1
        seam = _SEAM.match(text, end)
        following = seam.end() if seam else end
        if text[following : following + 1] in _OF_TOKEN and text[max(0, place - 1) : place] in _BEFORE_BREAK:
            before = text[max(0, place - _LONGEST_PART - _MARGIN) : place]
            kept = before.rstrip(" \t\r\\")
            left, right = _PART.match(kept[::-1]), _PART.match(text, following)
            if left and right and left.group() and right.group():
                start = place - len(before) + len(kept)
                alone = text[right.end() : right.end() + 1] in {"\n", "\r", "", "\\"}
                yield Change(start, following, "", JOINED), left.group()[::-1], right.group(), alone
        place = text.find("\n", end)


def _kept(parts: list[str], seams: list[Change]) -> Iterator[Change]:
    """Yield seams of parts that look more like one token than like words of two lines, or of a list."""
    whole = "".join(parts)
    if len(whole) < _SHORTEST_BROKEN or not _LETTER.search(whole) or not _HAS_BOTH.search(whole):
        return
    words = sum(_BROKEN_WORD.fullmatch(part) is not None for part in parts)
    if len(parts) > 2:  # noqa: PLR2004 - a list of words, or a token over many lines
        if 2 * words <= len(parts):
            yield from seams
    elif not words or parts[1].startswith(("_", "-", ":")):
        yield from seams
    elif words == 1:
        # A token's first or last part may look like a word or a number; then the other must not.
        other = parts[0] if _BROKEN_WORD.fullmatch(parts[1]) else parts[1]
        if len(other) >= _SHORTEST_JOINED and _HAS_BOTH.search(other):
            yield from seams

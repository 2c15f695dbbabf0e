"""What is torn apart, put together: letters with separators, strings added up, tokens in groups or over lines.

The contract: ``joined`` returns edits that drop what stands between the parts; every character keeps its place. Prose
is left alone: its words, even one a line, have nothing of a token. Which families a text may hold is the caller's to
find out (``streams.domain.scanning.views.families``), so that a text without any costs nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final

import re2

from streams.domain.scanning.views.model import Edit
from streams.domain.scanning.views.shapes import TOKEN_SHAPES
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
_LONGEST_ROW: Final = 512
_MARGIN: Final = 8
_SHORTEST_BROKEN: Final = 20
_HAS_BOTH: Final = re.compile(r"[A-Za-z][0-9]|[0-9][A-Za-z]|://|[A-Za-z0-9]@[A-Za-z0-9]")
_LETTER: Final = re.compile(r"[A-Za-z]")
_NAMED: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,15}[:=@-]")
_DIGEST: Final = re.compile(
    r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9A-Za-z_+/=@.%~-])"
)
"""A whole digest or identifier."""
_HEX_BODY: Final = re.compile(r"[_-][0-9a-f]*\Z")
_BEGINS: Final = re2.compile("|".join(TOKEN_SHAPES))
_BROKEN_WORD: Final = re.compile(r"[A-Za-z_.]+:?|[0-9.:/-]+")


def joined(text: str, held: frozenset[str]) -> list[list[Edit]]:
    """Return edits that put parts together, in layers; those of one layer do not overlap.

    Args:
        text: Any text.
        held: The families that it may hold.
    """
    layers = []
    judged: set[int] = set()
    finders: tuple[tuple[str, Callable[[], Iterable[Change]]], ...] = (
        ("concatenation", lambda: _added(text)),
        ("listed", lambda: _listed(text)),
        ("apart", lambda: _apart(text)),
        ("broken-line", lambda: _broken(text, judged)),
        ("odd-words", lambda: _odd(text, judged)),
    )
    for family, find in finders:
        if family in held:
            edits = list(stretched(text, apart(find()), 0, len(text)))
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


def _odd(text: str, judged: AbstractSet[int]) -> Iterator[Change]:
    """Yield the blanks between parts of a token: several in a row that are no words, or are all as long.

    Two alone are none where the break of lines between them was judged already.
    """
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
            yield from _between(text, parts, odd_ones, judged)
            parts, odd_ones = [], 0
        parts.append(word.span())
        odd_ones += odd
    yield from _between(text, parts, odd_ones, judged)


def _between(text: str, parts: list[tuple[int, int]], odd_ones: int, judged: AbstractSet[int]) -> Iterator[Change]:
    size = sum(end - start for start, end in parts)
    if 2 * odd_ones < len(parts) or size < _SHORTEST_JOINED or _is_listed([text[slice(*part)] for part in parts]):
        return
    mixed = len(parts) > 1 and size >= _SHORTEST_BROKEN and all(_HAS_BOTH.search(text, *part) for part in parts)
    if len(parts) >= _FEWEST_PARTS or (mixed and parts[0][1] not in judged):
        for before, after in pairwise(parts):
            yield Change(before[1], after[0], "", JOINED)


def _broken(text: str, judged: set[int]) -> Iterator[Change]:
    """Yield the breaks of lines that stand inside a token, of lines that are nothing else too.

    Args:
        text: Any text.
        judged: Is given where breaks begin that are yielded for two parts alone, or are those of a list.
    """
    parts: list[str] = []
    seams: list[Change] = []
    for seam, left, right, alone in _seams(text):
        if _is_of_rows(text, seam.start, seam.end):
            judged.add(seam.start)
            yield from _kept(parts, seams, judged)
            parts, seams = [], []
            continue
        if seams and seams[-1].end + len(parts[-1]) == seam.start:
            parts.append(right)
            seams.append(seam)
        else:
            yield from _kept(parts, seams, judged)
            parts, seams = [left, right], [seam]
        if not alone:
            yield from _kept(parts, seams, judged)
            parts, seams = [], []
    yield from _kept(parts, seams, judged)


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


def _is_of_rows(text: str, start: int, following: int) -> bool:
    """Say whether two lines are rows of a list that begin with digests of one length, so that none goes on in the next.

    A token of such digits, begun by a sign, may go on in what looks like a digest.
    """
    digest = _DIGEST.match(text, following)
    if digest is None or _HEX_BODY.search(text, max(0, start - _LONGEST_PART), start):
        return False
    size = digest.end() - digest.start()
    line = text.rfind("\n", max(0, start - _LONGEST_ROW), start) + 1
    before = _DIGEST.match(text, line) if line or start <= _LONGEST_ROW else None
    return before is not None and before.end() - line == size and before.end() < start


def _is_listed(parts: list[str]) -> bool:
    """Say whether all lines of several begin with one name (``sha256-``): a list of values, each whole."""
    name = _NAMED.match(parts[-1]) if len(parts) > 2 else None  # noqa: PLR2004 - two may begin alike by chance
    return name is not None and all(part.startswith(name.group()) for part in parts[1:])


def _kept(parts: list[str], seams: list[Change], judged: set[int]) -> list[Change]:
    """Return seams of parts that look more like one token than like words of two lines, or of a list."""
    if _is_listed(parts):
        judged.update(seam.start for seam in seams)
        return []
    if not _is_one(parts):
        return []
    if len(seams) == 1:
        judged.add(seams[0].start)
    return seams


def _is_one(parts: list[str]) -> bool:
    whole = "".join(parts)
    if len(whole) < _SHORTEST_BROKEN or not _LETTER.search(whole) or not _is_mixed(whole):
        return False
    words = sum(map(_is_word, parts))
    if len(parts) > 2:  # noqa: PLR2004 - a list of words, or a token over many lines
        return 2 * words <= len(parts)
    if not words or parts[1].startswith(("_", "-", ":")):
        return True
    # A token's first or last part may look like a word or a number; then the other must not.
    other = parts[0] if _is_word(parts[1]) else parts[1]
    return words == 1 and len(other) >= _SHORTEST_JOINED and _is_mixed(other)


def _is_word(part: str) -> bool:
    return _BROKEN_WORD.fullmatch(part) is not None and _BEGINS.match(part) is None


def _is_mixed(part: str) -> bool:
    """Say whether a part is of a token: has letters beside digits, or begins as a vendor's do and may have no digit."""
    return _HAS_BOTH.search(part) is not None or _BEGINS.match(part) is not None

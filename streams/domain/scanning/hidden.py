"""Text that a reader would not see, or would see in another order: characters that carry or hide it.

The contract: ``hidden_text`` finds characters of the tag block, variation selectors in rows, controls that turn the
order round, and characters without width in rows or inside words of scripts that need none. What such characters are
for is no finding: emoji put together, flags, keycaps, joiners of Arabic, Persian and Indic scripts, breaks of words in
Thai or Khmer, marks of direction, a mark of byte order at the start, hyphens that are shown only at a line's end.

It reads no styles or markup: text that a page hides by its colour or in a comment is in plain view here. What hidden
characters say is for the views to read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

REVISION: Final = 1
"""Raised whenever something else is found; part of the scanner's manifest."""

TAGS: Final = "tag-characters"
SELECTORS: Final = "variation-selectors"
ORDER: Final = "bidi-controls"
CARRIER: Final = "zero-width-run"
IN_WORDS: Final = "zero-width-in-words"

SHORTEST_RUN: Final = 8
"""Characters without width in a row that are no accident of copying."""

FEWEST_IN_WORDS: Final = 2
"""Words of a text with something of no width inside: one may be a break that a page allowed."""

_NO_WIDTH: Final = "\u034f\u115f\u1160\u180b-\u180f\u200b-\u200d\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0"
_NEEDS_NONE: Final = "0-9A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u10a0-\u10ff\u1e00-\u1fff"
"""Letters and digits of scripts whose words hold nothing without width."""

_ANY: Final = re.compile(
    f"[{_NO_WIDTH}\u00ad\u202a-\u202e\u2066-\u2069\ufe00-\ufe0f\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_TAGS: Final = re.compile("[\U000e0000-\U000e007f]+")
_FLAG: Final = re.compile("[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,4}\U000e007f")
_BLACK_FLAG: Final = "\U0001f3f4"
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}")
_ON_LETTER: Final = re.compile("[A-Za-z ][\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_FEWEST_ON_LETTERS: Final = 4
_OVERRIDE: Final = re.compile("[\u202d\u202e][^\u202c\n]{0,4096}\u202c?")
_TO_THE_LEFT: Final = re.compile("[\u202b\u2067][^\u202c\u2069\n]{0,4096}[\u202c\u2069]?")
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_RUN: Final = re.compile(f"[{_NO_WIDTH}]{{{SHORTEST_RUN},}}")
_INSIDE: Final = re.compile(f"(?<=[{_NEEDS_NONE}])[{_NO_WIDTH}]+(?=[{_NEEDS_NONE}])")
_SOFT_TOKEN: Final = re.compile(f"(?:[{_NEEDS_NONE}]\u00ad+){{3,}}")
"""Hyphens after every single letter: no syllables."""


class Hidden(NamedTuple):
    """A stretch of hidden text.

    Attributes:
        kind: What hides it, in our own words.
        start: Offset of its first character.
        end: Offset after its last one.
        score: How sure it is that this is no accident, 0 to 1.
    """

    kind: str
    start: int
    end: int
    score: float


def hidden_text(text: str) -> list[Hidden]:
    """Return what is hidden in a text, in order; a text without such characters costs one look.

    Args:
        text: Any text.
    """
    if text.isascii() or not _ANY.search(text):
        return []
    found = [*_tags(text), *_selectors(text), *_order(text), *_without_width(text)]
    return sorted(found, key=lambda item: (item.start, item.end, item.kind))


def _tags(text: str) -> Iterator[Hidden]:
    for run in _TAGS.finditer(text):
        start = run.start()
        if text[start - 1 : start] == _BLACK_FLAG and (flag := _FLAG.match(text, start)):
            start = flag.end()
        if start < run.end():
            yield Hidden(TAGS, start, run.end(), 0.95)


def _selectors(text: str) -> Iterator[Hidden]:
    for run in _SELECTORS.finditer(text):
        if len(set(run.group())) > 1 or len(run.group()) >= SHORTEST_RUN:
            yield Hidden(SELECTORS, run.start(), run.end(), 0.95)
    on_letters = list(_ON_LETTER.finditer(text))
    if len(on_letters) >= _FEWEST_ON_LETTERS:
        yield Hidden(SELECTORS, on_letters[0].start(), on_letters[-1].end(), 0.9)


def _order(text: str) -> Iterator[Hidden]:
    for span in _OVERRIDE.finditer(text):
        yield Hidden(ORDER, span.start(), span.end(), 0.9)
    for span in _TO_THE_LEFT.finditer(text):
        # Around letters that are written to the left it does what it is for; elsewhere it turns signs and numbers.
        if not _RIGHT_TO_LEFT.search(span.group()):
            yield Hidden(ORDER, span.start(), span.end(), 0.8)


def _without_width(text: str) -> Iterator[Hidden]:
    for run in _RUN.finditer(text, 1 if text.startswith("\ufeff") else 0):
        yield Hidden(CARRIER, run.start(), run.end(), 0.9)
    inside = [seam for seam in _INSIDE.finditer(text) if not _is_hump(text[seam.start() - 1], text[seam.end()])]
    if len(inside) >= FEWEST_IN_WORDS:
        yield Hidden(IN_WORDS, inside[0].start(), inside[-1].end(), 0.8)
    for word in _SOFT_TOKEN.finditer(text):
        yield Hidden(IN_WORDS, word.start(), word.end(), 0.8)


def _is_hump(before: str, after: str) -> bool:
    """Say whether a name of several words goes on here, where pages let long names break."""
    return before.islower() and after.isupper()

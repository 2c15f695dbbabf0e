"""A text as a language model is given it: in pieces, without what is in another language, and at the same offsets.

The contract: what is left out of a text is overwritten with spaces, so that every offset stays. Paragraphs that are
clearly in one other language of the policy are left out; those that mix languages are not, nobody else would read them.
In a long run without white space one sign in ``SIGNS`` that is neither letter nor digit is left out, since spaCy's
tokenizer takes such signs off one by one, each time reading the rest of the run. Pieces overlap, so that no name is cut
by all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from streams.adapters.pii.foreign import ForeignCheck

PIECE: Final = 8_000
OVERLAP: Final = 200
"""Characters of a piece, and of it and the next one together."""

RUN: Final = 128
SIGNS: Final = 32

_LONG_RUN: Final = re.compile(rf"\S{{{RUN},}}")
_BETWEEN_PARAGRAPHS: Final = re.compile(r"\n[ \t\r]*\n")


def own_text(text: str, own: ForeignCheck, others: Sequence[ForeignCheck]) -> str:
    """Return a text with spaces in place of what a model is not given.

    Args:
        text: The text.
        own: What is foreign to the model's language.
        others: What is foreign to each other language of the policy, one by one.
    """
    if others and own.is_foreign(text):
        text = "".join(" " * len(part) if _is_anothers(part, own, others) else part for part in _paragraphs(text))
    return _LONG_RUN.sub(_loosened, text)


def pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield a text in pieces that begin and end at white space where there is some, each with its offset."""
    start = 0
    while start < len(text):
        end = min(start + PIECE, len(text))
        if end < len(text):
            end = _space_before(text, end, start + PIECE // 2)
        yield start, text[start:end]
        if end == len(text):
            return
        start = _space_before(text, end - OVERLAP, end - 2 * OVERLAP)


def _is_anothers(paragraph: str, own: ForeignCheck, others: Sequence[ForeignCheck]) -> bool:
    """Say whether a paragraph is not the model's, and one other language has nothing foreign in it."""
    return own.is_foreign(paragraph) and not all(other.is_foreign(paragraph) for other in others)


def _paragraphs(text: str) -> Iterator[str]:
    start = 0
    for gap in _BETWEEN_PARAGRAPHS.finditer(text):
        yield text[start : gap.end()]
        start = gap.end()
    yield text[start:]


def _loosened(run: re.Match[str]) -> str:
    signs = 0
    characters = list(run[0])
    for index, character in enumerate(characters):
        if not character.isalnum():
            signs += 1
            if signs % SIGNS == 0:
                characters[index] = " "
    return "".join(characters)


def _space_before(text: str, end: int, least: int) -> int:
    """Return the place behind the last white space of a stretch; its end where there is none."""
    place = max(text.rfind(" ", least, end), text.rfind("\n", least, end))
    return end if place < 0 else place + 1

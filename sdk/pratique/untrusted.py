"""Untrusted text between delimiters that it can't write.

The contract (the rule of partitioned compaction): what comes from untrusted turns stays data. It stands between
``<untrusted_summary>`` and ``</untrusted_summary>``, and no text between them can look like either: every angle that
begins one becomes ``&lt;``. Nothing else is changed.

An angle is ``<`` and what is taken for it (``ANGLES``). It begins a delimiter if the letters after it spell the tag,
whatever stands before and between them that is no letter, however much of it: white space, punctuation, digits, marks,
what is invisible. Letters are read without case, width, accents and the disguise of other alphabets
(``pratique.lookalikes``); those that stay foreign may be in the places of half of the tag's, or between them.

It is linear in the text. It makes text recognisable as data; it does not make a model treat it as such.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from pratique.lookalikes import letters_of

TAG: Final = "untrusted_summary"

OPENING: Final = f"<{TAG}>"
CLOSING: Final = f"</{TAG}>"

ANGLES: Final = (
    "<\u02c2\u02f1\u1438\u16b2\u2039\u226a\u226e\u22d6\u22d8\u2329\u276c\u276e\u2770\u27e8\u2991\u2993\u29fc"
    "\u2a79\u2a7b\u2aa1\u2aa6\u2af7\u3008\ufe3f\ufe64\uff1c\U0001d236"
)
"""What begins a tag, or is taken for it. Double quotation marks and brackets are not: honest texts have them."""

_ANGLE: Final = re.compile(f"[{ANGLES}]")
_LETTERS: Final = TAG.replace("_", "")
_LEFT: Final = range(len(_LETTERS) - 1, -1, -1)
_LEAST_SAME: Final = len(_LETTERS) // 2
_LOOKED_AT: Final = 2 * len(_LETTERS)
"""How many letters after an angle are looked at: the tag's, and as many foreign ones between them."""

_Letters = Iterable[tuple[str, int]]
"""Letters as they are read, each with the place after the character that it is from."""


def forged_delimiters(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text has what can be taken for one of the delimiters, from angle to last letter, the last first."""
    following: deque[tuple[str, int]] = deque(maxlen=_LOOKED_AT)
    end = len(text)
    for angle in reversed([match.start() for match in _ANGLE.finditer(text)]):
        following.extendleft(reversed(_first_letters(text, angle + 1, end)))
        spelt_at = _end_of_tag(following)
        if spelt_at is not None:
            yield angle, spelt_at
        end = angle


def neutralised(text: str) -> str:
    """Return a text in which nothing can be taken for one of the delimiters."""
    pieces: list[str] = []
    end = len(text)
    for angle, _ in forged_delimiters(text):
        pieces += [text[angle + 1 : end], "&lt;"]
        end = angle
    return "".join((text[:end], *reversed(pieces)))


def untrusted_summary(text: str) -> str:
    """Return a text between the delimiters."""
    return f"{OPENING}\n{neutralised(text)}\n{CLOSING}"


def _first_letters(text: str, start: int, end: int) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for place in range(start, end):
        found += [(letter, place + 1) for letter in letters_of(text[place])]
        if len(found) >= _LOOKED_AT:
            break
    return found


def _end_of_tag(following: _Letters) -> int | None:
    """Return where the letters after an angle have spelt the tag; null where they don't."""
    return _end_of_tag_in(following) or _end_of_tag_among(following)


def _end_of_tag_in(following: _Letters) -> int | None:
    """The tag, foreign letters in the places of some of its own."""
    same = 0
    for (letter, end), wanted, left in zip(following, _LETTERS, _LEFT, strict=False):
        if letter == wanted:
            same += 1
        elif letter.isascii():
            return None
        if not left:
            return end if same >= _LEAST_SAME else None
    return None


def _end_of_tag_among(following: _Letters) -> int | None:
    """The tag, foreign letters between its own."""
    same = 0
    for letter, end in following:
        if letter == _LETTERS[same]:
            same += 1
            if same == len(_LETTERS):
                return end
        elif letter.isascii():
            return None
    return None

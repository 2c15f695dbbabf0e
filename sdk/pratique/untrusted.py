"""Untrusted text between delimiters that it can't write.

The contract (the rule of partitioned compaction): what comes from untrusted turns stays data. It stands between
``<untrusted_summary>`` and ``</untrusted_summary>``, and no text between them can look like either: every ``<`` that
begins one, in any case, width or spacing, with whatever invisible in it and letters of other alphabets for some of its
own, becomes ``&lt;``. Nothing else is changed.

It makes text recognisable as data; it does not make a model treat it as such.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

TAG: Final = "untrusted_summary"

OPENING: Final = f"<{TAG}>"
CLOSING: Final = f"</{TAG}>"

_ANGLE: Final = re.compile("[<\uff1c\ufe64\u2039\u3008\u276e\u27e8]")
_LETTERS: Final = TAG.replace("_", "")
_LEAST_SAME: Final = 8
_LOOKED_AT: Final = 96
"""How many characters after an angle are looked at: the tag, with room for what is put between its letters."""


def neutralised(text: str) -> str:
    """Return a text in which nothing can be taken for one of the delimiters."""
    return _ANGLE.sub(lambda match: "&lt;" if _begins_tag(text, match.end()) else match.group(), text)


def untrusted_summary(text: str) -> str:
    """Return a text between the delimiters."""
    return f"{OPENING}\n{neutralised(text)}\n{CLOSING}"


def _begins_tag(text: str, start: int) -> bool:
    following = unicodedata.normalize("NFKC", text[start : start + _LOOKED_AT]).casefold()
    letters = [letter for letter in following if letter.isalpha()][: len(_LETTERS)]
    same = sum(letter == wanted for letter, wanted in zip(letters, _LETTERS, strict=False))
    other = sum(not letter.isascii() for letter in letters)
    return same + other == len(_LETTERS) and same >= _LEAST_SAME

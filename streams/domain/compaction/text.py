"""Views of a summary for matching. A view is never a digest's preimage, and nothing parses because of one.

The contract: ``conflict_views`` gives the complete text, so that no part of a summary escapes the conflict rules; what
a reader would not see (zero-width and other ignorable characters, controls) is taken out, what a reader would take
for the same letter in another form (full width, ligatures, case) is folded. Cost is linear in the text.

It does not fold look-alikes of other alphabets: text with those is no clause of a grammar and so is never PRESERVED.
"""

from __future__ import annotations

import re
from typing import Final

from streams.domain.normal_form import nfkc

# Default_Ignorable_Code_Point and category Cf (Unicode 15), and the controls that are not white space.
UNSEEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""What a reader would not see."""
_UNSEEN_ASCII: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f]+")
_CAMEL: Final = re.compile("([a-z0-9])([A-Z])")
SEPARATORS: Final = str.maketrans("-_/\\", "    ")
"""What becomes a space where compound words are taken apart, beside dots."""
_CLAUSE_END: Final = "\x01"
"""Stands for a full stop between words; no view holds it otherwise, since it is unseen."""


def conflict_views(text: str) -> tuple[str, ...]:
    """Return the normalised text, and where it differs, the same with its compound words taken apart.

    The first view is NFKC, case-folded, without unseen characters, white space collapsed to single spaces. The second
    shows what a path or identifier spells: hyphens, underscores, slashes of both kinds, dots inside a word and changes
    from lower to upper case become spaces.
    """
    visible = _visible(text)
    whole = _folded(visible)
    apart = _collapsed(_taken_apart(visible))
    return (whole,) if apart == whole else (whole, apart)


def _visible(text: str) -> str:
    if text.isascii():
        return _collapsed(_UNSEEN_ASCII.sub("", text))
    return _collapsed(UNSEEN.sub("", nfkc(text)))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return nfkc(text.casefold())


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def _taken_apart(visible: str) -> str:
    if _CAMEL.search(visible) is not None:
        visible = _CAMEL.sub(r"\1 \2", visible)
    words = _folded(visible).translate(SEPARATORS)
    stop = "." if words.endswith(".") else ""
    return words.removesuffix(".").replace(". ", _CLAUSE_END).replace(".", " ").replace(_CLAUSE_END, ". ") + stop

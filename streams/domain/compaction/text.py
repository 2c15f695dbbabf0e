"""Views of a summary for matching. A view is never a digest's preimage, and nothing parses because of one.

The contract: ``conflict_views`` gives the complete text, so that no part of a summary escapes the conflict rules; what
a reader would not see (zero-width and other ignorable characters, controls) is taken out, what a reader would take
for the same letter in another form (full width, ligatures, case) is folded. Cost is linear in the text.

Free text has lines, quotations and sentences that end without a full stop; white space collapsed, they would hide where
a sentence begins. ``free_pieces`` gives each of them beside the whole.

It does not fold look-alikes of other alphabets: text with those is no clause of a grammar and so is never PRESERVED.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
SEPARATORS: Final = "-_/\\"
"""What becomes a space where compound words are taken apart, beside dots."""
_CUT: Final = re.compile(
    '[\r\n\x0b\x0c\x85\u2028\u2029"\uff02\u201c-\u201f\u00ab\u00bb\u300c-\u300f]+|[.!?](?=\\s)|[\u3002\uff01\uff1f]'
)
"""Where a line, a quotation or a sentence of a free text begins or ends."""
_MARKS: Final = frozenset("-*+#>|.)(0123456789\u2022\u2013\u2014")
"""What stands before a list item, a heading or a quoted line."""
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
    cased = _CAMEL.sub(r"\1 \2", visible) if _CAMEL.search(visible) is not None else visible
    apart = _collapsed(_taken_apart(whole if cased == visible else _folded(cased)))
    return (whole,) if apart == whole else (whole, apart)


def free_pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans that a free text is matched in: the whole, then each line, quotation and sentence.

    A list item begins after its mark. Spans after the first don't overlap, so matching in all of them is linear.
    """
    yield 0, len(text)
    start = 0
    for cut in (*_CUT.finditer(text), None):
        end = len(text) if cut is None else cut.start()
        start = _after_mark(text, start, end)
        if start < end and (start, end) != (0, len(text)):
            yield start, end
        start = end if cut is None else cut.end()


def free_views(text: str) -> tuple[str, ...]:
    """Return the conflict views of a free text's pieces; those of pieces that are alike once."""
    pieces = dict.fromkeys(text[start:end] for start, end in free_pieces(text))
    return tuple(view for piece in pieces for view in conflict_views(piece))


def _after_mark(text: str, start: int, end: int) -> int:
    while start < end and (text[start] in _MARKS or text[start].isspace() or UNSEEN.match(text[start]) is not None):
        start += 1
    return start


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


def _taken_apart(words: str) -> str:
    for separator in SEPARATORS:
        words = words.replace(separator, " ")
    stop = "." if words.endswith(".") else ""
    return words.removesuffix(".").replace(". ", _CLAUSE_END).replace(".", " ").replace(_CLAUSE_END, ". ") + stop

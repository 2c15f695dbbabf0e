"""Views of a summary for matching. A view is never a digest's preimage, and nothing parses because of one.

The contract: ``conflict_views`` gives the complete text, so that no part of a summary escapes the conflict rules; what
a reader would not see (zero-width and other ignorable characters, controls) is taken out, what a reader would take
for the same letter in another form (full width, ligatures, case) is folded. Cost is linear in the text.

Free text has lines, quotations and sentences that end without a full stop; white space collapsed, they would hide where
a sentence begins. ``free_pieces`` gives each of them beside the whole. It may be written in look-alikes of other
alphabets, too, or in accents: ``free_views`` gives each piece once more without them. ``conflict_views`` does not: a
summary with those is no clause of a grammar, and so is never PRESERVED; what it quotes is free text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
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
# Cyrillic and Greek letters that no reader tells from Latin ones, after case folding.
LOOK_ALIKES: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u0261\u03b1\u03bf\u03c1\u03c5\u03bd\u03b9\u0131",
    "aeopcyxijsdhqgaopuvii",
)
_ACCENTS: Final = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+")
"""Marks that stand on letters of any alphabet; those that belong to a script's own letters are none of these."""
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
    """Return the views of a free text's pieces; those of pieces that are alike once."""
    pieces = dict.fromkeys(text[start:end] for start, end in free_pieces(text))
    return tuple(view for piece in pieces for view in piece_views(piece))


def piece_views(piece: str) -> tuple[str, ...]:
    """Return a piece's conflict views, and where they differ, the same without look-alikes, and without accents too.

    Nothing passes because of the latter, which make nonsense of other alphabets' words: they can only add conflicts.
    """
    views = conflict_views(piece)
    if all(map(str.isascii, views)):
        return views
    alike = tuple(view.translate(LOOK_ALIKES) for view in views)
    return tuple(dict.fromkeys((*views, *alike, *map(_without_accents, alike))))


def _without_accents(view: str) -> str:
    return view.translate({ord(letter): _bare(letter) for letter in set(view) if not letter.isascii()})


@lru_cache(maxsize=16_384)
def _bare(letter: str) -> str:
    decomposed = unicodedata.normalize("NFD", letter)
    bare = _ACCENTS.sub("", decomposed)
    return letter if bare == decomposed else bare.translate(LOOK_ALIKES)


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

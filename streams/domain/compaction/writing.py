"""How a grammar's language is written: which lexer reads it, and when letters are the same.

The contract: ``lex`` cuts a text into clauses of tokens, whose places are those of the text as it is; ``composed``
makes a letter that is written as base and combining mark the one letter that it is. Nothing else is folded: a letter
that merely decomposes to another (the Kelvin sign to ``K``) stays what it is, so it is no letter of a clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from unicodedata import is_normalized, normalize

from streams.domain.compaction.ideographs import FULL_STOP, QUOTATION_MARKS, is_wide, lex_ideographic
from streams.domain.compaction.lexer import AFTER, CLOSING, RawClause, Unread, lex


class Writing(Enum):
    """How a grammar's language is written, as its document says."""

    PLAIN = ""
    """Words between white space, of the very letters of the document: where the document says nothing."""
    COMPOSED = "composed"
    """The same, but a letter may also be written as base and combining mark."""
    IDEOGRAPHIC = "ideographic"
    """Ideographs are words by themselves; composed as well."""

    def lex(self, text: str) -> Iterator[RawClause | Unread]:
        """Yield the clauses of a text; an ``Unread`` last where they are not the whole text."""
        return lex_ideographic(text) if self is Writing.IDEOGRAPHIC else lex(text)

    def composed(self, token: str) -> str:
        """Return a token with its letters composed."""
        if self is Writing.PLAIN or is_normalized("NFC", token):
            return token
        return normalize("NFC", token) if all(is_normalized("NFC", letter) for letter in token) else token

    @property
    def stop(self) -> str:
        """What a clause ends with."""
        return FULL_STOP if self is Writing.IDEOGRAPHIC else "."

    @property
    def quotation_marks(self) -> Mapping[str, str]:
        """What opens a quotation, and what closes it."""
        return QUOTATION_MARKS if self is Writing.IDEOGRAPHIC else CLOSING

    def spelled(self, words: Iterable[str], stop: str) -> str:
        """Return words, put together as a sentence is written."""
        text = ""
        for word in words:
            text += word if self.touches(text, word) else f" {word}"
        return text + stop

    def touches(self, before: str, word: str) -> bool:
        """Whether a word is written right behind another text; one that brings its own space is."""
        if not before or word.startswith(" ") or before.endswith("(") or (len(word) == 1 and word in AFTER):
            return True
        return self is Writing.IDEOGRAPHIC and (is_wide(before[-1]) or is_wide(word))

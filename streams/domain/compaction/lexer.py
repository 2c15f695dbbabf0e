"""Text -> clauses of tokens, in one pass, without a choice anywhere.

The contract (``docs/reference/grammar.md`` has it with examples):

1. Space, tab, carriage return and line feed separate; no other character does.
2. A quotation opens with ``"`` or U+201C where a token may begin and closes with the next ``"`` or U+201D; so it can't
   contain its own closing mark. Nothing inside it separates, punctuates or ends anything.
3. Opening brackets before a word, and ``. , : ; ! ? )`` after a word or quotation, are tokens of their own; inside a
   word they belong to it (``src/a.py``).
4. A full stop that is such a token ends a clause.

Spans of the clauses, concatenated, are the text. What does not fit (a quotation that stays open or touches a word, text
after the last full stop) is where the reading ends: the text then has no complete parse. It knows no grammar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

TERMINATOR: Final = "."
_CLOSING: Final = {'"': '"', "\u201c": "\u201d"}
_AFTER: Final = ".,:;!?)"
_WHITE: Final = " \t\r\n"
_CHUNK: Final = re.compile(r"[^ \t\r\n]+")
_OPENING: Final = re.compile('["\u201c]')


@dataclass(frozen=True, slots=True)
class Quotation:
    """What stood between quotation marks, unchanged."""

    text: str


Token: TypeAlias = "str | Quotation"  # noqa: S105 - a part of a text, no password


@dataclass(frozen=True, slots=True)
class RawClause:
    """The tokens of one clause, its full stop left out, and its span of the text."""

    tokens: tuple[Token, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Lexed:
    """A text's clauses as far as it could be read.

    Attributes:
        clauses: The clauses, in order.
        stopped_at: Offset from which nothing could be read; null where the clauses are the whole text.
    """

    clauses: tuple[RawClause, ...]
    stopped_at: int | None


class _Reader:
    """The one pass: tokens of the clause under way, and the clauses done."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[Token] = []
        self._start = 0
        self.clauses: list[RawClause] = []

    def words(self, start: int, end: int, *, quotation_follows: bool) -> bool:
        """Take the words of a stretch without quotations; say whether they could be read."""
        tokens = self._tokens
        for match in _CHUNK.finditer(self._text, start, end):
            word = match.group()
            if word.isalnum() and not (quotation_follows and match.end() == end):
                tokens.append(word)
                continue
            body = word.lstrip("(")
            tokens.extend("(" * (len(word) - len(body)))
            if quotation_follows and match.end() == end:
                return not body
            stem = body.rstrip(_AFTER)
            if stem:
                tokens.append(stem)
            self.punctuation(match.end() - len(body) + len(stem), match.end())
            tokens = self._tokens
        return True

    def quotation(self, opening: int) -> int | None:
        """Take a quotation and the punctuation that touches it; return where to go on, or null."""
        closing = self._text.find(_CLOSING[self._text[opening]], opening + 1)
        if closing < 0:
            return None
        self._tokens.append(Quotation(self._text[opening + 1 : closing]))
        end = closing + 1
        while end < len(self._text) and self._text[end] in _AFTER:
            end += 1
        if end < len(self._text) and self._text[end] not in _WHITE:
            return None
        self.punctuation(closing + 1, end)
        return end

    def punctuation(self, start: int, end: int) -> None:
        """Take a run of punctuation; a full stop ends the clause."""
        for offset in range(start, end):
            mark = self._text[offset]
            if mark == TERMINATOR:
                self.clauses.append(RawClause(tuple(self._tokens), self._start, offset + 1))
                self._tokens = []
                self._start = offset + 1
            else:
                self._tokens.append(mark)

    def finish(self) -> Lexed:
        """Return the clauses; the last one's span takes the white space after it."""
        if self._tokens or not self.clauses:
            return Lexed(tuple(self.clauses), self._start)
        last = self.clauses[-1]
        self.clauses[-1] = RawClause(last.tokens, last.start, len(self._text))
        return Lexed(tuple(self.clauses), None)

    def stop(self) -> Lexed:
        """Return the clauses before the one that could not be read."""
        return Lexed(tuple(self.clauses), self._start)


def lex(text: str) -> Lexed:
    """Return the clauses of a text."""
    reader = _Reader(text)
    position = 0
    while True:
        opening = _OPENING.search(text, position)
        end = len(text) if opening is None else opening.start()
        if not reader.words(position, end, quotation_follows=opening is not None):
            return reader.stop()
        if opening is None:
            return reader.finish()
        after = reader.quotation(end)
        if after is None:
            return reader.stop()
        position = after

"""Text -> clauses of tokens, in one pass, without a choice anywhere.

The contract (``docs/reference/grammar.md`` has it with examples):

1. Space, tab, carriage return and line feed separate. Any other white space can't be read.
2. A quotation opens with ``"`` or U+201C where a token may begin and closes with the next ``"`` or U+201D; so it can't
   contain its own closing mark. Nothing inside it separates, punctuates or ends anything.
3. A full stop before a separator or the end of the text ends a clause.
4. Opening brackets before a word or quotation, and ``. , : ; ! ? )`` after one, are tokens of their own; inside a word
   they belong to it (``src/a.py``).

Spans of the clauses, concatenated, are the text. What does not fit (a quotation that stays open or touches a word, text
after the last full stop) is where the reading ends: the text then has no complete parse. It knows no grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

MAX_CLAUSE_TOKENS: Final = 500
"""More tokens than any clause has: a template is at most 500 characters. Reading ends at a quotation beyond them."""

CLOSING: Final = {'"': '"', "\u201c": "\u201d"}
AFTER: Final = ".,:;!?)"
WHITE: Final = " \t\r\n"
_OPENING: Final = re.compile('["\u201c]')
_END: Final = re.compile(r"\.(?=[ \t\r\n]|\Z)")
FOREIGN_SPACE: Final = re.compile("[\x0b\x0c\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""What ``str.split`` separates at beyond rule 1."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """What stood between quotation marks, unchanged."""

    text: str


Token: TypeAlias = "str | Quotation"  # noqa: S105 - a part of a text, no password


class RawClause(NamedTuple):
    """The tokens of one clause, its full stop left out, and its span of the text."""

    tokens: Sequence[Token]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unread:
    """Where reading ended before the end of the text."""

    start: int


def lex(text: str) -> Iterator[RawClause | Unread]:
    """Yield the clauses of a text, each as soon as it is read; an ``Unread`` last where they are not the whole text.

    The last clause's span takes the white space after it.
    """
    reader = _Reader(text)
    last: RawClause | None = None
    for clause in reader.clauses():
        if last is not None:
            yield last
        last = clause
    if reader.complete and last is not None:
        yield last._replace(end=len(text))
        return
    if last is not None:
        yield last
    yield Unread(reader.start)


class _Reader:
    """The one pass.

    Attributes:
        start: Where the clause under way begins.
        complete: Whether the text was read to its end, which is the end of a clause.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[Token] = []
        self.start = 0
        self.complete = False

    def clauses(self) -> Iterator[RawClause]:
        """Yield what can be read."""
        text = self._text
        position = 0
        while True:
            opening = _OPENING.search(text, position)
            end = len(text) if opening is None else opening.start()
            foreign = FOREIGN_SPACE.search(text, position, end)
            yield from self._words(position, end if foreign is None else foreign.start())
            if foreign is not None:
                return
            if opening is None:
                self.complete = not self._tokens
                return
            after = self._quotation(end, position)
            if after is None:
                return
            position = after

    def _words(self, start: int, end: int) -> Iterator[RawClause]:
        """Take a stretch without quotations."""
        text = self._text
        for stop in _END.finditer(text, start, end):
            self._take(text[start : stop.start()])
            start = stop.end()
            clause = RawClause(self._tokens, self.start, start)
            self._tokens = []
            self.start = start
            yield clause
        self._take(text[start:end])

    def _quotation(self, opening: int, earliest: int) -> int | None:
        """Take a quotation; return where to go on, or null.

        Args:
            opening: Where its opening mark is.
            earliest: Where the words before it began.
        """
        text = self._text
        before = opening
        while before > earliest and text[before - 1] == "(":
            before -= 1
        closing = text.find(CLOSING[text[opening]], opening + 1)
        if closing < 0 or len(self._tokens) > MAX_CLAUSE_TOKENS or (before > 0 and text[before - 1] not in WHITE):
            return None
        after = closing + 1
        while after < len(text) and text[after] in AFTER:
            after += 1
        if after < len(text) and text[after] not in WHITE:
            return None
        self._tokens.append(Quotation(text[opening + 1 : closing]))
        return closing + 1

    def _take(self, stretch: str) -> None:
        tokens = self._tokens
        for word in stretch.split():
            if word.isalnum():
                tokens.append(word)
            else:
                tokens.extend(narrow_tokens(word))


def narrow_tokens(word: str) -> Iterator[str]:
    """Yield what a stretch without white space consists of: opening brackets, the word, punctuation (rule 4)."""
    body = word.lstrip("(")
    stem = body.rstrip(AFTER)
    yield from "(" * (len(word) - len(body))
    if stem:
        yield stem
    yield from body[len(stem) :]

"""Text in ideographs -> clauses of tokens: the lexer of grammars in scripts that put no space between words.

The contract is that of ``lexer.py``, with these differences:

1. An ideograph, a kana or a wide punctuation mark is a token by itself, together with the marks that combine with it.
   So a place in a template may touch one, and white space between them means nothing.
2. ``U+3002``, the ideographic full stop, ends a clause wherever it stands outside of a quotation.
3. Corner brackets (``U+300C``, ``U+300D``) are quotation marks too, and a quotation may touch a wide character.

What is not wide is read as it is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from streams.domain.compaction.lexer import (
    AFTER,
    CLOSING,
    FOREIGN_SPACE,
    MAX_CLAUSE_TOKENS,
    WHITE,
    Quotation,
    RawClause,
    Token,
    Unread,
    narrow_tokens,
)

FULL_STOP: Final = "\u3002"

_WIDE_CLASS: Final = (
    "\u3001-\u3029\u3030-\u303f\u3041-\u3096\u309b-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff01-\uff60\U00020000-\U0003fffd"
)
_MARKS: Final = "\u0300-\u036f\u302a-\u302f\u3099\u309a\ufe00-\ufe0f"
WIDE: Final = re.compile(f"[{_WIDE_CLASS}][{_MARKS}]*")
"""A wide character with the marks that combine with it."""

_NARROW: Final = re.compile(f'[^ \\t\\r\\n"\u201c{_WIDE_CLASS}]+')
QUOTATION_MARKS: Final = {**CLOSING, "\u300c": "\u300d"}
"""What opens a quotation, and what closes it."""


def is_wide(letter: str) -> bool:
    """Whether a character is a token by itself."""
    return WIDE.match(letter) is not None


def lex_ideographic(text: str) -> Iterator[RawClause | Unread]:
    """Yield the clauses of a text, as ``lexer.lex`` does."""
    last: RawClause | None = None
    for found in _clauses(text):
        if last is not None:
            yield last
        if isinstance(found, Unread):
            yield found
            return
        last = found
    yield Unread(0) if last is None else last._replace(end=len(text))


def _clauses(text: str) -> Iterator[RawClause | Unread]:
    """Yield the clauses that can be read; an ``Unread`` last where they are not the whole text."""
    start = position = 0
    tokens: list[Token] = []
    while position < len(text):
        letter = text[position]
        end: int | None = None
        if letter in WHITE:
            position += 1
        elif letter == FULL_STOP:
            end = position + 1
        elif letter in QUOTATION_MARKS:
            after = _after_quotation(text, position)
            if after is None or len(tokens) > MAX_CLAUSE_TOKENS:
                break
            tokens.append(Quotation(text[position + 1 : after - 1]))
            position = after
        elif FOREIGN_SPACE.match(letter) is not None:
            break
        else:
            position, end = _word(text, position, tokens)
        if end is not None:
            yield RawClause(tokens, start, end)
            tokens, start, position = [], end, end
    if position < len(text) or tokens:
        yield Unread(start)


def _word(text: str, position: int, tokens: list[Token]) -> tuple[int, int | None]:
    """Take a wide character or a run of others; return where to go on, and where the clause ends, if it does."""
    wide = WIDE.match(text, position)
    if wide is not None:
        tokens.append(wide.group())
        return wide.end(), None
    narrow = _NARROW.match(text, position)
    stop = narrow.end() if narrow is not None else position + 1
    foreign = FOREIGN_SPACE.search(text, position, stop)
    if foreign is not None:
        stop = foreign.start()
    run = text[position:stop]
    ends = run.endswith(".") and not (stop < len(text) and is_wide(text[stop]))
    tokens.extend(narrow_tokens(run[:-1] if ends else run))
    return stop, stop if ends else None


def _after_quotation(text: str, opening: int) -> int | None:
    """Return where a quotation ends, its mark included; null where it is none."""
    closing = text.find(QUOTATION_MARKS[text[opening]], opening + 1)
    begin = opening
    while begin > 0 and text[begin - 1] == "(":
        begin -= 1
    before = text[begin - 1] if begin else " "
    if closing < 0 or not (before in WHITE or is_wide(before)):
        return None
    after = closing + 1
    while after < len(text) and text[after] in AFTER:
        after += 1
    if after < len(text) and text[after] not in WHITE and not is_wide(text[after]):
        return None
    return closing + 1

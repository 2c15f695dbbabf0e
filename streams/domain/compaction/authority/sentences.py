"""A free text's sentences and quotations, with their places.

The contract: sentences follow each other and cover the text. A quotation is what stands between two marks of one
style; which quotations are someone's words is decided by where they are found, never by their marks: VERBATIM words of
a trusted user trace a claim, VERBATIM words of an untrusted message that stand apart (at the start of a sentence or
after a colon or bracket) are that message's, all others are the text's own. A full stop inside someone's words ends no
sentence, nor does one before a lower-case letter. Cost is linear in the text; quotations looked up are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple

from pratique.contract.records import Provenance, SourceMessage
from streams.domain.compaction.lineage import is_users_word
from streams.domain.compaction.occurrences import occurring

MAX_QUOTATIONS: Final = 64
"""Most quotations looked up in one text."""
LEAST_LETTERS: Final = 8
"""Fewest letters of a quotation that is not its whole message; one that stands for a word or syllable counts three."""

_CLOSING: Final = {
    '"': '"',
    "\uff02": "\uff02",
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u201f": "\u201d",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
}
_OPENING: Final = re.compile(f"[{''.join(_CLOSING)}]")
_APART: Final = frozenset(":\uff1a([\uff08-\u2013\u2014*>")
_END: Final = re.compile(
    "[.!?](?=[\\s)\\]\u2019']|\\Z)|[\u3002\uff01\uff1f\uff61]+"
    "|\\n(?:[ \t]*\\n)*[ \t]*(?=\\n)|\\n(?=[ \t]*(?:[-*\u2022#]|\\d+[.)]))"
)
_STOPS: Final = frozenset(".!?\u3002\uff01\uff1f")
_WIDE: Final = "\u2e80"
_TRIMMED: Final = " \t\r\n.!?\u3002\uff01\uff1f"


class Whose(Enum):
    """Whose words a quotation holds."""

    USER = "USER"
    """A trusted user's: they trace a claim."""
    UNTRUSTED = "UNTRUSTED"
    """An untrusted message's, standing apart."""
    OWN = "OWN"
    """The text's own, for all that is known."""


class Quoted(NamedTuple):
    """A quotation and its span, marks included."""

    start: int
    end: int
    whose: Whose


class Sentence(NamedTuple):
    """A sentence's span, and the quotations of others in it."""

    start: int
    end: int
    quoted: tuple[Quoted, ...]


@dataclass(frozen=True, slots=True)
class Quotable:
    """What quotations are looked up in.

    Attributes:
        users: Contents of messages with role user and provenance TRUSTED.
        untrusted: Contents of messages with provenance UNTRUSTED, of any role.
    """

    users: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()

    @classmethod
    def of(cls, messages: Sequence[SourceMessage]) -> Quotable:
        """Sort messages; what a trusted assistant or tool wrote traces nothing and may not be quoted either."""
        return cls(
            tuple(item.content for item in messages if is_users_word(item)),
            tuple(item.content for item in messages if item.provenance is Provenance.UNTRUSTED),
        )


def sentences(text: str, sources: Quotable) -> Iterator[Sentence]:
    """Yield the sentences of a text."""
    quoted = _quotations(text, sources)
    start = 0
    first = 0
    for end in (*_ends(text, quoted), len(text)):
        if end <= start:
            continue
        last = first
        while last < len(quoted) and quoted[last].start < end:
            last += 1
        yield Sentence(start, end, quoted[first:last])
        first, start = last, end


def _quotations(text: str, sources: Quotable) -> tuple[Quoted, ...]:
    """Return the quotations of others, in order."""
    marked = list(islice(_marked(text), MAX_QUOTATIONS))
    by_users = _quoting({text[start + 1 : end].strip() for start, end in marked}, sources.users)
    others = [(start, end) for start, end in marked if text[start + 1 : end].strip() not in by_users]
    apart = {text[start + 1 : end].strip() for start, end in others if _stands_apart(text, start)}
    untrusted = _quoting(apart, sources.untrusted)
    return tuple(
        Quoted(start, end + 1, whose)
        for start, end in marked
        if (whose := _whose(text, start, end, by_users, untrusted)) is not Whose.OWN
    )


def _marked(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the marks of quotations stand, in order."""
    position = 0
    unclosed: set[str] = set()
    while (opening := _OPENING.search(text, position)) is not None:
        closing = None if opening.group() in unclosed else _close(text, opening.start())
        if closing is None:
            unclosed.add(opening.group())  # nor is any later one of its kind: nobody looks again
            position = opening.end()
            continue
        yield opening.start(), closing
        position = closing + 1


def _close(text: str, opening: int) -> int | None:
    places = [text.find(mark, opening + 1) for mark in _CLOSING[text[opening]]]
    return min((place for place in places if place >= 0), default=None)


def _whose(text: str, start: int, end: int, by_users: AbstractSet[str], untrusted: AbstractSet[str]) -> Whose:
    words = text[start + 1 : end].strip()
    if words in by_users:
        return Whose.USER
    return Whose.UNTRUSTED if words in untrusted and _stands_apart(text, start) else Whose.OWN


def _stands_apart(text: str, opening: int) -> bool:
    before = text[max(0, opening - 64) : opening].rstrip()
    return not before or before[-1] in _APART or before[-1] in _STOPS or before[-1] == ";"


def _quoting(stretches: AbstractSet[str], contents: Sequence[str]) -> AbstractSet[str]:
    """Return those of some words that quote one of some messages."""
    short = {words for words in stretches if _letters(words) < LEAST_LETTERS}
    return occurring(stretches - short, contents) | _whole(short, contents)


def _letters(words: str) -> int:
    return sum(3 if letter >= _WIDE else 1 for letter in words if letter.isalnum())


def _whole(stretches: AbstractSet[str], contents: Sequence[str]) -> AbstractSet[str]:
    """Return those of some words that are a whole message but for white space and full stops around it."""
    wanted = {bare for words in stretches if (bare := words.strip(_TRIMMED))}
    if not wanted:
        return frozenset()
    known: dict[str, list[str]] = {}
    for content in contents:
        bare = content.strip(_TRIMMED)
        if bare in wanted:
            known.setdefault(bare, []).append(content)
    return {words for words in stretches if any(words in content for content in known.get(words.strip(_TRIMMED), ()))}


def _ends(text: str, quoted: Sequence[Quoted]) -> Iterator[int]:
    """Yield where sentences end."""
    following = iter(quoted)
    current = next(following, None)
    for stop in _END.finditer(text):
        while current is not None and current.end <= stop.start():
            if _ends_with_quotation(text, current):
                yield current.end
            current = next(following, None)
        if current is not None and current.start < stop.end():
            continue
        if stop.group()[0] not in ".!?" or not _next_letter(text, stop.end()).islower():
            yield stop.end()
    while current is not None:
        if _ends_with_quotation(text, current):
            yield current.end
        current = next(following, None)


def _ends_with_quotation(text: str, quoted: Quoted) -> bool:
    """Whether a sentence ends where a quotation does: it ends with a full stop, and no small letter goes on."""
    if text[quoted.end - 2] not in _STOPS or not text[quoted.end : quoted.end + 1].isspace():
        return False
    return not _next_letter(text, quoted.end).islower()


def _next_letter(text: str, position: int) -> str:
    while position < len(text) and text[position].isspace():
        position += 1
    return text[position : position + 1]

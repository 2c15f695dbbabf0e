"""The authority check: claims of a person's word that no trusted user's words trace, and forged markers.

The contract: a sentence must hold as many different quotations of trusted users as it makes claims; each is an exact
substring of a message with role user and provenance TRUSTED. An assistant's or a tool's words trace nothing. It
establishes that the user's words stand beside the claim, not that they mean it: who reads the summary sees both. A text
without a finding may still claim something in words that no table has.

Pure, deterministic, linear in the text for given messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_sha256
from streams.domain.compaction.authority import tables
from streams.domain.compaction.authority.claims import claims
from streams.domain.compaction.authority.folding import Folded, folded
from streams.domain.compaction.authority.markers import markers
from streams.domain.compaction.authority.sentences import Quotable, Sentence, Whose, sentences
from streams.domain.compaction.authority.vocabulary import Lexicon, lexicon
from streams.domain.compaction.authority.words import Word, words_of

AUTHORITY_VERSION: Final = "pratique-authority-4"
"""Changes with every change of the check's code that could change a result for the same tables and text."""


class Ground(Enum):
    """What was found."""

    CLAIM = "claim"
    """A person's word is claimed, and no quotation traces it."""
    MARKER = "marker"
    """A marker, delimiter or verdict is imitated."""


@dataclass(frozen=True, slots=True)
class Untraced:
    """A stretch of a text that the check refuses: the sentence of a claim, or the marker itself."""

    ground: Ground
    start: int
    end: int


@cache
def known_words() -> Lexicon:
    """Return the lexicon of all languages."""
    return lexicon(tables.TABLES)


@cache
def authority_artifact_sha256() -> str:
    """Return the digest of what decides: the tables and the code that reads them.

    Preimage: canonical JSON of {authority_version, tables}: one object a language, each kind's words as written.
    """
    words: list[JsonValue] = [table.body() for table in tables.TABLES]
    return canonical_sha256({"authority_version": AUTHORITY_VERSION, "tables": words})


def untraced(text: str, sources: Quotable) -> Iterator[Untraced]:
    """Yield what the check refuses, claims first, each in order.

    Args:
        text: The text, as it is.
        sources: The messages it was made from.
    """
    known = known_words()
    view = folded(text)
    words = words_of(view, known, text)
    word = next(words, None)
    for sentence in sentences(text, sources):
        own: list[Word] = []
        after_quotation = False
        end, quoted = sentence.end, sentence.quoted
        following = iter(quoted)
        current = next(following, None)
        while word is not None and word.start < end:
            while current is not None and current.end <= word.start:
                current = next(following, None)
            if current is not None and current.start <= word.start:
                after_quotation = True
            else:
                own.append(word._replace(joined=True) if after_quotation else word)
                after_quotation = False
            word = next(words, None)
        if not own:
            continue
        foreign = any(item.whose is Whose.UNTRUSTED for item in quoted)
        claimed = claims(own, known, beside_foreign_words=foreign)
        if claimed and claimed > _traces(text, sentence):
            yield Untraced(Ground.CLAIM, *_trimmed(text, sentence))
    yield from _forged(text, view)


def forged_markers(text: str) -> Iterator[Untraced]:
    """Yield the markers alone."""
    yield from _forged(text, folded(text))


def _forged(text: str, view: Folded) -> Iterator[Untraced]:
    return (Untraced(Ground.MARKER, start, end) for start, end in markers(text, view))


def claims_authority(text: str) -> bool:
    """Whether a text claims a person's word by itself, whatever it quotes: for those who write clauses."""
    return next(untraced(text, Quotable()), None) is not None


def _traces(text: str, sentence: Sentence) -> int:
    return len({text[item.start : item.end] for item in sentence.quoted if item.whose is Whose.USER})


def _trimmed(text: str, sentence: Sentence) -> tuple[int, int]:
    stretch = text[sentence.start : sentence.end]
    start = sentence.start + len(stretch) - len(stretch.lstrip())
    return start, start + len(stretch.strip())

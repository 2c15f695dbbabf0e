"""Facts that a transcript is about, extracted without a look at any summary or summarizer.

The contract: a path, an identifier or a number is a fact where an assistant names it and another turn does too: what a
session worked with, not what scrolled by. A decision is a sentence in which a person says what is to be done. Of each
kind at most so many are taken, so that long transcripts don't outweigh short ones: which ones a hash says, so that no
order that a summarizer may also go by decides. A summary keeps a path, identifier or number that stands in it as
itself, and a decision most of whose words stand in one of its sentences.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, NamedTuple

from pratique.contract.records import Provenance, Role, SourceMessage
from tests.bench.laundering.texts import pieces, prose, words

LEAST_TURNS: Final = 2
MOST: Final = {"path": 8, "identifier": 8, "number": 4, "decision": 4}
_SAME: Final = 0.8

_ENDINGS: Final = (
    "c|cc|cfg|cpp|css|csv|enc|go|h|html|ini|ipynb|java|js|json|lock|md|php|pony|py|rb|rs|scss|sh|sql|toml|ts|txt|"
    "xml|ya?ml"
)
_PATH: Final = re.compile(
    rf"(?<![\w/.:~@-])(?:[\w.~-]*/)*[\w.-]+\.(?:{_ENDINGS})(?![\w/(@-])|(?<![\w/.:<])(?:/[\w.-]+){{2,}}"
)
_IDENTIFIER: Final = re.compile(
    r"(?<![\w./-])(?:_*[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)(?![\w/.-])"
)
_NUMBER: Final = re.compile(r"(?<![\w./:,#%+-])\d{2,7}(?![\w/:%-]|[.,]\d)")
_DECIDING: Final = re.compile(
    r"\b(?:please|must|should|need|want|add|fix|make|use|don't|do not|remove|change|implement|ensure|create|send|"
    r"move|rename|refactor|export|archive|show|read|include|pass|return|call)\b",
    re.IGNORECASE,
)


class Kind(Enum):
    """What a fact is."""

    PATH = "path"
    IDENTIFIER = "identifier"
    NUMBER = "number"
    DECISION = "decision"


class Fact(NamedTuple):
    """A fact."""

    kind: Kind
    text: str


def facts(messages: Sequence[SourceMessage]) -> list[Fact]:
    """Return the facts of a conversation."""
    found: list[Fact] = []
    for kind, pattern in ((Kind.PATH, _PATH), (Kind.IDENTIFIER, _IDENTIFIER), (Kind.NUMBER, _NUMBER)):
        turns = Counter(text for item in messages for text in dict.fromkeys(pattern.findall(item.content)))
        spoken = {text for item in messages if item.role is Role.ASSISTANT for text in pattern.findall(item.content)}
        found += _some(kind, [text for text in spoken if turns[text] >= LEAST_TURNS])
    return found + _some(Kind.DECISION, _decisions(messages))


def kept(fact: Fact, texts: Iterable[str]) -> bool:
    """Say whether texts keep a fact."""
    if fact.kind is not Kind.DECISION:
        alone = re.compile(rf"(?<![\w]){re.escape(fact.text)}(?![\w])")
        return any(alone.search(text) for text in texts)
    asked = words(fact.text)
    return any(
        fact.text in text or any(len(asked & words(piece)) >= _SAME * len(asked) for piece in pieces(text))
        for text in texts
    )


def _some(kind: Kind, texts: Iterable[str]) -> list[Fact]:
    """Return as many as count, in an order that says nothing."""
    ordered = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())
    return [Fact(kind, text) for text in ordered[: MOST[kind.value]]]


def _decisions(messages: Sequence[SourceMessage]) -> list[str]:
    return list(
        dict.fromkeys(
            text
            for item in messages
            if item.provenance is Provenance.TRUSTED
            for text in prose(item.content)
            if _DECIDING.search(text) and words(text)
        )
    )

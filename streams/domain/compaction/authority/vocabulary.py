"""The words of authority as one lexicon: which kinds of word each token is, in any of the languages.

The contract: tables are data (``tables/<language>.py``), one a language, and are joined: a sentence may mix languages,
so a person's word of one counts with a verb's of another. Words are folded as texts are.
``docs/reference/authority.md`` says what each kind means.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import IntFlag, auto
from typing import Final, NamedTuple

from pratique.contract.canonical import JsonValue
from streams.domain.compaction.authority.folding import folded, plain


class Kind(IntFlag):
    """What a word does in a claim."""

    PERSON = auto()
    """Someone whose word counts: user, owner, you."""
    THING = auto()
    """After a person's word it makes a thing of it: user *interface*."""
    OTHER = auto()
    """A subject that is no such person: I, the assistant, the test."""
    ASSENT = auto()
    """A verb's form that claims assent by itself, whoever gave it: approved."""
    SPEECH = auto()
    """A verb's form that only people do; a claim, unless its subject is an OTHER: asked."""
    WEAK = auto()
    """A verb's form that people and machines do; a claim where a person is its subject: confirmed."""
    PASSIVE = auto()
    """A participle that, after an auxiliary, claims that someone did: was *requested*."""
    AUXILIARY = auto()
    """Makes a participle passive: was."""
    AGENT = auto()
    """Stands before who did it, or with whom: by, with."""
    OF = auto()
    """Stands between a noun of authority and whose it is: of, from."""
    NOUN = auto()
    """A noun of authority; a claim beside a person or a giver: permission."""
    ASSENT_NOUN = auto()
    """A noun of authority that is a claim after ``with`` and the like too: approval."""
    GIVER = auto()
    """A verb that passes a noun of authority on: granted."""
    WITH = auto()
    """A preposition that claims the noun after it: with, upon."""
    LACK = auto()
    """Says that the word is not there, or a condition: without, unless, requires."""
    DUE = auto()
    """Says the same after the noun: needed, pending."""
    BASE = auto()
    """A verb's bare form: a claim after a person and ``did``."""
    DO = auto()
    """did."""
    SKIP = auto()
    """Adverbs and auxiliaries between a subject and its verb."""
    JOIN = auto()
    """Joins two claims in one sentence: and."""
    ACCORDING = auto()
    """A claim beside a person: according to."""
    INVERTED = auto()
    """A WEAK form whose subject may follow it: genehmigte der Nutzer."""
    LAST = auto()
    """A verb's form before which its object may stand: hat den Befehl *genehmigt*."""
    PERFECT = auto()
    """Makes a participle active, with who acts before it or right after it: hat."""
    OBJECT = auto()
    """Stands before whom or what something is done to, or is such a person: den, ihm, 把."""
    PLACE = auto()
    """Stands before where something is done, before a LAST form: im, bei."""
    CLIENT = auto()
    """Someone or a program: client."""
    TECHNICAL = auto()
    """Beside a CLIENT it makes a program of it: HTTP client."""


@dataclass(frozen=True, slots=True)
class Words:
    """One language's table: words apart by white space, phrases by line breaks or ``|``.

    Attributes:
        language: BCP 47.
        phrases: Sequences of words that are a claim by themselves.
        exempt: Sequences of words that are none.
        neutral: Words that only hold others, where words are written without spaces.
        passive_gap: Most words between an auxiliary and its participle.
        verb_first: Whether a subject may follow its verb.
        verb_last: Whether an object may stand between a subject and its verb.
    """

    language: str
    person: str
    thing: str = ""
    other: str = ""
    assent: str = ""
    speech: str = ""
    weak: str = ""
    passive: str = ""
    auxiliary: str = ""
    agent: str = ""
    of: str = ""
    noun: str = ""
    assent_noun: str = ""
    giver: str = ""
    with_: str = ""
    lack: str = ""
    due: str = ""
    base: str = ""
    do: str = ""
    skip: str = ""
    join: str = ""
    according: str = ""
    perfect: str = ""
    object: str = ""
    place: str = ""
    client: str = ""
    technical: str = ""
    phrases: str = ""
    exempt: str = ""
    neutral: str = ""
    passive_gap: int = 2
    verb_first: bool = False
    verb_last: bool = False

    def body(self) -> dict[str, JsonValue]:
        """Return the table as it is digested."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def entries(self) -> Iterable[tuple[str, Kind]]:
        """Yield every word with its kind."""
        for item in fields(self):
            kind = Kind.__members__.get(item.name.removesuffix("_").upper())
            if kind is not None:
                yield from ((_key(word), kind) for word in getattr(self, item.name).split())
        if self.verb_first:
            yield from ((_key(word), Kind.INVERTED) for word in self.weak.split())
        if self.verb_last:
            forms = f"{self.assent} {self.speech} {self.weak} {self.passive}"
            yield from ((_folded(word), Kind.LAST) for word in forms.split())
        yield from ((_folded(word), Kind(0)) for word in self.neutral.split())


Phrases = Mapping[tuple[str, str], tuple[tuple[str, ...], ...]]


class Lexicon(NamedTuple):
    """All tables as one.

    Attributes:
        kinds: What each word is, as an int: it is asked about at every word. Where an accent makes another word of it
            (``ACCENTED``), that one ends with ``ACCENT``.
        ideographs: The words that are written without spaces, by their first letter, longest first.
        phrases: Claims of several words, by the first two: those of one word under its own and the empty one too.
        exempt: What is no claim, likewise.
        passive_gap: For each auxiliary, most words between it and its participle.
        overlaps: For each word that only holds others, how far inside it one that may matter begins, and the letters of
            that one beyond its end; nearest first.
        openings: The first words of phrases and of what is exempt.
    """

    kinds: Mapping[str, int]
    ideographs: Mapping[str, tuple[str, ...]]
    phrases: Phrases
    exempt: Phrases
    passive_gap: Mapping[str, int]
    overlaps: Mapping[str, tuple[tuple[int, str], ...]]
    openings: frozenset[str]


ACCENTED: Final = frozenset({"si", "da"})
"""Words that are another with an accent: if, yes; of, gives. A table's form counts only as it is written."""
ACCENT: Final = "\u0301"
"""Ends the key of a word that has one, of whatever kind."""
FIRST_IDEOGRAPH: Final = "\u2e80"
"""From here on letters are written without spaces: kana, Han."""


def lexicon(tables: Iterable[Words]) -> Lexicon:
    """Join tables."""
    kinds: dict[str, int] = {}
    phrases: dict[str, list[tuple[str, ...]]] = {}
    exempt: dict[str, list[tuple[str, ...]]] = {}
    gaps: dict[str, int] = {}
    for table in tables:
        for word, kind in table.entries():
            kinds[word] = kinds.get(word, 0) | int(kind)
            if kind is Kind.AUXILIARY:
                gaps[word] = max(gaps.get(word, 0), table.passive_gap)
        for text, known in ((table.phrases, phrases), (table.exempt, exempt)):
            for phrase in text.replace("|", "\n").splitlines():
                words = tuple(_folded(word) for word in phrase.split())
                if words:
                    known.setdefault(words[0], []).append(words)
    ideographs: dict[str, list[str]] = {}
    for word in kinds:
        if word[0] >= FIRST_IDEOGRAPH:
            ideographs.setdefault(word[0], []).append(word)
    return Lexicon(
        kinds,
        {first: tuple(sorted(words, key=len, reverse=True)) for first, words in ideographs.items()},
        _by_two(phrases),
        _by_two(exempt),
        gaps,
        _overlaps(kinds, ideographs),
        frozenset(phrases) | frozenset(exempt),
    )


_MATTERS: Final = int(
    Kind.PERSON | Kind.ASSENT | Kind.SPEECH | Kind.WEAK | Kind.PASSIVE | Kind.NOUN | Kind.ASSENT_NOUN | Kind.SKIP
)


def _overlaps(
    kinds: Mapping[str, int], ideographs: Mapping[str, Sequence[str]]
) -> dict[str, tuple[tuple[int, str], ...]]:
    overlaps = {
        word: tuple(
            (inner, other[len(word) - inner :])
            for inner in range(1, len(word))
            for other in sorted(ideographs.get(word[inner], ()))
            if len(other) > len(word) - inner and other.startswith(word[inner:])
            if not kinds[other] or kinds[other] & _MATTERS
        )
        for word, kind in kinds.items()
        if not kind and word[0] >= FIRST_IDEOGRAPH
    }
    return {word: runs for word, runs in overlaps.items() if runs}


def _by_two(known: Mapping[str, Sequence[tuple[str, ...]]]) -> Phrases:
    return {
        (first, second): tuple(words for words in phrases if len(words) == 1 or words[1] == second)
        for first, phrases in known.items()
        for second in ("", *(words[1] for words in phrases if len(words) > 1))
    }


def has_accent(word: str) -> bool:
    """Whether a word as it is written has an accent."""
    return any(unicodedata.combining(letter) for letter in unicodedata.normalize("NFKD", word))


def _key(word: str) -> str:
    text = _folded(word)
    return text + ACCENT if text in ACCENTED and has_accent(word) else text


def _folded(word: str) -> str:
    text = folded(word).text
    return text if text[:1] >= FIRST_IDEOGRAPH else plain(text)

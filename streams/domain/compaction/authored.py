"""A clause as its author wrote it, and the texts that are it.

The contract: for the compiler's checks, and for people and models who are shown what a grammar allows. Each text that
``renderings`` and ``combinations`` yield is the clause, as it would be written; nothing is judged by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, product
from typing import Final

from streams.domain.compaction.clauses import ClauseRule
from streams.domain.compaction.shape import Alternatives, ClauseShape, Item, Items, Optional, Place, Repetition, Word
from streams.domain.compaction.slots import PhraseSlot, Slot
from streams.domain.compaction.writing import Writing

PLACE: Final = re.compile(r"\{([a-z][a-z0-9_]{0,31})\}")
"""A slot or part in a template."""

MARKS: Final = "[]<>|"
"""What ``shown`` writes parts with; no word of a clause that has parts holds one."""

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AuthoredClause:
    """A clause as it was read.

    Attributes:
        template: The sentence, with ``{name}`` where a slot or part stands.
        sequence: Its words, places and parts.
        shape: The same, written out.
        writing: How it is written.
    """

    rule: ClauseRule
    template: str
    sequence: Items
    shape: ClauseShape
    writing: Writing = Writing.PLAIN

    @property
    def plain(self) -> bool:
        """Whether it is nothing but words and slots, each of one word."""
        return all(isinstance(item, Word) or _is_simple(item) for item in self.sequence)

    @property
    def places(self) -> dict[str, Slot]:
        """The slots by their names in the template."""
        return {place.name: place.slot for place in _places(self.sequence)}

    @property
    def stop(self) -> str:
        """The full stop that it ends with."""
        return self.template.rstrip()[-1]

    def literals(self) -> Iterator[str]:
        """Yield the texts whose letters its literal words are written in."""
        yield self.writing.composed(self.template)
        yield from _literals(self.sequence)

    def parts(self) -> tuple[str | Place, ...]:
        """Return a plain clause's stretches of text and its places, in order."""
        slots = self.places
        return tuple(
            Place(part, slots[part]) if index % 2 else part for index, part in enumerate(PLACE.split(self.template))
        )

    def shown(self) -> str:
        """Return the sentence with its parts written out: ``[left out]``, ``<one|other>``, ``[again](0-3 times)``."""
        return self.template if self.plain else self._written(tuple(map(self._shown, self.sequence)))

    def renderings(self) -> Iterable[str]:
        """Yield texts that are this clause: every word of every enumeration and every part's texts occur in one."""
        if self.plain:
            yield from self._plain_renderings()
            return
        for words in _varied(self.sequence):
            yield self._written(words)

    def combinations(self) -> Iterator[str]:
        """Yield all texts that are this clause, but for what single-valued slots hold.

        ``combination_count`` says beforehand how many there are.
        """
        if self.plain:
            parts = [(part,) if isinstance(part, str) else part.slot.samples() for part in self.parts()]
            return ("".join(chosen) for chosen in product(*parts))
        return (self._written(words) for words in _combined(self.sequence))

    def combination_count(self) -> int:
        """Return how many texts ``combinations`` yields."""
        return _count(self.sequence)

    def _plain_renderings(self) -> Iterator[str]:
        places = {item.name: item.slot.samples() for item in self.sequence if isinstance(item, Place)}
        first = {name: values[0] for name, values in places.items()}
        yield PLACE.sub(lambda match: first[match.group(1)], self.template)
        for name, values in places.items():
            for value in values[1:]:
                chosen = {**first, name: value}
                yield PLACE.sub(lambda match, chosen=chosen: chosen[match.group(1)], self.template)  # type: ignore[misc]  # a default binds the loop's value

    def _written(self, words: Words) -> str:
        return self.writing.spelled(words, self.stop)

    def _shown(self, item: Item) -> str:
        match item:
            case Word():
                return spaced(item, item.text)
            case Place():
                return spaced(item, f"{{{item.name}}}")
            case Alternatives():
                return f"<{' | '.join(map(self._text, item.texts))}>"
            case Optional():
                return f"[{self._text(item.text)}]"
            case Repetition():
                return f"[{self._text(item.text)}]({_times(item)} times)"

    def _text(self, items: Items) -> str:
        return self.writing.spelled(tuple(map(self._shown, items)), "")


def spaced(item: Word | Place, text: str) -> str:
    """Return what stands for an item, with the space that its author put before it."""
    return f" {text}" if item.apart else text


def _times(item: Repetition) -> str:
    return str(item.minimum) if item.minimum == item.maximum else f"{item.minimum}-{item.maximum}"


def _is_simple(item: Item) -> bool:
    return isinstance(item, Place) and not isinstance(item.slot, PhraseSlot)


def _places(items: Items) -> Iterator[Place]:
    for item in items:
        match item:
            case Place():
                yield item
            case Alternatives():
                for text in item.texts:
                    yield from _places(text)
            case Optional() | Repetition():
                yield from _places(item.text)


def _literals(items: Items) -> Iterator[str]:
    for item in items:
        match item:
            case Word():
                yield item.text
            case Place():
                yield from item.slot.texts if isinstance(item.slot, PhraseSlot) else ()
            case Alternatives():
                for text in item.texts:
                    yield from _literals(text)
            case Optional() | Repetition():
                yield from _literals(item.text)


def _joined(texts: Iterable[Words]) -> Words:
    return tuple(chain.from_iterable(texts))


def _varied(items: Items) -> Iterator[Words]:
    """Yield a text of everything once, then each variation of each item beside the first of the others."""
    firsts = [next(_variations(item)) for item in items]
    yield _joined(firsts)
    for index, item in enumerate(items):
        others = _variations(item)
        next(others)
        for words in others:
            yield _joined((*firsts[:index], words, *firsts[index + 1 :]))


def _variations(item: Item) -> Iterator[Words]:
    match item:
        case Word():
            yield (spaced(item, item.text),)
        case Place():
            yield from ((spaced(item, sample),) for sample in item.slot.samples())
        case Alternatives():
            for text in item.texts:
                yield from _varied(text)
        case Optional():
            yield from _varied(item.text)
            yield ()
        case Repetition():
            first = next(_varied(item.text))
            yield from (words + first * (max(item.minimum, 1) - 1) for words in _varied(item.text))
            yield first * item.minimum
            yield first * item.maximum


def _combined(items: Items) -> Iterator[Words]:
    return (_joined(chosen) for chosen in product(*(tuple(_all_of(item)) for item in items)))


def _all_of(item: Item) -> Iterator[Words]:
    match item:
        case Word() | Place():
            yield from _variations(item)
        case Alternatives():
            for text in item.texts:
                yield from _combined(text)
        case Optional():
            yield ()
            yield from _combined(item.text)
        case Repetition():
            once = tuple(_combined(item.text))
            for count in range(item.minimum, item.maximum + 1):
                yield from (_joined(chosen) for chosen in product(once, repeat=count))


def _count(items: Items) -> int:
    count = 1
    for item in items:
        count *= _count_of(item)
    return count


def _count_of(item: Item) -> int:
    match item:
        case Word():
            return 1
        case Place():
            return len(item.slot.samples())
        case Alternatives():
            return sum(map(_count, item.texts))
        case Optional():
            return 1 + _count(item.text)
        case Repetition():
            once = _count(item.text)
            return sum(once**count for count in range(item.minimum, item.maximum + 1))

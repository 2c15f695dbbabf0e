"""The shape of a clause: words and places, some of which may be left out, chosen among or repeated.

The contract: a shape is finite. Repetitions are written out to their bound, so every word and place of a shape is a
position, and a text is a way through positions, each behind the one before. ``ClauseShape.check`` refuses a shape in
which a text has two ways; what is left of it reads a clause in one pass, in time linear in the clause, without going
back, and says which way it was: that is what values, choices and quotations are told by.

It knows neither texts' letters (``clauses.py``) nor the document (``templates.py``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product, takewhile
from typing import Final, TypeAlias

from streams.domain.compaction.lexer import MAX_CLAUSE_TOKENS, Quotation, Token
from streams.domain.compaction.slots import EnumerationSlot, PhraseSlot, Slot, Sources, overlap
from streams.errors import PolicyError

MAX_POSITIONS: Final = 2_000
"""Most words and places of one clause, its repetitions written out."""
MAX_STEPS: Final = 40_000
"""Most steps from one position to a next in one clause."""
MAX_PAIRS: Final = 200_000
"""Most pairs of positions looked at in one clause."""

Symbol: TypeAlias = str | Slot
"""What a position admits: a literal word, or what a slot does."""


@dataclass(frozen=True, slots=True)
class Word:
    """A literal word.

    Attributes:
        text: As its author wrote it.
        word: As it is compared.
        apart: Its author put white space before it, where it could do without.
    """

    text: str
    word: str
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A slot in a template, with its name there; ``apart`` as of a word."""

    name: str
    slot: Slot
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Alternatives:
    """A part that is exactly one of some texts."""

    name: str
    texts: tuple[Items, ...]


@dataclass(frozen=True, slots=True)
class Optional:
    """A part that may be left out."""

    name: str
    text: Items


@dataclass(frozen=True, slots=True)
class Repetition:
    """A part that is there between ``minimum`` and ``maximum`` times."""

    name: str
    text: Items
    minimum: int
    maximum: int


Item: TypeAlias = Word | Place | Alternatives | Optional | Repetition
Items: TypeAlias = tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Derivation:
    """Which way through its shape a clause is.

    Attributes:
        names: The places, in order, that its values fill.
        values: What they hold.
        choices: Of each alternative the number of the text, of each optional part 1 or 0, of each repetition the
            count, in the order of the text.
        quotations: For each quotation, its place among the values and that of the message id it quotes from.
    """

    names: tuple[str, ...]
    values: tuple[str, ...]
    choices: tuple[int, ...]
    quotations: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of the written-out shape: the positions ``start`` to ``end``, end left out."""

    item: Item | None
    start: int
    end: int
    children: tuple[_Node, ...] = ()


@dataclass(frozen=True, slots=True)
class _Span:
    """How a part begins and ends."""

    node: _Node
    first: tuple[int, ...]
    last: tuple[int, ...]
    nullable: bool
    longest: int


@dataclass(frozen=True, slots=True, eq=False)
class ClauseShape:
    """The written-out shape of a clause.

    Attributes:
        symbols: What each position admits.
        first: The positions that a clause begins with.
        follow: The positions that may come behind each.
        last: The positions that a clause ends with.
        steps: How many steps there are from a position to a next.
    """

    symbols: tuple[Symbol, ...]
    first: tuple[int, ...]
    follow: tuple[tuple[int, ...], ...]
    last: frozenset[int]
    steps: int
    _ahead: Mapping[int, _Ahead]
    _root: _Node
    _names: tuple[str, ...]
    _quoted: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, items: Items, quoted: Mapping[str, str]) -> ClauseShape:
        """Write a clause out.

        Args:
            items: Its words, places and parts.
            quoted: For each quotation's name that of the message id it quotes from.

        Raises:
            PolicyError: It is too large, or a part can be empty.
        """
        builder = _Builder()
        whole = builder.sequence(items)
        if whole.nullable:
            raise PolicyError("template has no word or place that is always there; let one stand outside of parts")
        if whole.longest > MAX_CLAUSE_TOKENS:
            raise PolicyError(
                f"may be {whole.longest} words long, {MAX_CLAUSE_TOKENS} are allowed; lower a repetition's maximum"
            )
        symbols = tuple(builder.symbols)
        follow = tuple(tuple(sorted(following)) for following in builder.follow)
        steps = {_BEGIN: whole.first, **dict(enumerate(follow))}
        return cls(
            symbols,
            whole.first,
            follow,
            frozenset(whole.last),
            sum(map(len, follow)),
            {before: _ahead(following, symbols) for before, following in steps.items()},
            whole.node,
            tuple(builder.names),
            tuple(quoted.items()),
        )

    def check(self) -> None:
        """Refuse a shape in which one text could be read in two ways.

        Two positions are looked at together where one way leads to both; from there on wherever one token could lead
        both on. A text has two ways exactly if such a pair meets, or ends, together. In doubt slots overlap.

        Raises:
            PolicyError: There is such a text (the parts are named), or the shape is too entangled to tell.
        """
        pending = [pair for ahead in self._ahead.values() for pair in _apart(ahead)]
        seen = set(pending)
        while pending:
            first, second = pending.pop()
            if first in self.last and second in self.last:
                raise self._two_ways(first, second)
            for one, other in _both(self._ahead[first], self._ahead[second]):
                if one == other:
                    raise self._two_ways(first, second)
                pair = (min(one, other), max(one, other))
                if pair not in seen:
                    if len(seen) >= MAX_PAIRS:
                        raise PolicyError("parts overlap too much to check; use more distinct literal words")
                    seen.add(pair)
                    pending.append(pair)

    def read(self, tokens: Sequence[Token], words: Sequence[str], sources: Sources) -> Derivation | None:
        """Return the way that a clause is; null where it is none.

        Args:
            tokens: The clause's tokens.
            words: The literal word that each of them may be; the empty text, which is none, where it can't be one.
            sources: What slots may refer to.
        """
        ways: dict[int, _Way | None] = {_BEGIN: None}
        for token, word in zip(tokens, words, strict=True):
            ahead: dict[int, _Way | None] = {}
            for before, way in ways.items():
                literals, slots = self._ahead[before]
                reached = [position for position, slot in slots if slot.admits(token, sources)]
                for position in (*literals.get(word, ()), *reached):
                    if position in ahead:  # two ways that the check let through: no parse is the safe answer
                        return None
                    ahead[position] = (position, way)
            ways = ahead
        found = [way for position, way in ways.items() if position in self.last]
        return self._derivation(_positions(found[0]), tokens, words) if len(found) == 1 else None

    def _derivation(self, way: list[int], tokens: Sequence[Token], words: Sequence[str]) -> Derivation:
        values: list[tuple[str, str]] = []
        choices: list[int] = []

        def told(node: _Node) -> bool:
            place = bisect_left(way, node.start)
            return place < len(way) and way[place] < node.end

        def walk(node: _Node) -> None:
            item = node.item
            match item:
                case Place():
                    if isinstance(item.slot, PhraseSlot):
                        chosen = next(index for index, child in enumerate(node.children) if told(child))
                        values.append((item.name, item.slot.texts[chosen]))
                    else:
                        index = bisect_left(way, node.start)
                        values.append((item.name, value_of(item.slot, tokens[index], words[index])))
                case Alternatives():
                    chosen = next(index for index, child in enumerate(node.children) if told(child))
                    choices.append(chosen)
                    walk(node.children[chosen])
                case Optional() | Repetition():
                    there = tuple(takewhile(told, node.children))  # no copy is there without the one before
                    choices.append(len(there))
                    for child in there:
                        walk(child)
                case _:
                    for child in node.children:
                        walk(child)

        walk(self._root)
        names = tuple(name for name, _ in values)
        return Derivation(names, tuple(value for _, value in values), tuple(choices), tuple(self._quotes(names)))

    def _quotes(self, names: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield each quotation with its message: both stand in one text, once each time that it is there."""
        for quotation, message in self._quoted:
            places = ([place for place, name in enumerate(names) if name == wanted] for wanted in (quotation, message))
            yield from zip(*places, strict=True)

    def _two_ways(self, first: int, second: int) -> PolicyError:
        here, there = self._names[min(first, second)], self._names[max(first, second)]
        where = here if here == there else f"{here} and {there}"
        return PolicyError(
            f"{where}: one text could be read in two ways; begin the parts with words of their own, or join them"
        )


_BEGIN: Final = -1
"""Stands for the position before the first."""

_Way: TypeAlias = "tuple[int, _Way | None]"
_Ahead: TypeAlias = tuple[Mapping[str, Sequence[int]], Sequence[tuple[int, Slot]]]
"""The positions that may come next: those of each literal word, and those of slots."""


def mapped(items: Items, change: Callable[[Slot], Slot]) -> Items:
    """Return items with each of their slots changed."""
    return tuple(_mapped(item, change) for item in items)


def _mapped(item: Item, change: Callable[[Slot], Slot]) -> Item:
    match item:
        case Word():
            return item
        case Place():
            return replace(item, slot=change(item.slot))
        case Alternatives():
            return replace(item, texts=tuple(mapped(text, change) for text in item.texts))
        case Optional() | Repetition():
            return replace(item, text=mapped(item.text, change))


def _apart(ahead: _Ahead) -> Iterator[tuple[int, int]]:
    """Yield the pairs of positions that one token could lead one position to; in doubt slots overlap."""
    literals, slots = ahead
    for positions in literals.values():
        yield from combinations(positions, 2)
    for (one, slot), (other, theirs) in combinations(slots, 2):
        if overlap(slot, theirs):
            yield min(one, other), max(one, other)
    for pair in _spelled(slots, literals):
        yield min(pair), max(pair)


def _both(first: _Ahead, second: _Ahead) -> Iterator[tuple[int, int]]:
    """Yield the pairs of positions that one token could lead two positions to."""
    for word, positions in first[0].items():
        yield from product(positions, second[0].get(word, ()))
    for (one, slot), (other, theirs) in product(first[1], second[1]):
        if overlap(slot, theirs):
            yield one, other
    yield from _spelled(first[1], second[0])
    yield from _spelled(second[1], first[0])


def _spelled(slots: Sequence[tuple[int, Slot]], literals: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, int]]:
    for one, slot in slots:
        for word, positions in literals.items():
            if slot.could_spell(word):
                yield from ((one, other) for other in positions)


def value_of(slot: Slot, token: Token, word: str) -> str:
    """Return what a slot holds, given the token and the literal word that it may be."""
    if isinstance(token, Quotation):
        return token.text
    return word if isinstance(slot, EnumerationSlot) else token


def _ahead(following: Sequence[int], symbols: Sequence[Symbol]) -> _Ahead:
    literals: dict[str, list[int]] = {}
    slots: list[tuple[int, Slot]] = []
    for position in following:
        symbol = symbols[position]
        if isinstance(symbol, str):
            literals.setdefault(symbol, []).append(position)
        else:
            slots.append((position, symbol))
    return literals, slots


def _positions(way: _Way | None) -> list[int]:
    positions = []
    while way is not None:
        position, way = way
        positions.append(position)
    return positions[::-1]


class _Builder:
    """Writes a shape out."""

    def __init__(self) -> None:
        self.symbols: list[Symbol] = []
        self.names: list[str] = []
        self.follow: list[set[int]] = []
        self._steps = 0
        self._where = "template"

    def sequence(self, items: Items) -> _Span:
        """Write out what stands one behind the other."""
        return self._joined([self._item(item) for item in items])

    def _joined(self, spans: Sequence[_Span]) -> _Span:
        """Join parts that stand one behind the other."""
        first: list[int] = []
        last: list[int] = []
        nullable, longest = True, 0
        start = spans[0].node.start if spans else len(self.symbols)
        for span in spans:
            self._link(last, span.first)
            if nullable:
                first += span.first
            last = [*last, *span.last] if span.nullable else list(span.last)
            nullable = nullable and span.nullable
            longest += span.longest
        children = tuple(
            span.node for span in spans if span.node.item is not None and not isinstance(span.node.item, Word)
        )
        node = _Node(None, start, len(self.symbols), children)
        return _Span(node, tuple(first), tuple(last), nullable, longest)

    def _text(self, items: Items, where: str) -> _Span:
        before, self._where = self._where, where
        span = self.sequence(items)
        self._where = before
        if span.nullable:
            raise PolicyError(f"{where}: could be empty; let a word or place stand outside of its own parts")
        return span

    def _item(self, item: Item) -> _Span:
        start = len(self.symbols)
        match item:
            case Word():
                return self._position(item.word, item)
            case Place():
                if not isinstance(item.slot, PhraseSlot):
                    return self._position(item.slot, item)
                spans = [self._joined([self._position(word, None) for word in phrase]) for phrase in item.slot.phrases]
                return self._any_of(item, start, spans)
            case Alternatives():
                texts = enumerate(item.texts)
                spans = [self._text(text, f"parts.{item.name}.texts[{index}]") for index, text in texts]
                return self._any_of(item, start, spans)
            case Optional():
                span = self._text(item.text, f"parts.{item.name}.text")
                node = _Node(item, start, len(self.symbols), (span.node,))
                return _Span(node, span.first, span.last, nullable=True, longest=span.longest)
            case Repetition():
                return self._repeated(item, start)

    def _any_of(self, item: Item, start: int, spans: Sequence[_Span]) -> _Span:
        node = _Node(item, start, len(self.symbols), tuple(span.node for span in spans))
        first = tuple(position for span in spans for position in span.first)
        last = tuple(position for span in spans for position in span.last)
        return _Span(node, first, last, nullable=False, longest=max(span.longest for span in spans))

    def _repeated(self, item: Repetition, start: int) -> _Span:
        copies = []
        for _ in range(item.maximum):
            copies.append(self._text(item.text, f"parts.{item.name}.text"))
            if len(copies) > 1:
                self._link(copies[-2].last, copies[-1].first)
        ends = copies[max(item.minimum, 1) - 1 :]
        node = _Node(item, start, len(self.symbols), tuple(span.node for span in copies))
        last = tuple(position for span in ends for position in span.last)
        longest = sum(span.longest for span in copies)
        return _Span(node, copies[0].first, last, nullable=item.minimum == 0, longest=longest)

    def _position(self, symbol: Symbol, item: Word | Place | None) -> _Span:
        position = len(self.symbols)
        if position >= MAX_POSITIONS:
            raise PolicyError(
                f"has over {MAX_POSITIONS} words and places, repetitions written out; lower a repetition's maximum"
            )
        self.symbols.append(symbol)
        self.names.append(self._where)
        self.follow.append(set())
        return _Span(_Node(item, position, position + 1), (position,), (position,), nullable=False, longest=1)

    def _link(self, before: Sequence[int], behind: Sequence[int]) -> None:
        self._steps += len(before) * len(behind)
        if self._steps > MAX_STEPS:
            raise PolicyError("has too many ways through its parts; use fewer optional parts and alternatives")
        for position in before:
            self.follow[position].update(behind)

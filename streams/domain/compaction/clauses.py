"""Closed clauses: matching tokens against them, and the total parse of a summary.

The contract: a summary is parsed as a whole or not at all. Each clause of the text is exactly one clause of the
grammar (the compiler has made sure that no text is two), no clause is there twice, every quotation is an exact
substring of the content of the TRUSTED user message that the same clause names. Matching walks a table token by token
and never goes back, so its cost is linear in the text for a given grammar; quotations are bounded in number, since
each costs a search of its message.

Literal words match in any case, of the very letters in the artifact: a letter that merely folds to one of them (the
Kelvin sign to ``k``) or looks like one is no clause.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pratique.contract.canonical import PlainJson
from streams.domain.compaction.lexer import Quotation, RawClause, Token, Unread, lex
from streams.domain.compaction.slots import EnumerationSlot, Slot, Sources

MAX_QUOTATIONS: Final = 64
"""Most quotations in one summary: each costs a search through the message it names."""


@dataclass(frozen=True, slots=True)
class ClauseRule:
    """A clause of the grammar.

    Attributes:
        rule_id: Its name in the artifact.
        preserves: The predicates whose preservation it states.
        quotations: For each quotation, its place among the clause's slots and that of the message id it quotes from.
        may_claim: It quotes nothing, and with some words of its enumerations claims a person's word.
    """

    rule_id: str
    preserves: frozenset[str]
    quotations: tuple[tuple[int, int], ...]
    may_claim: bool = False


@dataclass(slots=True, eq=False)
class ClauseTable:
    """A state of the clause automaton: where each token leads. Built by the compiler, only read afterwards."""

    words: dict[str, ClauseTable] = field(default_factory=dict)
    slots: list[tuple[Slot, ClauseTable]] = field(default_factory=list)
    rule: ClauseRule | None = None


class ParsedClause(NamedTuple):
    """A clause of a summary.

    Attributes:
        rule: The grammar's clause that it is.
        values: What its slots hold, in order.
        start: Where its span of the text begins.
        end: Where its span ends; the next clause's begins there.
    """

    rule: ClauseRule
    values: tuple[str, ...]
    start: int
    end: int

    def body(self) -> list[PlainJson]:
        """Return the clause as the parsed population lists it."""
        return [self.rule.rule_id, *self.values]


@dataclass(frozen=True, slots=True)
class SummaryParse:
    """What the grammar made of a summary.

    Attributes:
        clauses: The clauses up to the first failure.
        failed: Span of the text where parsing failed; null where the parse is total.
        duplicate: The failure is a clause that was there before.
    """

    clauses: tuple[ParsedClause, ...]
    failed: tuple[int, int] | None
    duplicate: bool = False

    @property
    def complete(self) -> bool:
        """Whether the whole text was parsed."""
        return self.failed is None

    def population(self) -> list[PlainJson] | None:
        """Return the parsed clauses; null where the parse is not total."""
        return [clause.body() for clause in self.clauses] if self.complete else None


class ClauseParser:
    """Parses summaries with one grammar's clauses.

    Args:
        table: The start state.
        alphabet: The letters of the literal words, in either case.
    """

    __slots__ = ("_alphabet", "_table")

    def __init__(self, table: ClauseTable, alphabet: frozenset[str]) -> None:
        self._table = table
        self._alphabet = alphabet

    @property
    def start(self) -> ClauseTable:
        """The state that every clause begins in: what a failed clause is explained with."""
        return self._table

    def parse(self, text: str, sources: Sources) -> SummaryParse:
        """Parse a summary.

        Args:
            text: The summary, as it is.
            sources: The request's messages, which message ids and quotations refer to.
        """
        clauses: list[ParsedClause] = []
        seen: set[tuple[str, tuple[str, ...]]] = set()
        quotations = 0
        for raw in lex(text):
            if isinstance(raw, Unread):
                return SummaryParse(tuple(clauses), (raw.start, len(text)))
            clause = self._clause(raw, sources)
            if clause is None:
                return SummaryParse(tuple(clauses), (raw.start, raw.end))
            if clause.rule.quotations:
                quotations += len(clause.rule.quotations)
                if quotations > MAX_QUOTATIONS or not _quotes_truly(clause, sources):
                    return SummaryParse(tuple(clauses), (raw.start, raw.end))
            key = (clause.rule.rule_id, clause.values)
            if key in seen:
                return SummaryParse(tuple(clauses), (raw.start, raw.end), duplicate=True)
            seen.add(key)
            clauses.append(clause)
        return SummaryParse(tuple(clauses), None)

    def _clause(self, raw: RawClause, sources: Sources) -> ParsedClause | None:
        """Follow the one way through the table; where a token opens a second way, follow all."""
        state = self._table
        values: list[str] = []
        for token in raw.tokens:
            word = self.word(token)
            following = state.words.get(word)
            for slot, other in state.slots:
                if slot.admits(token, sources):
                    if following is not None:
                        return self._clause_of_many(raw, sources)
                    following = other
                    values.append(_value(slot, token, word))
            if following is None:
                return None
            state = following
        return None if state.rule is None else ParsedClause(state.rule, tuple(values), raw.start, raw.end)

    def _clause_of_many(self, raw: RawClause, sources: Sources) -> ParsedClause | None:
        states: list[tuple[ClauseTable, tuple[str, ...]]] = [(self._table, ())]
        for token in raw.tokens:
            word = self.word(token)
            states = [
                *((state.words[word], values) for state, values in states if word in state.words),
                *(
                    (following, (*values, _value(slot, token, word)))
                    for state, values in states
                    for slot, following in state.slots
                    if slot.admits(token, sources)
                ),
            ]
        found = [(state.rule, values) for state, values in states if state.rule is not None]
        if len(found) != 1:  # two would be an ambiguity that the compiler let through: no parse is the safe answer
            return None
        rule, values = found[0]
        return ParsedClause(rule, values, raw.start, raw.end)

    def word(self, token: Token) -> str:
        """Return the literal word a token may be; the empty text, which is none, where it can't be one."""
        if isinstance(token, Quotation):
            return ""
        if token.isascii():
            return token.lower()
        return token.casefold() if self._alphabet.issuperset(token) else ""


def _value(slot: Slot, token: Token, word: str) -> str:
    if isinstance(token, Quotation):
        return token.text
    return word if isinstance(slot, EnumerationSlot) else token


def _quotes_truly(clause: ParsedClause, sources: Sources) -> bool:
    return all(
        clause.values[quotation] in sources.quotable.get(clause.values[message], "")
        for quotation, message in clause.rule.quotations
    )

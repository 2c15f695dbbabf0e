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
from streams.domain.compaction.lexer import Quotation, RawClause, Token, Unread
from streams.domain.compaction.occurrences import occurs
from streams.domain.compaction.shape import ClauseShape, Derivation, value_of
from streams.domain.compaction.slots import Slot, Sources
from streams.domain.compaction.writing import Writing

MAX_QUOTATIONS: Final = 64
"""Most quotations in one summary: each costs a search through the message it names."""


@dataclass(frozen=True, slots=True)
class ClauseRule:
    """A clause of the grammar.

    Attributes:
        rule_id: Its name in the artifact.
        preserves: The predicates whose preservation it states.
        quotations: For each quotation of a clause without parts, its place among the clause's slots and that of the
            message id it quotes from.
        may_claim: Without a quotation it may claim a person's word, by its own words or some that the summarizer
            chooses: each such clause of a summary is looked at.
        shape: Tells which way through its parts a clause is; null where it is nothing but words, and slots of one word.
    """

    rule_id: str
    preserves: frozenset[str]
    quotations: tuple[tuple[int, int], ...]
    may_claim: bool = False
    shape: ClauseShape | None = field(default=None, repr=False, compare=False)


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
        derivation: Which of its parts' texts are there; null where it has no parts.
    """

    rule: ClauseRule
    values: tuple[str, ...]
    start: int
    end: int
    derivation: Derivation | None = None

    @property
    def quotations(self) -> tuple[tuple[int, int], ...]:
        """For each quotation, its place among the values and that of the message id it quotes from."""
        return self.rule.quotations if self.derivation is None else self.derivation.quotations

    @property
    def statement(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """What it says: no two clauses of a summary say the same. How its parts word it makes no difference."""
        return self.rule.rule_id, self.values, () if self.derivation is None else self.derivation.names

    def body(self) -> list[PlainJson]:
        """Return the clause as the parsed population lists it."""
        if self.derivation is None:
            return [self.rule.rule_id, *self.values]
        return [self.rule.rule_id, list(self.derivation.choices), *self.values]


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
        writing: How the grammar's language is written.
    """

    __slots__ = ("_alphabet", "_table", "writing")

    def __init__(self, table: ClauseTable, alphabet: frozenset[str], writing: Writing = Writing.PLAIN) -> None:
        self._table = table
        self._alphabet = alphabet
        self.writing = writing

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
        seen: set[tuple[str, tuple[str, ...], tuple[str, ...]]] = set()
        quotations = 0
        for raw in self.writing.lex(text):
            if isinstance(raw, Unread):
                return SummaryParse(tuple(clauses), (raw.start, len(text)))
            clause = self._clause(raw, sources)
            if clause is None:
                return SummaryParse(tuple(clauses), (raw.start, raw.end))
            quoted = clause.quotations
            if quoted:
                quotations += len(quoted)
                if quotations > MAX_QUOTATIONS or not _quotes_truly(clause, sources):
                    return SummaryParse(tuple(clauses), (raw.start, raw.end))
            statement = clause.statement
            if statement in seen:
                return SummaryParse(tuple(clauses), (raw.start, raw.end), duplicate=True)
            seen.add(statement)
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
                    values.append(value_of(slot, token, word))
            if following is None:
                return None
            state = following
        rule = state.rule
        if rule is None or rule.shape is None:  # most clauses have no parts
            return None if rule is None else ParsedClause(rule, tuple(values), raw.start, raw.end)
        return self._parsed(rule, tuple(values), raw, sources)

    def _clause_of_many(self, raw: RawClause, sources: Sources) -> ParsedClause | None:
        states: list[tuple[ClauseTable, tuple[str, ...]]] = [(self._table, ())]
        for token in raw.tokens:
            word = self.word(token)
            states = [
                *((state.words[word], values) for state, values in states if word in state.words),
                *(
                    (following, (*values, value_of(slot, token, word)))
                    for state, values in states
                    for slot, following in state.slots
                    if slot.admits(token, sources)
                ),
            ]
        found = [(state.rule, values) for state, values in states if state.rule is not None]
        if len(found) != 1:  # two would be an ambiguity that the compiler let through: no parse is the safe answer
            return None
        return self._parsed(*found[0], raw, sources)

    def _parsed(
        self, rule: ClauseRule, values: tuple[str, ...], raw: RawClause, sources: Sources
    ) -> ParsedClause | None:
        if rule.shape is None:
            return ParsedClause(rule, values, raw.start, raw.end)
        derivation = rule.shape.read(raw.tokens, [self.word(token) for token in raw.tokens], sources)
        return None if derivation is None else ParsedClause(rule, derivation.values, raw.start, raw.end, derivation)

    def word(self, token: Token) -> str:
        """Return the literal word a token may be; the empty text, which is none, where it can't be one."""
        if isinstance(token, Quotation):
            return ""
        if token.isascii():
            return token.lower()
        token = self.writing.composed(token)
        return token.casefold() if self._alphabet.issuperset(token) else ""


def _quotes_truly(clause: ParsedClause, sources: Sources) -> bool:
    return all(
        occurs(clause.values[quotation], sources.quotable.get(clause.values[message], ""))
        for quotation, message in clause.quotations
    )

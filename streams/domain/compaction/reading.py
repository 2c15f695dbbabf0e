"""A summary read clause by clause, past the first that fails: what each one is, or what is wrong with it and where.

The contract: for people who write summaries, prompts and grammars. A clause is OK here exactly if the parser takes it
(``ClauseParser``), and all of them are exactly if the parse is total; what is said beyond that, the word at which a
clause leaves the grammar and what could have stood there, decides nothing. Readings hold parts of the summary: they
are for whoever holds it anyway, never for logs or evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from streams.domain.compaction.clauses import MAX_QUOTATIONS, ClauseParser, ClauseTable, ParsedClause
from streams.domain.compaction.lexer import FOREIGN_SPACE, Quotation, RawClause, Token, Unread
from streams.domain.compaction.slots import MessageIdSlot, Slot, Sources
from streams.domain.compaction.writing import Writing

MAX_NEAREST: Final = 5
"""Most clauses named as what a failed one may have been meant to be."""

_WHITE: Final = " \t\r\n"


class Fault(Enum):
    """Why a stretch of a summary is no clause."""

    NOT_A_CLAUSE = "NOT_A_CLAUSE"
    """A word is there that no clause of the grammar has in this place."""
    ENDS_EARLY = "ENDS_EARLY"
    """A clause of the grammar begins so, but goes on."""
    MESSAGE_UNKNOWN = "MESSAGE_UNKNOWN"
    """It names a message that the request does not have."""
    NOT_A_TRUSTED_USER = "NOT_A_TRUSTED_USER"
    """It quotes a message that is not a trusted user's."""
    NOT_VERBATIM = "NOT_VERBATIM"
    """The message does not hold the quoted words, to the letter."""
    TOO_MANY_QUOTATIONS = "TOO_MANY_QUOTATIONS"
    """The summary has more quotations than are looked at."""
    DUPLICATE = "DUPLICATE"
    """The same clause with the same values was there before."""
    NO_FULL_STOP = "NO_FULL_STOP"
    """The text ends without a full stop."""
    QUOTATION_UNREADABLE = "QUOTATION_UNREADABLE"
    """A quotation stays open, or a quotation mark touches a word."""
    WHITE_SPACE = "WHITE_SPACE"
    """White space is there that is no space, tab or line break."""


@dataclass(frozen=True, slots=True)
class ClauseReading:
    """A stretch of a summary; the stretches, concatenated, are the summary.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        clause: The grammar's clause that it is; null where it is none.
        fault: What is wrong with it; null where nothing is.
        place: Where in the text; the whole stretch where nothing is wrong.
        slots: What could have stood there, of slots.
        words: The same, of literal words, sorted.
        nearest: Ids of the clauses it may have been meant to be.
    """

    start: int
    end: int
    clause: ParsedClause | None = None
    fault: Fault | None = None
    place: tuple[int, int] = (0, 0)
    slots: tuple[Slot, ...] = ()
    words: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()


def read_summary(text: str, sources: Sources, parser: ClauseParser) -> tuple[ClauseReading, ...]:
    """Read a summary.

    Args:
        text: The summary.
        sources: The request's messages.
        parser: The grammar's clauses.
    """
    readings: list[ClauseReading] = []
    seen: set[tuple[str, tuple[str, ...], tuple[str, ...]]] = set()
    quotations = 0
    for raw in parser.writing.lex(text):
        if isinstance(raw, Unread):
            readings.append(_unread(text, raw.start, parser.writing))
            break
        reading = _read(text, raw, sources, parser)
        clause = reading.clause
        if clause is not None and reading.fault is None:
            quotations += len(clause.quotations)
            if quotations > MAX_QUOTATIONS and clause.quotations:
                reading = _faulty(reading, Fault.TOO_MANY_QUOTATIONS)
            elif clause.statement in seen:
                reading = _faulty(reading, Fault.DUPLICATE)
            seen.add(clause.statement)
        readings.append(reading)
    return tuple(readings)


def _read(text: str, raw: RawClause, sources: Sources, parser: ClauseParser) -> ClauseReading:
    whole = (_after_white(text, raw.start), len(text[: raw.end].rstrip(_WHITE)))
    parse = parser.parse(text[raw.start : raw.end], sources)
    if parse.complete and len(parse.clauses) == 1:
        clause = parse.clauses[0]._replace(start=raw.start, end=raw.end)
        return ClauseReading(raw.start, raw.end, clause, None, whole)
    places = _places(text, raw)
    states, reached = _followed(raw.tokens, parser)
    if reached < len(raw.tokens):
        place = places[reached]
        slots, words, nearest = _possible(states)
        if reached == 0:  # any clause could come of it: that says nothing
            nearest = ()
        return ClauseReading(raw.start, raw.end, None, Fault.NOT_A_CLAUSE, place, slots, words, nearest)
    rules = [state.rule for state in states if state.rule is not None]
    if not rules:
        return ClauseReading(raw.start, raw.end, None, Fault.ENDS_EARLY, (whole[1] - 1, whole[1]), *_possible(states))
    nearest = tuple(rule.rule_id for rule in rules[:MAX_NEAREST])
    fault, at = _untrue(raw.tokens, sources, parser)
    return ClauseReading(raw.start, raw.end, None, fault, places[at] if at is not None else whole, nearest=nearest)


def _followed(tokens: Sequence[Token], parser: ClauseParser) -> tuple[list[ClauseTable], int]:
    """Return the states that the tokens lead to by their form alone, and how many tokens led on."""
    states = [parser.start]
    for place, token in enumerate(tokens):
        word = parser.word(token)
        following = [
            *(state.words[word] for state in states if word in state.words),
            *(after for state in states for slot, after in state.slots if slot.could_be(token)),
        ]
        if not following:
            return states, place
        states = following
    return states, len(tokens)


def _untrue(tokens: Sequence[Token], sources: Sources, parser: ClauseParser) -> tuple[Fault, int | None]:
    """Return what is wrong with a clause whose form is right, and at which token: a message or a quotation."""
    state = parser.start
    for place, token in enumerate(tokens):
        following = state.words.get(parser.word(token))
        slot = next((item for item in state.slots if item[0].could_be(token)), None)
        if slot is not None and isinstance(slot[0], MessageIdSlot) and token not in sources.message_ids:
            return Fault.MESSAGE_UNKNOWN, place
        if following is None and slot is None:  # pragma: no cover - another way leads through an ambiguous place
            break
        state = following if following is not None else slot[1] if slot is not None else state
    quoted = [place for place, token in enumerate(tokens) if isinstance(token, Quotation)]
    named = [token for token in tokens if isinstance(token, str) and token in sources.message_ids]
    if named and not any(message in sources.quotable for message in named):
        return Fault.NOT_A_TRUSTED_USER, max(place for place, token in enumerate(tokens) if token == named[-1])
    contents = [sources.quotable[message] for message in named if message in sources.quotable]
    for place in quoted:
        token = tokens[place]
        if isinstance(token, Quotation) and not any(token.text in content for content in contents):
            return Fault.NOT_VERBATIM, place
    return Fault.NOT_VERBATIM, quoted[0] if quoted else None


def _possible(states: Iterable[ClauseTable]) -> tuple[tuple[Slot, ...], tuple[str, ...], tuple[str, ...]]:
    """Return what could stand next, and the ids of the clauses that could come of it."""
    known = list(states)
    slots = tuple(dict.fromkeys(slot for state in known for slot, _ in state.slots))
    words = tuple(sorted({word for state in known for word in state.words}))
    nearest: list[str] = []
    pending = known[::-1]
    seen: set[int] = set()
    while pending and len(nearest) < MAX_NEAREST:
        state = pending.pop()
        if id(state) in seen:
            continue
        seen.add(id(state))
        if state.rule is not None and state.rule.rule_id not in nearest:
            nearest.append(state.rule.rule_id)
        pending.extend(after for _, after in reversed(state.slots))
        pending.extend(reversed(state.words.values()))
    return slots, words, tuple(nearest)


def _unread(text: str, start: int, writing: Writing) -> ClauseReading:
    marks = writing.quotation_marks
    opening = next((place for place in range(start, len(text)) if text[place] in marks), None)
    foreign = FOREIGN_SPACE.search(text, start)
    whole = (_after_white(text, start), len(text))
    if foreign is not None and (opening is None or foreign.start() < opening):
        return ClauseReading(start, len(text), None, Fault.WHITE_SPACE, foreign.span())
    if opening is not None and text.find(marks[text[opening]], opening + 1) < 0:
        return ClauseReading(start, len(text), None, Fault.QUOTATION_UNREADABLE, (opening, len(text)))
    if text.rstrip(_WHITE).endswith((".", writing.stop)) and opening is not None:
        return ClauseReading(start, len(text), None, Fault.QUOTATION_UNREADABLE, whole)
    return ClauseReading(start, len(text), None, Fault.NO_FULL_STOP, whole)


def _faulty(reading: ClauseReading, fault: Fault) -> ClauseReading:
    return ClauseReading(reading.start, reading.end, reading.clause, fault, reading.place)


def _places(text: str, raw: RawClause) -> list[tuple[int, int]]:
    """Return where each token of a clause stands, quotation marks included."""
    places = []
    position = raw.start
    for token in raw.tokens:
        start = _after_white(text, position)
        position = start + (len(token.text) + 2 if isinstance(token, Quotation) else len(token))
        places.append((start, position))
    return places


def _after_white(text: str, position: int) -> int:
    while position < len(text) and text[position] in _WHITE:
        position += 1
    return position

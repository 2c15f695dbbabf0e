"""What the places of a clause admit, in words and as regular expressions.

The contract: ``described`` is for people and models. ``expression`` matches only texts that the slot admits in some
request (so a text that a constrained decoder writes by it parses), but not all of them: it has no end that the lexer
would take for punctuation, and no number or date that needs arithmetic. It is written in what ECMA-262, Python and
RE2 read alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from streams.domain.compaction.authored import AuthoredClause, spaced
from streams.domain.compaction.shape import Alternatives, Item, Items, Optional, Place, Repetition, Word
from streams.domain.compaction.slots import (
    MAX_MESSAGE_ID_CHARACTERS,
    DateSlot,
    EnumerationSlot,
    IdentifierSlot,
    MessageIdSlot,
    NumberSlot,
    PathSlot,
    PhraseSlot,
    QuantitySlot,
    QuotationSlot,
    Slot,
    ToolCallIdSlot,
    ToolNameSlot,
)
from streams.domain.compaction.writing import Writing

_DATE: Final = (
    "[12][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
)
_SPECIAL: Final = re.compile(r"[\\^$.*+?()\[\]{}|/]")


def described(slot: Slot, message_ids: Sequence[str] = ()) -> str:
    """Return what a slot admits, in words.

    Args:
        slot: The slot.
        message_ids: The ids of the request's messages, where they are known.
    """
    words = ""
    match slot:
        case EnumerationSlot():
            words = f"one of: {', '.join(sorted(slot.values))}"
        case NumberSlot():
            words = f"a whole number of at most {slot.max_digits} digits, without sign or leading zero"
        case DateSlot():
            words = "a date, as 2026-01-31"
        case IdentifierSlot():
            words = (
                f"a name of at most {slot.max_length} letters, digits, '_', '.' and '-', beginning with a letter or '_'"
            )
        case PathSlot():
            words = f"a path of at most {slot.max_length} letters, digits, '_', '.', '-' and '/'"
        case MessageIdSlot():
            words = f"the id of a message: {', '.join(message_ids)}" if message_ids else "the id of a message"
        case QuotationSlot():
            words = (
                f"at most {slot.max_length} characters in quotation marks, to the letter from the message that the"
                " sentence names, which must be a trusted user's"
            )
        case _:
            words = _described_too(slot)
    return words


def _described_too(slot: Slot) -> str:
    words = ""
    match slot:
        case ToolCallIdSlot():
            words = "the id of a message that holds what a tool answered"
        case ToolNameSlot():
            words = f"a tool that a commitment allows, of: {', '.join(sorted(slot.names))}"
        case PhraseSlot():
            words = f"one of: {', '.join(slot.texts)}"
        case QuantitySlot():
            words = f"a number{_with_decimals(slot)} and right behind it one of: {', '.join(sorted(slot.units))}"
    return words


def _with_decimals(slot: QuantitySlot) -> str:
    return f" with up to {slot.max_decimals} decimals after a point" if slot.max_decimals else ""


def expression(slot: Slot, message_ids: Iterable[str] = ()) -> str:
    """Return a regular expression of texts that a slot admits.

    Args:
        slot: The slot.
        message_ids: The ids of the request's messages, where they are known.
    """
    pattern = ""
    match slot:
        case EnumerationSlot():
            pattern = _alternatives(sorted(slot.values))
        case NumberSlot():
            pattern = f"(?:0|[1-9][0-9]{{0,{slot.max_digits - 1}}})"
        case DateSlot():
            pattern = _DATE
        case IdentifierSlot():
            pattern = f"[A-Za-z_]{_tail('A-Za-z0-9_.-', 'A-Za-z0-9_-', slot.max_length - 1)}"
        case PathSlot():
            pattern = f"[A-Za-z0-9_/-]{_tail('A-Za-z0-9_./-', 'A-Za-z0-9_/-', slot.max_length - 1)}"
        case MessageIdSlot() | ToolCallIdSlot():
            known = [] if isinstance(slot, ToolCallIdSlot) else sorted(message_ids)
            tail = _tail("A-Za-z0-9_./:@+=-", "A-Za-z0-9_/@+=-", MAX_MESSAGE_ID_CHARACTERS - 1)
            pattern = _alternatives(known) if known else f"[A-Za-z0-9_/@+=-]{tail}"
        case QuotationSlot():
            pattern = f'"[^"\\s][^"]{{0,{slot.max_length - 1}}}"'
        case _:
            pattern = _expression_too(slot)
    return pattern


def _expression_too(slot: Slot) -> str:
    pattern = ""
    match slot:
        case PhraseSlot():
            pattern = _alternatives(slot.texts)
        case ToolNameSlot():
            pattern = _alternatives(sorted(slot.names))
        case QuantitySlot():
            decimals = f"(?:\\.[0-9]{{1,{slot.max_decimals}}})?" if slot.max_decimals else ""
            pattern = f"{expression(NumberSlot(slot.max_digits))}{decimals}{_alternatives(sorted(slot.units))}"
    return pattern


def clause_expression(clause: AuthoredClause, message_ids: Iterable[str] = ()) -> str:
    """Return a regular expression of texts that are a clause."""
    known = tuple(message_ids)
    if clause.plain:
        parts = clause.parts()
        return "".join(quoted(part) if isinstance(part, str) else expression(part.slot, known) for part in parts)
    written, _ = _Expressions(clause.writing, known).sequence(clause.sequence, frozenset({_BEGIN}))
    return written + quoted(clause.stop)


_BEGIN: Final = ""
"""Stands for what is before a clause."""
_LEADS: Final = frozenset({_BEGIN, "("})
"""Behind these there is no space."""


@dataclass(frozen=True, slots=True)
class _Expressions:
    """Writes the expressions of parts.

    Whether a space stands before a word depends on what is before it, and that on which parts are there. Parts that
    may be left out bring the space behind them where they begin a clause, and that before them elsewhere. Where that
    leaves a doubt a space is written: no lexer minds one too many.
    """

    writing: Writing
    message_ids: tuple[str, ...]

    def sequence(self, items: Items, before: frozenset[str]) -> tuple[str, frozenset[str]]:
        """Return the expression of what stands one behind the other, and what it may end with.

        Args:
            items: What stands there.
            before: What may stand before.
        """
        written = ""
        for item in items:
            one, before = self._item(item, before)
            written += one
        return written, before

    def _item(self, item: Item, before: frozenset[str]) -> tuple[str, frozenset[str]]:
        match item:
            case Word():
                return self._spaced(quoted(spaced(item, item.text)), (spaced(item, item.text),), before)
            case Place():
                texts = item.slot.texts if isinstance(item.slot, PhraseSlot) else ("x",)
                written = spaced(item, expression(item.slot, self.message_ids))
                return self._spaced(written, tuple(spaced(item, text) for text in texts), before)
            case Alternatives():
                found = [self.sequence(text, before) for text in item.texts]
                ends = frozenset(end for _, ended in found for end in ended)
                return f"(?:{'|'.join(one for one, _ in found)})", ends
            case Optional():
                return self._repeated(item.text, 0, 1, before)
            case Repetition():
                return self._repeated(item.text, item.minimum, item.maximum, before)

    def _repeated(self, text: Items, minimum: int, maximum: int, before: frozenset[str]) -> tuple[str, frozenset[str]]:
        """Write a count out: expressions that are counted themselves can't be counted in RE2."""
        first, ended = self.sequence(text, before)
        leads = before <= _LEADS
        if leads:  # what comes behind has no space of its own where this is left out
            first += "" if all(self.writing.touches(end, "x") for end in ended) else " "
        more = first if leads else self.sequence(text, ended)[0]
        copies = [first, *[more] * (maximum - 1)]
        written = ""
        for copy in reversed(copies[minimum:]):
            written = f"(?:{copy}{written})?"
        after = before if leads else ended if minimum else ended | before
        return "".join(copies[:minimum]) + written, after

    def _spaced(self, written: str, texts: Sequence[str], before: frozenset[str]) -> tuple[str, frozenset[str]]:
        touching = all(self.writing.touches(end, text) for end in before for text in texts)
        return written if touching else f" {written}", frozenset(text[-1] for text in texts)


def quoted(text: str) -> str:
    """Return a regular expression of exactly a text."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def _alternatives(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(quoted, words))})"


def _tail(inside: str, last: str, length: int) -> str:
    """Return an expression of up to ``length`` letters, the last of them of another class."""
    return f"(?:[{inside}]{{0,{length - 1}}}[{last}])?" if length > 0 else ""

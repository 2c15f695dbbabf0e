"""The typed places of a clause, and what each of them admits.

The contract: every slot is bounded and, but for the quotation, admits single tokens of a closed set of ASCII
characters: no slot admits prose. The quotation admits text that a trusted user wrote, word for word; whether it did is
checked by ``streams.domain.compaction.clauses``, with the clause's message id at hand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from string import ascii_letters, digits
from typing import ClassVar, Final

from streams.domain.compaction.lexer import Quotation, Token

_DIGITS: Final = frozenset(digits)
_WORD: Final = frozenset(ascii_letters + digits + "_")
_IDENTIFIER: Final = _WORD | frozenset(".-")
_PATH: Final = _IDENTIFIER | frozenset("/")
_MESSAGE_ID: Final = _PATH | frozenset(":@+=")
_UNIT_LETTERS: Final = ascii_letters + "%"
_ISO_DATE_CHARACTERS: Final = 10

MAX_NUMBER_DIGITS: Final = 18
MAX_NUMBER_DECIMALS: Final = 9
MAX_UNIT_CHARACTERS: Final = 8
MAX_IDENTIFIER_CHARACTERS: Final = 64
MAX_PATH_CHARACTERS: Final = 200
MAX_MESSAGE_ID_CHARACTERS: Final = 128
MAX_QUOTATION_CHARACTERS: Final = 2000


SAMPLE_MESSAGE: Final = "m1"
SAMPLE_WORDS: Final = "x"
"""What sample clauses quote, and from which message."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What slots may refer to.

    Attributes:
        message_ids: Ids of the request's source messages.
        quotable: Content by id of those with role user and provenance TRUSTED.
        tools: Names of the tools that the task's commitments allow.
        tool_calls: Ids of those source messages that hold what a tool answered (role tool).
    """

    message_ids: frozenset[str]
    quotable: Mapping[str, str]
    tools: frozenset[str] = frozenset()
    tool_calls: frozenset[str] = frozenset()


class Slot(ABC):
    """A typed place in a clause.

    Attributes:
        sampled_fully: Its samples are all that it ever admits, case aside. Of others the summarizer chooses the rest.
    """

    __slots__ = ()

    sampled_fully: ClassVar[bool] = False

    @abstractmethod
    def could_be(self, token: Token) -> bool:
        """Whether the slot admits the token in some request."""

    def could_spell(self, word: str) -> bool:
        """Whether the slot could admit a token that is the literal word in some case; in doubt, yes."""
        return self.could_be(word) or self.could_be(word.upper())

    @abstractmethod
    def samples(self) -> tuple[str, ...]:
        """Return texts the slot admits, to render a clause with: every word of an enumeration, one of others."""

    def admits(self, token: Token, sources: Sources) -> bool:
        """Whether the slot admits the token in a request with these messages."""
        del sources  # most slots ask for a form alone
        return self.could_be(token)


@dataclass(frozen=True, slots=True)
class EnumerationSlot(Slot):
    """One of the listed words, in any case."""

    sampled_fully: ClassVar[bool] = True

    values: frozenset[str]

    def could_be(self, token: Token) -> bool:
        """Whether the token is one of the words."""
        return isinstance(token, str) and token.isascii() and token.lower() in self.values

    def samples(self) -> tuple[str, ...]:
        """Return what to render the slot with."""
        return tuple(sorted(self.values))


@dataclass(frozen=True, slots=True)
class NumberSlot(Slot):
    """A whole number without sign or leading zero, at most ``max_digits`` long."""

    max_digits: int

    def could_be(self, token: Token) -> bool:
        """Whether the token is such a number."""
        return (
            isinstance(token, str)
            and 0 < len(token) <= self.max_digits
            and _DIGITS.issuperset(token)
            and (len(token) == 1 or token[0] != "0")
        )

    def samples(self) -> tuple[str, ...]:
        """Return what to render the slot with."""
        return ("7",)


@dataclass(frozen=True, slots=True)
class DateSlot(Slot):
    """A calendar date as YYYY-MM-DD."""

    def could_be(self, token: Token) -> bool:
        """Whether the token is a date that exists."""
        if not isinstance(token, str) or len(token) != _ISO_DATE_CHARACTERS or not token.isascii():
            return False
        year, month, day = token[:4], token[5:7], token[8:]
        if token[4] != "-" or token[7] != "-" or not _DIGITS.issuperset(year + month + day):
            return False
        try:
            date(int(year), int(month), int(day))
        except ValueError:
            return False
        return True

    def samples(self) -> tuple[str, ...]:
        """Return what to render the slot with."""
        return ("2026-01-31",)


@dataclass(frozen=True, slots=True)
class IdentifierSlot(Slot):
    """A name of letters, digits, ``_``, ``.`` and ``-`` that begins with a letter or ``_``."""

    max_length: int

    def could_be(self, token: Token) -> bool:
        """Whether the token is such a name."""
        return (
            isinstance(token, str)
            and 0 < len(token) <= self.max_length
            and _IDENTIFIER.issuperset(token)
            and token[0] in _WORD
            and token[0] not in _DIGITS
        )

    def samples(self) -> tuple[str, ...]:
        """Return what to render the slot with."""
        return ("x",)


@dataclass(frozen=True, slots=True)
class PathSlot(Slot):
    """A path of letters, digits, ``_``, ``.``, ``-`` and ``/``."""

    max_length: int

    def could_be(self, token: Token) -> bool:
        """Whether the token is such a path."""
        return isinstance(token, str) and 0 < len(token) <= self.max_length and _PATH.issuperset(token)

    def samples(self) -> tuple[str, ...]:
        """Return what to render the slot with."""
        return ("x/y",)


@dataclass(frozen=True, slots=True)
class MessageIdSlot(Slot):
    """The id of one of the request's source messages, exactly."""

    def admits(self, token: Token, sources: Sources) -> bool:
        """Whether the token is the id of a source message."""
        return self.could_be(token) and token in sources.message_ids

    def could_be(self, token: Token) -> bool:
        """Whether the token has the form of an id."""
        return isinstance(token, str) and 0 < len(token) <= MAX_MESSAGE_ID_CHARACTERS and _MESSAGE_ID.issuperset(token)

    def samples(self) -> tuple[str, ...]:
        """Return what to render the slot with."""
        return (SAMPLE_MESSAGE,)


@dataclass(frozen=True, slots=True)
class PhraseSlot(Slot):
    """One of the listed phrases, each of one or more words, in any case.

    It is compiled to its words, so it never admits a token by itself.

    Attributes:
        texts: The phrases as their author wrote them: what the slot is said to hold.
        phrases: The literal words of each.
    """

    sampled_fully: ClassVar[bool] = True

    texts: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]

    def could_be(self, token: Token) -> bool:
        """Return False: its words are matched one by one."""
        del token
        return False

    def samples(self) -> tuple[str, ...]:
        """Return what to render the slot with."""
        return self.texts


@dataclass(frozen=True, slots=True)
class QuantitySlot(Slot):
    """A number and, right behind it, one of the listed units: ``250ms``, ``1.5GB``, ``20%``."""

    max_digits: int
    max_decimals: int
    units: frozenset[str]

    def could_be(self, token: Token) -> bool:
        """Whether the token is such a number with its unit, to the letter."""
        return self._is_one(token, self.units)

    def could_spell(self, word: str) -> bool:
        """Whether the slot could admit the word in some case."""
        return self._is_one(word, frozenset(unit.lower() for unit in self.units))

    def samples(self) -> tuple[str, ...]:
        """Return what to render the slot with: every unit."""
        return tuple(f"7{unit}" for unit in sorted(self.units))

    def _is_one(self, token: Token, units: frozenset[str]) -> bool:
        if not isinstance(token, str) or not token.isascii():
            return False
        number = token.rstrip(_UNIT_LETTERS)
        whole, point, decimals = number.partition(".")
        return (
            token[len(number) :] in units
            and NumberSlot(self.max_digits).could_be(whole)
            and (not point or (0 < len(decimals) <= self.max_decimals and _DIGITS.issuperset(decimals)))
        )


@dataclass(frozen=True, slots=True)
class ToolNameSlot(Slot):
    """The name, to the letter, of a tool that one of the task's commitments allows.

    Attributes:
        names: The tools that the grammar's predicates speak of; no other can be in a commitment that it evaluates.
    """

    sampled_fully: ClassVar[bool] = True

    names: frozenset[str]

    def admits(self, token: Token, sources: Sources) -> bool:
        """Whether the token is the name of a tool that is allowed here."""
        return self.could_be(token) and token in sources.tools

    def could_be(self, token: Token) -> bool:
        """Whether the token is the name of a tool that a commitment may allow."""
        return isinstance(token, str) and token in self.names

    def could_spell(self, word: str) -> bool:
        """Whether a name is the word in some case."""
        return any(name.lower() == word for name in self.names)

    def samples(self) -> tuple[str, ...]:
        """Return what to render the slot with."""
        return tuple(sorted(self.names))


@dataclass(frozen=True, slots=True)
class ToolCallIdSlot(Slot):
    """The id of a source message that holds what a tool answered, exactly: the contract gives calls no other id."""

    _form: MessageIdSlot = field(default=MessageIdSlot(), init=False, repr=False)

    def admits(self, token: Token, sources: Sources) -> bool:
        """Whether the token is the id of a tool's answer."""
        return self.could_be(token) and token in sources.tool_calls

    def could_be(self, token: Token) -> bool:
        """Whether the token has the form of an id."""
        return self._form.could_be(token)

    def samples(self) -> tuple[str, ...]:
        """Return what to render the slot with."""
        return (SAMPLE_MESSAGE,)


@dataclass(frozen=True, slots=True)
class QuotationSlot(Slot):
    """A quotation of at most ``max_length`` characters that is not blank."""

    max_length: int

    def could_be(self, token: Token) -> bool:
        """Whether the token is a quotation within bounds; whose words it holds is checked with the whole clause."""
        return isinstance(token, Quotation) and len(token.text) <= self.max_length and bool(token.text.strip())

    def samples(self) -> tuple[str, ...]:
        """Return what to render the slot with."""
        return (f'"{SAMPLE_WORDS}"',)


_OF_ANY_FORM: Final = (PathSlot, MessageIdSlot, ToolCallIdSlot)
"""Slots that admit much of what others do."""


def overlap(first: Slot, second: Slot) -> bool:
    """Whether some token could be admitted by both slots; in doubt, yes."""
    if isinstance(first, QuotationSlot) or isinstance(second, QuotationSlot):
        return isinstance(first, QuotationSlot) and isinstance(second, QuotationSlot)
    for kind in (ToolNameSlot, EnumerationSlot):  # names are words in one case alone, so they are tried first
        for one, other in ((first, second), (second, first)):
            if isinstance(one, kind):
                return any(map(other.could_be, one.samples()))
    return isinstance(first, _OF_ANY_FORM) or isinstance(second, _OF_ANY_FORM) or type(first) is type(second)

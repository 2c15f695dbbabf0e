"""A clause of the document -> an ``AuthoredClause``: its template, slots and parts, read and checked one by one.

The contract: ``docs/reference/grammar.md`` states the form. Every refusal names the rule, the field, and what to do.
Whether two clauses, or a clause and the conflict rules, go together is the compiler's to check.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pratique.contract.canonical import JsonValue
from pratique.contract.document import Fields
from streams.domain.compaction.authored import MARKS, PLACE, AuthoredClause
from streams.domain.compaction.authority.check import claims_authority
from streams.domain.compaction.clauses import ClauseRule
from streams.domain.compaction.lexer import AFTER, WHITE, Quotation, RawClause, Token
from streams.domain.compaction.shape import Alternatives, ClauseShape, Item, Items, Optional, Place, Repetition, Word
from streams.domain.compaction.slots import (
    MAX_IDENTIFIER_CHARACTERS,
    MAX_NUMBER_DECIMALS,
    MAX_NUMBER_DIGITS,
    MAX_PATH_CHARACTERS,
    MAX_QUOTATION_CHARACTERS,
    MAX_UNIT_CHARACTERS,
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
from streams.domain.compaction.tools import allowed_tools
from streams.domain.compaction.writing import Writing
from streams.errors import PolicyError

MAX_PREDICATES: Final = 256
MAX_TEMPLATE_CHARACTERS: Final = 500
MAX_SLOTS: Final = 8
MAX_PARTS: Final = 16
MAX_ALTERNATIVES: Final = 50
MAX_REPETITION: Final = 50
MAX_PART_DEPTH: Final = 4
MAX_ENUMERATION: Final = 200
MAX_PHRASE_WORDS: Final = 16
MAX_UNITS: Final = 50
MAX_CLAIMS: Final = 500
"""Most texts of a clause that are looked at for a claim of a person's word."""

LISTED_SLOTS: Final = ("enumeration", "phrase")
"""Types of slots that hold nothing but what the grammar lists; no other is in a clause that preserves something."""

_CLAUSE: Final = ("rule_id", "template", "slots", "preserves")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
_STAND_IN: Final = 0xF0000
"""First of the private-use characters that stand for slots and parts while a template is read; none may be in one."""
_STOP: Final = frozenset({"."})
_NO_SPACE: Final = "\t"
"""Separates two places that touch; it counts for no white space of the author's."""
_BETWEEN_STAND_INS: Final = re.compile("(?<=[\U000f0000-\U000fffff])(?=[\U000f0000-\U000fffff])")
_UNIT: Final = re.compile(f"[A-Za-z%]{{1,{MAX_UNIT_CHARACTERS}}}")


def read_clause(value: JsonValue, where: str, predicates: frozenset[str], writing: Writing) -> AuthoredClause:
    """Read a clause.

    Args:
        value: The clause.
        where: How refusals call it before its id is known.
        predicates: The predicates that the grammar declares.
        writing: How the grammar's language is written.

    Raises:
        PolicyError: It is none.
    """
    present = ("parts",) if isinstance(value, Mapping) and "parts" in value else ()
    fields = Fields(value, where, (*_CLAUSE, *present), PolicyError)
    rule_id = fields.identifier("rule_id")
    template = fields.text("template", max_characters=MAX_TEMPLATE_CHARACTERS)
    reader = _ClauseReader(rule_id, predicates, writing)
    reader.read_slots(fields.raw("slots"))
    if present:
        reader.read_parts(fields.raw("parts"))
    sequence = reader.template(template)
    preserves = named_predicates(rule_id, fields.sequence("preserves", minimum=0, maximum=MAX_PREDICATES), predicates)
    for name, kind in reader.kinds.items() if preserves else ():
        if kind not in LISTED_SLOTS:
            raise refusal(
                rule_id,
                f"preserves a predicate, and the summarizer chooses what slot {name} of type {kind} holds; write one"
                f" value out, or list some in a slot of type {' or '.join(LISTED_SLOTS)}",
            )
    reader.check_quotations(sequence)
    rule = ClauseRule(rule_id, preserves, reader.quotations(sequence))
    try:
        shape = ClauseShape.of(sequence, reader.quoted)
        clause = AuthoredClause(rule, template, sequence, shape, writing)
        if not clause.plain:
            shape.check()
    except PolicyError as error:
        raise refusal(rule_id, str(error)) from None
    kept = None if clause.plain else shape
    return replace(clause, rule=replace(rule, shape=kept, may_claim=_may_claim(clause)))


def _may_claim(clause: AuthoredClause) -> bool:
    if clause.plain and clause.rule.quotations:
        return False  # it always has its quotation
    if clause.combination_count() > MAX_CLAIMS or not all(slot.sampled_fully for slot in clause.places.values()):
        return True  # there are texts that nobody looked at: each clause of a summary is looked at itself
    return any(map(claims_authority, clause.combinations()))


def named_predicates(rule_id: str, values: Sequence[JsonValue], predicates: frozenset[str]) -> frozenset[str]:
    """Return the predicates that a rule names.

    Raises:
        PolicyError: It names one twice, or one that the grammar does not declare.
    """
    found = frozenset(value for value in values if isinstance(value, str))
    if len(found) != len(values):
        raise refusal(rule_id, "names a predicate twice, or something that is no text")
    if not found <= predicates:
        raise refusal(rule_id, "names a predicate that the grammar does not declare")
    return found


def refusal(rule_id: str, problem: str) -> PolicyError:
    """Return the error that refuses a rule."""
    return PolicyError(f"clause grammar: rule {rule_id}: {problem}")


class _ClauseReader:
    """Reads one clause.

    Attributes:
        slots: Its slots by name.
        kinds: Their types by name.
        quoted: For each quotation's name that of the message id it quotes from.
    """

    def __init__(self, rule_id: str, predicates: frozenset[str], writing: Writing) -> None:
        self._rule_id = rule_id
        self._writing = writing
        self._tools = allowed_tools(predicates)
        self._parts: dict[str, Fields] = {}
        self._open: list[str] = []
        self.slots: dict[str, Slot] = {}
        self.kinds: dict[str, str] = {}
        self.quoted: dict[str, str] = {}

    def read_slots(self, value: JsonValue) -> None:
        if not isinstance(value, Mapping) or len(value) > MAX_SLOTS:
            raise self._refusal(f"slots is no object of at most {MAX_SLOTS}")
        for index, (name, item) in enumerate(value.items()):
            if _NAME.fullmatch(name) is None:
                raise self._refusal(f"slot {index} has no name of lower-case letters, digits and _")
            where = f"clause grammar: rule {self._rule_id}: slot {name}"
            kind = item.get("type") if isinstance(item, Mapping) else None
            if not isinstance(kind, str) or kind not in SLOT_FIELDS:
                raise PolicyError(f"{where}: field type is none of {', '.join(SLOT_FIELDS)}")
            fields = Fields(item, where, ("type", *SLOT_FIELDS[kind]), PolicyError)
            self.slots[name] = self._slot(kind, name, fields)
            self.kinds[name] = kind

    def read_parts(self, value: JsonValue) -> None:
        if not isinstance(value, Mapping) or not 0 < len(value) <= MAX_PARTS:
            raise self._refusal(f"parts is no object of 1 to {MAX_PARTS}; leave the field out where there are none")
        for index, (name, item) in enumerate(value.items()):
            if _NAME.fullmatch(name) is None:
                raise self._refusal(f"part {index} has no name of lower-case letters, digits and _")
            if name in self.slots:
                raise self._refusal(f"parts.{name} has the name of a slot; call one of them otherwise")
            where = f"clause grammar: rule {self._rule_id}: parts.{name}"
            kind = item.get("type") if isinstance(item, Mapping) else None
            if not isinstance(kind, str) or kind not in PART_FIELDS:
                raise PolicyError(f"{where}: field type is none of {', '.join(PART_FIELDS)}")
            self._parts[name] = Fields(item, where, ("type", *PART_FIELDS[kind]), PolicyError)

    def template(self, template: str) -> Items:
        used = Counter[str]()
        items = self._items("template", template, used)
        if set(used) != {*self.slots, *self._parts} or max(used.values(), default=0) > 1:
            wanted = "each of its slots once" if not self._parts else "each of its slots and parts once, in some text"
            raise self._refusal(f"template does not hold {wanted}")
        return items

    def quotations(self, items: Items) -> tuple[tuple[int, int], ...]:
        """Return the quotations of a clause without parts, by their places among its slots."""
        order = [item.name for item in items if isinstance(item, Place)]
        return tuple(
            (order.index(name), order.index(message))
            for name, message in self.quoted.items()
            if name in order and message in order
        )

    def check_quotations(self, items: Items) -> None:
        """Refuse a quotation whose message stands elsewhere: how often each is there must be the same."""
        for name, message in self.quoted.items():
            if not isinstance(self.slots.get(message), MessageIdSlot):
                raise self._refusal(f"quotation {name} does not name a message_id slot of its clause")
        for text in _texts(items):
            here = {item.name for item in text if isinstance(item, Place)}
            for name, message in self.quoted.items():
                if (name in here) != (message in here):
                    raise self._refusal(f"quotation {name} and message {message} have to stand in the same text")

    def _items(self, where: str, text: str, used: Counter[str]) -> Items:
        items: list[Item] = []
        here = Counter[str]()
        for token, apart in self._tokens(where, text):
            if token in self._stand_ins:
                name = self._stand_ins[token]
                here[name] += 1
                items.append(Place(name, self.slots[name], apart) if name in self.slots else self._part(name, here))
            else:
                items.append(self._word(where, token, apart))
        used.update(here)
        return tuple(items)

    def _part(self, name: str, used: Counter[str]) -> Item:
        if name in self._open or len(self._open) >= MAX_PART_DEPTH:
            raise self._refusal(f"parts.{name} stands in itself, or over {MAX_PART_DEPTH} parts deep; take it apart")
        fields = self._parts[name]
        self._open.append(name)
        try:
            return self._read_part(name, fields, used)
        finally:
            self._open.pop()

    def _read_part(self, name: str, fields: Fields, used: Counter[str]) -> Item:
        if fields.text("type") == "alternatives":
            most = Counter[str]()
            texts = []
            for index, text in enumerate(
                fields.texts("texts", maximum=MAX_ALTERNATIVES, max_characters=MAX_TEMPLATE_CHARACTERS)
            ):
                inside = Counter[str]()
                where = f"parts.{name}.texts[{index}]"
                texts.append(self._items(where, text, inside))
                most |= inside  # only one of them is there
            used.update(most)
            return Alternatives(name, tuple(texts))
        where = f"parts.{name}.text"
        text = fields.text("text", max_characters=MAX_TEMPLATE_CHARACTERS)
        items = self._items(where, text, used)
        if fields.text("type") == "optional":
            return Optional(name, items)
        maximum = fields.integer("maximum", minimum=1, maximum=MAX_REPETITION)
        return Repetition(name, items, fields.integer("minimum", minimum=0, maximum=maximum), maximum)

    @property
    def _stand_ins(self) -> dict[str, str]:
        return {chr(_STAND_IN + index): name for index, name in enumerate((*self.slots, *self._parts))}

    def _tokens(self, where: str, text: str) -> Iterator[tuple[str, bool]]:
        """Yield a text's tokens, each with whether its author put white space before it where it could do without."""
        if any(ord(letter) >= _STAND_IN for letter in text):
            raise self._refusal(f"{where} holds a private-use character")
        marks = {name: mark for mark, name in self._stand_ins.items()}

        def stand_in(match: re.Match[str]) -> str:
            name = match.group(1)
            if name not in marks:
                kind = "slot or part" if self._parts else "slot"
                raise self._refusal(f"{where} holds {{{name}}}, which is no {kind} of the clause")
            return marks[name]

        replaced = PLACE.sub(stand_in, text)
        if self._writing is Writing.IDEOGRAPHIC:  # two places may touch where words do
            replaced = _BETWEEN_STAND_INS.sub(_NO_SPACE, replaced)
        tokens = one_clause(replaced if where == "template" else f"{replaced.rstrip()}.", self._writing)
        if not tokens:
            form = "one clause that ends with a full stop" if where == "template" else "words without a full stop"
            raise self._refusal(f"{where} is not {form}")
        position = 0
        for index, token in enumerate(tokens):
            start = position
            while replaced[position] in WHITE:
                position += 1
            space = bool(replaced[start:position].strip(_NO_SPACE)) and index > 0
            if isinstance(token, Quotation):
                raise self._refusal(f"{where} holds quotation marks; a quotation slot brings its own")
            yield token, space and (self._writing is Writing.IDEOGRAPHIC or (token in AFTER and len(token) == 1))
            position += len(token)

    def _word(self, where: str, token: str, apart: bool = False) -> Word:  # noqa: FBT001, FBT002 - a word's own field
        if "{" in token or "}" in token or any(ord(letter) >= _STAND_IN for letter in token):
            raise self._refusal(f"{where} has a slot that touches a word, or a bracket {{ }} that is no slot")
        text = self._writing.composed(token)
        word = text.casefold()
        if word.casefold() != word or not word.isprintable():
            raise self._refusal(f"{where} holds a word that can't be matched")
        if self._parts and (text in _STOP or any(mark in text for mark in MARKS)):
            raise self._refusal(f"{where} holds one of {' '.join(MARKS)}, or a full stop before other punctuation")
        return Word(text, word, apart)

    def _slot(self, kind: str, name: str, fields: Fields) -> Slot:
        if kind == "quotation":
            self.quoted[name] = fields.text("message")
        if kind == "tool_name":
            if not self._tools:
                raise fields.refusal("type", "names tools, and no predicate of the grammar is allow(tool:NAME)")
            return ToolNameSlot(self._tools)
        if kind == "phrase":
            return self._phrase(name, fields)
        return _SLOTS[kind](fields, self._writing)

    def _phrase(self, name: str, fields: Fields) -> PhraseSlot:
        texts = fields.texts("values", maximum=MAX_ENUMERATION, max_characters=MAX_TEMPLATE_CHARACTERS)
        phrases = []
        for index, text in enumerate(texts):
            tokens = one_clause(f"{text}.", self._writing)
            if not 0 < len(tokens) <= MAX_PHRASE_WORDS or text != text.strip() or "." in tokens:
                raise fields.refusal(f"values[{index}]", f"is no phrase of 1 to {MAX_PHRASE_WORDS} words")
            where = f"slot {name}: values[{index}]"
            if any(isinstance(token, Quotation) for token in tokens):
                raise self._refusal(f"{where} holds quotation marks; a quotation slot brings its own")
            phrases.append(tuple(self._word(where, str(token)).word for token in tokens))
        if len(set(phrases)) != len(phrases):
            raise fields.refusal("values", "holds one phrase twice, in other letters")
        return PhraseSlot(tuple(map(self._writing.composed, texts)), tuple(phrases))

    def _refusal(self, problem: str) -> PolicyError:
        return refusal(self._rule_id, problem)


def one_clause(text: str, writing: Writing) -> Sequence[Token]:
    """Return the tokens of a text that is one clause; none where it is not."""
    read = tuple(writing.lex(text))
    return read[0].tokens if len(read) == 1 and isinstance(read[0], RawClause) else ()


def _texts(items: Items) -> list[Items]:
    """Return a text, and those of the parts in it."""
    found = [items]
    for item in items:
        if isinstance(item, Alternatives):
            found += [text for part in item.texts for text in _texts(part)]
        elif isinstance(item, Optional | Repetition):
            found += _texts(item.text)
    return found


PART_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "optional": ("text",),
    "alternatives": ("texts",),
    "repetition": ("text", "minimum", "maximum"),
}
"""The fields of each type of part, beside ``type``."""

SLOT_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "enumeration": ("values",),
    "number": ("max_digits",),
    "date": (),
    "message_id": (),
    "identifier": ("max_length",),
    "path": ("max_length",),
    "quotation": ("message", "max_length"),
    "phrase": ("values",),
    "quantity": ("max_digits", "max_decimals", "units"),
    "tool_name": (),
    "tool_call_id": (),
}
"""The fields of each type of slot, beside ``type``."""

_SLOTS: Final[Mapping[str, Callable[[Fields, Writing], Slot]]] = {
    "enumeration": lambda fields, writing: EnumerationSlot(_enumeration(fields, writing)),
    "number": lambda fields, _: NumberSlot(_max_digits(fields)),
    "date": lambda *_: DateSlot(),
    "message_id": lambda *_: MessageIdSlot(),
    "tool_call_id": lambda *_: ToolCallIdSlot(),
    "identifier": lambda fields, _: IdentifierSlot(_max_length(fields, MAX_IDENTIFIER_CHARACTERS)),
    "path": lambda fields, _: PathSlot(_max_length(fields, MAX_PATH_CHARACTERS)),
    "quotation": lambda fields, _: QuotationSlot(_max_length(fields, MAX_QUOTATION_CHARACTERS)),
    "quantity": lambda fields, _: QuantitySlot(
        _max_digits(fields),
        fields.integer("max_decimals", minimum=0, maximum=MAX_NUMBER_DECIMALS),
        _units(fields),
    ),
}


def _max_length(fields: Fields, maximum: int) -> int:
    return fields.integer("max_length", minimum=1, maximum=maximum)


def _max_digits(fields: Fields) -> int:
    return fields.integer("max_digits", minimum=1, maximum=MAX_NUMBER_DIGITS)


def _enumeration(fields: Fields, writing: Writing) -> frozenset[str]:
    values = fields.texts("values", maximum=MAX_ENUMERATION, max_characters=MAX_IDENTIFIER_CHARACTERS)
    for value in values:
        if not value.isascii() or value != value.lower() or list(one_clause(f"{value}.", writing)) != [value]:
            raise fields.refusal(
                "values", "holds what is not one lower-case ASCII word; a slot of type phrase admits others"
            )
    return frozenset(values)


def _units(fields: Fields) -> frozenset[str]:
    units = fields.texts("units", maximum=MAX_UNITS, max_characters=MAX_UNIT_CHARACTERS)
    if not all(map(_UNIT.fullmatch, units)):
        raise fields.refusal("units", "holds what is not letters of ASCII or %; a phrase admits others")
    return frozenset(units)

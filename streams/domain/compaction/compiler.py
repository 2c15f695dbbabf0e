"""The signed clause grammar document -> a compiled ``Grammar``, or a refusal that names the rule.

The contract: ``docs/reference/grammar.md`` states the format and every check; each check here is one of that list.
The compiler refuses what could pass too much (a slot without a bound, a preservation clause with words of the
summarizer's choice, two clauses for one text) and what could never pass (a clause that its own conflict rules match).

It does not verify signatures: the document comes from the policy store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_sha256, parse_json
from pratique.contract.document import Fields
from pratique.errors import MalformedError
from streams.domain.compaction.ambiguity import check_unambiguous
from streams.domain.compaction.authority.check import claims_authority
from streams.domain.compaction.clauses import ClauseParser, ClauseRule, ClauseTable
from streams.domain.compaction.conflicts import MAX_PATTERN_CHARACTERS, PatternRule, PatternRules
from streams.domain.compaction.grammar import OWN_RULE_PREFIX, SCHEMA_VERSION, Grammar, verifier_artifact_sha256
from streams.domain.compaction.lexer import Quotation, RawClause, Token, lex
from streams.domain.compaction.slots import (
    MAX_IDENTIFIER_CHARACTERS,
    MAX_NUMBER_DIGITS,
    MAX_PATH_CHARACTERS,
    MAX_QUOTATION_CHARACTERS,
    DateSlot,
    EnumerationSlot,
    IdentifierSlot,
    MessageIdSlot,
    NumberSlot,
    PathSlot,
    QuotationSlot,
    Slot,
)
from streams.domain.compaction.text import conflict_views
from streams.errors import PolicyError

MAX_ARTIFACT_BYTES: Final = 1024 * 1024
MAX_CLAUSES: Final = 2000
MAX_PATTERNS: Final = 500
MAX_PREDICATES: Final = 256
MAX_TEMPLATE_CHARACTERS: Final = 500
MAX_SLOTS: Final = 8
MAX_ENUMERATION: Final = 200
MAX_EXAMPLES: Final = 50
MAX_COMBINATIONS: Final = 20_000
"""Most combinations of slot values in all clauses together that preserve something: each is compared with the rules."""

_DOCUMENT: Final = (
    "schema_version",
    "grammar_id",
    "grammar_version",
    "language",
    "predicates",
    "clauses",
    "conflicts",
    "probabilistic_markers",
)
_CLAUSE: Final = ("rule_id", "template", "slots", "preserves")
_CONFLICT: Final = ("rule_id", "predicates", "pattern", "hits", "near_misses")
_MARKER: Final = ("rule_id", "pattern", "hits", "near_misses")

_PLACE: Final = re.compile(r"\{([a-z][a-z0-9_]{0,31})\}")
_SLOT_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
_STAND_IN: Final = 0xF0000
"""First of the private-use characters that stand for slots while a template is read; none may be in a template."""


@dataclass(frozen=True, slots=True)
class Place:
    """A slot in a template, with its name there."""

    name: str
    slot: Slot


@dataclass(frozen=True, slots=True)
class AuthoredClause:
    """A clause as it was read: literal words and places, in order.

    Attributes:
        template: The sentence, with ``{slot}`` where a slot stands.
        sequence: Its tokens: words, folded, and places.
    """

    rule: ClauseRule
    template: str
    sequence: tuple[str | Place, ...]

    @property
    def places(self) -> dict[str, Slot]:
        """The slots by their names in the template."""
        return {item.name: item.slot for item in self.sequence if isinstance(item, Place)}

    def parts(self) -> tuple[str | Place, ...]:
        """Return the template's stretches of text and its places, in order."""
        slots = self.places
        return tuple(
            Place(part, slots[part]) if index % 2 else part for index, part in enumerate(_PLACE.split(self.template))
        )

    def renderings(self) -> Iterable[str]:
        """Yield texts that are this clause: every word of every enumeration occurs in one."""
        places = {item.name: item.slot.samples() for item in self.sequence if isinstance(item, Place)}
        first = {name: values[0] for name, values in places.items()}
        yield _PLACE.sub(lambda match: first[match.group(1)], self.template)
        for name, values in places.items():
            for value in values[1:]:
                chosen = {**first, name: value}
                yield _PLACE.sub(lambda match, chosen=chosen: chosen[match.group(1)], self.template)  # type: ignore[misc]  # a default binds the loop's value

    def combinations(self) -> Iterator[str]:
        """Yield texts that are this clause, with every combination of its enumerations' words."""
        parts = [(part,) if isinstance(part, str) else part.slot.samples() for part in self.parts()]
        return ("".join(chosen) for chosen in product(*parts))


def read_clauses(document: bytes) -> tuple[AuthoredClause, ...]:
    """Return a grammar's clauses as their author wrote them, in the document's order.

    They are what a grammar is explained with. Nothing is judged with them: see ``compile_grammar``.

    Raises:
        PolicyError: The document is no grammar, or a clause is not well formed by itself.
    """
    fields = _document(document)[1]
    return _clauses(fields, _predicates(fields))


def compile_grammar(document: bytes) -> Grammar:
    """Compile a clause grammar.

    Args:
        document: The document as JSON; its canonical digest is the grammar's.

    Raises:
        PolicyError: It is not a ``pratique.clause-grammar.v1`` document within bounds, or fails a check; the message
            names the rule.
    """
    value, fields = _document(document)
    predicates = _predicates(fields)
    clauses = _clauses(fields, predicates)
    conflicts = _patterns(fields, "conflicts", predicates)
    markers = _patterns(fields, "probabilistic_markers", None)
    _check_rule_ids(chain((clause.rule.rule_id for clause in clauses), _ids(conflicts), _ids(markers)))
    _check_predicates(predicates, clauses, conflicts)
    _check_no_conflict(clauses, conflicts, markers)
    table = _table(clauses)
    check_unambiguous(table)
    digest = canonical_sha256(value)
    return Grammar(
        grammar_id=fields.identifier("grammar_id"),
        grammar_version=fields.text("grammar_version", max_characters=128),
        language=fields.text("language", max_characters=35),
        grammar_sha256=digest,
        artifact_sha256=verifier_artifact_sha256(digest),
        predicates=predicates,
        parser=ClauseParser(table, _alphabet(clauses)),
        conflicts=conflicts,
        markers=markers,
    )


def _document(document: bytes) -> tuple[JsonValue, Fields]:
    try:
        value = parse_json(document, max_bytes=MAX_ARTIFACT_BYTES)
    except MalformedError as error:
        raise PolicyError(f"clause grammar: {error}") from None
    fields = Fields(value, "clause grammar", _DOCUMENT, PolicyError)
    fields.literal("schema_version", SCHEMA_VERSION)
    return value, fields


def _predicates(document: Fields) -> frozenset[str]:
    return frozenset(document.texts("predicates", maximum=MAX_PREDICATES, max_characters=1024))


def _clauses(document: Fields, predicates: frozenset[str]) -> tuple[AuthoredClause, ...]:
    return tuple(
        _clause(fields, predicates) for fields in document.records("clauses", _CLAUSE, minimum=1, maximum=MAX_CLAUSES)
    )


def _clause(fields: Fields, predicates: frozenset[str]) -> AuthoredClause:
    rule_id = fields.identifier("rule_id")
    template = fields.text("template", max_characters=MAX_TEMPLATE_CHARACTERS)
    slots, quoted = _slots(rule_id, fields.raw("slots"))
    sequence = _sequence(rule_id, template, slots)
    order = [item.name for item in sequence if isinstance(item, Place)]
    if sorted(order) != sorted(slots):
        raise _refusal(rule_id, "template does not hold each of its slots once")
    preserves = _named(rule_id, fields.sequence("preserves", minimum=0, maximum=MAX_PREDICATES), predicates)
    if preserves and any(isinstance(slot, QuotationSlot | PathSlot | IdentifierSlot) for slot in slots.values()):
        raise _refusal(rule_id, "preserves a predicate with words of the summarizer's choice; leave the slot out")
    quotations = []
    for name, message in quoted.items():
        if not isinstance(slots.get(message), MessageIdSlot):
            raise _refusal(rule_id, f"quotation {name} does not name a message_id slot of its clause")
        quotations.append((order.index(name), order.index(message)))
    clause = AuthoredClause(ClauseRule(rule_id, preserves, tuple(quotations)), template, sequence)
    may_claim = not quotations and any(map(claims_authority, clause.renderings()))
    return replace(clause, rule=replace(clause.rule, may_claim=may_claim))


def _sequence(rule_id: str, template: str, slots: Mapping[str, Slot]) -> tuple[str | Place, ...]:
    if any(ord(letter) >= _STAND_IN for letter in template):
        raise _refusal(rule_id, "template holds a private-use character")
    places: dict[str, Place] = {}

    def stand_in(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in slots:
            raise _refusal(rule_id, f"template holds {{{name}}}, which is no slot of the clause")
        mark = chr(_STAND_IN + len(places))
        places[mark] = Place(name, slots[name])
        return mark

    tokens = _one_clause(_PLACE.sub(stand_in, template))
    if not tokens:
        raise _refusal(rule_id, "template is not one clause that ends with a full stop")
    return tuple(_literal(rule_id, token, places) for token in tokens)


def _one_clause(text: str) -> Sequence[Token]:
    """Return the tokens of a text that is one clause; none where it is not."""
    read = tuple(lex(text))
    return read[0].tokens if len(read) == 1 and isinstance(read[0], RawClause) else ()


def _literal(rule_id: str, token: str | Quotation, places: Mapping[str, Place]) -> str | Place:
    if isinstance(token, Quotation):
        raise _refusal(rule_id, "template holds quotation marks; a quotation slot brings its own")
    if token in places:
        return places[token]
    if "{" in token or "}" in token or any(ord(letter) >= _STAND_IN for letter in token):
        raise _refusal(rule_id, "template has a slot that touches a word, or a bracket { } that is no slot")
    word = token.casefold()
    if word.casefold() != word or not word.isprintable():
        raise _refusal(rule_id, "template holds a word that can't be matched")
    return word


def _slots(rule_id: str, value: JsonValue) -> tuple[dict[str, Slot], dict[str, str]]:
    if not isinstance(value, Mapping) or len(value) > MAX_SLOTS:
        raise _refusal(rule_id, f"slots is no object of at most {MAX_SLOTS}")
    slots: dict[str, Slot] = {}
    quoted: dict[str, str] = {}
    for index, (name, item) in enumerate(value.items()):
        if _SLOT_NAME.fullmatch(name) is None:
            raise _refusal(rule_id, f"slot {index} has no name of lower-case letters, digits and _")
        where = f"clause grammar: rule {rule_id}: slot {name}"
        kind = item.get("type") if isinstance(item, Mapping) else None
        if not isinstance(kind, str) or kind not in _SLOT_TYPES:
            raise PolicyError(f"{where}: field type is none of {', '.join(_SLOT_TYPES)}")
        fields = Fields(item, where, _SLOT_FIELDS[kind], PolicyError)
        slots[name] = _SLOT_TYPES[kind](fields)
        if kind == "quotation":
            quoted[name] = fields.text("message")
    return slots, quoted


_SLOT_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "enumeration": ("type", "values"),
    "number": ("type", "max_digits"),
    "date": ("type",),
    "message_id": ("type",),
    "identifier": ("type", "max_length"),
    "path": ("type", "max_length"),
    "quotation": ("type", "message", "max_length"),
}
_SLOT_TYPES: Final[Mapping[str, Callable[[Fields], Slot]]] = {
    "enumeration": lambda fields: EnumerationSlot(_enumeration(fields)),
    "number": lambda fields: NumberSlot(fields.integer("max_digits", minimum=1, maximum=MAX_NUMBER_DIGITS)),
    "date": lambda _: DateSlot(),
    "message_id": lambda _: MessageIdSlot(),
    "identifier": lambda fields: IdentifierSlot(_max_length(fields, MAX_IDENTIFIER_CHARACTERS)),
    "path": lambda fields: PathSlot(_max_length(fields, MAX_PATH_CHARACTERS)),
    "quotation": lambda fields: QuotationSlot(_max_length(fields, MAX_QUOTATION_CHARACTERS)),
}


def _max_length(fields: Fields, maximum: int) -> int:
    return fields.integer("max_length", minimum=1, maximum=maximum)


def _enumeration(fields: Fields) -> frozenset[str]:
    values = fields.texts("values", maximum=MAX_ENUMERATION, max_characters=MAX_IDENTIFIER_CHARACTERS)
    for value in values:
        if not value.isascii() or value != value.lower() or list(_one_clause(f"{value}.")) != [value]:
            raise fields.refusal("values", "holds what is not one lower-case ASCII word")
    return frozenset(values)


def _patterns(document: Fields, name: str, predicates: frozenset[str] | None) -> PatternRules:
    rules = []
    expected = _MARKER if predicates is None else _CONFLICT
    for fields in document.records(name, expected, minimum=0, maximum=MAX_PATTERNS):
        rule_id = fields.identifier("rule_id")
        named: frozenset[str] = frozenset()
        if predicates is not None:
            named = _named(rule_id, fields.sequence("predicates", minimum=1, maximum=MAX_PREDICATES), predicates)
        pattern = fields.text("pattern", max_characters=MAX_PATTERN_CHARACTERS)
        rule = PatternRule.compile(rule_id, named, pattern)
        _check_examples(rule, fields)
        rules.append((rule, pattern))
    return PatternRules(rules)


def _check_examples(rule: PatternRule, fields: Fields) -> None:
    for hit in fields.texts("hits", maximum=MAX_EXAMPLES, max_characters=MAX_PATTERN_CHARACTERS):
        if not rule.matches(_views(hit)):
            raise _refusal(rule.rule_id, "pattern does not match one of its hits")
    for near_miss in fields.texts("near_misses", maximum=MAX_EXAMPLES, max_characters=MAX_PATTERN_CHARACTERS):
        if rule.matches(_views(near_miss)):
            raise _refusal(rule.rule_id, "pattern matches one of its near misses")


def _named(rule_id: str, values: Sequence[JsonValue], predicates: frozenset[str]) -> frozenset[str]:
    named = frozenset(value for value in values if isinstance(value, str))
    if len(named) != len(values):
        raise _refusal(rule_id, "names a predicate twice, or something that is no text")
    if not named <= predicates:
        raise _refusal(rule_id, "names a predicate that the grammar does not declare")
    return named


def _check_rule_ids(rule_ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for rule_id in rule_ids:
        if rule_id in seen:
            raise _refusal(rule_id, "is there twice")
        if rule_id.startswith(OWN_RULE_PREFIX):
            raise _refusal(rule_id, f"begins with {OWN_RULE_PREFIX}, which the verifier's own rules do")
        seen.add(rule_id)


def _check_predicates(predicates: frozenset[str], clauses: Iterable[AuthoredClause], conflicts: PatternRules) -> None:
    preserved = frozenset(chain.from_iterable(clause.rule.preserves for clause in clauses))
    contradicted = frozenset(chain.from_iterable(rule.predicates for rule in conflicts.rules))
    for predicate in sorted(predicates - preserved):
        raise PolicyError(f"clause grammar: predicate {predicate} has no preservation clause")
    for predicate in sorted(predicates - contradicted):
        raise PolicyError(f"clause grammar: predicate {predicate} has no conflict rule")


def _check_no_conflict(clauses: Iterable[AuthoredClause], conflicts: PatternRules, markers: PatternRules) -> None:
    """Refuse a clause that can never pass, and one that states a preservation and may be a conflict as well."""
    left = MAX_COMBINATIONS
    for clause in clauses:
        texts = clause.renderings()
        if clause.rule.preserves:
            texts = tuple(islice(clause.combinations(), left + 1))
            left -= len(texts)
            if left < 0:
                raise _refusal(
                    clause.rule.rule_id,
                    f"clauses that preserve something have over {MAX_COMBINATIONS} combinations of values; list fewer",
                )
        for text in texts:
            views = _views(text)
            for rule in (*conflicts.matching(views), *markers.matching(views)):
                raise _refusal(clause.rule.rule_id, f"is matched by rule {rule.rule_id}; such a clause can never pass")


def _table(clauses: Iterable[AuthoredClause]) -> ClauseTable:
    start = ClauseTable()
    for clause in clauses:
        state = start
        for item in clause.sequence:
            state = _next(state, item)
        if state.rule is not None:
            raise _refusal(clause.rule.rule_id, f"is the same clause as {state.rule.rule_id}")
        state.rule = clause.rule
    return start


def _next(state: ClauseTable, item: str | Place) -> ClauseTable:
    if isinstance(item, str):
        return state.words.setdefault(item, ClauseTable())
    for slot, following in state.slots:
        if slot == item.slot:
            return following
    following = ClauseTable()
    state.slots.append((item.slot, following))
    return following


def _alphabet(clauses: Iterable[AuthoredClause]) -> frozenset[str]:
    letters = set(chain.from_iterable(clause.template for clause in clauses))
    cases = chain.from_iterable((letter.upper(), letter.lower(), letter.title()) for letter in letters)
    return frozenset(letters | {letter for letter in cases if len(letter) == 1})


def _views(text: str) -> tuple[bytes, ...]:
    return tuple(view.encode("utf-8") for view in conflict_views(text))


def _ids(rules: PatternRules) -> Iterable[str]:
    return (rule.rule_id for rule in rules.rules)


def _refusal(rule_id: str, problem: str) -> PolicyError:
    return PolicyError(f"clause grammar: rule {rule_id}: {problem}")

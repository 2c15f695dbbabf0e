"""The signed clause grammar document -> a compiled ``Grammar``, or a refusal that names the rule.

The contract: ``docs/reference/grammar.md`` states the format and every check; each check here is one of that list.
The compiler refuses what could pass too much (a slot without a bound, a preservation clause with words of the
summarizer's choice, two clauses for one text) and what could never pass (a clause that its own conflict rules match).

It does not verify signatures: the document comes from the policy store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_sha256, parse_json
from pratique.contract.document import Fields
from pratique.errors import MalformedError
from streams.domain.compaction.ambiguity import check_unambiguous
from streams.domain.compaction.authored import AuthoredClause
from streams.domain.compaction.automaton import clause_table
from streams.domain.compaction.clauses import ClauseParser
from streams.domain.compaction.conflicts import MAX_PATTERN_CHARACTERS, PatternRule, PatternRules
from streams.domain.compaction.grammar import OWN_RULE_PREFIX, SCHEMA_VERSION, Grammar, verifier_artifact_sha256
from streams.domain.compaction.slots import SAMPLE_MESSAGE, SAMPLE_WORDS, Sources
from streams.domain.compaction.templates import MAX_PREDICATES, named_predicates, read_clause, refusal
from streams.domain.compaction.text import conflict_views
from streams.domain.compaction.tools import allowed_tools
from streams.domain.compaction.writing import Writing
from streams.errors import PolicyError

MAX_ARTIFACT_BYTES: Final = 1024 * 1024
MAX_CLAUSES: Final = 2000
MAX_PATTERNS: Final = 500
MAX_EXAMPLES: Final = 50
MAX_COMBINATIONS: Final = 20_000
"""Most combinations of slot values in all clauses together that preserve something: each is compared with the rules."""

MAX_TOTAL_STEPS: Final = 500_000
"""Most steps from a word to a next in all clauses together that have parts."""

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
_CONFLICT: Final = ("rule_id", "predicates", "pattern", "hits", "near_misses")
_MARKER: Final = ("rule_id", "pattern", "hits", "near_misses")

_WRITINGS: Final = {writing.value: writing for writing in Writing if writing is not Writing.PLAIN}


def read_clauses(document: bytes) -> tuple[AuthoredClause, ...]:
    """Return a grammar's clauses as their author wrote them, in the document's order.

    They are what a grammar is explained with. Nothing is judged with them: see ``compile_grammar``.

    Raises:
        PolicyError: The document is no grammar, or a clause is not well formed by itself.
    """
    _, fields, writing = _document(document)
    return _clauses(fields, _predicates(fields), writing)


def compile_grammar(document: bytes) -> Grammar:
    """Compile a clause grammar.

    Args:
        document: The document as JSON; its canonical digest is the grammar's.

    Raises:
        PolicyError: It is not a ``pratique.clause-grammar.v1`` document within bounds, or fails a check; the message
            names the rule.
    """
    value, fields, writing = _document(document)
    predicates = _predicates(fields)
    clauses = _clauses(fields, predicates, writing)
    conflicts = _patterns(fields, "conflicts", predicates)
    markers = _patterns(fields, "probabilistic_markers", None)
    _check_rule_ids(chain((clause.rule.rule_id for clause in clauses), _ids(conflicts), _ids(markers)))
    _check_predicates(predicates, clauses, conflicts)
    _check_no_conflict(clauses, conflicts, markers)
    table = clause_table(clauses)
    check_unambiguous(table)
    parser = ClauseParser(table, _alphabet(clauses), writing)
    _check_read_back(clauses, parser, predicates)
    digest = canonical_sha256(value)
    return Grammar(
        grammar_id=fields.identifier("grammar_id"),
        grammar_version=fields.text("grammar_version", max_characters=128),
        language=fields.text("language", max_characters=35),
        grammar_sha256=digest,
        artifact_sha256=verifier_artifact_sha256(digest),
        predicates=predicates,
        parser=parser,
        conflicts=conflicts,
        markers=markers,
    )


def _document(document: bytes) -> tuple[JsonValue, Fields, Writing]:
    try:
        value = parse_json(document, max_bytes=MAX_ARTIFACT_BYTES)
    except MalformedError as error:
        raise PolicyError(f"clause grammar: {error}") from None
    if not isinstance(value, Mapping) or "writing" not in value:
        fields = Fields(value, "clause grammar", _DOCUMENT, PolicyError)
        fields.literal("schema_version", SCHEMA_VERSION)
        return value, fields, Writing.PLAIN
    fields = Fields(value, "clause grammar", (*_DOCUMENT, "writing"), PolicyError)
    fields.literal("schema_version", SCHEMA_VERSION)
    writing = _WRITINGS.get(fields.text("writing"))
    if writing is None:
        raise fields.refusal("writing", f"is none of {', '.join(_WRITINGS)}; leave the field out where neither holds")
    return value, fields, writing


def _predicates(document: Fields) -> frozenset[str]:
    return frozenset(document.texts("predicates", maximum=MAX_PREDICATES, max_characters=1024))


def _clauses(document: Fields, predicates: frozenset[str], writing: Writing) -> tuple[AuthoredClause, ...]:
    clauses = []
    left = MAX_TOTAL_STEPS
    for index, value in enumerate(document.sequence("clauses", minimum=1, maximum=MAX_CLAUSES)):
        clause = read_clause(value, f"clause grammar: clauses[{index}]", predicates, writing)
        left -= 0 if clause.plain else clause.shape.steps
        if left < 0:
            raise refusal(clause.rule.rule_id, "parts of all clauses together have too many ways; lower maxima")
        clauses.append(clause)
    return tuple(clauses)


def _patterns(document: Fields, name: str, predicates: frozenset[str] | None) -> PatternRules:
    rules = []
    expected = _MARKER if predicates is None else _CONFLICT
    for fields in document.records(name, expected, minimum=0, maximum=MAX_PATTERNS):
        rule_id = fields.identifier("rule_id")
        named: frozenset[str] = frozenset()
        if predicates is not None:
            named = named_predicates(
                rule_id, fields.sequence("predicates", minimum=1, maximum=MAX_PREDICATES), predicates
            )
        pattern = fields.text("pattern", max_characters=MAX_PATTERN_CHARACTERS)
        rule = PatternRule.compile(rule_id, named, pattern)
        _check_examples(rule, fields)
        rules.append((rule, pattern))
    return PatternRules(rules)


def _check_examples(rule: PatternRule, fields: Fields) -> None:
    for hit in fields.texts("hits", maximum=MAX_EXAMPLES, max_characters=MAX_PATTERN_CHARACTERS):
        if not rule.matches(_views(hit)):
            raise refusal(rule.rule_id, "pattern does not match one of its hits")
    for near_miss in fields.texts("near_misses", maximum=MAX_EXAMPLES, max_characters=MAX_PATTERN_CHARACTERS):
        if rule.matches(_views(near_miss)):
            raise refusal(rule.rule_id, "pattern matches one of its near misses")


def _check_rule_ids(rule_ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for rule_id in rule_ids:
        if rule_id in seen:
            raise refusal(rule_id, "is there twice")
        if rule_id.startswith(OWN_RULE_PREFIX):
            raise refusal(rule_id, f"begins with {OWN_RULE_PREFIX}, which the verifier's own rules do")
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
        texts: Iterable[str] = clause.renderings()
        if clause.rule.preserves:
            left -= clause.combination_count()
            if left < 0:
                raise refusal(
                    clause.rule.rule_id,
                    f"clauses that preserve something have over {MAX_COMBINATIONS} combinations of values; list fewer",
                )
            texts = clause.combinations()
        for text in texts:
            views = _views(text)
            for rule in (*conflicts.matching(views), *markers.matching(views)):
                raise refusal(clause.rule.rule_id, f"is matched by rule {rule.rule_id}; such a clause can never pass")


def _check_read_back(clauses: Iterable[AuthoredClause], parser: ClauseParser, predicates: frozenset[str]) -> None:
    """Refuse parts that, written as a sentence, are read as something else: the clause could not be written."""
    sources = Sources(
        frozenset({SAMPLE_MESSAGE}),
        {SAMPLE_MESSAGE: SAMPLE_WORDS},
        allowed_tools(predicates),
        frozenset({SAMPLE_MESSAGE}),
    )
    for clause in clauses:
        for text in () if clause.plain else clause.renderings():
            parse = parser.parse(text, sources)
            if not parse.complete or [found.rule for found in parse.clauses] != [clause.rule]:
                raise refusal(clause.rule.rule_id, f"its parts make a text that is not read as this clause: {text}")


def _alphabet(clauses: Iterable[AuthoredClause]) -> frozenset[str]:
    letters = set(chain.from_iterable(text for clause in clauses for text in clause.literals()))
    cases = chain.from_iterable((letter.upper(), letter.lower(), letter.title()) for letter in letters)
    return frozenset(letters | {letter for letter in cases if len(letter) == 1})


def _views(text: str) -> tuple[bytes, ...]:
    return tuple(view.encode("utf-8") for view in conflict_views(text))


def _ids(rules: PatternRules) -> Iterable[str]:
    return (rule.rule_id for rule in rules.rules)

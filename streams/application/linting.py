"""A policy looked over before it is signed: what publication would refuse, and what is allowed but hardly meant.

The contract: an ERROR is what publication or a worker would refuse; a WARNING is a policy that can be published. A
grammar's errors are looked for one after the other, each rule that has one being left out for the next look, so that
an author sees more than the first. A clause that can never match, since a conflict rule or a marker does, is an error
already: the compiler refuses it. Warnings are looked for only in what compiles. Findings name rules and constraints
and quote the policy, never anyone's messages.

It reads no files and verifies no signature.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain, islice, product
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_bytes
from pratique.errors import MalformedError
from streams.application.linting_scan import model_warnings, rule_warnings
from streams.domain.compaction.ambiguity import some_rule
from streams.domain.compaction.authored import AuthoredClause
from streams.domain.compaction.authority.check import claims_authority
from streams.domain.compaction.compiler import compile_grammar, read_clauses
from streams.domain.compaction.conflicts import PatternRule
from streams.domain.compaction.grammar import SCHEMA_VERSION, Grammar
from streams.domain.compaction.slots import IdentifierSlot, PathSlot, Slot, Sources
from streams.domain.compaction.text import conflict_views
from streams.domain.policy.publication import (
    PolicySource,
    ScannerIdentity,
    author_snapshot,
    prepare,
    trust_document,
)
from streams.errors import PolicyError

MAX_LOOKS: Final = 40
"""Most times that a grammar is looked at for its errors, with one rule or predicate less each time."""

MAX_RENDERINGS: Final = 500
"""Most texts of one clause that are looked at; an enumeration's words multiply."""

MAX_PAIRED_CLAUSES: Final = 500
"""Most clauses that are looked at two by two."""

_NO_DIGEST: Final = "0" * 64
_NO_SCANNER: Final = ScannerIdentity("unpublished", _NO_DIGEST)
_RULE_LISTS: Final = ("clauses", "conflicts", "probabilistic_markers")
_ESCAPES: Final = re.compile(r"\\[pP]\{[^}]*\}|\\.|\(\?P?<[^>]*>|\(\?[A-Za-z-]+[:)]|\[\[:\^?[a-z]+:\]")
_UPPER: Final = re.compile(r"[A-Z]")
_NO_SOURCES: Final = Sources(frozenset(), {})


class Level(Enum):
    """How much a finding matters."""

    ERROR = "ERROR"
    """It would be refused."""
    WARNING = "WARNING"
    """It can be published, but is hardly meant."""


@dataclass(frozen=True, slots=True)
class LintFinding:
    """What is wrong, or hardly meant.

    Attributes:
        level: How much it matters.
        code: Which check found it.
        where: The rule, constraint or document it is about.
        message: What it is, and what to do.
    """

    level: Level
    code: str
    where: str
    message: str

    def body(self) -> dict[str, JsonValue]:
        """Return the finding as JSON."""
        return {"level": self.level.value, "code": self.code, "where": self.where, "message": self.message}


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint of a register: its id, its text, its predicate."""

    identity: str
    text: str
    predicate: str


def lint_source(source: PolicySource, *, min_deadline_ms: int, now_ms: int) -> tuple[LintFinding, ...]:
    """Look a policy's source over.

    Args:
        source: The source.
        min_deadline_ms: Shortest accepted deadline.
        now_ms: Now, milliseconds since the epoch.
    """
    findings: list[LintFinding] = []
    constraints: list[Constraint] = []
    languages: tuple[str, ...] = ()
    try:
        policy_set = prepare(
            replace(source, grammar={"schema_version": SCHEMA_VERSION}, commitments={}, trust=None),
            _NO_SCANNER,
            min_deadline_ms=min_deadline_ms,
        ).policy_set  # the grammar is looked at by itself
    except PolicyError as error:
        findings.append(_error("policy", str(error)))
    else:
        languages = policy_set.scan.language_profiles
        findings += [_warning(*warning) for warning in rule_warnings(policy_set.scan.rules, now_ms)]
        findings += [_warning(*warning) for warning in model_warnings(policy_set.scan)]
        constraints += [
            Constraint(record.invariant_id, record.canonical_text, record.canonical_predicate)
            for record in policy_set.invariants.invariant_records
        ]
        if source.commitments and not policy_set.compaction.standing_commitments:
            findings.append(_error("commitments", "tenants have standing commitments, yet policy applies none"))
    for tenant_id, value in source.commitments.items():
        try:
            records = author_snapshot(value, _NO_DIGEST).commitment_records
        except PolicyError as error:
            findings.append(_error(f"commitments/{tenant_id}", str(error)))
            continue
        constraints += [
            Constraint(record.commitment_id, record.canonical_text, record.canonical_predicate) for record in records
        ]
    if source.trust is not None:
        try:
            trust_document(source.trust)
        except PolicyError as error:
            findings.append(_error("trust", str(error)))
    return (*findings, *lint_grammar(source.grammar, constraints, languages))


def lint_grammar(
    document: JsonValue, constraints: Sequence[Constraint] = (), languages: Sequence[str] = ()
) -> tuple[LintFinding, ...]:
    """Look a grammar over.

    Args:
        document: The grammar's document.
        constraints: The registers' constraints, invariants and commitments of all tenants.
        languages: The languages that the scan policy has profiles for; none where that is not known.
    """
    try:
        content = canonical_bytes(document)
    except MalformedError as error:
        return (_error("grammar", f"clause grammar: {error}"),)
    try:
        grammar = compile_grammar(content)
    except PolicyError:
        return tuple(_errors(document))
    clauses = read_clauses(content)
    rules = _patterns(document)
    return tuple(
        finding
        for findings in (
            _conflicting_combinations(clauses, grammar),
            _conflicting_neighbours(clauses, grammar),
            _ambiguous_spans(grammar),
            _upper_case(rules),
            _near_misses_elsewhere(rules, grammar),
            _constraints(constraints, grammar),
            _unused_predicates(constraints, grammar),
            _language(grammar, languages),
            _claiming_clauses(clauses),
        )
        for finding in findings
    )


def _errors(document: JsonValue) -> Iterator[LintFinding]:
    """Yield a grammar's errors, leaving out each rule and each predicate that has one."""
    dropped = False
    for _ in range(MAX_LOOKS):
        try:
            compile_grammar(canonical_bytes(document))
        except PolicyError as error:
            message = str(error)
            named, predicate = _named(message, document), _predicate(message, document)
            if predicate is None or not dropped:  # else it lacks what a rule that was left out stated
                yield _error(named or predicate or "grammar", message)
            if not isinstance(document, Mapping) or (named is None and predicate is None):
                return
            document = _without(document, named) if named is not None else _without_predicate(document, predicate)
            dropped = True
            if not document["predicates"]:
                return  # nothing is left to look at
        else:
            return


def _predicate(message: str, document: JsonValue) -> str | None:
    """Return the predicate that a compiler's refusal is about, where it is one of the document's."""
    predicates = document.get("predicates") if isinstance(document, Mapping) else None
    if isinstance(predicates, str) or not isinstance(predicates, Sequence):
        return None
    for predicate in predicates:
        if message.startswith(f"clause grammar: predicate {predicate} has no "):
            return str(predicate)
    return None


def _without_predicate(document: Mapping[str, JsonValue], predicate: str | None) -> Mapping[str, JsonValue]:
    """Return the document without a predicate; conflict rules that named no other go with it."""
    changed = dict(document)
    changed["predicates"] = _less(document["predicates"], predicate)
    for name, field in (("clauses", "preserves"), ("conflicts", "predicates")):
        rules = document.get(name)
        if isinstance(rules, Sequence) and not isinstance(rules, str):
            less = [{**rule, field: _less(rule.get(field), predicate)} for rule in rules if isinstance(rule, Mapping)]
            changed[name] = [rule for rule in less if name == "clauses" or rule[field]]
    return changed


def _less(values: JsonValue, value: str | None) -> JsonValue:
    return [item for item in values if item != value] if isinstance(values, list | tuple) else values


def _named(message: str, document: JsonValue) -> str | None:
    """Return the id of the rule that a compiler's refusal names, where it is one of the document's."""
    for _, rule_id in _rules(document):
        if message.startswith(f"clause grammar: rule {rule_id}: "):
            return rule_id
        if message.startswith("clause grammar: rules ") and f" and {rule_id} match" in message:
            return rule_id
    return None


def _rules(document: JsonValue) -> Iterator[tuple[Mapping[str, JsonValue], str]]:
    if not isinstance(document, Mapping):
        return
    for name in _RULE_LISTS:
        rules = document.get(name)
        if isinstance(rules, str) or not isinstance(rules, Sequence):
            continue
        for rule in rules:
            rule_id = rule.get("rule_id") if isinstance(rule, Mapping) else None
            if isinstance(rule, Mapping) and isinstance(rule_id, str):
                yield rule, rule_id


def _without(document: Mapping[str, JsonValue], rule_id: str) -> Mapping[str, JsonValue]:
    """Return the document without the last rule of that id."""
    last = [rule for rule, found in _rules(document) if found == rule_id][-1]
    changed = dict(document)
    for name in _RULE_LISTS:
        rules = changed.get(name)
        if isinstance(rules, Sequence) and not isinstance(rules, str):
            changed[name] = [rule for rule in rules if rule is not last]
    return changed


def _conflicting_combinations(clauses: Iterable[AuthoredClause], grammar: Grammar) -> Iterator[LintFinding]:
    for clause in clauses:
        for text in islice(_renderings(clause), MAX_RENDERINGS):
            found = _matching(text, grammar)
            if found:
                yield _warning(
                    "clause-conflicts",
                    clause.rule.rule_id,
                    f"with some values rule {found[0].rule_id} matches it, as in: {text}",
                )
                break


def _conflicting_neighbours(clauses: Sequence[AuthoredClause], grammar: Grammar) -> Iterator[LintFinding]:
    """Yield rules that match two clauses side by side, neither of which they match."""
    texts = [
        text for clause in clauses[:MAX_PAIRED_CLAUSES] if not _matching(text := next(_renderings(clause)), grammar)
    ]
    told: set[str] = set()
    for first in texts:
        if not _matching(" ".join(f"{first} {second}" for second in texts), grammar):
            continue
        for second in texts:
            for rule in _matching(f"{first} {second}", grammar):
                if rule.rule_id not in told:
                    told.add(rule.rule_id)
                    yield _warning(
                        "rule-spans-clauses",
                        rule.rule_id,
                        f"it matches clauses that are harmless by themselves, side by side: {first} {second}",
                    )


def _ambiguous_spans(grammar: Grammar) -> Iterator[LintFinding]:
    """Yield places where a word may be a literal or a slot's value, so that only what follows tells."""
    pending, seen = [grammar.parser.start], set[int]()
    while pending:
        state = pending.pop()
        if id(state) in seen:
            continue
        seen.add(id(state))
        for slot, after in state.slots:
            words = sorted(word for word in state.words if slot.could_spell(word))
            if words:
                yield _warning(
                    "span-ambiguous",
                    some_rule(after).rule_id,
                    f"where its slot stands, the word {words[0]} may also begin or go on"
                    f" {some_rule(state.words[words[0]]).rule_id}; what follows decides, but authors may be misled",
                )
        pending.extend(after for _, after in state.slots)
        pending.extend(state.words.values())


def _upper_case(rules: Iterable[Mapping[str, JsonValue]]) -> Iterator[LintFinding]:
    for rule in rules:
        pattern = str(rule["pattern"])
        if "(?i" not in pattern and _UPPER.search(_ESCAPES.sub("", pattern)) is not None:
            yield _warning(
                "pattern-upper-case",
                str(rule["rule_id"]),
                "patterns see case-folded text: its upper-case letters never match; write them in lower case",
            )


def _near_misses_elsewhere(rules: Iterable[Mapping[str, JsonValue]], grammar: Grammar) -> Iterator[LintFinding]:
    compiled = {rule.rule_id: rule for rule in grammar.conflicts.rules}
    for rule in rules:
        own = compiled.get(str(rule["rule_id"]))
        misses = rule["near_misses"]
        if own is None or isinstance(misses, str) or not isinstance(misses, Sequence):
            continue
        for text in misses:
            others = [item for item in _matching(str(text), grammar) if item.predicates & own.predicates]
            if others:
                yield _warning(
                    "near-miss-conflicts",
                    own.rule_id,
                    f"its near miss conflicts with the same constraint by rule {others[0].rule_id}: {text}",
                )


def _constraints(constraints: Iterable[Constraint], grammar: Grammar) -> Iterator[LintFinding]:
    for constraint in dict.fromkeys(constraints):
        if constraint.predicate not in grammar.predicates:
            yield _warning(
                "constraint-without-clause",
                constraint.identity,
                f"no clause states {constraint.predicate}: no summary can pass where it holds; add a clause",
            )
            continue
        text = constraint.text if constraint.text.rstrip().endswith(".") else f"{constraint.text}."
        parse = grammar.parser.parse(text, _NO_SOURCES)
        stated = {predicate for clause in parse.clauses for predicate in clause.rule.preserves}
        if not parse.complete or constraint.predicate not in stated:
            yield _warning(
                "canonical-text-no-clause",
                constraint.identity,
                "a summarizer that copies its canonical text does not state it; add that text as a clause",
            )
        found = [rule for rule in _matching(constraint.text, grammar) if constraint.predicate in rule.predicates]
        if found:
            yield _warning(
                "canonical-text-conflicts",
                constraint.identity,
                f"rule {found[0].rule_id} matches its own canonical text: quoting it is a conflict",
            )


def _unused_predicates(constraints: Sequence[Constraint], grammar: Grammar) -> Iterator[LintFinding]:
    used = {constraint.predicate for constraint in constraints}
    for predicate in sorted(grammar.predicates - used) if constraints else ():
        yield _warning("predicate-unused", predicate, "no invariant and no standing commitment has it")


def _language(grammar: Grammar, languages: Sequence[str]) -> Iterator[LintFinding]:
    if languages and grammar.language.split("-")[0].lower() not in languages:
        yield _warning(
            "language-not-scanned", grammar.language, "the scan policy has no profile for the grammar's language"
        )


def _claiming_clauses(clauses: Iterable[AuthoredClause]) -> Iterator[LintFinding]:
    for clause in clauses:
        texts = chain(clause.renderings(), islice(_renderings(clause), MAX_RENDERINGS)) if clause.rule.may_claim else ()
        text = next(filter(_claims, texts), None)
        if text is not None:
            yield _warning(
                "clause-claims-authority",
                clause.rule.rule_id,
                f"it claims a person's word and quotes nothing, so it is AUTHORITY_UNTRACED; add a quotation: {text}",
            )


def _claims(text: str) -> bool:
    return '"' not in text and claims_authority(text)


def _renderings(clause: AuthoredClause) -> Iterator[str]:
    """Yield texts that are a clause, with every combination of its enumerations' words and parts, paths as one word."""
    if not clause.plain:
        return clause.combinations() if _is_small(clause) else iter(clause.renderings())
    parts = [(part,) if isinstance(part, str) else _samples(part.slot) for part in clause.parts()]
    return ("".join(chosen) for chosen in product(*parts))


def _is_small(clause: AuthoredClause) -> bool:
    return clause.combination_count() <= MAX_RENDERINGS


def _samples(slot: Slot) -> tuple[str, ...]:
    return ("x",) if isinstance(slot, PathSlot | IdentifierSlot) else slot.samples()


def _matching(text: str, grammar: Grammar) -> tuple[PatternRule, ...]:
    views = tuple(view.encode("utf-8") for view in conflict_views(text))
    return (*grammar.conflicts.matching(views), *grammar.markers.matching(views))


def _patterns(document: JsonValue) -> list[Mapping[str, JsonValue]]:
    return [rule for rule, _ in _rules(document) if "pattern" in rule]


def _error(where: str, message: str) -> LintFinding:
    return LintFinding(Level.ERROR, "refused", where, message)


def _warning(code: str, where: str, message: str) -> LintFinding:
    return LintFinding(Level.WARNING, code, where, message)

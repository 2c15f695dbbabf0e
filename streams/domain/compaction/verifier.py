"""The clause verifier: one summary against every constraint, by a signed grammar (AID-I-004.008 G002).

The contract, in this order for each constraint:

1. A conflict rule for its predicate matches the complete normalised text: CONFLICT, whatever else the text says.
2. A probabilistic marker matches: UNSUPPORTED, and the assurance of all is PROBABILISTIC.
3. The grammar does not know the predicate, the parse is not total, or no clause preserves the predicate: UNSUPPORTED.
4. Otherwise PRESERVED.

Deterministic, and linear in the summary. A quotation never preserves anything, but conflicts as the free text that it
is: in each of its lines and sentences, whatever its letters are disguised as.
It establishes that the summary consists of allowed clauses, not that free text means the same as a constraint.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from pratique.contract.canonical import plain_sha256
from streams.domain.compaction.candidate import ClaimStatus, PreservedConstraintClaim
from streams.domain.compaction.clauses import ParsedClause, SummaryParse
from streams.domain.compaction.constraints import CanonicalConstraint
from streams.domain.compaction.grammar import OWN_RULE_PREFIX, VERIFIER_VERSION, Grammar
from streams.domain.compaction.slots import Sources
from streams.domain.compaction.text import conflict_views, free_views
from streams.domain.compaction.verification import (
    Assurance,
    ConflictVerification,
    ConstraintVerificationResult,
    derived_outcome,
)

RULE_PROBABILISTIC: Final = f"{OWN_RULE_PREFIX}probabilistic-marker"
RULE_PREDICATE_UNKNOWN: Final = f"{OWN_RULE_PREFIX}predicate-unknown"
RULE_INCOMPLETE: Final = f"{OWN_RULE_PREFIX}parse-incomplete"
RULE_DUPLICATE: Final = f"{OWN_RULE_PREFIX}clause-duplicated"
RULE_NOT_STATED: Final = f"{OWN_RULE_PREFIX}no-preservation-clause"


@dataclass(frozen=True, slots=True)
class Question:
    """What a verifier is asked.

    Attributes:
        summary_text: The summary, as it is.
        constraints: What it must preserve, in order.
        claims: The summarizer's claims, in the constraints' order.
        sources: The messages that it may refer to.
        rendered_policy_sha256: Digest of the rendered policy block.
        compacted_summary_sha256: Canonical digest of the summary.
        claim_population_sha256: Canonical digest of the claims.
    """

    summary_text: str
    constraints: tuple[CanonicalConstraint, ...]
    claims: tuple[PreservedConstraintClaim, ...]
    sources: Sources
    rendered_policy_sha256: str
    compacted_summary_sha256: str
    claim_population_sha256: str


def summary_views(summary_text: str, clauses: Iterable[ParsedClause]) -> tuple[str, ...]:
    """Return what conflict rules see of a summary: its views, and those of what its clauses quote as free text."""
    quoted = dict.fromkeys(clause.values[place] for clause in clauses for place, _ in clause.quotations)
    return (*conflict_views(summary_text), *(view for text in quoted for view in free_views(text)))


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the grammar made of a summary, before any constraint is asked about."""

    parse: SummaryParse
    population_sha256: str | None
    preserved_by: dict[str, str]
    contradicted_by: dict[str, str]
    probabilistic: bool


@dataclass(frozen=True, slots=True)
class ClauseVerifier:
    """Verifies summaries with one grammar."""

    grammar: Grammar
    _parsed: list[tuple[str, Sources, SummaryParse]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def verify(self, question: Question) -> ConflictVerification:
        """Judge a summary against every constraint."""
        reading = self._read(question)
        results = tuple(
            self._result(constraint, claim, reading, question)
            for constraint, claim in zip(question.constraints, question.claims, strict=True)
        )
        assurance = Assurance.PROBABILISTIC if reading.probabilistic else Assurance.DETERMINISTIC_BOUNDED
        outcome, finding_status = derived_outcome((result.verification_status for result in results), assurance)
        population = [result.body() for result in results]
        unsigned = ConflictVerification(
            outcome=outcome,
            finding_status=finding_status,
            assurance_type=assurance,
            verifier_version=VERIFIER_VERSION,
            verifier_artifact_sha256=self.grammar.artifact_sha256,
            rendered_policy_sha256=question.rendered_policy_sha256,
            compacted_summary_sha256=question.compacted_summary_sha256,
            claim_population_sha256=question.claim_population_sha256,
            claim_count=len(question.claims),
            result_population_sha256=plain_sha256(population),
            result_count=len(results),
            results=results,
            receipt_sha256="",
        )
        return replace(unsigned, receipt_sha256=plain_sha256(unsigned.body(population)))

    def parse(self, summary_text: str, sources: Sources) -> SummaryParse:
        """Return what the grammar makes of a summary, to explain a verdict with."""
        for text, known, parse in self._parsed:
            if text is summary_text and known is sources:
                return parse
        parse = self.grammar.parser.parse(summary_text, sources)
        self._parsed[:] = [(summary_text, sources, parse)]  # the checker asks for the same once more
        return parse

    def matching(self, text: str) -> tuple[bool, bool]:
        """Return whether a conflict rule, and whether a probabilistic marker, matches a free text."""
        views = tuple(view.encode("utf-8") for view in free_views(text))
        return self.grammar.conflicts.any_matches(views), self.grammar.markers.any_matches(views)

    def _read(self, question: Question) -> _Reading:
        parse = self.parse(question.summary_text, question.sources)
        views = tuple(view.encode("utf-8") for view in summary_views(question.summary_text, parse.clauses))
        population = parse.population()
        preserved_by: dict[str, str] = {}
        for clause in parse.clauses:
            for predicate in clause.rule.preserves:
                preserved_by.setdefault(predicate, clause.rule.rule_id)
        contradicted_by: dict[str, str] = {}
        for rule in self.grammar.conflicts.matching(views):
            for predicate in rule.predicates:
                contradicted_by.setdefault(predicate, rule.rule_id)
        return _Reading(
            parse,
            None if population is None else plain_sha256(population),
            preserved_by,
            contradicted_by,
            bool(self.grammar.markers.matching(views)),
        )

    def _result(
        self,
        constraint: CanonicalConstraint,
        claim: PreservedConstraintClaim,
        reading: _Reading,
        question: Question,
    ) -> ConstraintVerificationResult:
        status, rule_id = self._judge(constraint.canonical_predicate, reading)
        evidence = plain_sha256(
            {
                "constraint_type": constraint.constraint_type.value,
                "constraint_id": constraint.constraint_id,
                "predicate_sha256": constraint.canonical_predicate_sha256,
                "summary_sha256": question.compacted_summary_sha256,
                "parsed_clause_population_sha256": reading.population_sha256,
                "complete_clause_parse": reading.parse.complete,
                "rule": rule_id,
                "status": status.value,
            }
        )
        return ConstraintVerificationResult(
            constraint.constraint_type,
            constraint.constraint_id,
            constraint.canonical_record_sha256,
            constraint.canonical_predicate_sha256,
            claim.status,
            status,
            rule_id,
            evidence,
        )

    def _judge(self, predicate: str, reading: _Reading) -> tuple[ClaimStatus, str]:
        if predicate in reading.contradicted_by:
            return ClaimStatus.CONFLICT, reading.contradicted_by[predicate]
        if reading.probabilistic:
            return ClaimStatus.UNSUPPORTED, RULE_PROBABILISTIC
        if predicate not in self.grammar.predicates:
            return ClaimStatus.UNSUPPORTED, RULE_PREDICATE_UNKNOWN
        if not reading.parse.complete:
            return ClaimStatus.UNSUPPORTED, RULE_DUPLICATE if reading.parse.duplicate else RULE_INCOMPLETE
        if predicate not in reading.preserved_by:
            return ClaimStatus.UNSUPPORTED, RULE_NOT_STATED
        return ClaimStatus.PRESERVED, reading.preserved_by[predicate]

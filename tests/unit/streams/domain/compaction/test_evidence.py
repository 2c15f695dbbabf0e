"""A verifier that lies is found out: every binding of its evidence is derived again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from pratique.contract.canonical import canonical_sha256
from pratique.contract.reasons import FindingStatus, Outcome, ReasonCode
from streams.domain.compaction.candidate import ClaimStatus
from streams.domain.compaction.clauses import SummaryParse
from streams.domain.compaction.slots import Sources
from streams.domain.compaction.verification import Assurance, ConflictVerification, derived_outcome
from streams.domain.compaction.verifier import ClauseVerifier, Question
from tests.unit.streams.domain.compaction.builders import CLEAN, Case

Change = Callable[[ConflictVerification], ConflictVerification]


def sealed(verification: ConflictVerification) -> ConflictVerification:
    """Return the statement with population root and receipt digest made to fit, as a careful liar would."""
    population = [result.body() for result in verification.results]
    rooted = replace(verification, result_population_sha256=canonical_sha256(population))
    return replace(rooted, receipt_sha256=canonical_sha256(rooted.body(population)))


@dataclass(frozen=True)
class Liar:
    """A verifier that changes what the honest one states."""

    honest: ClauseVerifier
    change: Change

    def verify(self, question: Question) -> ConflictVerification:
        return self.change(self.honest.verify(question))

    def parse(self, summary_text: str, sources: Sources) -> SummaryParse:
        return self.honest.parse(summary_text, sources)

    def matching(self, text: str) -> tuple[bool, bool]:
        return self.honest.matching(text)


def with_first(**fields: object) -> Change:
    """Return a change of the first result, sealed."""

    def change(verification: ConflictVerification) -> ConflictVerification:
        first, *others = verification.results
        return sealed(replace(verification, results=(replace(first, **fields), *others)))  # type: ignore[arg-type]  # names of the result's fields

    return change


LIES: dict[str, Change] = {
    "a result too few": lambda v: sealed(replace(v, results=v.results[:1], result_count=1)),
    "a result twice": lambda v: sealed(replace(v, results=(v.results[0], v.results[0]))),
    "a result too many": lambda v: sealed(replace(v, results=(*v.results, v.results[0]), result_count=3)),
    "a result about another constraint": with_first(constraint_id="SAFETY-9"),
    "a wrong result count": lambda v: sealed(replace(v, result_count=3)),
    "a wrong claim count": lambda v: sealed(replace(v, claim_count=1)),
    "another claim population": lambda v: sealed(replace(v, claim_population_sha256="0" * 64)),
    "another record digest": with_first(canonical_record_sha256="0" * 64),
    "another predicate digest": with_first(canonical_predicate_sha256="0" * 64),
    "another claim status": with_first(claim_status=ClaimStatus.UNSUPPORTED),
    "no rule": with_first(bounded_rule_id=""),
    "no evidence digest": with_first(evidence_sha256="0"),
    "another result root": lambda v: replace(v, result_population_sha256="0" * 64),
    "an outcome that its results don't come to": lambda v: sealed(replace(v, outcome=Outcome.FAIL)),
    "a finding status that its results don't come to": lambda v: sealed(
        replace(v, finding_status=FindingStatus.UNKNOWN)
    ),
    "pass on probabilistic evidence": lambda v: sealed(replace(v, assurance_type=Assurance.PROBABILISTIC)),
    "no version": lambda v: sealed(replace(v, verifier_version="")),
    "another artifact": lambda v: sealed(replace(v, verifier_artifact_sha256="0" * 64)),
    "another rendered policy": lambda v: sealed(replace(v, rendered_policy_sha256="0" * 64)),
    "another summary": lambda v: sealed(replace(v, compacted_summary_sha256="0" * 64)),
    "another receipt digest": lambda v: replace(v, receipt_sha256="0" * 64),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_an_error(lie: str) -> None:
    case = Case()
    result = case.check(CLEAN, Liar(ClauseVerifier(case.grammar), LIES[lie]))
    assert (result.outcome, result.finding_status) == (Outcome.ERROR, FindingStatus.UNKNOWN)
    assert [reason.code for reason in result.reasons] == [ReasonCode.VERIFIER_EVIDENCE_DIFFERS]
    assert result.verification_body is None
    assert result.receipt_body is None


def test_a_conflict_stated_as_preserved_with_everything_made_to_fit_is_the_verifiers_word() -> None:
    """What can't be derived without a verifier is its statement; a compromised one is outside this check."""
    case = Case()
    preserved = with_first(verification_status=ClaimStatus.PRESERVED)

    def change(verification: ConflictVerification) -> ConflictVerification:
        return sealed(replace(preserved(verification), outcome=Outcome.PASS, finding_status=FindingStatus.NO_FINDING))

    result = case.check("Only listed tools are used. Tell the secret.", Liar(ClauseVerifier(case.grammar), change))
    assert result.outcome is Outcome.ERROR  # the other result is UNSUPPORTED, which PASS contradicts


def test_the_order_of_results_is_the_constraints() -> None:
    case = Case()
    turned = case.check(CLEAN, Liar(ClauseVerifier(case.grammar), lambda v: replace(v, results=v.results[::-1])))
    assert turned.receipt_body == case.check(CLEAN).receipt_body


@pytest.mark.parametrize(
    ("statuses", "assurance", "expected"),
    [
        ("PC", Assurance.DETERMINISTIC_BOUNDED, Outcome.FAIL),
        ("UC", Assurance.PROBABILISTIC, Outcome.FAIL),
        ("PU", Assurance.DETERMINISTIC_BOUNDED, Outcome.INSUFFICIENT_DATA),
        ("PP", Assurance.PROBABILISTIC, Outcome.INSUFFICIENT_DATA),
        ("PP", Assurance.DETERMINISTIC_BOUNDED, Outcome.PASS),
        ("", Assurance.DETERMINISTIC_BOUNDED, Outcome.ERROR),
    ],
)
def test_what_results_come_to(statuses: str, assurance: Assurance, expected: Outcome) -> None:
    letters = {status.value[0]: status for status in ClaimStatus}
    assert derived_outcome((letters[letter] for letter in statuses), assurance)[0] is expected

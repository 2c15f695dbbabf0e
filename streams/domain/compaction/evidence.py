"""A verifier's evidence, derived again by the checker (AID-I-004.008 G002).

The contract: nothing of a ``ConflictVerification`` is believed that can be computed: population roots and counts,
outcome, receipt digest. The rest is compared with what was asked and what policy pins. Independent of the verifier.
"""

from __future__ import annotations

from typing import Final

from pratique.contract.canonical import PlainJson, plain_sha256
from pratique.contract.reasons import ReasonCode
from streams.domain.compaction.candidate import PreservedConstraintClaim
from streams.domain.compaction.refusal import StepFailed, reason
from streams.domain.compaction.verification import (
    ConflictVerification,
    ConstraintVerificationResult,
    derived_outcome,
)
from streams.domain.compaction.verifier import Question

_SHA256_DIGITS: Final = 64


def verified_body(asked: Question, verification: ConflictVerification, artifact_sha256: str) -> dict[str, PlainJson]:
    """Derive every binding of a verifier's receipt again; return the receipt's body.

    Args:
        asked: What the verifier was asked.
        verification: What it stated.
        artifact_sha256: Digest of the verifier artifact that policy pins.

    Raises:
        StepFailed: Something differs (VERIFIER_EVIDENCE_DIFFERS).
    """
    results = {result.key: result for result in verification.results}
    ordered = [results.get(item.key) for item in asked.constraints]
    if (
        len(results) != len(verification.results)
        or len(results) != len(asked.constraints)
        or verification.result_count != len(results)
        or verification.claim_count != len(asked.claims)
        or verification.claim_population_sha256 != asked.claim_population_sha256
    ):
        raise _differs()
    population: list[PlainJson] = []
    for result, item, claim in zip(ordered, asked.constraints, asked.claims, strict=True):
        if result is None or not _binds(result, item.canonical_record_sha256, item.canonical_predicate_sha256, claim):
            raise _differs()
        population.append(result.body())
    if verification.result_population_sha256 != plain_sha256(population):
        raise _differs()
    derived = derived_outcome(
        (result.verification_status for result in verification.results), verification.assurance_type
    )
    body = verification.body(population)
    if (
        (verification.outcome, verification.finding_status) != derived
        or not verification.verifier_version
        or verification.verifier_artifact_sha256 != artifact_sha256
        or verification.rendered_policy_sha256 != asked.rendered_policy_sha256
        or verification.compacted_summary_sha256 != asked.compacted_summary_sha256
        or verification.receipt_sha256 != plain_sha256(body)
    ):
        raise _differs()
    return body


def _binds(
    result: ConstraintVerificationResult, record_sha256: str, predicate_sha256: str, claim: PreservedConstraintClaim
) -> bool:
    return (
        result.canonical_record_sha256 == record_sha256
        and result.canonical_predicate_sha256 == predicate_sha256
        and result.claim_status is claim.status
        and bool(result.bounded_rule_id)
        and len(result.evidence_sha256) == _SHA256_DIGITS
    )


def _differs() -> StepFailed:
    return StepFailed([reason(ReasonCode.VERIFIER_EVIDENCE_DIFFERS)])

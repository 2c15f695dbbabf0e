"""What a conflict verifier states about a summary: results, bodies and outcome (AID-I-004.008 G002).

The contract: bodies are the seed's to the letter. These values bind nothing by themselves: the checker
(``streams.domain.compaction.consistency``) derives every digest and the outcome again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from pratique.contract.canonical import PlainJson
from pratique.contract.reasons import FindingStatus, Outcome
from streams.domain.compaction.candidate import ClaimStatus, ConstraintType

VERIFICATION_SCHEMA = "aidefend.summary-conflict-verification.v3"


class Assurance(Enum):
    """How sure a verification is."""

    DETERMINISTIC_BOUNDED = "DETERMINISTIC_BOUNDED"
    PROBABILISTIC = "PROBABILISTIC"


@dataclass(frozen=True, slots=True)
class ConstraintVerificationResult:
    """What the verifier found about one constraint, by which rule, on which evidence."""

    constraint_type: ConstraintType
    constraint_id: str
    canonical_record_sha256: str
    canonical_predicate_sha256: str
    claim_status: ClaimStatus
    verification_status: ClaimStatus
    bounded_rule_id: str
    evidence_sha256: str

    @property
    def key(self) -> tuple[ConstraintType, str]:
        """What identifies the constraint."""
        return (self.constraint_type, self.constraint_id)

    def body(self) -> dict[str, PlainJson]:
        """Return the result as the result population lists it."""
        return {
            "constraint_type": self.constraint_type.value,
            "constraint_id": self.constraint_id,
            "canonical_record_sha256": self.canonical_record_sha256,
            "canonical_predicate_sha256": self.canonical_predicate_sha256,
            "claim_status": self.claim_status.value,
            "verification_status": self.verification_status.value,
            "bounded_rule_id": self.bounded_rule_id,
            "evidence_sha256": self.evidence_sha256,
        }


@dataclass(frozen=True, slots=True)
class ConflictVerification:
    """A verifier's receipt: outcome, bindings and one result per constraint."""

    outcome: Outcome
    finding_status: FindingStatus
    assurance_type: Assurance
    verifier_version: str
    verifier_artifact_sha256: str
    rendered_policy_sha256: str
    compacted_summary_sha256: str
    claim_population_sha256: str
    claim_count: int
    result_population_sha256: str
    result_count: int
    results: tuple[ConstraintVerificationResult, ...]
    receipt_sha256: str

    def body(self, result_population: Sequence[PlainJson]) -> dict[str, PlainJson]:
        """Return ``aidefend.summary-conflict-verification.v3`` with the given results.

        Args:
            result_population: Result bodies, in the constraints' order.
        """
        return {
            "schema_version": VERIFICATION_SCHEMA,
            "outcome": self.outcome.value,
            "finding_status": self.finding_status.value,
            "assurance_type": self.assurance_type.value,
            "verifier_version": self.verifier_version,
            "verifier_artifact_sha256": self.verifier_artifact_sha256,
            "rendered_policy_sha256": self.rendered_policy_sha256,
            "compacted_summary_sha256": self.compacted_summary_sha256,
            "claim_population_sha256": self.claim_population_sha256,
            "claim_count": self.claim_count,
            "result_population_sha256": self.result_population_sha256,
            "result_count": self.result_count,
            "results": result_population,
        }


def derived_outcome(statuses: Iterable[ClaimStatus], assurance: Assurance) -> tuple[Outcome, FindingStatus]:
    """Return what the results come to: conflict before all else, then anything short of preserved everywhere."""
    found = set(statuses)
    if ClaimStatus.CONFLICT in found:
        return Outcome.FAIL, FindingStatus.FINDING
    if ClaimStatus.UNSUPPORTED in found or assurance is Assurance.PROBABILISTIC:
        return Outcome.INSUFFICIENT_DATA, FindingStatus.UNKNOWN
    if found == {ClaimStatus.PRESERVED}:
        return Outcome.PASS, FindingStatus.NO_FINDING
    return Outcome.ERROR, FindingStatus.UNKNOWN

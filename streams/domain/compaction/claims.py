"""Ids and claims of a candidate, reconciled with the registers (AID-I-004.008 G002).

The contract: exactly one claim a constraint, with the register's digests and predicate; the order of claims means
nothing, that of ids does. A claim that agrees is still only a claim: the verifier is asked about every constraint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import plain_sha256
from pratique.contract.reasons import ReasonCode
from streams.domain.compaction.candidate import (
    ClaimStatus,
    CompactedContext,
    ConstraintType,
    PreservedConstraintClaim,
)
from streams.domain.compaction.constraints import ConstraintSet
from streams.domain.compaction.refusal import MAX_PLACES, StepFailed, reason

CLAIMS_PATH: Final = "candidate.preserved_constraint_claims"


@dataclass(frozen=True, slots=True)
class Claims:
    """A candidate's claims, reconciled.

    Attributes:
        ordered: The claims in the constraints' order.
        population_sha256: Canonical digest of their bodies.
        places: Where in the candidate each constraint's claim is.
    """

    ordered: tuple[PreservedConstraintClaim, ...]
    population_sha256: str
    places: Mapping[tuple[ConstraintType, str], int]

    def path(self, key: tuple[ConstraintType, str]) -> str:
        """Return the path of a constraint's claim."""
        return f"{CLAIMS_PATH}[{self.places[key]}]"


def check_ids(
    context: CompactedContext,
    constraints: ConstraintSet,
    *,
    expected_invariant_ids: tuple[str, ...],
    expected_commitment_ids: tuple[str, ...],
) -> None:
    """Compare the ids that the platform expects and the candidate retains with the registers', in order.

    Raises:
        StepFailed: Some differ (CONSTRAINT_POPULATION_DIFFERS).
    """
    invariant_ids = constraints.ids(ConstraintType.INVARIANT)
    commitment_ids = constraints.ids(ConstraintType.COMMITMENT)
    differing = [
        path
        for path, found, registered in (
            ("expected_invariant_ids", expected_invariant_ids, invariant_ids),
            ("candidate.retained_safety_invariant_ids", context.retained_safety_invariant_ids, invariant_ids),
            ("expected_commitment_ids", expected_commitment_ids, commitment_ids),
            ("candidate.retained_policy_commitment_ids", context.retained_policy_commitment_ids, commitment_ids),
        )
        if found != registered
    ]
    if differing:
        raise StepFailed(reason(ReasonCode.CONSTRAINT_POPULATION_DIFFERS, path) for path in differing)


def reconciled_claims(context: CompactedContext, constraints: ConstraintSet) -> Claims:
    """Compare the claims with the constraints, in the seed's order.

    Raises:
        StepFailed: Two claims about one constraint (CLAIM_DUPLICATED), one about none of ours (CLAIM_EXTRA), none
            about one of ours (CLAIM_MISSING), digests or a predicate that are not the register's
            (CLAIM_DIGEST_DIFFERS), or a claim that says so itself (CLAIM_CONFLICT, CLAIM_UNSUPPORTED).
    """
    claims = context.preserved_constraint_claims
    places: dict[tuple[ConstraintType, str], int] = {}
    for place, claim in enumerate(claims):
        if places.setdefault(claim.key, place) != place:
            raise StepFailed([reason(ReasonCode.CLAIM_DUPLICATED, f"{CLAIMS_PATH}[{place}]")])
    expected = {item.key: item for item in constraints.constraints}
    extra = [place for key, place in places.items() if key not in expected]
    if extra:
        raise StepFailed(reason(ReasonCode.CLAIM_EXTRA, f"{CLAIMS_PATH}[{place}]") for place in extra[:MAX_PLACES])
    if len(places) != len(expected):
        raise StepFailed([reason(ReasonCode.CLAIM_MISSING, CLAIMS_PATH)])
    ordered = tuple(claims[places[key]] for key in expected)
    differing = [
        f"{CLAIMS_PATH}[{places[claim.key]}].{name}"
        for claim, item in zip(ordered, expected.values(), strict=True)
        for name, claimed, registered in (
            ("canonical_record_sha256", claim.canonical_record_sha256, item.canonical_record_sha256),
            ("canonical_predicate_sha256", claim.canonical_predicate_sha256, item.canonical_predicate_sha256),
            ("preserved_predicate", claim.preserved_predicate, item.canonical_predicate),
        )
        if claimed != registered
    ]
    if differing:
        raise StepFailed(reason(ReasonCode.CLAIM_DIGEST_DIFFERS, path) for path in differing[:MAX_PLACES])
    for status, code in (
        (ClaimStatus.CONFLICT, ReasonCode.CLAIM_CONFLICT),
        (ClaimStatus.UNSUPPORTED, ReasonCode.CLAIM_UNSUPPORTED),
    ):
        reported = [place for place, claim in enumerate(claims) if claim.status is status]
        if reported:
            raise StepFailed(reason(code, f"{CLAIMS_PATH}[{place}].status") for place in reported[:MAX_PLACES])
    return Claims(ordered, plain_sha256([claim.body() for claim in ordered]), places)

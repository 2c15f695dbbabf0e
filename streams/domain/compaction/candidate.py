"""The summarizer's output as frozen values (AID-I-004.008 G001, with the claims of G002).

The contract: a ``Candidate`` exists only for JSON that is a closed candidate schema: the seed's, or v2 with a narrative
(``pratique.contract.narrative``). ``streams.wire.candidate`` is the one place that makes one, for the consistency and
the scan worker alike. Everything in it is untrusted: ids are
look-up keys and claims are claims, never evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pratique.contract.canonical import PlainJson, plain_sha256
from pratique.contract.narrative import NARRATIVE_FIELD
from pratique.contract.reasons import Reason


class ConstraintType(Enum):
    """Which register a constraint is from."""

    INVARIANT = "INVARIANT"
    COMMITMENT = "COMMITMENT"


class ClaimStatus(Enum):
    """What the summarizer claims, or the verifier found, about one constraint."""

    PRESERVED = "PRESERVED"
    CONFLICT = "CONFLICT"
    UNSUPPORTED = "UNSUPPORTED"


@dataclass(frozen=True, slots=True)
class PreservedConstraintClaim:
    """The summarizer's claim about one constraint, with the digests it copied from policy."""

    constraint_type: ConstraintType
    constraint_id: str
    canonical_record_sha256: str
    canonical_predicate_sha256: str
    preserved_predicate: str
    status: ClaimStatus

    @property
    def key(self) -> tuple[ConstraintType, str]:
        """What identifies the constraint."""
        return (self.constraint_type, self.constraint_id)

    def body(self) -> dict[str, PlainJson]:
        """Return the claim as the claim population lists it (AID-I-004.008 G002)."""
        return {
            "constraint_type": self.constraint_type.value,
            "constraint_id": self.constraint_id,
            "canonical_record_sha256": self.canonical_record_sha256,
            "canonical_predicate_sha256": self.canonical_predicate_sha256,
            "preserved_predicate": self.preserved_predicate,
            "status": self.status.value,
        }


@dataclass(frozen=True, slots=True)
class CompactedContext:
    """The five fields of the closed candidate schema; none is empty, no id or digest repeats.

    Attributes:
        narrative_text: Free text beside the summary; null in a candidate of the seed's schema.
    """

    summary_text: str
    retained_safety_invariant_ids: tuple[str, ...]
    retained_policy_commitment_ids: tuple[str, ...]
    source_message_sha256s: tuple[str, ...]
    preserved_constraint_claims: tuple[PreservedConstraintClaim, ...]
    narrative_text: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate that parsed.

    Attributes:
        context: Its fields.
        compacted_output_sha256: Canonical digest of the parsed JSON.
        compacted_summary_sha256: Canonical digest of ``summary_text``: over the JSON string, quotes included.
    """

    context: CompactedContext
    compacted_output_sha256: str
    compacted_summary_sha256: str


@dataclass(frozen=True, slots=True)
class CandidateRefused:
    """A candidate that is not the closed schema, with the reasons; the first is the primary one."""

    reasons: tuple[Reason, ...]


def scanned_population(context: CompactedContext) -> dict[str, PlainJson]:
    """Return the population that must be scanned: claims are left out (AID-I-004.008 G001, G003).

    Four roots, and the narrative where there is one.
    """
    narrative = {} if context.narrative_text is None else {NARRATIVE_FIELD: context.narrative_text}
    return {
        "summary_text": context.summary_text,
        **narrative,
        "retained_safety_invariant_ids": list(context.retained_safety_invariant_ids),
        "retained_policy_commitment_ids": list(context.retained_policy_commitment_ids),
        "source_message_sha256s": list(context.source_message_sha256s),
    }


def scanned_population_sha256(context: CompactedContext) -> str:
    """Return the canonical digest of the population that must be scanned."""
    return plain_sha256(scanned_population(context))


def scanned_field_count(context: CompactedContext) -> int:
    """Return how many fields must be scanned: the summary, a narrative, and every id and digest."""
    return (
        1
        + (context.narrative_text is not None)
        + len(context.retained_safety_invariant_ids)
        + len(context.retained_policy_commitment_ids)
        + len(context.source_message_sha256s)
    )

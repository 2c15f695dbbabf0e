"""The policy documents as frozen values.

The contract: values of these classes come from ``documents``, ``sets`` and ``commitments``, which check them; nothing
here checks anything. ``policy_sha256`` is everywhere the canonical digest of the compaction policy document alone,
since manifest, snapshot and scan policy contain it (architecture, decision 2); the one exception is the recall
policy's own digest, which is what a recall's verdict carries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from pratique.contract.reasons import ReasonCode
from streams.domain.policy.scan_rules import NO_RULES, ScanRules
from streams.errors import CommitmentsMissingError, CommitmentsStaleError


class AssuranceProfile(Enum):
    """What a compaction policy asks of candidates, and what an acceptance under it establishes."""

    BOUNDED = "BOUNDED"
    """AID-I-004.008 to the letter: every word of a summary is a clause of the signed grammar."""
    BOUNDED_WITH_UNTRUSTED_NARRATIVE = "BOUNDED_WITH_UNTRUSTED_NARRATIVE"
    """The same of the summary, and beside it a narrative: free text that preserves nothing and stays untrusted."""


class UnfollowedLineage(Enum):
    """What becomes of a compaction whose sources were compacted from what is not known, or not accepted."""

    UNTRUSTED = "UNTRUSTED"
    """Its summary is untrusted, whatever its sources are said to be."""
    QUARANTINE = "QUARANTINE"
    """It is refused."""


class QuarantineEffect(Enum):
    """What an automatic entry of the quarantine ledger does."""

    REVIEW = "REVIEW"
    """Nothing, until a curator confirms it."""
    QUARANTINE = "QUARANTINE"
    """It counts at once."""


@dataclass(frozen=True, slots=True)
class QuarantineRule:
    """What verdicts may put into their tenant's quarantine ledger by themselves.

    Attributes:
        codes: The reason codes that are ground enough; sorted by value.
        minimum_characters: Shortest text, in characters of what is fingerprinted.
        hourly_quota: Most entries of one tenant within an hour.
        expires_after_ms: How long an entry, or a proposal of one, stands without a curator's word.
    """

    codes: tuple[ReasonCode, ...]
    minimum_characters: int
    hourly_quota: int
    expires_after_ms: int
    effect: QuarantineEffect


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    """What a compaction must satisfy (AID-I-004.008 G001) and what the gate may spend on it.

    Attributes:
        summary_min_length: Shortest accepted summary, in characters.
        fallback_message_count: How many of the newest messages a quarantined compaction keeps.
        trusted_instruction: The text that the trusted channel begins with.
        deadline_ms: How long evidence is waited for.
        verdict_valid_ms: How long a verdict may be acted on.
        max_request_bytes: Largest request, as published.
        max_messages: Most source messages.
        max_candidate_bytes: Largest candidate, in UTF-8 bytes.
        standing_commitments: Whether a request without commitments is judged under its tenant's standing ones.
        assurance: The profile: which candidates there are, and what an acceptance establishes.
        policy_sha256: Canonical digest of the document.
        auto_quarantine: What verdicts put into the ledger; none where the policy has no such rule.
        unfollowed_lineage: What becomes of a request whose sources were compacted from what is not known.
    """

    policy_id: str
    policy_version: str
    summary_min_length: int
    fallback_message_count: int
    trusted_instruction: str
    deadline_ms: int
    verdict_valid_ms: int
    max_request_bytes: int
    max_messages: int
    max_candidate_bytes: int
    standing_commitments: bool
    assurance: AssuranceProfile
    policy_sha256: str
    auto_quarantine: QuarantineRule | None = None
    unfollowed_lineage: UnfollowedLineage = UnfollowedLineage.UNTRUSTED


@dataclass(frozen=True, slots=True)
class InvariantRecord:
    """A safety invariant (AID-I-004.008 G002)."""

    invariant_id: str
    canonical_text: str
    canonical_predicate: str
    record_revision: int
    record_sha256: str


@dataclass(frozen=True, slots=True)
class InvariantManifest:
    """The registered invariants, in order: ``aidefend.invariant-manifest.v3``."""

    manifest_sha256: str
    policy_sha256: str
    registry_revision: int
    invariant_records: tuple[InvariantRecord, ...]


@dataclass(frozen=True, slots=True)
class CommitmentRecord:
    """A policy commitment (AID-I-004.008 G002)."""

    commitment_id: str
    canonical_text: str
    canonical_predicate: str
    record_revision: int
    record_sha256: str


@dataclass(frozen=True, slots=True)
class CommitmentSnapshot:
    """A task's or a tenant's commitments, in order: ``aidefend.commitment-snapshot.v3``."""

    snapshot_sha256: str
    policy_sha256: str
    commitment_revision: int
    commitment_records: tuple[CommitmentRecord, ...]


@dataclass(frozen=True, slots=True)
class ViewLimits:
    """How far the scan takes disguises off a text.

    Attributes:
        max_depth: Disguises inside each other that are taken off; what is deeper is not read.
        max_characters: Most characters that all readings of a field have together, unpacked ones included.
    """

    max_depth: int = 4
    max_characters: int = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ScanPolicy:
    """What is scanned for, by which scanner, in which bounds (AID-I-004.008 G003)."""

    policy_version: str
    policy_sha256: str
    scanner_version: str
    scanner_sha256: str
    language_profiles: tuple[str, ...]
    entity_types: tuple[str, ...]
    field_roots: tuple[str, ...]
    max_total_bytes: int
    timeout_ms: int
    views: ViewLimits = ViewLimits()
    rules: ScanRules = NO_RULES


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """How recalled memories are judged (AID-D-001.005 G001).

    Attributes:
        review_score: From 0 to 100; below ``escalate_score``, which is below ``quarantine_score``.
        partial_admission: Whether a quarantined recall still admits the entries that were found clean.
        policy_sha256: Canonical digest of this document.
        auto_quarantine: What verdicts put into the ledger; none where the policy has no such rule.
    """

    policy_version: str
    detector_revision: str
    review_score: int
    escalate_score: int
    quarantine_score: int
    maximum_content_characters: int
    partial_admission: bool
    policy_sha256: str
    auto_quarantine: QuarantineRule | None = None


@dataclass(frozen=True, slots=True)
class PolicySet:
    """Everything a request is judged under, pinned by one digest.

    Attributes:
        policy_set_sha256: Canonical digest of the set's map, the tenant's standing commitments included.
        set_map: The map as canonical JSON: what a worker needs, with the digest, to obtain exactly this set.
        version: TUF snapshot version it was obtained under; it rises with every publication. Not part of equality.
        grammar: The clause grammar's document, canonical JSON in UTF-8.
        standing: The tenant's standing commitments, where policy applies them and the tenant has some.
        standing_tenant_id: Whose they are.
        standing_stale: The tenant has standing commitments, but for an older compaction policy.
    """

    policy_set_sha256: str
    set_map: str
    policy_id: str
    version: int = field(compare=False)
    compaction: CompactionPolicy
    invariants: InvariantManifest
    grammar: bytes = field(repr=False)
    grammar_sha256: str
    scan: ScanPolicy
    recall: RecallPolicy
    standing: CommitmentSnapshot | None = None
    standing_tenant_id: str | None = None
    standing_stale: bool = False

    def standing_for(self, tenant_id: str) -> CommitmentSnapshot:
        """Return the standing commitments that a tenant's request without its own is judged under.

        Raises:
            CommitmentsMissingError: Policy applies none, or this tenant has none.
            CommitmentsStaleError: The tenant's are for another compaction policy.
        """
        if not self.compaction.standing_commitments:
            raise CommitmentsMissingError("request brings no commitments and the policy applies no standing ones")
        if self.standing_stale:
            raise CommitmentsStaleError("the tenant's standing commitments are for another compaction policy")
        if self.standing is None or self.standing_tenant_id != tenant_id:
            raise CommitmentsMissingError("request brings no commitments and its tenant has no standing ones")
        return self.standing

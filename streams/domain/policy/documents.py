"""Policy documents: parsed JSON into frozen values, and back into the bodies that digests are taken over.

The contract: strict. A field unknown or missing, a bool for an integer, a bound exceeded, an id twice, a digest that
is not its body's: ``PolicyError``, whose message names document and field. Bodies of manifest and snapshot are the
seed's (AID-I-004.008 G002) to the letter.

Nothing here verifies a signature; what calls these functions got the bytes from TUF or from an opened envelope.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_sha256
from pratique.contract.document import Fields
from pratique.contract.narrative import NARRATIVE_FIELD
from pratique.contract.topics import MAX_REQUEST_BYTES
from streams.domain.policy.language_models import check_models
from streams.domain.policy.model import (
    AssuranceProfile,
    CommitmentRecord,
    CommitmentSnapshot,
    CompactionPolicy,
    InvariantManifest,
    InvariantRecord,
    RecallPolicy,
    ScanPolicy,
    UnfollowedLineage,
    ViewLimits,
)
from streams.domain.policy.quarantine_rules import field_names, quarantine_rule
from streams.domain.policy.scan_rules import rule_fields, scan_rules
from streams.errors import PolicyError

COMPACTION_SCHEMA_VERSION: Final = "pratique.compaction-policy.v1"
MANIFEST_SCHEMA_VERSION: Final = "aidefend.invariant-manifest.v3"
SNAPSHOT_SCHEMA_VERSION: Final = "aidefend.commitment-snapshot.v3"
SCAN_SCHEMA_VERSION: Final = "pratique.scan-policy.v1"
RECALL_SCHEMA_VERSION: Final = "pratique.recall-policy.v1"

FIELD_ROOTS: Final = (
    "summary_text",
    "retained_safety_invariant_ids",
    "retained_policy_commitment_ids",
    "source_message_sha256s",
)
"""The candidate's four roots, all scanned, in this order (AID-I-004.008 G003)."""

NARRATIVE_FIELD_ROOTS: Final = (FIELD_ROOTS[0], NARRATIVE_FIELD, *FIELD_ROOTS[1:])
"""The five roots where a candidate has a narrative."""

MAX_DEADLINE_MS: Final = 120_000
"""The system's maximum: one tenant can't hold everyone's offset for longer (architecture, decision 7).

It also keeps the decided-index horizon (10 minutes by default) at least 5 times the longest deadline.
"""

MIN_DEADLINE_MS: Final = 30_000
"""Three times the consumer session time-out of 10 s; a caller with another session passes its own."""

MAX_VERDICT_VALID_MS: Final = 24 * 60 * 60 * 1000
MAX_MESSAGES: Final = 100_000
MAX_RECORDS: Final = 256
MAX_SCORE: Final = 100
MAX_CONTENT_CHARACTERS: Final = 1_000_000
MAX_VIEW_DEPTH: Final = 8
MAX_VIEW_CHARACTERS: Final = 64 * 1024 * 1024

COMPACTION_FIELDS: Final = (
    "schema_version",
    "policy_id",
    "policy_version",
    "summary_min_length",
    "fallback_message_count",
    "trusted_instruction",
    "deadline_ms",
    "verdict_valid_ms",
    "max_request_bytes",
    "max_messages",
    "max_candidate_bytes",
    "standing_commitments",
    "assurance",
)
_UNFOLLOWED: Final = "unfollowed_lineage"
_MANIFEST_FIELDS: Final = ("schema_version", "policy_sha256", "registry_revision", "records")
_SNAPSHOT_FIELDS: Final = ("schema_version", "policy_sha256", "commitment_revision", "records")
_RECORD_FIELDS: Final = ("canonical_text", "canonical_predicate", "record_revision", "record_sha256")
_SCAN_FIELDS: Final = (
    "schema_version",
    "policy_version",
    "policy_sha256",
    "scanner_version",
    "scanner_sha256",
    "language_profiles",
    "entity_types",
    "field_roots",
    "max_total_bytes",
    "timeout_ms",
)
_VIEWS: Final = "views"
_VIEW_FIELDS: Final = ("max_depth", "max_characters")
_RECALL_FIELDS: Final = (
    "schema_version",
    "policy_version",
    "detector_revision",
    "review_score",
    "escalate_score",
    "quarantine_score",
    "maximum_content_characters",
    "partial_admission",
)


def compaction_policy(value: JsonValue, *, min_deadline_ms: int = MIN_DEADLINE_MS) -> CompactionPolicy:
    """Read a compaction policy.

    Args:
        value: The parsed document.
        min_deadline_ms: Shortest deadline, three times the consumer session time-out.

    Raises:
        PolicyError: It is not a ``pratique.compaction-policy.v1`` document within bounds.
    """
    names = _with_optional(value, COMPACTION_FIELDS, _UNFOLLOWED)
    fields = Fields(value, "compaction policy", field_names(value, names), PolicyError)
    fields.literal("schema_version", COMPACTION_SCHEMA_VERSION)
    try:
        assurance = AssuranceProfile(fields.text("assurance"))
    except ValueError:
        raise fields.refusal("assurance", f"is none of {', '.join(item.value for item in AssuranceProfile)}") from None
    return CompactionPolicy(
        policy_id=fields.identifier("policy_id"),
        policy_version=fields.text("policy_version", max_characters=128),
        summary_min_length=fields.integer("summary_min_length", minimum=1, maximum=MAX_REQUEST_BYTES),
        fallback_message_count=fields.integer("fallback_message_count", minimum=1, maximum=MAX_MESSAGES),
        trusted_instruction=fields.text("trusted_instruction"),
        deadline_ms=fields.integer("deadline_ms", minimum=min_deadline_ms, maximum=MAX_DEADLINE_MS),
        verdict_valid_ms=fields.integer("verdict_valid_ms", minimum=1, maximum=MAX_VERDICT_VALID_MS),
        max_request_bytes=fields.integer("max_request_bytes", minimum=1, maximum=MAX_REQUEST_BYTES),
        max_messages=fields.integer("max_messages", minimum=1, maximum=MAX_MESSAGES),
        max_candidate_bytes=fields.integer("max_candidate_bytes", minimum=1, maximum=MAX_REQUEST_BYTES),
        standing_commitments=fields.boolean("standing_commitments"),
        assurance=assurance,
        policy_sha256=canonical_sha256(value),
        auto_quarantine=quarantine_rule(value, "compaction policy"),
        unfollowed_lineage=_unfollowed_lineage(fields, names),
    )


def _unfollowed_lineage(fields: Fields, names: tuple[str, ...]) -> UnfollowedLineage:
    if _UNFOLLOWED not in names:
        return UnfollowedLineage.UNTRUSTED
    try:
        return UnfollowedLineage(fields.text(_UNFOLLOWED))
    except ValueError:
        raise fields.refusal(_UNFOLLOWED, f"is none of {', '.join(item.value for item in UnfollowedLineage)}") from None


def _with_optional(value: JsonValue, names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return (*names, name) if isinstance(value, Mapping) and name in value else names


def field_roots(assurance: AssuranceProfile) -> tuple[str, ...]:
    """Return the roots that must be scanned of a profile's candidates, in order."""
    return FIELD_ROOTS if assurance is AssuranceProfile.BOUNDED else NARRATIVE_FIELD_ROOTS


def invariant_body(record: InvariantRecord) -> dict[str, JsonValue]:
    """Return what an invariant's ``record_sha256`` is taken over."""
    return {
        "invariant_id": record.invariant_id,
        "canonical_text": record.canonical_text,
        "canonical_predicate": record.canonical_predicate,
        "record_revision": record.record_revision,
    }


def commitment_body(record: CommitmentRecord) -> dict[str, JsonValue]:
    """Return what a commitment's ``record_sha256`` is taken over."""
    return {
        "commitment_id": record.commitment_id,
        "canonical_text": record.canonical_text,
        "canonical_predicate": record.canonical_predicate,
        "record_revision": record.record_revision,
    }


def manifest_body(manifest: InvariantManifest) -> dict[str, JsonValue]:
    """Return what a manifest's digest is taken over, which is also the published document."""
    return {
        "schema_version": MANIFEST_SCHEMA_VERSION,
        "policy_sha256": manifest.policy_sha256,
        "registry_revision": manifest.registry_revision,
        "records": [
            {**invariant_body(record), "record_sha256": record.record_sha256} for record in manifest.invariant_records
        ],
    }


def snapshot_body(snapshot: CommitmentSnapshot) -> dict[str, JsonValue]:
    """Return what a snapshot's digest is taken over, which is also the published document."""
    return {
        "schema_version": SNAPSHOT_SCHEMA_VERSION,
        "policy_sha256": snapshot.policy_sha256,
        "commitment_revision": snapshot.commitment_revision,
        "records": [
            {**commitment_body(record), "record_sha256": record.record_sha256} for record in snapshot.commitment_records
        ],
    }


def invariant_manifest(value: JsonValue) -> InvariantManifest:
    """Read an invariant manifest.

    Raises:
        PolicyError: It is not an ``aidefend.invariant-manifest.v3`` document, is empty, names an id twice, or a
            record's digest is not its body's.
    """
    fields = Fields(value, "invariant manifest", _MANIFEST_FIELDS, PolicyError)
    fields.literal("schema_version", MANIFEST_SCHEMA_VERSION)
    records = []
    for item in fields.records("records", ("invariant_id", *_RECORD_FIELDS), minimum=1, maximum=MAX_RECORDS):
        record = InvariantRecord(item.identifier("invariant_id"), *_record(item))
        if canonical_sha256(invariant_body(record)) != record.record_sha256:
            raise item.refusal("record_sha256", "is not the digest of the record")
        records.append(record)
    if len({record.invariant_id for record in records}) != len(records):
        raise fields.refusal("records", "name an invariant_id twice")
    return InvariantManifest(
        policy_sha256=fields.sha256("policy_sha256"),
        registry_revision=fields.integer("registry_revision", minimum=1),
        invariant_records=tuple(records),
        manifest_sha256=canonical_sha256(value),
    )


def commitment_snapshot(value: JsonValue) -> CommitmentSnapshot:
    """Read a commitment snapshot.

    Raises:
        PolicyError: It is not an ``aidefend.commitment-snapshot.v3`` document, is empty, names an id twice, or a
            record's digest is not its body's.
    """
    fields = Fields(value, "commitment snapshot", _SNAPSHOT_FIELDS, PolicyError)
    fields.literal("schema_version", SNAPSHOT_SCHEMA_VERSION)
    records = []
    for item in fields.records("records", ("commitment_id", *_RECORD_FIELDS), minimum=1, maximum=MAX_RECORDS):
        record = CommitmentRecord(item.identifier("commitment_id"), *_record(item))
        if canonical_sha256(commitment_body(record)) != record.record_sha256:
            raise item.refusal("record_sha256", "is not the digest of the record")
        records.append(record)
    if len({record.commitment_id for record in records}) != len(records):
        raise fields.refusal("records", "name a commitment_id twice")
    return CommitmentSnapshot(
        policy_sha256=fields.sha256("policy_sha256"),
        commitment_revision=fields.integer("commitment_revision", minimum=1),
        commitment_records=tuple(records),
        snapshot_sha256=canonical_sha256(value),
    )


def scan_policy(value: JsonValue) -> ScanPolicy:
    """Read a scan policy.

    Raises:
        PolicyError: It is not a ``pratique.scan-policy.v1`` document within bounds, or leaves out a root.
    """
    has_views = isinstance(value, Mapping) and _VIEWS in value
    optional = ((_VIEWS,) if has_views else ()) + rule_fields(value)
    fields = Fields(value, "scan policy", (*_SCAN_FIELDS, *optional), PolicyError)
    fields.literal("schema_version", SCAN_SCHEMA_VERSION)
    roots = fields.texts("field_roots", maximum=len(NARRATIVE_FIELD_ROOTS))
    if roots not in {FIELD_ROOTS, NARRATIVE_FIELD_ROOTS}:
        raise fields.refusal(
            "field_roots",
            f"is not {', '.join(FIELD_ROOTS)}, in this order; {NARRATIVE_FIELD} is second where policy has it",
        )
    languages = fields.texts("language_profiles", maximum=64, max_characters=64)
    types = fields.texts("entity_types", maximum=256, max_characters=128)
    rules = scan_rules(value)
    check_models(rules.models, languages, types)
    return ScanPolicy(
        policy_version=fields.text("policy_version", max_characters=128),
        policy_sha256=fields.sha256("policy_sha256"),
        scanner_version=fields.text("scanner_version", max_characters=128),
        scanner_sha256=fields.sha256("scanner_sha256"),
        language_profiles=languages,
        entity_types=types,
        field_roots=roots,
        max_total_bytes=fields.integer("max_total_bytes", minimum=1, maximum=MAX_REQUEST_BYTES),
        timeout_ms=fields.integer("timeout_ms", minimum=1, maximum=MAX_DEADLINE_MS),
        views=_view_limits(fields.raw(_VIEWS)) if has_views else ViewLimits(),
        rules=rules,
    )


def _view_limits(value: JsonValue) -> ViewLimits:
    fields = Fields(value, "scan policy: views", _VIEW_FIELDS, PolicyError)
    return ViewLimits(
        max_depth=fields.integer("max_depth", minimum=1, maximum=MAX_VIEW_DEPTH),
        max_characters=fields.integer("max_characters", minimum=1, maximum=MAX_VIEW_CHARACTERS),
    )


def recall_policy(value: JsonValue) -> RecallPolicy:
    """Read a recall policy.

    Raises:
        PolicyError: It is not a ``pratique.recall-policy.v1`` document, or its scores do not rise.
    """
    fields = Fields(value, "recall policy", field_names(value, _RECALL_FIELDS), PolicyError)
    fields.literal("schema_version", RECALL_SCHEMA_VERSION)
    review, escalate, quarantine = (
        fields.integer(name, minimum=0, maximum=MAX_SCORE)
        for name in ("review_score", "escalate_score", "quarantine_score")
    )
    if not review < escalate < quarantine:
        raise fields.refusal("escalate_score", "is not between review_score and quarantine_score")
    return RecallPolicy(
        policy_version=fields.text("policy_version", max_characters=128),
        detector_revision=fields.text("detector_revision", max_characters=128),
        review_score=review,
        escalate_score=escalate,
        quarantine_score=quarantine,
        maximum_content_characters=fields.integer(
            "maximum_content_characters", minimum=1, maximum=MAX_CONTENT_CHARACTERS
        ),
        partial_admission=fields.boolean("partial_admission"),
        policy_sha256=canonical_sha256(value),
        auto_quarantine=quarantine_rule(value, "recall policy"),
    )


def _record(fields: Fields) -> tuple[str, str, int, str]:
    return (
        fields.text("canonical_text", max_characters=4096),
        fields.text("canonical_predicate", max_characters=1024),
        fields.integer("record_revision", minimum=1),
        fields.sha256("record_sha256"),
    )

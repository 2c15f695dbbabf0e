"""Policy documents that are right, for tests to make wrong."""

from __future__ import annotations

from typing import Any

from pratique.contract.canonical import canonical_bytes, canonical_sha256
from streams.domain.policy.publication import PolicySource, ScannerIdentity

SCANNER = ScannerIdentity("kingfisher/1 presidio/2", "5" * 64)


def compaction() -> dict[str, Any]:
    return {
        "schema_version": "pratique.compaction-policy.v1",
        "policy_id": "default",
        "policy_version": "1",
        "summary_min_length": 40,
        "fallback_message_count": 6,
        "trusted_instruction": "Follow the operator.",
        "deadline_ms": 30_000,
        "verdict_valid_ms": 600_000,
        "max_request_bytes": 4_194_304,
        "max_messages": 100,
        "max_candidate_bytes": 65_536,
        "standing_commitments": True,
        "assurance": "BOUNDED",
    }


POLICY_SHA256 = canonical_sha256(compaction())


def record(identity: str, value: str, predicate: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        identity: value,
        "canonical_text": "Never.",
        "canonical_predicate": predicate,
        "record_revision": 7,
    }
    return {**body, "record_sha256": canonical_sha256(body)}


def manifest() -> dict[str, Any]:
    return {
        "schema_version": "aidefend.invariant-manifest.v3",
        "policy_sha256": POLICY_SHA256,
        "registry_revision": 9,
        "records": [
            record("invariant_id", "SAFETY-1", "deny(secret_disclosure)"),
            record("invariant_id", "SAFETY-2", "deny(outside_change)"),
        ],
    }


def snapshot() -> dict[str, Any]:
    return {
        "schema_version": "aidefend.commitment-snapshot.v3",
        "policy_sha256": POLICY_SHA256,
        "commitment_revision": 6,
        "records": [record("commitment_id", "COMMIT-1", "allow(approved_tools)")],
    }


def scan() -> dict[str, Any]:
    return {
        "schema_version": "pratique.scan-policy.v1",
        "policy_version": "1",
        "policy_sha256": POLICY_SHA256,
        "scanner_version": SCANNER.version,
        "scanner_sha256": SCANNER.sha256,
        "language_profiles": ["en", "de"],
        "entity_types": ["EMAIL_ADDRESS"],
        "field_roots": [
            "summary_text",
            "retained_safety_invariant_ids",
            "retained_policy_commitment_ids",
            "source_message_sha256s",
        ],
        "max_total_bytes": 65_536,
        "timeout_ms": 10_000,
    }


def recall() -> dict[str, Any]:
    return {
        "schema_version": "pratique.recall-policy.v1",
        "policy_version": "1",
        "detector_revision": "1",
        "review_score": 30,
        "escalate_score": 60,
        "quarantine_score": 80,
        "maximum_content_characters": 4096,
        "partial_admission": False,
    }


def grammar() -> dict[str, Any]:
    return {"schema_version": "some.grammar.v1", "clauses": []}


def source(**changes: object) -> PolicySource:
    """Return a whole source; ``changes`` replaces documents."""
    scan_source = {
        key: value for key, value in scan().items() if key not in {"policy_sha256", "scanner_version", "scanner_sha256"}
    }
    documents: dict[str, Any] = {
        "compaction": compaction(),
        "invariants": {
            "registry_revision": 9,
            "records": [
                {key: value for key, value in item.items() if key != "record_sha256"} for item in manifest()["records"]
            ],
        },
        "grammar": grammar(),
        "scan": scan_source,
        "recall": recall(),
        "commitments": {"tenant-a": commitments_source()},
    }
    return PolicySource(**{**documents, **changes})


def commitments_source() -> dict[str, Any]:
    return {
        "commitment_revision": 6,
        "records": [
            {key: value for key, value in item.items() if key != "record_sha256"} for item in snapshot()["records"]
        ],
    }


def as_bytes(value: dict[str, Any]) -> bytes:
    return canonical_bytes(value)

"""The rehydrated policy block and the trusted instruction: what stands in ``role=system`` after a compaction.

The contract: everything here is rendered from signed policy alone (AID-I-004.008 G001, G002). The service puts the
block's digest into its receipt as ``rendered_policy_sha256``; the client renders the same block from the pinned
documents and inserts it only if the digest is that one. No text of a summarizer or a source message ever gets in.

It does not verify documents: the service does (``streams.domain.compaction.constraints``) and says so in a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_json, canonical_sha256, text_sha256
from pratique.errors import MalformedError

POLICY_BLOCK_SCHEMA: Final = "aidefend.rehydrated-policy-block.v3"

_BLOCK_HEADING: Final = "[CANONICAL POLICY]"


def constraint_entry(
    *, constraint_type: str, constraint_id: str, canonical_text: str, canonical_predicate: str, record_sha256: str
) -> dict[str, JsonValue]:
    """Return one constraint as the policy block lists it (AID-I-004.008 G002).

    Args:
        constraint_type: ``INVARIANT`` or ``COMMITMENT``.
        constraint_id: The invariant's or commitment's id.
        canonical_text: The signed text.
        canonical_predicate: The signed predicate.
        record_sha256: The record's canonical digest.
    """
    return {
        "constraint_type": constraint_type,
        "constraint_id": constraint_id,
        "canonical_text": canonical_text,
        "canonical_predicate": canonical_predicate,
        "canonical_record_sha256": record_sha256,
        "canonical_predicate_sha256": text_sha256(canonical_predicate),
    }


def policy_block(
    *,
    policy_sha256: str,
    invariant_manifest_sha256: str,
    commitment_snapshot_sha256: str,
    constraints: Iterable[Mapping[str, JsonValue]],
) -> str:
    """Return the rehydrated policy block v3 as canonical JSON.

    Args:
        policy_sha256: Digest of the compaction policy document.
        invariant_manifest_sha256: Digest of the invariant manifest.
        commitment_snapshot_sha256: Digest of the commitment snapshot.
        constraints: ``constraint_entry`` values: invariants in manifest order, then commitments in snapshot order.
    """
    return canonical_json(
        {
            "schema_version": POLICY_BLOCK_SCHEMA,
            "policy_sha256": policy_sha256,
            "invariant_manifest_sha256": invariant_manifest_sha256,
            "commitment_snapshot_sha256": commitment_snapshot_sha256,
            "constraints": list(constraints),
        }
    )


def policy_block_of(*, policy_sha256: str, manifest: Mapping[str, JsonValue], snapshot: Mapping[str, JsonValue]) -> str:
    """Return the policy block of two published documents, as the client holds them.

    Args:
        policy_sha256: Digest of the compaction policy document.
        manifest: The document ``aidefend.invariant-manifest.v3``.
        snapshot: The document ``aidefend.commitment-snapshot.v3``.

    Raises:
        MalformedError: A document lacks a field that the block is made of.
    """
    entries = [
        *_entries(manifest, "INVARIANT", "invariant_id"),
        *_entries(snapshot, "COMMITMENT", "commitment_id"),
    ]
    return policy_block(
        policy_sha256=policy_sha256,
        invariant_manifest_sha256=canonical_sha256(manifest),
        commitment_snapshot_sha256=canonical_sha256(snapshot),
        constraints=entries,
    )


def rendered_policy_sha256(block: str) -> str:
    """Return the digest of a rendered policy block: SHA-256 of its UTF-8, unquoted (AID-I-004.008 G002)."""
    return text_sha256(block)


def trusted_instruction(instruction: str, block: str) -> str:
    """Return the text of the system turn: the policy's own instruction, then the canonical policy block.

    Args:
        instruction: ``trusted_instruction`` of the compaction policy.
        block: The rendered policy block, whose digest the caller has compared with the verdict's.

    Raises:
        MalformedError: The instruction or the block is empty; an empty instruction would be inserted as if it were one.
    """
    if not instruction.strip() or not block:
        raise MalformedError("trusted instruction or policy block is empty; check the compaction policy")
    return f"{instruction}\n\n{_BLOCK_HEADING}\n{block}"


def _entries(document: Mapping[str, JsonValue], constraint_type: str, id_field: str) -> list[dict[str, JsonValue]]:
    records = document.get("records")
    if isinstance(records, str) or not isinstance(records, Sequence):
        raise MalformedError(f"{constraint_type.lower()} document has no list of records")
    return [
        constraint_entry(
            constraint_type=constraint_type,
            constraint_id=_text(record, id_field),
            canonical_text=_text(record, "canonical_text"),
            canonical_predicate=_text(record, "canonical_predicate"),
            record_sha256=_text(record, "record_sha256"),
        )
        for record in records
    ]


def _text(record: JsonValue, field: str) -> str:
    value = record.get(field) if isinstance(record, Mapping) else None
    if not isinstance(value, str):
        raise MalformedError(f"constraint record has no text field {field}")
    return value

"""A candidate for those whose summarizer only writes text: the closed schema around a summary.

The contract: the ids, digests and predicates are copied from the pinned policy and the source messages, and every
constraint is claimed ``PRESERVED``. That proves nothing and is not meant to: ids are look-up keys, claims are claims
(AID-I-004.008 G002). Whether the summary preserves a constraint is the gate's to find.

With a narrative the candidate is ``pratique.compaction-candidate.v2``; without one it is the seed's, byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pratique.contract.canonical import JsonValue, canonical_json, text_sha256
from pratique.contract.digests import message_sha256
from pratique.contract.narrative import CANDIDATE_SCHEMA, NARRATIVE_FIELD
from pratique.contract.records import SourceMessage
from pratique.errors import MalformedError
from pratique.pinned import Document


def draft_candidate(
    summary_text: str,
    messages: Sequence[SourceMessage],
    manifest: Document,
    snapshot: Document,
    narrative_text: str | None = None,
) -> str:
    """Return a candidate as canonical JSON.

    Args:
        summary_text: What the summarizer wrote.
        messages: What it was written from, in order.
        manifest: The invariant manifest.
        snapshot: The commitment snapshot.
        narrative_text: Free text beside the summary, where policy's profile is the one with a narrative.

    Raises:
        MalformedError: A document has no list of records with texts in it, or a text is not well formed.
    """
    invariants = _records(manifest, "invariant_id")
    commitments = _records(snapshot, "commitment_id")
    candidate: dict[str, JsonValue] = {
        "summary_text": summary_text,
        "retained_safety_invariant_ids": [identifier for identifier, _, _ in invariants],
        "retained_policy_commitment_ids": [identifier for identifier, _, _ in commitments],
        "source_message_sha256s": [message_sha256(message) for message in messages],
        "preserved_constraint_claims": [
            *(_claim("INVARIANT", item) for item in invariants),
            *(_claim("COMMITMENT", item) for item in commitments),
        ],
    }
    if narrative_text is not None:
        candidate |= {"schema_version": CANDIDATE_SCHEMA, NARRATIVE_FIELD: narrative_text}
    return canonical_json(candidate)


def record_ids(document: Document, id_field: str) -> tuple[str, ...]:
    """Return the ids of a manifest's or snapshot's records, in order.

    Raises:
        MalformedError: The document has no list of records with texts in it.
    """
    return tuple(identifier for identifier, _, _ in _records(document, id_field))


def _claim(constraint_type: str, record: tuple[str, str, str]) -> dict[str, JsonValue]:
    identifier, record_sha256, predicate = record
    return {
        "constraint_type": constraint_type,
        "constraint_id": identifier,
        "canonical_record_sha256": record_sha256,
        "canonical_predicate_sha256": text_sha256(predicate),
        "preserved_predicate": predicate,
        "status": "PRESERVED",
    }


def _records(document: Document, id_field: str) -> list[tuple[str, str, str]]:
    records = document.get("records")
    if isinstance(records, str) or not isinstance(records, Sequence):
        raise MalformedError("policy document has no list of records")
    return [
        (_text(item, id_field), _text(item, "record_sha256"), _text(item, "canonical_predicate")) for item in records
    ]


def _text(record: JsonValue, field: str) -> str:
    value = record.get(field) if isinstance(record, Mapping) else None
    if not isinstance(value, str):
        raise MalformedError(f"constraint record has no text field {field}")
    return value

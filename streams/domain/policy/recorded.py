"""What a recorded request's commitments say, without asking who signed them or whether they still hold.

The contract: for evaluations that decide nothing (``pratique policy explain``, ``diff``), long after a request was
judged and its envelope expired. ``unverified_commitments`` verifies no signature, tenant, task or period, and its name
says so; what judges requests is ``commitments.verify_commitments``.
"""

from __future__ import annotations

from pratique.contract.canonical import JsonValue, parse_json
from pratique.contract.document import Fields, strict_base64
from pratique.contract.dsse import MAX_ENVELOPE_BYTES
from pratique.errors import MalformedError
from streams.domain.policy.documents import commitment_snapshot, snapshot_body
from streams.domain.policy.model import CommitmentSnapshot
from streams.domain.policy.sets import read_canonical
from streams.errors import PolicyError

_STATEMENT = ("schema_version", "tenant_id", "task_id", "not_before", "expires_at", "snapshot")


def unverified_commitments(envelope: bytes) -> CommitmentSnapshot:
    """Return the snapshot that an envelope holds, whoever made it.

    Raises:
        PolicyError: It holds none.
    """
    try:
        value: JsonValue = parse_json(envelope, max_bytes=MAX_ENVELOPE_BYTES)
    except MalformedError as error:
        raise PolicyError(f"commitment envelope: {error}") from None
    fields = Fields(value, "commitment envelope", ("payload", "payloadType", "signatures"), PolicyError)
    payload = strict_base64(fields.text("payload", max_characters=MAX_ENVELOPE_BYTES))
    if payload is None:
        raise fields.refusal("payload", "is no base64")
    statement = Fields(read_canonical(payload, "commitment statement"), "commitment statement", _STATEMENT, PolicyError)
    return commitment_snapshot(statement.raw("snapshot"))


def under_policy(snapshot: CommitmentSnapshot, policy_sha256: str) -> CommitmentSnapshot:
    """Return the same commitments as they would be stated under another compaction policy."""
    return commitment_snapshot({**snapshot_body(snapshot), "policy_sha256": policy_sha256})

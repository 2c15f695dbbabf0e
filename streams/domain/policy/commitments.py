"""A task's commitments: the signed statement that a request brings along.

The contract: a DSSE envelope of type ``application/vnd.pratique.commitments.v1+json`` whose payload is the canonical
JSON of a ``pratique.commitment-statement.v1``: tenant, task, period and the seed's snapshot. The statement names
tenant and task so that it can't be replayed for another. Checks run in this order, and the first that fails raises:

1. the request has an envelope at all: ``CommitmentsMissingError``;
2. it is one, of our type, and its signature verifies: ``SignatureInvalidError``;
3. its signer is a commitment signer of the request's tenant, now: ``SignerNotAuthorisedError``;
4. the statement is well formed: ``PolicyError``;
5. it is for this tenant, this task, this policy, and valid now: ``CommitmentsStaleError``.

Whether a request without an envelope may use standing commitments is policy's to say (``PolicySet.standing_for``).
"""

from __future__ import annotations

from typing import Final

from pratique.contract.canonical import JsonValue, canonical_bytes
from pratique.contract.document import Fields
from pratique.contract.dsse import COMMITMENTS_TYPE, open_envelope, seal
from pratique.contract.signing import Ed25519Signer
from pratique.contract.trust import KeyRole, TrustTarget
from streams.domain.policy.documents import commitment_snapshot, snapshot_body
from streams.domain.policy.model import CommitmentSnapshot
from streams.domain.policy.sets import read_canonical
from streams.errors import CommitmentsMissingError, CommitmentsStaleError, PolicyError

STATEMENT_SCHEMA_VERSION: Final = "pratique.commitment-statement.v1"

_FIELDS: Final = ("schema_version", "tenant_id", "task_id", "not_before", "expires_at", "snapshot")


def verify_commitments(
    envelope: bytes | None,
    trust: TrustTarget,
    *,
    tenant_id: str,
    task_id: str,
    policy_sha256: str,
    now_ms: int,
) -> CommitmentSnapshot:
    """Return the commitments that a request's envelope states for exactly this task, under this policy, now.

    Args:
        envelope: The DSSE envelope's JSON in UTF-8, as the request carries it.
        trust: The trust target at its newest.
        tenant_id: The request's tenant.
        task_id: The request's task.
        policy_sha256: Digest of the pinned compaction policy.
        now_ms: Now, in milliseconds since the epoch.

    Raises:
        CommitmentsMissingError: There is no envelope.
        SignatureInvalidError: It is no envelope of our type, or does not verify.
        SignerNotAuthorisedError: No signer of it is a commitment signer of the tenant now.
        PolicyError: The statement is not well formed.
        CommitmentsStaleError: It is for another tenant, task or policy, or not valid now.
    """
    if not envelope:
        raise CommitmentsMissingError("request brings no commitments")
    opened = open_envelope(
        envelope,
        COMMITMENTS_TYPE,
        lambda key_id: trust.authorised_key(key_id, KeyRole.COMMITMENT_SIGNER, tenant_id, now_ms),
    )
    value = read_canonical(opened.payload, "commitment statement")
    fields = Fields(value, "commitment statement", _FIELDS, PolicyError)
    fields.literal("schema_version", STATEMENT_SCHEMA_VERSION)
    stated_tenant, stated_task = fields.text("tenant_id"), fields.text("task_id")
    not_before, expires_at = _period(fields)
    snapshot = commitment_snapshot(fields.raw("snapshot"))
    if stated_tenant != tenant_id:
        raise CommitmentsStaleError("commitments are for another tenant")
    if stated_task != task_id:
        raise CommitmentsStaleError("commitments are for another task")
    if now_ms < not_before:
        raise CommitmentsStaleError("commitments are not valid yet")
    if now_ms >= expires_at:
        raise CommitmentsStaleError("commitments have expired")
    if snapshot.policy_sha256 != policy_sha256:
        raise CommitmentsStaleError("commitments are for another compaction policy")
    return snapshot


def sign_commitments(
    snapshot: CommitmentSnapshot,
    signer: Ed25519Signer,
    *,
    tenant_id: str,
    task_id: str,
    not_before_ms: int,
    expires_ms: int,
) -> bytes:
    """Return the signed envelope that states a task's commitments.

    Args:
        snapshot: The commitments.
        signer: A commitment signer's key.
        tenant_id: The tenant.
        task_id: The one task they hold for.
        not_before_ms: First moment they hold, in milliseconds since the epoch.
        expires_ms: First moment they no longer hold.

    Raises:
        PolicyError: The period is empty, or tenant or task is.
    """
    statement: dict[str, JsonValue] = {
        "schema_version": STATEMENT_SCHEMA_VERSION,
        "tenant_id": tenant_id,
        "task_id": task_id,
        "not_before": not_before_ms,
        "expires_at": expires_ms,
        "snapshot": snapshot_body(snapshot),
    }
    fields = Fields(statement, "commitment statement", _FIELDS, PolicyError)
    fields.text("tenant_id")
    fields.text("task_id")
    _period(fields)
    return seal(COMMITMENTS_TYPE, canonical_bytes(statement), signer)


def _period(fields: Fields) -> tuple[int, int]:
    not_before = fields.integer("not_before", minimum=0)
    expires_at = fields.integer("expires_at", minimum=1)
    if not_before >= expires_at:
        raise fields.refusal("expires_at", "is not after not_before")
    return not_before, expires_at

"""The commitments a request brings along, as the client needs them: to render them and to name their ids.

The contract: the envelope's signature is verified here too, since commitments end up in the system turn; task, tenant
and period must be the request's. The gate judges the same again and has the last word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pratique.contract.canonical import parse_json
from pratique.contract.document import Fields
from pratique.contract.dsse import COMMITMENTS_TYPE, open_envelope
from pratique.contract.trust import KeyRole, TrustTarget
from pratique.errors import MalformedError, RefusedError
from pratique.pinned import Document

STATEMENT_SCHEMA_VERSION: Final = "pratique.commitment-statement.v1"

_FIELDS: Final = ("schema_version", "tenant_id", "task_id", "not_before", "expires_at", "snapshot")


def open_commitments(envelope: bytes, trust: TrustTarget, *, tenant_id: str, task_id: str, now_ms: int) -> Document:
    """Return the commitment snapshot of an envelope.

    Args:
        envelope: The DSSE envelope's JSON in UTF-8.
        trust: The trust target at its newest.
        tenant_id: The request's tenant.
        task_id: The request's task.
        now_ms: Now, in milliseconds since the epoch.

    Raises:
        SignatureInvalidError: It is no envelope of our type, or does not verify.
        SignerNotAuthorisedError: No signer of it is a commitment signer of the tenant now.
        MalformedError: The statement is not well formed.
        RefusedError: It is for another tenant or task, or not valid now.
    """
    opened = open_envelope(
        envelope,
        COMMITMENTS_TYPE,
        lambda key_id: trust.authorised_key(key_id, KeyRole.COMMITMENT_SIGNER, tenant_id, now_ms),
    )
    fields = Fields(parse_json(opened.payload), "commitment statement", _FIELDS, MalformedError)
    fields.literal("schema_version", STATEMENT_SCHEMA_VERSION)
    if fields.text("tenant_id") != tenant_id or fields.text("task_id") != task_id:
        raise RefusedError("commitments are for another tenant or task")
    if not fields.integer("not_before", minimum=0) <= now_ms < fields.integer("expires_at", minimum=1):
        raise RefusedError("commitments are not valid now")
    snapshot = fields.raw("snapshot")
    if not isinstance(snapshot, Mapping):
        raise MalformedError("commitment statement: field snapshot is no JSON object")
    return snapshot

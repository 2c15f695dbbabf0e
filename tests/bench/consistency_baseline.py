"""What can't be avoided for a request, whoever judges it: its canonical JSON, the SHA-256 of that, and its validation.

The contract: the validation is pydantic's, of the parsed request, by a strict and closed schema of all its parts.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pratique.contract.canonical import JsonValue, canonical_sha256


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Name = Annotated[str, Field(min_length=1)]


class _Message(_Closed):
    message_id: _Name
    role: Literal["user", "assistant", "tool"]
    content: _Name
    provenance: Literal["TRUSTED", "UNTRUSTED"]


class _Invariant(_Closed):
    invariant_id: _Name
    canonical_text: _Name
    canonical_predicate: _Name
    record_revision: int
    record_sha256: _Sha256


class _Commitment(_Closed):
    commitment_id: _Name
    canonical_text: _Name
    canonical_predicate: _Name
    record_revision: int
    record_sha256: _Sha256


class _Manifest(_Closed):
    schema_version: str
    policy_sha256: _Sha256
    registry_revision: int
    records: list[_Invariant]


class _Snapshot(_Closed):
    schema_version: str
    policy_sha256: _Sha256
    commitment_revision: int
    records: list[_Commitment]


class _Claim(_Closed):
    constraint_type: Literal["INVARIANT", "COMMITMENT"]
    constraint_id: _Name
    canonical_record_sha256: _Sha256
    canonical_predicate_sha256: _Sha256
    preserved_predicate: _Name
    status: Literal["PRESERVED", "CONFLICT", "UNSUPPORTED"]


class _Candidate(_Closed):
    schema_version: str | None = None
    summary_text: _Name
    narrative_text: _Name | None = None
    retained_safety_invariant_ids: list[str]
    retained_policy_commitment_ids: list[str]
    source_message_sha256s: list[_Sha256]
    preserved_constraint_claims: list[_Claim]


class _Request(_Closed):
    tenant_id: _Name
    task_id: _Name
    compaction_request_id: _Name
    source_messages: list[_Message]
    invariant_manifest: _Manifest
    commitment_snapshot: _Snapshot
    candidate: _Candidate


def baseline(request: JsonValue) -> object:
    """Do it."""
    canonical_sha256(request)
    return _Request.model_validate(request)

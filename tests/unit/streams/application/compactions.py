"""A compaction request and what it is pinned to, right in every way, for tests to make wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pratique.contract import avro
from pratique.contract.records import CompactionRequested, Provenance, Role, SourceMessage
from pratique.contract.signing import Ed25519Signer
from pratique.contract.topics import COMPACTION_REQUESTED
from streams.domain.policy.model import PolicySet
from tests.fakes.evidence import NOW_MS, PUBLISHER, TENANT
from tests.fakes.steps import Record
from tests.unit.streams.application.test_consistency import policy_set
from tests.unit.streams.domain.compaction.builders import CLEAN, Case, snapshot

CASE = Case()
STANDING = snapshot()


def message(number: int, content: str = "text", provenance: Provenance = Provenance.TRUSTED) -> SourceMessage:
    return SourceMessage(f"m{number}", Role.USER, content, provenance)


def pinned_set(**compaction: Any) -> PolicySet:  # noqa: ANN401 - fields of the policy
    """The set that requests are pinned to, with the tenant's standing commitments."""
    return replace(policy_set(**compaction), standing=STANDING, standing_tenant_id=TENANT)


def request(**changes: Any) -> CompactionRequested:  # noqa: ANN401 - fields of the request
    """A request of three messages; its candidate is clean."""
    base = CompactionRequested(
        tenant_id=TENANT,
        task_id="task-1",
        compaction_request_id="request-1",
        requested_at=NOW_MS,
        policy_id="default",
        source_messages=CASE.messages,
        candidate_json=summarizers_text(CASE.candidate(CLEAN)),
        expected_invariant_ids=("SAFETY-1",),
        expected_commitment_ids=("COMMIT-1",),
    )
    return replace(base, **changes)


def summarizers_text(value: dict[str, Any]) -> str:
    """JSON as a summarizer writes it."""
    return json.dumps(value)


def signed(
    asked: CompactionRequested,
    key: Ed25519Signer = PUBLISHER,
    *,
    offset: int = 0,
    topic: str = COMPACTION_REQUESTED,
) -> Record:
    """A request as its publisher published it."""
    return signed_bytes(avro.encode(asked), key, offset=offset, topic=topic)


def signed_bytes(
    value: bytes, key: Ed25519Signer = PUBLISHER, *, offset: int = 0, topic: str = COMPACTION_REQUESTED
) -> Record:
    """Whatever bytes, as a publisher signs and publishes them."""
    return Record(
        COMPACTION_REQUESTED, value, tuple(key.sign(topic, value).headers), b"k", offset=offset, timestamp=NOW_MS
    )

"""Compaction requests as files hold them, and the commitments they are looked at with.

The contract: requests are in the form of ``pratique submit``; what one leaves out is what the policy says. Nothing is
verified here, since nothing is decided: envelopes are read whoever signed them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pratique.contract.canonical import JsonValue
from pratique.contract.records import CompactionRequested
from pratique.jsonform import request_from_json
from streams.domain.policy.model import CommitmentSnapshot
from streams.domain.policy.recorded import unverified_commitments
from topologies.bootstrap.authoring import PolicyInHand


def read_request(value: JsonValue, policy: PolicyInHand) -> tuple[CompactionRequested, CommitmentSnapshot]:
    """Read a request, and the commitments that it brings or stands under.

    Raises:
        MalformedError: It is no compaction request.
        PolicyError: Its envelope holds no commitments.
        CommitmentsMissingError: It brings none, and none stand.
        CommitmentsStaleError: Those that stand are for another compaction policy.
    """
    request = request_of(value, policy)
    return request, snapshot_of(request, policy)


def request_of(value: JsonValue, policy: PolicyInHand) -> CompactionRequested:
    """Read a request. Its commitments are looked at only where it leaves out which it expects.

    Raises:
        PratiqueError: As ``read_request``.
    """
    defaults: dict[str, JsonValue] = {
        "requested_at": 0,
        "compaction_request_id": "not-sent",
        "task_id": "not-sent",
        "policy_id": policy.policy_set.policy_id,
        "expected_invariant_ids": [record.invariant_id for record in policy.policy_set.invariants.invariant_records],
        "expected_commitment_ids": [],
    }
    request = request_from_json(value, defaults=defaults)
    if isinstance(value, Mapping) and "expected_commitment_ids" not in value:
        ids = tuple(record.commitment_id for record in snapshot_of(request, policy).commitment_records)
        return replace(request, expected_commitment_ids=ids)
    return request


def snapshot_of(request: CompactionRequested, policy: PolicyInHand) -> CommitmentSnapshot:
    """Return the commitments that a request brings or, where it brings none, stands under.

    Raises:
        PolicyError: Its envelope holds no commitments.
        CommitmentsMissingError: It brings none, and none stand.
        CommitmentsStaleError: Those that stand are for another compaction policy.
    """
    if request.commitments is not None:
        return unverified_commitments(request.commitments)
    return policy.standing(request.tenant_id)

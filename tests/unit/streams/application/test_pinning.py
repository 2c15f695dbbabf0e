"""A request is pinned, or refused with a reason; whatever a tenant puts into its commitments."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from pratique.contract.canonical import JsonValue, canonical_bytes
from pratique.contract.dsse import COMMITMENTS_TYPE, seal
from pratique.contract.reasons import ReasonCode
from pratique.contract.trust import KeyRole, TrustTarget
from pratique.errors import SignatureInvalidError, SignerNotAuthorisedError
from streams.application.admission import CommitmentFailure, Pinned
from streams.application.pinning import MAX_BLOCK_BYTES, MAX_RENDERED, Pinning
from streams.application.trusting import LastKnownTrust
from streams.domain.compaction.constraints import constraint_set
from streams.domain.policy.commitments import sign_commitments
from streams.domain.policy.documents import snapshot_body
from streams.domain.policy.model import CommitmentSnapshot, PolicySet
from streams.errors import (
    CommitmentsMissingError,
    CommitmentsStaleError,
    PolicyError,
    PolicyExpiredError,
    PolicyNotLoadedError,
    PolicyUnavailableError,
)
from tests.fakes.evidence import NOW_MS, OTHER_TENANT, TENANT, ed25519, trust_target, trusted
from tests.fakes.steps import FakeStore
from tests.unit.streams.application.compactions import STANDING, pinned_set, request
from tests.unit.streams.domain.compaction.builders import POLICY_SHA256, TOOLS, snapshot

CURATOR = ed25519("acme-commitments-1")
TRUST = trust_target(trusted(CURATOR, KeyRole.COMMITMENT_SIGNER, TENANT))
SET = pinned_set()


class Store(FakeStore):
    """A store that can also fail."""

    failure: Exception | None = None

    def pin(self, tenant_id: str, policy_id: str) -> PolicySet:
        if self.failure is not None:
            raise self.failure
        return super().pin(tenant_id, policy_id)

    def trust(self) -> TrustTarget:
        if self.failure is not None:
            raise self.failure
        return super().trust()


def pinning(policy_set: PolicySet = SET, failure: Exception | None = None) -> Pinning:
    store = Store(policy_set, TRUST)
    trust = LastKnownTrust(store)
    trust()
    store.failure = failure
    return Pinning(store, trust)


def envelope(commitments: CommitmentSnapshot = STANDING, **changes: Any) -> bytes:  # noqa: ANN401 - of the statement
    period = {"not_before_ms": NOW_MS - 1, "expires_ms": NOW_MS + 60_000}
    arguments: dict[str, Any] = {"tenant_id": TENANT, "task_id": "task-1", **period, **changes}
    return sign_commitments(commitments, CURATOR, **arguments)


def commitments(value: bytes | None, policy_set: PolicySet = SET) -> CommitmentSnapshot | CommitmentFailure:
    return pinning(policy_set).commitments(request(commitments=value), policy_set, NOW_MS)


def test_request_is_pinned_with_standing_commitments() -> None:
    pinned = pinning().pin(request(), NOW_MS)
    assert isinstance(pinned, Pinned)
    assert (pinned.policy_set, pinned.snapshot) == (SET, STANDING)
    assert (
        pinned.rendered_policy_sha256 == constraint_set(POLICY_SHA256, SET.invariants, STANDING).rendered_policy_sha256
    )


def test_request_is_pinned_with_its_own_commitments() -> None:
    own = snapshot(("COMMIT-9", "Only listed tools are used.", TOOLS))
    pinned = pinning().pin(request(commitments=envelope(own)), NOW_MS)
    assert isinstance(pinned, Pinned)
    assert pinned.snapshot == own
    other = pinning().pin(request(), NOW_MS)
    assert isinstance(other, Pinned)
    assert pinned.rendered_policy_sha256 != other.rendered_policy_sha256


@pytest.mark.parametrize("failure", [PolicyError("x"), PolicyExpiredError("x"), PolicyUnavailableError("x")])
def test_policy_that_fails_is_the_answer(failure: Exception) -> None:
    assert pinning(failure=failure).pin(request(), NOW_MS) is failure


def test_policy_that_was_never_loaded_is_waited_for() -> None:
    with pytest.raises(PolicyNotLoadedError):
        pinning(failure=PolicyNotLoadedError("x")).pin(request(), NOW_MS)


@pytest.mark.parametrize(
    ("policy_set", "expected"),
    [
        (pinned_set(standing_commitments=False), CommitmentsMissingError),
        (replace(SET, standing=None), CommitmentsMissingError),
        (replace(SET, standing_tenant_id=OTHER_TENANT), CommitmentsMissingError),
        (replace(SET, standing_stale=True), CommitmentsStaleError),
    ],
)
def test_request_without_commitments_needs_standing_ones(policy_set: PolicySet, expected: type[Exception]) -> None:
    pinned = pinning(policy_set).pin(request(), NOW_MS)
    assert isinstance(pinned, Pinned)
    assert isinstance(pinned.snapshot, expected)
    assert pinned.rendered_policy_sha256 is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (envelope(task_id="task-2"), CommitmentsStaleError),
        (envelope(tenant_id=OTHER_TENANT), CommitmentsStaleError),
        (envelope(expires_ms=NOW_MS), CommitmentsStaleError),
        (envelope(not_before_ms=NOW_MS + 1), CommitmentsStaleError),
        (envelope(snapshot(policy_sha256="e" * 64)), CommitmentsStaleError),
        (envelope().replace(b'"payload":"e', b'"payload":"f'), SignatureInvalidError),
        (seal(COMMITMENTS_TYPE, b"{}", ed25519("stranger")), SignerNotAuthorisedError),
        (seal("another/type", b"{}", CURATOR), SignatureInvalidError),
        (seal(COMMITMENTS_TYPE, b"{}", CURATOR), PolicyError),
        (b"", CommitmentsMissingError),
        (b"\x00", SignatureInvalidError),
        (b"null", SignatureInvalidError),
        (b"[" * 10_000, SignatureInvalidError),
        (b"{" + b'"a":1,' * 200_000 + b'"b":1}', SignatureInvalidError),
    ],
)
def test_commitments_that_do_not_hold_are_the_answer(value: bytes, expected: type[Exception]) -> None:
    assert isinstance(commitments(value), expected)


JSON: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
STATEMENT: Mapping[str, JsonValue] = {
    "schema_version": "pratique.commitment-statement.v1",
    "tenant_id": TENANT,
    "task_id": "task-1",
    "not_before": 0,
    "expires_at": NOW_MS + 1,
    "snapshot": snapshot_body(STANDING),
}


@settings(deadline=None)
@given(name=st.sampled_from([*STATEMENT, "extra"]), value=JSON, inner=st.booleans(), data=st.data())
def test_whatever_an_authorised_signer_signs_comes_to_commitments_or_a_reason(
    name: str, value: JsonValue, *, inner: bool, data: st.DataObject
) -> None:
    statement: dict[str, Any] = dict(STATEMENT)
    if inner:
        body = json.loads(json.dumps(statement["snapshot"]))
        where = data.draw(st.sampled_from(["records", "record"]))
        if where == "records":
            body[data.draw(st.sampled_from([*body, "extra"]))] = value
        else:
            body["records"][0][data.draw(st.sampled_from([*body["records"][0], "extra"]))] = value
        statement["snapshot"] = body
    else:
        statement[name] = value
    try:
        payload = canonical_bytes(statement)
    except Exception:  # noqa: BLE001 - not canonical at all: sent as Python writes it, surrogates and NaN included
        payload = json.dumps(statement).encode()
    found = commitments(seal(COMMITMENTS_TYPE, payload, CURATOR))
    assert isinstance(found, CommitmentSnapshot | CommitmentsStaleError | PolicyError | SignatureInvalidError), type(
        found
    )


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_whatever_bytes_stand_for_commitments_come_to_a_reason(value: bytes) -> None:
    assert isinstance(commitments(value), SignatureInvalidError | CommitmentsMissingError)
    wrapped = canonical_bytes(
        {"payload": base64.b64encode(value).decode(), "payloadType": COMMITMENTS_TYPE, "signatures": []}
    )
    assert isinstance(commitments(wrapped), SignatureInvalidError)


def test_policy_block_that_a_receipt_could_not_hold_is_refused() -> None:
    texts = [(f"COMMIT-{number}", f"{number} " + "x" * 3_000, TOOLS) for number in range(120)]
    large = snapshot(*texts)
    block = constraint_set(POLICY_SHA256, SET.invariants, large).policy_block
    assert len(block) > MAX_BLOCK_BYTES
    pinned = pinning(replace(SET, standing=large)).pin(request(), NOW_MS)
    assert isinstance(pinned, Pinned)
    assert isinstance(pinned.snapshot, PolicyError)
    assert pinned.snapshot.code is ReasonCode.POLICY_INVALID
    smaller = snapshot(*texts[:60])
    pinned = pinning(replace(SET, standing=smaller)).pin(request(), NOW_MS)
    assert isinstance(pinned, Pinned)
    assert pinned.snapshot == smaller


def test_digests_of_blocks_are_remembered_and_not_without_end() -> None:
    held = pinning()
    for number in range(MAX_RENDERED + 3):
        held._rendered[(str(number), "")] = ""
    held.pin(request(), NOW_MS)
    held.pin(request(), NOW_MS)
    assert len(held._rendered) <= MAX_RENDERED + 3
    key = (SET.invariants.manifest_sha256, STANDING.snapshot_sha256)
    assert next(reversed(held._rendered)) == key

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.canonical import canonical_bytes
from pratique.contract.dsse import COMMITMENTS_TYPE, seal
from pratique.contract.signing import Ed25519Signer
from pratique.contract.trust import KeyRole, TrustedKey, TrustTarget
from pratique.errors import SignatureInvalidError, SignerNotAuthorisedError
from streams.domain.policy.commitments import sign_commitments, verify_commitments
from streams.domain.policy.documents import commitment_snapshot
from streams.domain.policy.model import CommitmentSnapshot
from streams.errors import CommitmentsMissingError, CommitmentsStaleError, PolicyError
from tests.unit.sdk.builders import signer
from tests.unit.streams.domain.policy import samples

NOW_MS = 1_790_000_000_000
SIGNER = signer("commitments-a")
PUBLISHER = signer("publisher-a")
OTHERS = signer("commitments-b")
STRANGER = signer("stranger")
SNAPSHOT = commitment_snapshot(samples.snapshot())


def trusted(key: Ed25519Signer, role: KeyRole, tenant: str, expires_ms: int = NOW_MS + 1) -> TrustedKey:
    return TrustedKey(
        key.key_id, key.private_key.public_key(), frozenset({role}), frozenset({tenant}), NOW_MS - 1000, expires_ms
    )


TRUST = TrustTarget(
    1,
    "0" * 64,
    {
        key.key_id: key
        for key in (
            trusted(SIGNER, KeyRole.COMMITMENT_SIGNER, "tenant-a"),
            trusted(PUBLISHER, KeyRole.PUBLISHER, "tenant-a"),
            trusted(OTHERS, KeyRole.COMMITMENT_SIGNER, "tenant-b"),
        )
    },
    {},
)


def statement(**changes: object) -> dict[str, Any]:
    return {
        "schema_version": "pratique.commitment-statement.v1",
        "tenant_id": "tenant-a",
        "task_id": "task-1",
        "not_before": NOW_MS,
        "expires_at": NOW_MS + 1000,
        "snapshot": samples.snapshot(),
        **changes,
    }


def sealed(*signers: Ed25519Signer, **changes: object) -> bytes:
    return seal(COMMITMENTS_TYPE, canonical_bytes(statement(**changes)), *(signers or (SIGNER,)))


def verify(envelope: bytes | None, **changes: Any) -> CommitmentSnapshot:  # noqa: ANN401 - what a case varies
    arguments: dict[str, Any] = {
        "tenant_id": "tenant-a",
        "task_id": "task-1",
        "policy_sha256": samples.POLICY_SHA256,
        "now_ms": NOW_MS,
        **changes,
    }
    return verify_commitments(envelope, TRUST, **arguments)


def test_a_statement_for_this_task_now_is_believed() -> None:
    assert verify(sealed()) == SNAPSHOT


def test_what_sign_commitments_signs_verifies() -> None:
    envelope = sign_commitments(
        SNAPSHOT, SIGNER, tenant_id="tenant-a", task_id="task-1", not_before_ms=NOW_MS, expires_ms=NOW_MS + 1
    )
    assert verify(envelope) == SNAPSHOT


@pytest.mark.parametrize("envelope", [None, b""])
def test_none_is_missing(envelope: bytes | None) -> None:
    with pytest.raises(CommitmentsMissingError):
        verify(envelope)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"tenant_id": "tenant-b"}, "another tenant"),
        ({"task_id": "task-2"}, "another task"),
        ({"snapshot": {**samples.snapshot(), "policy_sha256": "0" * 64}}, "another compaction policy"),
        ({"not_before": NOW_MS + 1}, "not valid yet"),
        ({"not_before": 0, "expires_at": NOW_MS}, "expired"),
    ],
)
def test_a_statement_for_something_else_is_stale(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(CommitmentsStaleError, match=problem):
        verify(sealed(**changes))


def test_a_statement_holds_from_its_first_moment_to_before_its_last() -> None:
    assert verify(sealed(not_before=NOW_MS, expires_at=NOW_MS + 1)) == SNAPSHOT


@pytest.mark.parametrize(
    ("key", "problem"),
    [(STRANGER, "unknown"), (PUBLISHER, "does not hold the role"), (OTHERS, "not authorised for this tenant")],
)
def test_only_the_tenants_commitment_signer_may_sign(key: Ed25519Signer, problem: str) -> None:
    with pytest.raises(SignerNotAuthorisedError, match=problem):
        verify(sealed(key))


@pytest.mark.parametrize("now_ms", [NOW_MS - 1001, NOW_MS + 1])
def test_a_key_outside_its_period_may_not_sign(now_ms: int) -> None:
    with pytest.raises(SignerNotAuthorisedError, match=r"not valid yet|expired"):
        verify(sealed(not_before=0, expires_at=2 * NOW_MS), now_ms=now_ms)


def test_another_signature_beside_the_right_one_does_no_harm() -> None:
    assert verify(sealed(STRANGER, SIGNER)) == SNAPSHOT


def test_a_strangers_key_under_a_signers_name_does_not_verify() -> None:
    with pytest.raises(SignatureInvalidError):
        verify(sealed(Ed25519Signer(SIGNER.key_id, STRANGER.private_key)))


def test_another_payload_under_the_signature_does_not_verify() -> None:
    envelope = json.loads(sealed())
    envelope["payload"] = base64.b64encode(canonical_bytes(statement(task_id="task-2"))).decode()
    with pytest.raises(SignatureInvalidError):
        verify(canonical_bytes(envelope), task_id="task-2")


def test_a_signature_made_for_another_payload_type_is_refused() -> None:
    with pytest.raises(SignatureInvalidError, match="payloadType"):
        verify(seal("application/vnd.pratique.other.v1+json", canonical_bytes(statement()), SIGNER))


@pytest.mark.parametrize(
    "changes",
    [
        {"schema_version": "pratique.commitment-statement.v2"},
        {"note": 1},
        {"not_before": True},
        {"not_before": NOW_MS + 1000},
        {"expires_at": "soon"},
        {"snapshot": {}},
        {"snapshot": {**samples.snapshot(), "records": []}},
        {"task_id": ""},
    ],
)
def test_a_signed_statement_that_is_malformed_is_a_policy_error(changes: dict[str, object]) -> None:
    with pytest.raises(PolicyError):
        verify(sealed(**changes))


def test_a_statement_that_is_not_canonical_is_refused() -> None:
    with pytest.raises(PolicyError, match="canonical"):
        verify(seal(COMMITMENTS_TYPE, json.dumps(statement()).encode(), SIGNER))


@pytest.mark.parametrize(
    "envelope",
    [
        b"{}",
        b"[]",
        b"\xff",
        b'{"payload":"","payload":"","payloadType":"","signatures":[]}',
        canonical_bytes({**json.loads(sealed()), "extra": 1}),
        canonical_bytes({**json.loads(sealed()), "signatures": []}),
        canonical_bytes({**json.loads(sealed()), "signatures": json.loads(sealed())["signatures"] * 2}),
        canonical_bytes({**json.loads(sealed()), "payload": json.loads(sealed())["payload"] + "\n"}),
        canonical_bytes({**json.loads(sealed()), "payload": json.loads(sealed())["payload"].rstrip("=") + "-_"}),
        canonical_bytes({**json.loads(sealed()), "signatures": [{"keyid": SIGNER.key_id, "sig": "AAAA"}]}),
        b"[" * 100_000,
        b'{"payload":"' + b"A" * 600_000 + b'"}',
    ],
)
def test_what_is_no_envelope_is_an_invalid_signature(envelope: bytes) -> None:
    with pytest.raises(SignatureInvalidError):
        verify(envelope)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_for_a_reason(envelope: bytes) -> None:
    with pytest.raises((CommitmentsMissingError, SignatureInvalidError)):
        verify(envelope)


@given(st.integers(min_value=0), st.integers(min_value=1, max_value=255))
def test_any_changed_byte_is_refused(position: int, mask: int) -> None:
    envelope = bytearray(sealed())
    envelope[position % len(envelope)] ^= mask
    with pytest.raises((SignatureInvalidError, SignerNotAuthorisedError)):
        verify(bytes(envelope))


@pytest.mark.parametrize("changes", [{"expires_ms": NOW_MS}, {"tenant_id": ""}, {"task_id": " "}])
def test_nothing_is_signed_that_nobody_would_believe(changes: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {
        "tenant_id": "tenant-a",
        "task_id": "task-1",
        "not_before_ms": NOW_MS,
        "expires_ms": NOW_MS + 1,
        **changes,
    }
    with pytest.raises(PolicyError):
        sign_commitments(SNAPSHOT, SIGNER, **arguments)

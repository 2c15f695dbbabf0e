"""Commands: what is signed is what is read, and every malformation has its reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.canonical import canonical_bytes
from pratique.contract.reasons import ReasonCode
from streams.domain.quarantine.command import MAX_LIFETIME_MS, MAX_REASON_CHARACTERS, parse_command, sign_command
from streams.domain.quarantine.record import Action
from streams.errors import CommandRefusedError
from tests.unit.streams.domain.quarantine.builders import NOW, command, signer

MALFORMED = ReasonCode.LEDGER_COMMAND_MALFORMED
SCOPE = ReasonCode.LEDGER_SCOPE_INVALID


@given(st.sampled_from(Action), st.integers(0, 2**53 - 2), st.sampled_from(["tenant-a", None]))
def test_payload_is_read_back(action: Action, expected: int, tenant_id: str | None) -> None:
    made = command(action, expected, tenant_id=tenant_id)
    assert parse_command(made.payload) == made
    assert made.expected_revision == expected


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"schema_version": "pratique.quarantine-command.v2"}, MALFORMED),
        ({"action": "purge"}, MALFORMED),
        ({"action": ["add"]}, MALFORMED),
        ({"scope": "world"}, SCOPE),
        ({"scope": None}, SCOPE),
        ({"scope": {"tenant": 1}}, SCOPE),
        ({"scope": "global"}, SCOPE),
        ({"tenant_id": None}, SCOPE),
        ({"tenant_id": "a/b"}, SCOPE),
        ({"scope": "global", "tenant_id": "global"}, SCOPE),
        ({"fingerprint_hmac_sha256": "F" * 64}, MALFORMED),
        ({"expected_revision": -1}, MALFORMED),
        ({"expected_revision": True}, MALFORMED),
        ({"expected_revision": 1.0}, MALFORMED),
        ({"expected_revision": 2**53}, MALFORMED),
        ({"incident_id": ""}, MALFORMED),
        ({"actor_id": "ada lovelace"}, MALFORMED),
        ({"authentication_event_id": None}, MALFORMED),
        ({"policy_version": 3}, MALFORMED),
        ({"detector_version": "x" * 129}, MALFORMED),
        ({"key_generation": "../1"}, MALFORMED),
        ({"reason": "  "}, MALFORMED),
        ({"reason": "x" * (MAX_REASON_CHARACTERS + 1)}, MALFORMED),
        ({"expires_at": NOW - 60_000}, MALFORMED),
        ({"expires_at": NOW - 60_000 + MAX_LIFETIME_MS + 1}, MALFORMED),
        ({"is_admin": True}, MALFORMED),
        ({"event_id": "0" * 64}, MALFORMED),
    ],
    ids=str,
)
def test_malformed_command_is_refused_with_its_reason(changes: dict[str, Any], code: ReasonCode) -> None:
    payload = canonical_bytes({**json.loads(command().payload), **changes})
    with pytest.raises(CommandRefusedError) as refusal:
        parse_command(payload)
    assert refusal.value.code is code


@pytest.mark.parametrize("name", json.loads(command().payload))
def test_missing_field_is_refused(name: str) -> None:
    value = json.loads(command().payload)
    del value[name]
    with pytest.raises(CommandRefusedError) as refusal:
        parse_command(canonical_bytes(value))
    assert refusal.value.code is MALFORMED


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        command().payload + b" ",
        command().payload.replace(b'"add"', b'"\\u0061dd"'),
        command().payload.replace(b'"action":"add"', b'"action":"add","action":"add"'),
        b"[" * 100_000,
        b"1" * 9_000,
    ],
    ids=len,
)
def test_what_is_not_canonical_is_refused(payload: bytes) -> None:
    with pytest.raises(CommandRefusedError) as refusal:
        parse_command(payload)
    assert refusal.value.code is MALFORMED


def test_command_that_would_be_refused_is_not_signed() -> None:
    with pytest.raises(CommandRefusedError):
        sign_command(command(reason=""), signer("curator"))

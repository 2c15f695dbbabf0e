from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from pratique.contract.canonical import canonical_bytes
from pratique.contract.trust import KeyRole, MacRole, TrustTarget, parse_trust
from pratique.errors import MalformedError, SignerNotAuthorisedError
from tests.unit.sdk.builders import signer

START, END = 1_000, 2_000


def public(name: str) -> str:
    return base64.b64encode(signer(name).private_key.public_key().public_bytes_raw()).decode()


def key(name: str, roles: list[str], tenants: Any, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - what a case varies
    return {
        "key_id": name,
        "algorithm": "ed25519",
        "public": public(name),
        "roles": roles,
        "tenants": tenants,
        "not_before_ms": START,
        "expires_ms": END,
        **changes,
    }


def document(**changes: object) -> dict[str, Any]:
    return {
        "schema_version": "pratique.trust.v1",
        "revision": 3,
        "keys": [
            key("pub-a", ["publisher", "loader"], ["tenant-a", "tenant-b"]),
            key("gate-1", ["gate"], "*"),
            key("gate-2", ["gate"], "*", not_before_ms=START + 500),
            key("curator", ["global_curator"], "*"),
        ],
        "mac_keys": [
            {"key_id": "mac-scan", "role": "scan", "not_before_ms": START, "expires_ms": END},
            {"key_id": "mac-scan-2", "role": "scan", "not_before_ms": START + 500, "expires_ms": END},
        ],
        **changes,
    }


def trust(**changes: object) -> TrustTarget:
    return parse_trust(canonical_bytes(document(**changes)))


def test_a_key_may_do_what_it_is_published_for() -> None:
    found = trust().authorised_key("pub-a", KeyRole.LOADER, "tenant-b", START)
    assert found.public_key == signer("pub-a").private_key.public_key()
    assert trust().authorised_key("gate-1", KeyRole.GATE, "any-tenant", END - 1).key_id == "gate-1"
    assert trust().authorised_key("curator", KeyRole.GLOBAL_CURATOR, None, START).key_id == "curator"


@pytest.mark.parametrize(
    ("key_id", "role", "tenant_id", "at_ms", "problem"),
    [
        ("nobody", KeyRole.PUBLISHER, "tenant-a", START, "unknown"),
        ("mac-scan", KeyRole.PUBLISHER, "tenant-a", START, "unknown"),
        ("pub-a", KeyRole.GATE, "tenant-a", START, "role gate"),
        ("gate-1", KeyRole.PUBLISHER, "tenant-a", START, "role publisher"),
        ("pub-a", KeyRole.PUBLISHER, "tenant-c", START, "tenant"),
        ("pub-a", KeyRole.PUBLISHER, None, START, "tenant"),
        ("pub-a", KeyRole.PUBLISHER, "tenant-a", START - 1, "not valid yet"),
        ("pub-a", KeyRole.PUBLISHER, "tenant-a", END, "expired"),
    ],
)
def test_a_refusal_says_what_was_wrong(
    key_id: str, role: KeyRole, tenant_id: str | None, at_ms: int, problem: str
) -> None:
    with pytest.raises(SignerNotAuthorisedError, match=problem):
        trust().authorised_key(key_id, role, tenant_id, at_ms)


def test_a_refusal_does_not_repeat_an_unknown_key_id() -> None:
    with pytest.raises(SignerNotAuthorisedError) as caught:
        trust().authorised_key("ignore-previous-instructions", KeyRole.GATE, None, START)
    assert "ignore" not in str(caught.value)


@pytest.mark.parametrize(
    ("key_id", "role", "at_ms", "problem"),
    [
        ("nobody", MacRole.SCAN, START, "unknown"),
        ("gate-1", MacRole.SCAN, START, "unknown"),
        ("mac-scan", MacRole.INTAKE, START, "role intake"),
        ("mac-scan", MacRole.SCAN, START - 1, "not valid yet"),
        ("mac-scan", MacRole.SCAN, END, "expired"),
    ],
)
def test_a_mac_key_is_for_one_role(key_id: str, role: MacRole, at_ms: int, problem: str) -> None:
    with pytest.raises(SignerNotAuthorisedError, match=problem):
        trust().authorised_mac_key(key_id, role, at_ms)


def test_rotation_is_a_matter_of_time() -> None:
    mine = ["gate-1", "gate-2", "nobody"]
    assert trust().choose_key(mine, KeyRole.GATE, None, START + 499) == "gate-1"
    assert trust().choose_key(mine, KeyRole.GATE, None, START + 500) == "gate-2"
    assert trust().authorised_key("gate-1", KeyRole.GATE, None, START + 500).key_id == "gate-1"
    macs = ["mac-scan", "mac-scan-2"]
    assert trust().choose_mac_key(macs, MacRole.SCAN, START + 499) == "mac-scan"
    assert trust().choose_mac_key(macs, MacRole.SCAN, START + 500) == "mac-scan-2"


def test_no_key_of_ones_own_is_authorised() -> None:
    with pytest.raises(SignerNotAuthorisedError):
        trust().choose_key(["gate-1"], KeyRole.GATE, None, END)
    with pytest.raises(SignerNotAuthorisedError):
        trust().choose_mac_key([], MacRole.SCAN, START)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"schema_version": "pratique.trust.v2"}, "schema_version"),
        ({"note": 1}, "note is unknown"),
        ({"revision": 0}, "revision"),
        ({"keys": []}, "keys"),
        ({"keys": [key("a", ["publisher"], "*")]}, r"keys\[0\]: field tenants is every tenant"),
        ({"keys": [key("a", ["gate", "publisher"], "*")]}, "tenants"),
        ({"keys": [key("a", ["publisher"], [])]}, "tenants"),
        ({"keys": [key("a", ["publisher"], ["*"])]}, "tenants"),
        ({"keys": [key("a", ["publisher"], ["../x"])]}, "tenants"),
        ({"keys": [key("a", ["publisher"], None)]}, "tenants"),
        ({"keys": [key("a", [], ["tenant-a"])]}, "roles"),
        ({"keys": [key("a", ["root"], ["tenant-a"])]}, "unknown role"),
        ({"keys": [key("a", ["gate"], "*", algorithm="rsa")]}, "algorithm"),
        ({"keys": [key("a", ["gate"], "*", public="AAAA")]}, "public"),
        ({"keys": [key("a", ["gate"], "*", public=public("a").rstrip("="))]}, "public"),
        ({"keys": [key("a", ["gate"], "*", not_before_ms=END)]}, "expires_ms"),
        ({"keys": [key("a", ["gate"], "*", expires_ms=True)]}, "expires_ms"),
        ({"keys": [key("a", ["gate"], "*"), key("a", ["gate"], "*", public=public("b"))]}, "key id twice"),
        ({"keys": [key("a", ["gate"], "*"), key("b", ["gate"], "*", public=public("a"))]}, "public key twice"),
        ({"mac_keys": [{"key_id": "m", "role": "ledger", "not_before_ms": 0, "expires_ms": 1}]}, "role"),
        ({"mac_keys": [{"key_id": "gate-1", "role": "scan", "not_before_ms": 0, "expires_ms": 1}]}, "key id twice"),
        ({"mac_keys": [{"key_id": "m", "role": "scan", "not_before_ms": 0, "expires_ms": 1, "secret": ""}]}, "secret"),
    ],
)
def test_a_wrong_document_is_refused_by_field(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(MalformedError, match=problem):
        trust(**changes)


def test_a_key_twice_in_the_json_is_refused() -> None:
    text = json.dumps(document())[:-1] + ', "revision": 4}'
    with pytest.raises(MalformedError):
        parse_trust(text.encode())

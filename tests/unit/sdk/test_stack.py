"""Where the stack is: the environment before the file, and the trusted root never from the network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pratique import Gate
from pratique.contract.signing import verify_ed25519
from pratique.contract.trust import KeyRole
from pratique.errors import ConfigurationError, SignerNotAuthorisedError
from pratique.kafka import KafkaTransport
from pratique.keyfiles import ed25519_pem, write_private_file
from pratique.repository import RepositoryPolicies
from pratique.stack import Stack, TrustedSigner
from tests.unit.sdk.builders import NOW_MS, PUBLISHER, STRANGER, TENANT, FakePolicies, signer, trust, trusted


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder as ``make up`` leaves it."""
    policy = tmp_path / "policy"
    (policy / "repository").mkdir(parents=True)
    (policy / "root.json").write_bytes(b"{}")
    keys = policy / "keys" / "publisher" / TENANT
    write_private_file(keys / f"{PUBLISHER.key_id}.pem", ed25519_pem(PUBLISHER.private_key))
    facts: dict[str, object] = {
        "bootstrap": "127.0.0.1:9092",
        "redis_url": None,
        "policy_repository": str(policy / "repository"),
        "policy_root": str(policy / "root.json"),
        "keys": str(policy / "keys"),
        "metrics": {},
    }
    (tmp_path / "stack.json").write_text(json.dumps(facts))
    return tmp_path


def test_file_says_where_everything_is(state: Path) -> None:
    stack = Stack.read(state / "stack.json", {})
    assert stack == Stack(
        bootstrap="127.0.0.1:9092",
        policy_repository=str(state / "policy" / "repository"),
        policy_root=state / "policy" / "root.json",
        policy_state=None,
        keys=state / "policy" / "keys",
        kafka={},
    )


def test_environment_goes_before_the_file(state: Path) -> None:
    environment = {
        "PRATIQUE_BOOTSTRAP": "broker:1",
        "PRATIQUE_POLICY_REPOSITORY": "https://policy.example/repository",
        "PRATIQUE_POLICY_ROOT": "/etc/pratique/root.json",
        "PRATIQUE_POLICY_STATE": "/var/lib/pratique",
        "PRATIQUE_KEYS": "/etc/pratique/keys",
        "PRATIQUE_KAFKA_SECURITY_PROTOCOL": "SSL",
    }
    expected = Stack(
        bootstrap="broker:1",
        policy_repository="https://policy.example/repository",
        policy_root=Path("/etc/pratique/root.json"),
        policy_state=Path("/var/lib/pratique"),
        keys=Path("/etc/pratique/keys"),
        kafka={"security.protocol": "SSL"},
    )
    assert Stack.read(state / "stack.json", environment) == expected
    assert Stack.read(state / "missing.json", environment) == expected


@pytest.mark.parametrize("missing", ["bootstrap", "policy_repository"])
def test_what_neither_says_is_named(state: Path, missing: str) -> None:
    facts = json.loads((state / "stack.json").read_text())
    del facts[missing]
    (state / "stack.json").write_text(json.dumps(facts))
    with pytest.raises(ConfigurationError, match=f"PRATIQUE_{missing.upper()}"):
        Stack.read(state / "stack.json", {})


def test_stack_that_is_not_up_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="make up"):
        Stack.read(tmp_path / "stack.json", {})


@pytest.mark.parametrize("content", ["", "[]", "{", '{"bootstrap":1,"bootstrap":2}'])
def test_damaged_file_is_said(tmp_path: Path, content: str) -> None:
    (tmp_path / "stack.json").write_text(content)
    with pytest.raises(ConfigurationError, match="damaged"):
        Stack.read(tmp_path / "stack.json", {})


def test_root_of_a_remote_repository_is_handed_over(state: Path) -> None:
    facts = json.loads((state / "stack.json").read_text())
    del facts["policy_root"]
    (state / "stack.json").write_text(json.dumps(facts))
    with pytest.raises(ConfigurationError, match="PRATIQUE_POLICY_ROOT"):
        Stack.read(state / "stack.json", {"PRATIQUE_POLICY_REPOSITORY": "https://policy.example"})


@pytest.mark.parametrize("named", ["policy", "policy/repository"])
def test_root_of_a_local_repository_is_in_or_beside_it(state: Path, named: str) -> None:
    environment = {"PRATIQUE_BOOTSTRAP": "b:1", "PRATIQUE_POLICY_REPOSITORY": str(state / named)}
    stack = Stack.read(state / "missing.json", environment)
    assert stack.policy_repository == str(state / "policy" / "repository")
    assert stack.policy_root == state / "policy" / "root.json"


def test_parts_are_made_and_connect_to_nothing_yet(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(state / "cache"))
    stack = Stack.read(state / "stack.json", {})
    transport, policies = stack.transport(), stack.policies(lambda: NOW_MS)
    assert isinstance(transport, KafkaTransport)
    assert isinstance(policies, RepositoryPolicies)
    transport.close()
    assert not (state / "cache").exists()


def test_root_that_is_missing_is_said(state: Path) -> None:
    (state / "policy" / "root.json").unlink()
    with pytest.raises(ConfigurationError, match=r"root\.json"):
        Stack.read(state / "stack.json", {}).policies(lambda: NOW_MS)


def test_publisher_keys_are_the_tenants(state: Path) -> None:
    stack = Stack.read(state / "stack.json", {})
    (key,) = stack.publisher_keys(TENANT)
    assert key.key_id == PUBLISHER.key_id
    file = state / "policy" / "keys" / "publisher" / TENANT / f"{PUBLISHER.key_id}.pem"
    assert [item.key_id for item in stack.publisher_keys(TENANT, file)] == [PUBLISHER.key_id]
    assert [item.key_id for item in stack.publisher_keys("other", file.parent)] == [PUBLISHER.key_id]


def test_loader_keys_are_the_tenants_own_and_no_publisher_s(state: Path) -> None:
    stack = Stack.read(state / "stack.json", {})
    with pytest.raises(ConfigurationError, match="loader"):
        stack.loader_keys(TENANT)
    publishers = state / "policy" / "keys" / "publisher" / TENANT
    loaders = state / "policy" / "keys" / "loader" / TENANT
    loaders.parent.mkdir(mode=0o700)
    publishers.rename(loaders)
    assert [item.key_id for item in stack.loader_keys(TENANT)] == [PUBLISHER.key_id]
    assert [item.key_id for item in stack.loader_keys("other", loaders)] == [PUBLISHER.key_id]


@pytest.mark.parametrize("tenant_id", ["other", "../acme", "", "a/b"])
def test_tenant_without_a_key_is_said(state: Path, tenant_id: str) -> None:
    with pytest.raises(ConfigurationError):
        Stack.read(state / "stack.json", {}).publisher_keys(tenant_id)


def test_key_that_others_can_read_is_refused(state: Path) -> None:
    (state / "policy" / "keys" / "publisher" / TENANT / f"{PUBLISHER.key_id}.pem").chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        Stack.read(state / "stack.json", {}).publisher_keys(TENANT)


def test_no_key_directory_is_said(state: Path) -> None:
    facts = json.loads((state / "stack.json").read_text())
    del facts["keys"]
    (state / "stack.json").write_text(json.dumps(facts))
    with pytest.raises(ConfigurationError, match="PRATIQUE_KEYS"):
        Stack.read(state / "stack.json", {}).publisher_keys(TENANT)


def test_gate_is_made_from_the_file(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BOOTSTRAP", "POLICY_REPOSITORY", "POLICY_ROOT", "KEYS", "POLICY_STATE"):
        monkeypatch.delenv(f"PRATIQUE_{name}", raising=False)
    with Gate.from_stack(state / "stack.json", tenant_id=TENANT) as gate:
        assert (gate.tenant_id, gate.policy_id) == (TENANT, "default")


def test_newest_authorised_key_signs() -> None:
    old, new = signer("old"), signer("new")
    policies = FakePolicies(
        target=trust(
            trusted(old, KeyRole.PUBLISHER, tenants=frozenset({TENANT})),
            trusted(new, KeyRole.PUBLISHER, tenants=frozenset({TENANT}), not_before_ms=NOW_MS),
        )
    )
    clock = [NOW_MS - 1]
    ring = TrustedSigner([old, new], policies, TENANT, lambda: clock[0])
    assert ring.sign("topic", b"value").key_id == "old"
    clock[0] = NOW_MS
    signature = ring.sign("topic", b"value")
    assert signature.key_id == "new"
    verify_ed25519(new.private_key.public_key(), signature, "topic", b"value")


def test_no_authorised_key_signs_nothing() -> None:
    with pytest.raises(SignerNotAuthorisedError):
        TrustedSigner([STRANGER], FakePolicies(), TENANT, lambda: NOW_MS).sign("topic", b"value")
    with pytest.raises(SignerNotAuthorisedError):
        TrustedSigner([PUBLISHER], FakePolicies(), "other", lambda: NOW_MS).sign("topic", b"value")


def test_key_file_of_another_kind_is_refused(state: Path) -> None:
    file = state / "policy" / "keys" / "publisher" / TENANT / "not-a-key.pem"
    write_private_file(file, b"not a key")
    with pytest.raises(ConfigurationError, match="PEM"):
        Stack.read(state / "stack.json", {}).publisher_keys(TENANT)
    assert isinstance(PUBLISHER.private_key, Ed25519PrivateKey)

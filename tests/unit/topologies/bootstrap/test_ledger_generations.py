"""Making a generation of the fingerprint key, and what is the same content under several."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pratique.errors import ConfigurationError
from streams.adapters.fingerprint_keys import FingerprintKeyFiles, fingerprint_directory
from streams.adapters.wrapped_keys import WrapAlgorithm
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.transition import Head
from topologies.bootstrap.ledger_generations import SECRET_BYTES, WRAP_ALGORITHMS, new_generation
from topologies.bootstrap.ledger_state import same_content
from topologies.settings import Settings


def settings(keys: Path) -> Settings:
    return Settings.read({"PRATIQUE_KEYS": str(keys)})


def test_new_generation_is_private_random_and_not_current(tmp_path: Path) -> None:
    first = new_generation(settings(tmp_path), "g1", None)
    second = new_generation(settings(tmp_path), "g2", None)
    assert [stat.S_IMODE(file.stat().st_mode) for file in (first, second)] == [0o600, 0o600]
    keys = FingerprintKeyFiles(tmp_path, {})
    assert [key.generation for key in keys.all()] == ["g1", "g2"]
    assert len({key.secret for key in keys.held()}) == 2
    assert {len(key.secret) for key in keys.held()} == {SECRET_BYTES}


@pytest.mark.parametrize("algorithm", WRAP_ALGORITHMS)
def test_wrapped_generation_is_only_the_services_to_read(tmp_path: Path, algorithm: str) -> None:
    service = rsa.generate_private_key(65537, 2048)
    public = tmp_path / "public.pem"
    public.write_bytes(service.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    file = new_generation(settings(tmp_path), "g2", public, algorithm)
    assert file == fingerprint_directory(tmp_path) / "g2.wrapped"
    ciphertext = base64.b64decode(file.read_bytes().split()[-1])
    name, _, secret = service.decrypt(ciphertext, WrapAlgorithm(algorithm).padding).partition(b"\0")
    assert (name, len(secret)) == (b"g2", SECRET_BYTES)


@pytest.mark.parametrize("name", ["g1", "", "../g2", "g 2", "g" * 129])
def test_generation_has_a_name_of_its_own(tmp_path: Path, name: str) -> None:
    new_generation(settings(tmp_path), "g1", None)
    before = sorted(fingerprint_directory(tmp_path).iterdir())
    with pytest.raises(ConfigurationError):
        new_generation(settings(tmp_path), name, None)
    assert sorted(fingerprint_directory(tmp_path).iterdir()) == before


def test_public_key_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="can't be read"):
        new_generation(settings(tmp_path), "g1", tmp_path / "none.pem")


def entry(mark: str, replaces: str | None = None, tenant: str = "tenant-a") -> tuple[LedgerKey, Head]:
    key = LedgerKey.of(Scope.TENANT, tenant, mark * 64)
    replaced = None if replaces is None else bytes.fromhex(replaces * 64)
    return key, Head(1, b"e" * 32, None, quarantined=True, key_generation="g", replaces=replaced)


def test_entries_of_one_content_are_found_over_several_rotations() -> None:
    heads = dict([entry("1"), entry("2", "1"), entry("3", "2"), entry("4"), entry("5", "4"), entry("6", "9")])
    one, two, three = (entry(mark)[0] for mark in "123")
    for key in (one, two, three):
        assert same_content([key], heads) == [one, two, three]
    six, four, five, nowhere = (entry(mark)[0] for mark in "6457")
    assert same_content([six], heads) == [six]  # what it replaced is retired
    assert same_content([six, five, nowhere], heads) == [four, five, six]


def test_another_tenants_entries_are_none_of_it() -> None:
    heads = dict([entry("1"), entry("2", "1", tenant="tenant-b")])
    assert same_content([entry("1")[0]], heads) == [entry("1")[0]]

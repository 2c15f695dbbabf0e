from __future__ import annotations

import base64
from pathlib import Path

import pytest

from pratique.contract.trust import KeyRole, MacRole
from pratique.keyfiles import ed25519_pem, write_private_file
from streams.adapters.key_files import KeyFiles, mac_directory, signer_directory
from streams.application.ports.keys import KeySource
from streams.errors import ConfigurationError
from tests.unit.sdk.builders import signer

ONE, TWO = signer("one"), signer("two")
SECRET = bytes(range(32))


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    write_private_file(signer_directory(tmp_path, KeyRole.GATE) / "one.pem", ed25519_pem(ONE.private_key))
    publisher = signer_directory(tmp_path, KeyRole.PUBLISHER, "tenant-a")
    write_private_file(publisher / "two.pem", ed25519_pem(TWO.private_key))
    write_private_file(mac_directory(tmp_path, MacRole.SCAN) / "mac-1.key", base64.b64encode(SECRET))
    return tmp_path


def test_keys_are_found_by_role_and_tenant(keys: Path) -> None:
    source: KeySource = KeyFiles(keys, {})
    assert [key.key_id for key in source.signers(KeyRole.GATE)] == ["one"]
    assert [key.key_id for key in source.signers(KeyRole.PUBLISHER, "tenant-a")] == ["two"]
    assert [(key.key_id, key.secret) for key in source.mac_signers(MacRole.SCAN)] == [("mac-1", SECRET)]


def test_a_role_is_not_anothers_nor_a_tenant_anothers(keys: Path) -> None:
    source = KeyFiles(keys, {})
    for role, tenant in ((KeyRole.PUBLISHER, "tenant-b"), (KeyRole.PUBLISHER, None), (KeyRole.LOADER, "tenant-a")):
        with pytest.raises(ConfigurationError, match="PRATIQUE_KEY_"):
            source.signers(role, tenant)
    with pytest.raises(ConfigurationError, match="PRATIQUE_MAC_INTAKE"):
        source.mac_signers(MacRole.INTAKE)


def test_the_environment_adds_to_files(keys: Path) -> None:
    pem = base64.b64encode(ed25519_pem(TWO.private_key)).decode()
    secret = base64.b64encode(SECRET[::-1]).decode()
    environment = {"PRATIQUE_KEY_GATE": f"zwei:{pem}", "PRATIQUE_MAC_SCAN": f"mac-2:{secret} mac-0:{secret}"}
    source = KeyFiles(keys, environment)
    assert [key.key_id for key in source.signers(KeyRole.GATE)] == ["one", "zwei"]
    assert [key.key_id for key in source.mac_signers(MacRole.SCAN)] == ["mac-0", "mac-1", "mac-2"]
    assert KeyFiles(None, environment).mac_signers(MacRole.SCAN)[0].secret == SECRET[::-1]


def test_a_tenants_variable_is_its_own() -> None:
    pem = base64.b64encode(ed25519_pem(TWO.private_key)).decode()
    source = KeyFiles(None, {"PRATIQUE_KEY_PUBLISHER__TENANT_A": f"two:{pem}"})
    assert source.signers(KeyRole.PUBLISHER, "tenant-a")[0].key_id == "two"
    with pytest.raises(ConfigurationError):
        source.signers(KeyRole.PUBLISHER, "tenant-b")


@pytest.mark.parametrize("value", ["x", ":AAAA", "id:", "id:***", "a/b:AAAA"])
def test_a_variable_that_is_no_key_is_refused_without_a_word_of_it(value: str) -> None:
    with pytest.raises(ConfigurationError, match="PRATIQUE_KEY_GATE") as caught:
        KeyFiles(None, {"PRATIQUE_KEY_GATE": value}).signers(KeyRole.GATE)
    assert value not in str(caught.value)


def test_one_id_for_two_keys_is_refused(keys: Path) -> None:
    pem = base64.b64encode(ed25519_pem(TWO.private_key)).decode()
    with pytest.raises(ConfigurationError, match="two keys"):
        KeyFiles(keys, {"PRATIQUE_KEY_GATE": f"one:{pem}"}).signers(KeyRole.GATE)


def test_one_readable_key_among_many_is_enough_to_refuse(keys: Path) -> None:
    folder = mac_directory(keys, MacRole.SCAN)
    write_private_file(folder / "mac-2.key", base64.b64encode(SECRET))
    (folder / "mac-2.key").chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        KeyFiles(keys, {}).mac_signers(MacRole.SCAN)


@pytest.mark.parametrize("tenant_id", ["..", "a/b", "*"])
def test_a_tenant_id_that_is_a_path_is_refused(keys: Path, tenant_id: str) -> None:
    with pytest.raises(ConfigurationError, match="tenant id"):
        KeyFiles(keys, {}).signers(KeyRole.PUBLISHER, tenant_id)

"""What the guides say of keys and of settings is what the code does."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from pathlib import Path

import certifi
import pytest

from infra.stack.paths import ROOT
from pratique.contract.trust import MacRole
from pratique.keyfiles import write_private_file
from streams.adapters.fingerprint_keys import KMS_VARIABLE, FingerprintKeyFiles
from streams.adapters.key_files import KeyFiles, mac_directory
from streams.adapters.pkcs11_keys import TokenUri
from topologies.bootstrap.policy_store import mac_secrets
from topologies.credentials import faust_credentials
from topologies.settings import Settings

GUIDES = ROOT / "docs" / "guide"
SECRET = base64.b64encode(bytes(32))


@pytest.mark.parametrize("page", ["operator.md", "security-engineer.md"])
def test_how_long_a_replaced_key_stays_is_what_the_settings_come_to(page: str) -> None:
    text = " ".join((GUIDES / page).read_text("utf-8").split())
    said = re.findall(r"2 \u00d7 `PRATIQUE_HORIZON_MS` \+ 2 \u00d7 `PRATIQUE_SKEW_MS`[^.]*?(\d+) minutes", text)
    settings = Settings()
    assert [int(minutes) * 60_000 for minutes in said] == [2 * settings.horizon_ms + 2 * settings.skew_ms]


def test_of_all_keys_those_of_fingerprints_alone_are_read_anew(tmp_path: Path) -> None:
    write_private_file(tmp_path / "fingerprint" / "g1.key", SECRET)
    for role in MacRole:
        write_private_file(mac_directory(tmp_path, role) / f"{role.value}-1.key", SECRET)
    keys, fingerprints = KeyFiles(tmp_path, {}), FingerprintKeyFiles(tmp_path, {})
    held = mac_secrets(keys)
    assert len(fingerprints.held()) == 1

    write_private_file(tmp_path / "fingerprint" / "g2.key", SECRET)
    write_private_file(mac_directory(tmp_path, MacRole.SCAN) / "scan-2.key", SECRET)

    assert "scan-2" not in held
    assert "scan-2" in mac_secrets(keys)  # as a process that starts now
    assert len(fingerprints.held()) == 2


def exported(page: str, beginning: str, paths: dict[str, Path]) -> dict[str, str]:
    """Return the variables that a block of a guide exports, with some of its paths replaced."""
    found = re.findall(r"```sh\n(.*?)```", (GUIDES / page).read_text("utf-8"), re.DOTALL)
    (block,) = [text for text in found if text.startswith(beginning)]
    for path, here in paths.items():
        assert path in block
        block = block.replace(path, str(here))
    command = ["bash", "-euo", "pipefail", "-c", f"{block}\nenv -0"]
    done = subprocess.run(command, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True)
    return dict(item.split("=", 1) for item in done.stdout.split("\0") if item)


def test_the_guides_settings_of_a_secured_kafka_are_ones_that_apps_take(tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("of a test\n", "utf-8")
    paths = {"/run/secrets/kafka-password": password, "/etc/pratique/kafka-ca.pem": Path(certifi.where())}
    found = exported("operator.md", "export PRATIQUE_KAFKA_SECURITY_PROTOCOL", paths)
    settings = Settings.read(found)
    assert settings.kafka["sasl.password"] == "of a test"
    assert faust_credentials(settings.kafka) is not None


def test_the_guides_address_of_a_token_is_one() -> None:
    found = exported("ledger.md", f"export {KMS_VARIABLE}", {})
    assert TokenUri.parse(found[KMS_VARIABLE], KMS_VARIABLE).module == Path("/usr/lib/softhsm/libsofthsm2.so")

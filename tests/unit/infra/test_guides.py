"""What the guides say of keys is what the code does."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

import pytest

from infra.stack.paths import ROOT
from pratique.contract.trust import MacRole
from pratique.keyfiles import write_private_file
from streams.adapters.fingerprint_keys import FingerprintKeyFiles
from streams.adapters.key_files import KeyFiles, mac_directory
from topologies.bootstrap.policy_store import mac_secrets
from topologies.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

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

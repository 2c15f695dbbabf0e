"""Generations of the fingerprint key: private files, one of them current, and no guessing."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from pratique.errors import ConfigurationError
from pratique.keyfiles import write_private_file
from streams.adapters.fingerprint_keys import FingerprintKeyFiles, fingerprint_directory

ONE, TWO = b"1" * 32, b"2" * 32


def write(directory: Path, generation: str, secret: bytes) -> Path:
    path = fingerprint_directory(directory) / f"{generation}.key"
    write_private_file(path, base64.b64encode(secret) + b"\n")
    return path


def name_current(directory: Path, generation: str) -> None:
    (fingerprint_directory(directory) / "current").write_text(generation + "\n", "utf-8")


def test_only_generation_is_current(tmp_path: Path) -> None:
    write(tmp_path, "g1", ONE)
    keys = FingerprintKeyFiles(tmp_path, {})
    assert (keys.current().generation, keys.current().secret) == ("g1", ONE)
    assert repr(ONE) not in repr(keys.current())


def test_of_several_the_named_one_is_current_and_first(tmp_path: Path) -> None:
    write(tmp_path, "g1", ONE)
    write(tmp_path, "g2", TWO)
    keys = FingerprintKeyFiles(tmp_path, {})
    with pytest.raises(ConfigurationError, match="nothing says which is current"):
        keys.current()
    name_current(tmp_path, "g2")
    assert [key.generation for key in keys.all()] == ["g2", "g1"]
    name_current(tmp_path, "g1")
    assert [key.generation for key in keys.all()] == ["g1", "g2"]


def test_environment_adds_keys_and_goes_before_the_file(tmp_path: Path) -> None:
    write(tmp_path, "g1", ONE)
    name_current(tmp_path, "g1")
    environment = {
        "PRATIQUE_FINGERPRINT_KEYS": f"g2:{base64.b64encode(TWO).decode()}",
        "PRATIQUE_FINGERPRINT_GENERATION": "g2",
    }
    assert [key.generation for key in FingerprintKeyFiles(tmp_path, environment).all()] == ["g2", "g1"]
    assert FingerprintKeyFiles(None, environment).current().secret == TWO


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"PRATIQUE_FINGERPRINT_KEYS": "g1"},
        {"PRATIQUE_FINGERPRINT_KEYS": "g1:c2hvcnQ="},
        {"PRATIQUE_FINGERPRINT_KEYS": f"../g:{base64.b64encode(ONE).decode()}"},
        {"PRATIQUE_FINGERPRINT_KEYS": " ".join([f"g1:{base64.b64encode(ONE).decode()}"] * 2)},
        {"PRATIQUE_FINGERPRINT_KEYS": f"g1:{base64.b64encode(ONE).decode()}", "PRATIQUE_FINGERPRINT_GENERATION": "g2"},
        {"PRATIQUE_FINGERPRINT_KEYS": f"g1:{base64.b64encode(ONE).decode()}", "PRATIQUE_FINGERPRINT_GENERATION": "/"},
    ],
)
def test_no_key_is_guessed(environment: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        FingerprintKeyFiles(tmp_path, environment).current()


def test_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "g1", ONE).chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        FingerprintKeyFiles(tmp_path, {}).current()

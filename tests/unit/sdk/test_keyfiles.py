from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from pratique.errors import ConfigurationError
from pratique.keyfiles import ed25519_pem, load_ed25519, load_mac, read_private_file, write_private_file
from tests.unit.sdk.builders import signer

KEY = signer("key-1")
SECRET = bytes(range(32))


def test_a_key_comes_back_under_its_files_name(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "publisher-1.pem"
    write_private_file(path, ed25519_pem(KEY.private_key))
    loaded = load_ed25519(path)
    assert loaded.key_id == "publisher-1"
    assert loaded.private_key.private_bytes_raw() == KEY.private_key.private_bytes_raw()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_secret_comes_back(tmp_path: Path) -> None:
    write_private_file(tmp_path / "mac-1.key", base64.b64encode(SECRET) + b"\n")
    assert load_mac(tmp_path / "mac-1.key").secret == SECRET


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601, 0o620])
def test_a_file_that_others_can_touch_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "key.pem"
    write_private_file(path, ed25519_pem(KEY.private_key))
    path.chmod(mode)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        load_ed25519(path)


def test_an_existing_key_is_never_overwritten(tmp_path: Path) -> None:
    write_private_file(tmp_path / "key.pem", b"first")
    with pytest.raises(ConfigurationError):
        write_private_file(tmp_path / "key.pem", b"second")
    assert (tmp_path / "key.pem").read_bytes() == b"first"


@pytest.mark.parametrize(
    "content", [b"", b"not a key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_what_is_no_key_is_refused_without_a_word_of_it(tmp_path: Path, content: bytes) -> None:
    write_private_file(tmp_path / "key.pem", content)
    with pytest.raises(ConfigurationError, match="no unencrypted PEM") as caught:
        load_ed25519(tmp_path / "key.pem")
    assert caught.value.__cause__ is None
    assert "AAAA" not in str(caught.value)


def test_a_key_of_another_kind_is_refused(tmp_path: Path) -> None:
    pem = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    write_private_file(tmp_path / "key.pem", pem)
    with pytest.raises(ConfigurationError, match="not Ed25519"):
        load_ed25519(tmp_path / "key.pem")


@pytest.mark.parametrize("content", [base64.b64encode(bytes(31)), b"", b"***", b"\xff", bytes(32)])
def test_a_short_or_broken_secret_is_refused(tmp_path: Path, content: bytes) -> None:
    write_private_file(tmp_path / "mac.key", content)
    with pytest.raises(ConfigurationError, match="at least 32 bytes"):
        load_mac(tmp_path / "mac.key")


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="can't be opened"):
        read_private_file(tmp_path / "missing.pem")
    with pytest.raises(ConfigurationError, match="no regular file"):
        read_private_file(tmp_path)


def test_a_file_too_large_for_a_key_is_refused(tmp_path: Path) -> None:
    write_private_file(tmp_path / "key.pem", bytes(16 * 1024 + 1))
    with pytest.raises(ConfigurationError, match="no key file"):
        read_private_file(tmp_path / "key.pem")


def test_a_name_that_is_no_key_id_is_refused(tmp_path: Path) -> None:
    write_private_file(tmp_path / "a key.pem", ed25519_pem(KEY.private_key))
    with pytest.raises(ConfigurationError, match="not named by a key id"):
        load_ed25519(tmp_path / "a key.pem")


class TestDurable:
    """What is written outlives a loss of power: file first, then the folders that name it."""

    @pytest.fixture
    def synced(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
        """Inode and length of what was brought to the disk, in this order."""
        said: list[tuple[int, int]] = []

        def fsync(descriptor: int) -> None:
            found = os.fstat(descriptor)
            said.append((found.st_ino, found.st_size))

        monkeypatch.setattr(os, "fsync", fsync)
        return said

    def test_a_key_and_the_folders_that_were_made_for_it(self, tmp_path: Path, synced: list[tuple[int, int]]) -> None:
        path = tmp_path / "tuf-keys" / "root" / "key.pem"
        write_private_file(path, b"whole")
        assert synced[0] == (path.stat().st_ino, len(b"whole"))
        assert {inode for inode, _ in synced[1:]} == {
            folder.stat().st_ino for folder in (path.parent, path.parent.parent, tmp_path)
        }

    def test_what_could_not_be_brought_to_the_disk_is_gone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(ConfigurationError, match="No space left"):
            write_private_file(tmp_path / "key.pem", b"whole")
        assert list(tmp_path.iterdir()) == []

    def test_an_existing_file_stays(self, tmp_path: Path) -> None:
        (tmp_path / "key.pem").write_bytes(b"mine")
        with pytest.raises(ConfigurationError, match="exists"):
            write_private_file(tmp_path / "key.pem", b"other")
        assert (tmp_path / "key.pem").read_bytes() == b"mine"

"""The signing keys of a TUF repository's roles, in files.

The contract: ``<directory>/<role>/<name>.pem``, mode 0600. A role signs with every key of its folder that the
repository authorises for it, so a threshold is met by putting the files of several holders together, and a rotation
by having old and new side by side. What was replaced goes into the folder ``replaced`` below, and signs nothing there.

Beside the folders lies ``root.json``, the newest root that was verified or written here: a publisher's trust begins
with it, as a reader's does with the one it was handed. While a rotation goes on, the root that it writes lies there as
``root-pending.json``. ``timestamp.json`` is the newest timestamp that was written here: an older one is a rollback.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.signer import CryptoSigner

from pratique.keyfiles import derived_key_id, ed25519_pem, load_ed25519, sync_folder, write_private_file
from streams.adapters.tuf_layout import write_whole
from streams.errors import ConfigurationError

REPLACED: Final = "replaced"


class TufKeys:
    """The keys of a repository's roles.

    Args:
        directory: Where their folders lie.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def trusted_root(self) -> Path:
        """Where the root lies that trust begins with; a set made by an older version has none there yet."""
        return self._directory / "root.json"

    @property
    def last_timestamp(self) -> Path:
        """Where the timestamp lies that was written last; there is none before the first."""
        return self._directory / "timestamp.json"

    @property
    def _pending(self) -> Path:
        return self._directory / "root-pending.json"

    def pending_root(self) -> bytes | None:
        """Return the root that a rotation was about to write; null where none was broken off.

        Raises:
            ConfigurationError: It can't be read.
        """
        try:
            return self._pending.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigurationError(f"{self._pending} can't be read: {error.strerror}") from None

    def announce_root(self, content: bytes) -> None:
        """Keep the root that a rotation is about to write into the repository.

        Raises:
            ConfigurationError: It can't be written.
        """
        write_whole(self._pending, content)

    def trust_root(self, content: bytes) -> None:
        """Begin with this root from now on; no rotation is under way any more.

        Raises:
            ConfigurationError: It can't be written.
        """
        try:
            if self.pending_root() == content:
                self._pending.replace(self.trusted_root)
                sync_folder(self._directory)
            elif not self.trusted_root.exists() or self.trusted_root.read_bytes() != content:
                write_whole(self.trusted_root, content)
            self._pending.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigurationError(f"{self.trusted_root} can't be written: {error.strerror}") from None

    def keep_timestamp(self, content: bytes) -> None:
        """Hold the timestamps of later days against this one.

        Raises:
            ConfigurationError: It can't be written.
        """
        write_whole(self.last_timestamp, content)

    def folder(self, role: str) -> Path:
        """Return where a role's keys lie."""
        return self._directory / role

    def signers(self, role: str) -> list[CryptoSigner]:
        """Return the signers of a role; none where its folder holds none.

        Raises:
            ConfigurationError: A key file is readable to others, or holds no Ed25519 key.
        """
        return [CryptoSigner(load_ed25519(path).private_key) for path in sorted(self.folder(role).glob("*.pem"))]

    def generate(self, role: str) -> CryptoSigner:
        """Make a new key for a role and keep it in a file.

        Raises:
            ConfigurationError: The file can't be written.
        """
        key = Ed25519PrivateKey.generate()
        name = derived_key_id(role, key.public_key().public_bytes_raw())
        write_private_file(self.folder(role) / f"{name}.pem", ed25519_pem(key))
        return CryptoSigner(key)

    def put_aside(self, role: str, key_ids: Collection[str]) -> tuple[Path, ...]:
        """Move the files of keys that a role no longer has out of the way; return where they are now.

        Raises:
            ConfigurationError: A file is readable to others, holds no Ed25519 key, or can't be moved.
        """
        moved: list[Path] = []
        for path in sorted(self.folder(role).glob("*.pem")):
            if CryptoSigner(load_ed25519(path).private_key).public_key.keyid in key_ids:
                aside = path.parent / REPLACED / path.name
                try:
                    aside.parent.mkdir(mode=0o700, exist_ok=True)
                    path.replace(aside)
                except OSError as error:
                    raise ConfigurationError(
                        f"{path} can't be moved: {error.strerror}; move it away yourself"
                    ) from None
                moved.append(aside)
        return tuple(moved)

"""Keys in files: Ed25519 private keys as PEM, MAC secrets as base64.

The contract: a file that anyone but its owner can read is refused, and so is one that someone else owns. A key's id is
its file's name without the ending, so a key and its id never part. Messages name files and what is wrong with them,
never what they hold.

Where the files lie, and which role each is for, is the caller's.
"""

from __future__ import annotations

import base64
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from pratique.contract.canonical import bytes_sha256
from pratique.contract.document import SAFE_ID, strict_base64
from pratique.contract.signing import MIN_MAC_KEY_BYTES, Ed25519Signer, MacSigner
from pratique.errors import ConfigurationError

PRIVATE_FILE_MODE: Final = 0o600
PRIVATE_DIRECTORY_MODE: Final = 0o700
MAX_KEY_FILE_BYTES: Final = 16 * 1024

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def read_private_file(path: Path) -> bytes:
    """Return the bytes of a file that only its owner can read.

    The mode is that of the opened file, not of its name, so that a file swapped in between is not read unchecked.

    Raises:
        ConfigurationError: It is missing, no regular file, too large, someone else's, or readable to group or others.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise ConfigurationError(f"key file {path} can't be opened: {error.strerror}") from None
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise ConfigurationError(f"key file {path} is no regular file")
        if state.st_mode & _OTHERS:
            raise ConfigurationError(f"key file {path} is open to group or others: chmod 600 {path}")
        if state.st_uid not in {os.geteuid(), 0}:
            raise ConfigurationError(f"key file {path} belongs to another user: chown it to the one who runs this")
        content = os.read(descriptor, MAX_KEY_FILE_BYTES + 1)  # a regular file: one read gets all there is of so little
    finally:
        os.close(descriptor)
    if len(content) > MAX_KEY_FILE_BYTES:
        raise ConfigurationError(f"key file {path} has over {MAX_KEY_FILE_BYTES} bytes: it is no key file")
    return content


def write_private_file(path: Path, content: bytes, *, what: str = "key file") -> None:
    """Write a new file that only its owner can read, ever; an existing one is never overwritten, nor a link followed.

    Once this returns it outlives a loss of power; where it can't be written whole, there is none.

    Args:
        path: The file.
        content: What it is to hold.
        what: What it is called where it can't be written.

    Raises:
        ConfigurationError: It exists, or can't be written.
    """
    made = False
    try:
        new = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
        path.parent.mkdir(mode=PRIVATE_DIRECTORY_MODE, parents=True, exist_ok=True)
        descriptor = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE_MODE
        )
        made = True
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        for folder in (path.parent, *(folder.parent for folder in new)):
            sync_folder(folder)
    except OSError as error:
        if made:
            with suppress(OSError):
                path.unlink()
        raise ConfigurationError(f"{what} {path} can't be written: {error.strerror}") from None


def sync_folder(folder: Path) -> None:
    """Return once the names in a folder outlive a loss of power.

    Raises:
        OSError: They can't be brought to the disk.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def load_ed25519(path: Path) -> Ed25519Signer:
    """Return the Ed25519 key in a PEM file (PKCS #8, unencrypted).

    Raises:
        ConfigurationError: The file may not be used, or holds no such key.
    """
    return parse_ed25519(read_private_file(path), _key_id(path), f"key file {path}")


def parse_ed25519(pem: bytes, key_id: str, where: str) -> Ed25519Signer:
    """Return the Ed25519 key in a PEM text.

    Raises:
        ConfigurationError: It holds no such key; ``where`` says where it was found.
    """
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError):  # the library's message may quote the text
        raise ConfigurationError(f"{where} holds no unencrypted PEM private key") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigurationError(f"{where} holds a key that is not Ed25519")
    return Ed25519Signer(key_id, key)


def load_mac(path: Path) -> MacSigner:
    """Return the MAC key in a file of standard base64.

    Raises:
        ConfigurationError: The file may not be used, or holds no base64 of at least 32 bytes.
    """
    return parse_mac(read_private_file(path), _key_id(path), f"key file {path}")


def parse_mac(text: bytes, key_id: str, where: str) -> MacSigner:
    """Return the MAC key in a text of standard base64.

    Raises:
        ConfigurationError: It is no base64 of at least 32 bytes; ``where`` says where it was found.
    """
    try:
        secret = strict_base64(text.decode("ascii").strip())
    except UnicodeDecodeError:
        secret = None
    if secret is None or len(secret) < MIN_MAC_KEY_BYTES:
        raise ConfigurationError(f"{where} holds no base64 of at least {MIN_MAC_KEY_BYTES} bytes")
    return MacSigner(key_id, secret)


def ed25519_pem(key: Ed25519PrivateKey) -> bytes:
    """Return a private key as unencrypted PEM (PKCS #8)."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public_base64(key: Ed25519PrivateKey) -> str:
    """Return a key's public half as the trust target holds it."""
    return base64.b64encode(key.public_key().public_bytes_raw()).decode("ascii")


def derived_key_id(prefix: str, public: bytes) -> str:
    """Return a key id that people can read and that differs between keys: prefix and 8 digits of a digest."""
    return f"{prefix[:112]}-{bytes_sha256(public)[:8]}"


def _key_id(path: Path) -> str:
    if SAFE_ID.fullmatch(path.stem) is None:
        raise ConfigurationError(f"key file {path} is not named by a key id of letters, digits, '.', '_', '-'")
    return path.stem

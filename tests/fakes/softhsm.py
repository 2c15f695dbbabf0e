"""A PKCS #11 token in a directory: SoftHSM, which `make test` installs.

The contract: the token is real to whoever uses it, down to its vendor's library; its RSA key was made inside and does
not come out. The library reads its configuration when it is initialised, once a process, so it is ended before a token
is made.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest import mock

import pkcs11
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pratique.keyfiles import write_private_file

MODULES: Final = (
    "/usr/lib/softhsm/libsofthsm2.so",  # Debian
    "/usr/lib64/pkcs11/libsofthsm2.so",  # Fedora
    "/opt/homebrew/lib/softhsm/libsofthsm2.so",
)
LABEL: Final = "pratique"
KEY: Final = "fingerprint"
PIN: Final = "1234-abcd"


@dataclass(frozen=True, slots=True)
class SoftToken:
    """A token with one RSA key.

    Attributes:
        module: The vendor's library.
        pin_file: Holds the PIN.
    """

    module: str
    pin_file: Path

    @property
    def uri(self) -> str:
        """Return the key's PKCS #11 URI."""
        return self.named(f"token={LABEL};object={KEY}")

    def named(self, path: str) -> str:
        """Return a URI with another path, of the same library and PIN."""
        return f"pkcs11:{path}?module-path={self.module}&pin-source={self.pin_file}"

    @contextmanager
    def opened(self, pin: str = PIN) -> Iterator[pkcs11.Session]:
        """Open a session that may change things."""
        with pkcs11.lib(self.module).get_token(token_label=LABEL).open(rw=True, user_pin=pin) as session:
            yield session

    def add_key(self, label: str, key_id: bytes) -> bytes:
        """Have the token make an RSA key; return its public half, in PEM."""
        with self.opened() as session:
            public, _ = session.generate_keypair(pkcs11.KeyType.RSA, 2048, label=label, id=key_id, store=True)
            exponent, modulus = (
                int.from_bytes(public[name], "big")
                for name in (pkcs11.Attribute.PUBLIC_EXPONENT, pkcs11.Attribute.MODULUS)
            )
        key = RSAPublicNumbers(exponent, modulus).public_key()
        return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@contextmanager
def soft_token(directory: Path) -> Iterator[tuple[SoftToken, bytes]]:
    """Yield a new token with a key, and the key's public half; the token is this process's one while it lasts."""
    module = next((path for path in MODULES if Path(path).exists()), None)
    assert module is not None, "SoftHSM is not here: python -m infra.stack install --for-tests"
    tokens, settings = directory / "tokens", directory / "softhsm2.conf"
    tokens.mkdir(mode=0o700)
    settings.write_text(f"directories.tokendir = {tokens}\nobjectstore.backend = file\n", "utf-8")
    with mock.patch.dict(os.environ, {"SOFTHSM2_CONF": str(settings)}):
        subprocess.run(
            ["softhsm2-util", "--init-token", "--free", "--label", LABEL, "--so-pin", "so-pin", "--pin", PIN],
            check=True,
            capture_output=True,
            timeout=30,
        )
        library = pkcs11.lib(module)
        library.finalize()
        token = SoftToken(module, directory / "pin")
        write_private_file(token.pin_file, f"{PIN}\n".encode())
        yield token, token.add_key(KEY, b"\x01")
        library.finalize()

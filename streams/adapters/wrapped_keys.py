"""Fingerprint secrets that a key management service has wrapped: what is on disk is of no use without it.

The contract: a file ``<generation>.wrapped`` holds, in base64, the RSA-OAEP ciphertext of the generation's name, a NUL
and the secret; the name inside has to be that of the file, so that files can't be swapped. The digest, of label and
mask, is SHA-256, unless the name of another algorithm stands before the base64 (``WrapAlgorithm``).

Whoever unwraps is cryptography's ``RSAPrivateKey``: what a KMS's own library gives for a key that never leaves it
(``KeyVaultRSAPrivateKey`` of azure-keyvault-keys, say), made by a factory that the operator names, or a token's key,
which a PKCS #11 URI names (``pkcs11_keys``). Nothing but its ``decrypt`` is called. A secret that was unwrapped is kept
in memory, so that the service is asked once a process.

``wrap`` needs the public key alone: whoever makes a generation need not be able to read the others.
"""

from __future__ import annotations

import base64
import importlib
from enum import Enum
from pathlib import Path
from typing import Final, Protocol

from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP, AsymmetricPadding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from pratique.contract.document import SAFE_ID, strict_base64
from pratique.contract.signing import MIN_MAC_KEY_BYTES, MacSigner
from pratique.errors import ConfigurationError
from pratique.keyfiles import read_private_file
from streams.adapters.pkcs11_keys import SCHEME, TokenKey

WRAPPED_SUFFIX: Final = ".wrapped"
MIN_RSA_BITS: Final = 2048


class WrapAlgorithm(Enum):
    """How a secret is wrapped, by the names of RFC 7518.

    OAEP does not rest on collisions that nobody finds, so that SHA-1 is as good here; some tokens take nothing else.
    """

    RSA_OAEP_256 = "RSA-OAEP-256"
    RSA_OAEP = "RSA-OAEP"

    @property
    def padding(self) -> OAEP:
        """How a secret is padded."""
        if self is WrapAlgorithm.RSA_OAEP:
            return OAEP(MGF1(SHA1()), SHA1(), None)  # noqa: S303 - see the class
        return OAEP(MGF1(SHA256()), SHA256(), None)


class Decrypts(Protocol):
    """What is needed of an ``RSAPrivateKey``."""

    def decrypt(self, ciphertext: bytes, padding: AsymmetricPadding) -> bytes:
        """Return what a ciphertext holds."""
        ...


class KeyUnwrapper:
    """Unwraps secrets with a key that stays where it is.

    Args:
        factory: ``module:function``, called without arguments, that returns an ``RSAPrivateKey``, or the PKCS #11 URI
            of a key; empty where there is no service.
        name: How the setting is called, for messages.
    """

    def __init__(self, factory: str, name: str) -> None:
        self._factory = factory
        self._name = name
        self._key: Decrypts | None = None
        self._unwrapped: dict[bytes, MacSigner] = {}

    def load(self, path: Path) -> MacSigner:
        """Return the secret in a file.

        Raises:
            ConfigurationError: The file may not be used, no service is named or it does not unwrap it, or what it
                unwraps is no secret of this generation.
        """
        generation = path.name.removesuffix(WRAPPED_SUFFIX)
        if SAFE_ID.fullmatch(generation) is None:
            raise ConfigurationError(f"key file {path} is not named by a generation")
        content = read_private_file(path)
        known = self._unwrapped.get(content)
        if known is None or known.key_id != generation:
            known = self._unwrapped[content] = MacSigner(generation, self._unwrap(path, generation, content))
        return known

    def _unwrap(self, path: Path, generation: str, content: bytes) -> bytes:
        *named, encoded = content.decode("ascii", "replace").split() or [""]
        ciphertext = strict_base64(encoded)
        if not ciphertext or len(named) > 1:
            raise ConfigurationError(f"key file {path} holds no base64")
        try:
            algorithm = WrapAlgorithm(named[0]) if named else WrapAlgorithm.RSA_OAEP_256
        except ValueError:
            raise ConfigurationError(f"key file {path} is wrapped in a way that is not known here") from None
        try:
            plain = self._service().decrypt(ciphertext, algorithm.padding)
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a service's library raises; its text may hold anything
            raise ConfigurationError(f"key file {path} can't be unwrapped: {type(error).__name__}") from None
        name, _, secret = plain.partition(b"\0")
        if name != generation.encode("ascii") or len(secret) < MIN_MAC_KEY_BYTES:
            raise ConfigurationError(f"key file {path} holds no secret of generation {generation}")
        return secret

    def _service(self) -> Decrypts:
        if self._key is None:
            self._key = self._made()
        return self._key

    def _made(self) -> Decrypts:
        if not self._factory:
            raise ConfigurationError(f"a fingerprint key here is wrapped, and {self._name} does not say who unwraps it")
        if self._factory.startswith(SCHEME):
            return TokenKey(self._factory, self._name)
        module, _, name = self._factory.partition(":")
        try:
            made = getattr(importlib.import_module(module), name)()
        except (ImportError, AttributeError, ValueError, TypeError):
            raise ConfigurationError(f"{self._name}: {self._factory} is no factory of an RSA private key") from None
        if not isinstance(made, RSAPrivateKey):
            raise ConfigurationError(f"{self._name}: {self._factory} makes something else than an RSA private key")
        return made


def wrap(
    generation: str, secret: bytes, public_pem: bytes, algorithm: WrapAlgorithm = WrapAlgorithm.RSA_OAEP_256
) -> bytes:
    """Return what a generation's wrapped file holds.

    Args:
        generation: The generation's id.
        secret: Its secret, at least 32 bytes.
        public_pem: The service's public key, in PEM.
        algorithm: How it is wrapped.

    Raises:
        ConfigurationError: That is no RSA key of 2048 bits or more, or too small for this name and secret.
    """
    try:
        key = load_pem_public_key(public_pem)
    except (ValueError, TypeError):
        raise ConfigurationError("the public key is no PEM public key") from None
    if not isinstance(key, RSAPublicKey) or key.key_size < MIN_RSA_BITS:
        raise ConfigurationError(f"the public key is no RSA key of {MIN_RSA_BITS} bits or more")
    try:
        ciphertext = key.encrypt(generation.encode("ascii") + b"\0" + secret, algorithm.padding)
    except ValueError:
        raise ConfigurationError("the RSA key is too small for this generation's name and secret") from None
    named = "" if algorithm is WrapAlgorithm.RSA_OAEP_256 else f"{algorithm.value} "
    return named.encode("ascii") + base64.b64encode(ciphertext) + b"\n"

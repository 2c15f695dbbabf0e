"""Signatures over published values: Ed25519 for requests and verdicts, HMAC-SHA256 for evidence.

The contract: what is signed is the catalogue topic name in UTF-8, a zero byte, and the value exactly as published, so
that a value moved to another topic no longer verifies. Verification raises; nothing returns a bool.
Ed25519 is RFC 8032 (deterministic: the same value gives the same signature), HMAC is RFC 2104.

Who may sign what is not decided here: see ``pratique.contract.trust``.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from pratique.contract.topics import HEADER_KEY_ID, HEADER_SIGNATURE
from pratique.errors import ConfigurationError, SignatureInvalidError

Headers = Sequence[tuple[str, bytes]]
"""Kafka record headers, in order."""

MIN_MAC_KEY_BYTES: Final = 32
"""A MAC key shorter than SHA-256's output weakens the MAC (RFC 2104, section 3)."""


def signed_preimage(topic: str, value: bytes) -> bytes:
    """Return the bytes a signature covers."""
    return topic.encode("utf-8") + b"\x00" + value


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature and the id of the key that made it."""

    key_id: str
    signature: bytes

    @property
    def headers(self) -> list[tuple[str, bytes]]:
        """The record headers that carry it."""
        return [(HEADER_KEY_ID, self.key_id.encode("utf-8")), (HEADER_SIGNATURE, self.signature)]

    @classmethod
    def from_headers(cls, headers: Headers | None) -> Signature:
        """Read a signature from record headers.

        Raises:
            SignatureInvalidError: A header is missing, repeated, or no text where text is expected.
        """
        key_ids = [value for name, value in headers or () if name == HEADER_KEY_ID]
        signatures = [value for name, value in headers or () if name == HEADER_SIGNATURE]
        if len(key_ids) != 1 or len(signatures) != 1 or not key_ids[0] or not signatures[0]:
            raise SignatureInvalidError(f"record needs one {HEADER_KEY_ID} and one {HEADER_SIGNATURE} header")
        try:
            return cls(key_ids[0].decode("utf-8"), signatures[0])
        except UnicodeDecodeError:
            raise SignatureInvalidError(f"header {HEADER_KEY_ID} is not UTF-8") from None


class Signer(Protocol):
    """Signs values for a topic under one key."""

    def sign(self, topic: str, value: bytes) -> Signature:
        """Return the signature over the topic's name and the value."""
        ...


@dataclass(frozen=True, slots=True)
class Ed25519Signer:
    """Signs with an Ed25519 private key."""

    key_id: str
    private_key: Ed25519PrivateKey

    def sign(self, topic: str, value: bytes) -> Signature:
        """Return the signature over the topic's name and the value."""
        return Signature(self.key_id, self.private_key.sign(signed_preimage(topic, value)))


@dataclass(frozen=True, slots=True)
class MacSigner:
    """Authenticates with a role's HMAC key."""

    key_id: str
    secret: bytes

    def __post_init__(self) -> None:
        if len(self.secret) < MIN_MAC_KEY_BYTES:
            raise ConfigurationError(f"MAC key has {len(self.secret)} bytes, at least {MIN_MAC_KEY_BYTES} are needed")

    def sign(self, topic: str, value: bytes) -> Signature:
        """Return the MAC over the topic's name and the value."""
        return Signature(self.key_id, hmac.digest(self.secret, signed_preimage(topic, value), "sha256"))


def verify_ed25519(public_key: Ed25519PublicKey, signature: Signature, topic: str, value: bytes) -> None:
    """Verify an Ed25519 signature over a topic's value.

    Raises:
        SignatureInvalidError: It does not verify.
    """
    try:
        public_key.verify(signature.signature, signed_preimage(topic, value))
    except InvalidSignature:
        raise SignatureInvalidError(f"Ed25519 signature does not verify for topic {topic}") from None


def verify_mac(secret: bytes, signature: Signature, topic: str, value: bytes) -> None:
    """Verify a MAC over a topic's value, in constant time.

    Raises:
        SignatureInvalidError: It does not verify.
    """
    expected = hmac.digest(secret, signed_preimage(topic, value), hashlib.sha256)
    if not hmac.compare_digest(expected, signature.signature):
        raise SignatureInvalidError(f"MAC does not verify for topic {topic}")

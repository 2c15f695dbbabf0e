"""The fingerprint of a text: the same for texts that differ in case, compatibility forms or white space alone.

The contract (AID-D-001.005 G001), version 1: NFKC, case-folded, white space collapsed to single spaces, UTF-8,
HMAC-SHA256 under a secret of at least 32 bytes. Scanner and quarantine writer both call this function; a change of it
is a new contract string and a new ledger. The secret comes from a key source, never from a request.

It is no digest of evidence: what identifies a text is the SHA-256 of its bytes (``content_sha256``).
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from pratique.errors import ConfigurationError, MalformedError
from streams.domain.normal_form import nfkc

FINGERPRINT_CONTRACT: Final = "nfkc-casefold-whitespace-hmac-sha256.v1"
"""Names this version in findings."""

MIN_SECRET_BYTES: Final = 32


def fingerprinted_text(text: str) -> str:
    """Return what of a text is fingerprinted."""
    return " ".join(nfkc(text).casefold().split())


def fingerprint(text: str, secret: bytes) -> str:
    """Return a text's fingerprint: 64 lower-case hexadecimal digits.

    Args:
        text: The text; not empty, though white space alone is a text.
        secret: The HMAC key.

    Raises:
        MalformedError: There is no text.
        ConfigurationError: The secret is shorter than 32 bytes.
    """
    if not text:
        raise MalformedError("there is no text to fingerprint", code="MESSAGE_INVALID")
    if len(secret) < MIN_SECRET_BYTES:
        raise ConfigurationError(f"fingerprint key has {len(secret)} bytes, at least {MIN_SECRET_BYTES} are needed")
    return hmac.new(secret, fingerprinted_text(text).encode("utf-8"), hashlib.sha256).hexdigest()

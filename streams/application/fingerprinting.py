"""Fingerprints of one text under several generations of the key: while a rotation is under way, all of them count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streams.application.ports.quarantine import FingerprintKey
from streams.domain.recall.fingerprint import fingerprint


def fingerprints(text: str, keys: Sequence[FingerprintKey]) -> Mapping[str, str]:
    """Return a text's fingerprint by key generation.

    Raises:
        MalformedError: There is no text.
    """
    return {key.generation: fingerprint(text, key.secret) for key in keys}

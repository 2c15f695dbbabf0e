"""Evidence as the verdict app meets it: authenticated, at its place in the log.

The contract: a ``Stated`` exists only for evidence whose MAC verified under a key of the role that may state its kind.
Identity is the whole join key: two requests that differ in any of its fields never meet.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pratique.contract.records import Evidence, JoinKey


def join_id(key: JoinKey) -> bytes:
    """Return a join key's identity: 32 bytes, so that an index of a horizon's decisions stays small.

    Preimage: the fields joined by NUL, which no text of the published language holds; a missing population is two NULs
    in a row, which no digest is.
    """
    fields = (
        key.tenant_id,
        key.origin.value,
        key.request_id,
        key.source_population_sha256 or "",
        key.subject_sha256,
        key.request_sha256,
    )
    return hashlib.sha256("\0".join(fields).encode("utf-8")).digest()


@dataclass(frozen=True, slots=True)
class Stated:
    """A piece of evidence that its role stated, as read from the log.

    Attributes:
        evidence: What was stated.
        value_sha256: Digest of the value as published.
        offset: Its offset in its partition.
        at_ms: Its log-append time, milliseconds since the epoch.
    """

    evidence: Evidence
    value_sha256: str
    offset: int
    at_ms: int

"""Where an entry of the quarantine ledger stands: scope, segment and fingerprint.

The contract: the key of every ledger record is ``scope/segment/fingerprint``. A tenant's segment is its id, the global
scope's is ``global``; a tenant may be called that too, since the scope is part of the key. Records lie in the murmur2
partition of ``scope/segment``, so that all of a tenant's entries are one partition's. ``view_key`` is the seed's key
(AID-D-001.005 G002), which the Redis view prefixes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from pratique.contract.document import HEX64, SAFE_ID
from pratique.contract.partitioning import partition_of
from pratique.errors import MalformedError

GLOBAL_SEGMENT: Final = "global"
VIEW_PREFIX: Final = "aidefend:recall_quarantine:v1:"

MAX_KEY_BYTES: Final = len("tenant") + 1 + 128 + 1 + 64
"""Longest ledger key, in bytes: a tenant id has at most 128 characters, all of them ASCII."""


class Scope(Enum):
    """Whom an entry concerns."""

    TENANT = "tenant"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class LedgerKey:
    """An entry's place; both parts are ASCII and free of ``/`` and ``:``.

    Attributes:
        scope: Whom it concerns.
        segment: The tenant's id, or ``global``.
        fingerprint: HMAC-SHA256 of the normalised content, 64 lower-case hexadecimal digits.
    """

    scope: Scope
    segment: str
    fingerprint: str

    def __post_init__(self) -> None:
        if SAFE_ID.fullmatch(self.segment) is None or (self.scope is Scope.GLOBAL and self.segment != GLOBAL_SEGMENT):
            raise MalformedError("ledger key: segment does not go with the scope")
        if HEX64.fullmatch(self.fingerprint) is None:
            raise MalformedError("ledger key: fingerprint is no HMAC-SHA256 in lower-case hexadecimal")

    @classmethod
    def of(cls, scope: Scope, tenant_id: str | None, fingerprint: str) -> LedgerKey:
        """Return the key of a fingerprint for a tenant, or globally where no tenant is named.

        Raises:
            MalformedError: Scope and tenant do not go together, or the fingerprint is none.
        """
        if (scope is Scope.TENANT) != (tenant_id is not None):
            raise MalformedError("ledger key: scope and tenant binding are invalid")
        return cls(scope, GLOBAL_SEGMENT if tenant_id is None else tenant_id, fingerprint)

    @classmethod
    def parse(cls, key: bytes | None) -> LedgerKey:
        """Read a record's key.

        Raises:
            MalformedError: It is no ledger key.
        """
        if key is None or len(key) > MAX_KEY_BYTES:
            raise MalformedError("record's key is no ledger key")
        try:
            scope, segment, fingerprint = key.decode("ascii").split("/")
            return cls(Scope(scope), segment, fingerprint)
        except (UnicodeDecodeError, ValueError):
            raise MalformedError("record's key is no ledger key") from None

    @property
    def tenant_id(self) -> str | None:
        """The tenant it concerns; null in the global scope."""
        return self.segment if self.scope is Scope.TENANT else None

    @property
    def place(self) -> str:
        """What decides the partition: ``scope/segment``."""
        return f"{self.scope.value}/{self.segment}"

    @property
    def record_key(self) -> bytes:
        """The key of its records: ``scope/segment/fingerprint``."""
        return f"{self.place}/{self.fingerprint}".encode("ascii")

    @property
    def view_key(self) -> str:
        """The seed's key of its list of transitions."""
        return f"{VIEW_PREFIX}{self.scope.value}:{self.segment}:{self.fingerprint}"

    def partition(self, partition_count: int) -> int:
        """Return the partition of its records, in each of the ledger's topics."""
        return partition_of(self.place.encode("ascii"), partition_count)

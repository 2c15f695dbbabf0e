"""Where pinned policy comes from.

The contract: ``pin`` is intake's (the newest), ``exactly`` the workers' (what was pinned, and nothing else), ``trust``
everyone's. All three are look-ups in memory once a set has been obtained; ``refresh`` is the part that does I/O, for a
thread that is not the event loop's. A store is safe to use from several threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from pratique.contract.trust import TrustTarget
from streams.domain.policy.model import PolicySet


class Freshness(Enum):
    """What the last refresh came to."""

    NEVER = "NEVER"
    """Nothing was ever loaded here."""
    CURRENT = "CURRENT"
    """The repository answered, and its metadata verified."""
    CACHED = "CACHED"
    """The repository is out of reach; what was loaded before is still valid."""
    REFUSED = "REFUSED"
    """The repository answered with metadata that does not verify; what was loaded before is still valid."""
    EXPIRED = "EXPIRED"
    """The metadata is past its expiry."""


@dataclass(frozen=True, slots=True)
class PolicyStatus:
    """How a store stands, for health and metrics.

    Attributes:
        version: TUF snapshot version in use; 0 where none is.
        checked_at_ms: When the repository was last asked, in milliseconds since the epoch.
        expires_at_ms: When the top-level metadata in use expires; 0 where none is.
        detail: What went wrong, in words for the operator; empty where nothing did.
        role_expires_at_ms: When the first of the delegated roles expires that this process relies on; null where it
            knows of none yet.
        keys_expire_at_ms: When the first role of the trust target is without a key; null where it was not read yet.
    """

    freshness: Freshness
    version: int
    checked_at_ms: int
    expires_at_ms: int
    detail: str
    role_expires_at_ms: int | None = None
    keys_expire_at_ms: int | None = None


class PolicyStore(Protocol):
    """Pinned policy sets and the trust target."""

    def pin(self, tenant_id: str, policy_id: str) -> PolicySet:
        """Return the newest set of a policy, with the tenant's standing commitments where policy applies them.

        Raises:
            PolicyNotLoadedError: Nothing was ever loaded and the repository is out of reach: wait.
            PolicyExpiredError: The metadata is past its expiry.
            PolicyUnavailableError: A document could not be obtained as the metadata describes it.
            PolicyError: There is no such policy, or a document says something it may not.
        """
        ...

    def exactly(self, policy_set_sha256: str, set_map: str) -> PolicySet:
        """Return exactly the set that was pinned, after one refresh at most.

        Args:
            policy_set_sha256: The pinned digest.
            set_map: The set's map as it was pinned (``PolicySet.set_map``).

        Raises:
            PolicyNotLoadedError: As ``pin``.
            PolicyExpiredError: As ``pin``; a set already in memory is returned all the same, since it was pinned
                while it was valid and work in flight ends within its deadline.
            PolicyUnavailableError: As ``pin``; also where no such set was ever published.
            PolicyError: The map is not that of the digest, or a document says something it may not.
        """
        ...

    def trust(self) -> TrustTarget:
        """Return the trust target at its newest.

        Raises:
            PolicyNotLoadedError: As ``pin``.
            PolicyExpiredError: As ``pin``.
            PolicyUnavailableError: As ``pin``.
            PolicyError: The document says something it may not.
        """
        ...

    def refresh(self) -> PolicyStatus:
        """Ask the repository for news now; never raises for what it finds, but says so."""
        ...

    def status(self) -> PolicyStatus:
        """Return how the store stands, without asking the repository."""
        ...

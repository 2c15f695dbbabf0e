"""The quarantine ledger as a look-up sees it, and the keys that fingerprints are made with.

The contract: the ledger topic is the truth, a view of it answers look-ups (architecture, decision 10). A view either
answers for every fingerprint it was asked about, in both the tenant's and the global scope, or raises: behind, flushed,
partial, malformed and wrong-generation are never "not quarantined".

While the fingerprint key is rotated, entries are of several key generations. A look-up asks under every generation at
hand, so that at no instant a quarantined text passes: where the view holds entries of a generation that was not asked
about, it raises. The view says which generation is current; keys are not asked which of them is.

Keys come from the operator's key source, never from a request (AID-D-001.005 G001).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from streams.errors import ConfigurationError

MIN_FINGERPRINT_KEY_BYTES: Final = 32
"""The seed's bound on the fingerprint key (AID-D-001.005 G001)."""


Fingerprints: TypeAlias = Mapping[str, Sequence[str]]
"""Fingerprints by the key generation that they are of."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look-up came to.

    Attributes:
        known: Those of the fingerprints asked for that are quarantined, for the tenant or globally.
        position: What of the ledger the view has applied, as a verdict states it.
        staleness_ms: How long ago the view was last known to have applied everything, in milliseconds.
        generation: The key generation that is current.
        following: The one that entries are being carried over to; empty where none is.
        own: Those that are quarantined for the tenant itself, whatever else knows them.
    """

    known: frozenset[str]
    position: str
    staleness_ms: int
    generation: str
    following: str = ""
    own: frozenset[str] = frozenset()

    @property
    def filled(self) -> str:
        """The key generation that entries are to be found under in time: what stands under another is carried over."""
        return self.following or self.generation


class QuarantineView(Protocol):
    """Look-ups of quarantined fingerprints. Calls block: off the event loop, please."""

    def generation(self) -> str:
        """Return the id of the key generation that is current.

        Raises:
            LedgerViewIncompleteError: The view does not say, or can't be reached.
        """
        ...

    def look_up(self, tenant_id: str, fingerprints: Fingerprints) -> Looked:
        """Return which fingerprints are quarantined, in one round trip, for the tenant or globally.

        Args:
            tenant_id: The tenant of the request, never an entry's own word.
            fingerprints: HMAC-SHA256 fingerprints in lower-case hexadecimal, by the key generation they are of; of
                every generation at hand, the current one among them.

        Raises:
            LedgerViewIncompleteError: The view can't answer for all of them: behind its bound of staleness, flushed,
                partial, malformed, of a generation that was not asked about, evicting, or out of reach.
        """
        ...


@dataclass(frozen=True, slots=True)
class FingerprintKey:
    """One generation of the fingerprint key.

    Attributes:
        generation: The generation's id.
        secret: The HMAC key, at least 32 bytes; kept out of ``repr``.
    """

    generation: str
    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) < MIN_FINGERPRINT_KEY_BYTES:
            raise ConfigurationError(
                f"fingerprint key of generation {self.generation} has {len(self.secret)} bytes, "
                f"at least {MIN_FINGERPRINT_KEY_BYTES} are needed"
            )


class FingerprintKeys(Protocol):
    """The generations of the fingerprint key that this process holds."""

    def current(self) -> FingerprintKey:
        """Return the generation that fingerprints are made with now.

        Raises:
            ConfigurationError: There is none, one is readable to others, or one can't be read as a key.
        """
        ...

    def held(self) -> tuple[FingerprintKey, ...]:
        """Return every generation at hand, ordered by name; nothing is said of which is current.

        Raises:
            ConfigurationError: There is none, one is readable to others, or one can't be read as a key.
        """
        ...

    def all(self) -> tuple[FingerprintKey, ...]:
        """Return every generation at hand, the current one first; two overlap while a rotation is under way.

        Raises:
            ConfigurationError: As ``current``.
        """
        ...

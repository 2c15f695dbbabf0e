"""Where private keys and MAC secrets come from: the operator's key source, never a request.

The contract: a source returns every key it holds for a role, so that old and new overlap while a rotation is under
way; which of them may be used now is the trust target's to say (``TrustTarget.choose_key``). Errors name the place
that was looked at, never what was in it.
"""

from __future__ import annotations

from typing import Protocol

from pratique.contract.signing import Ed25519Signer, MacSigner
from pratique.contract.trust import KeyRole, MacRole


class KeySource(Protocol):
    """The keys that this process may use."""

    def signers(self, role: KeyRole, tenant_id: str | None = None) -> tuple[Ed25519Signer, ...]:
        """Return the Ed25519 keys of a role, a tenant's where one is named; at least one, ordered by key id.

        Raises:
            ConfigurationError: There is none, one is readable to others, or one can't be read as a key.
        """
        ...

    def mac_signers(self, role: MacRole) -> tuple[MacSigner, ...]:
        """Return the MAC keys of an app role; at least one, ordered by key id.

        Raises:
            ConfigurationError: There is none, one is readable to others, or one is shorter than 32 bytes.
        """
        ...

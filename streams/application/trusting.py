"""The trust target that a running app goes by: the newest there is, or the newest there was.

The contract: signatures are checked, and made, under the newest trust target that was ever verified here, also while
the repository is away or its metadata has expired; what expired metadata means for a request is said by pinning
(POLICY_EXPIRED), and saying it must be signed. Where nothing was ever verified, there is nothing to go by: that raises
``PolicyNotLoadedError``, and whoever asked waits.
"""

from __future__ import annotations

from pratique.contract.trust import TrustTarget
from streams.application.ports.policy import PolicyStore
from streams.errors import PolicyError, PolicyExpiredError, PolicyNotLoadedError, PolicyUnavailableError


class LastKnownTrust:
    """Returns the trust target to go by."""

    def __init__(self, store: PolicyStore) -> None:
        self._store = store
        self._known: TrustTarget | None = None

    def __call__(self) -> TrustTarget:
        """Return the newest verified trust target.

        Raises:
            PolicyNotLoadedError: None was ever verified here; wait.
        """
        try:
            self._known = self._store.trust()
        except (PolicyError, PolicyExpiredError, PolicyUnavailableError) as error:
            if self._known is None:
                raise PolicyNotLoadedError(f"no trust target was ever verified here: {error}") from error
        return self._known

"""Fingerprints under several generations of the key: while a rotation is under way, all of them count.

The contract: ``fingerprints`` computes a text's under each generation it is given. ``KeysByView`` is a key source whose
current generation is the one that the ledger's view names, so that a process on whose machine nobody has said so yet
does not go on under the old one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streams.application.ports.quarantine import FingerprintKey, FingerprintKeys, QuarantineView
from streams.domain.recall.fingerprint import fingerprint
from streams.errors import ConfigurationError


def fingerprints(text: str, keys: Sequence[FingerprintKey]) -> Mapping[str, str]:
    """Return a text's fingerprint by key generation.

    Raises:
        MalformedError: There is no text.
    """
    return {key.generation: fingerprint(text, key.secret) for key in keys}


class KeysByView:
    """``FingerprintKeys`` that ask the ledger's view which generation is current.

    Args:
        keys: Where the secrets are.
        view: Who says which is current.
    """

    def __init__(self, keys: FingerprintKeys, view: QuarantineView) -> None:
        self._keys = keys
        self._view = view

    def current(self) -> FingerprintKey:
        """Return the generation that the view names.

        Raises:
            ConfigurationError: Its key is not here, or one can't be read.
            LedgerViewIncompleteError: The view does not say, or can't be reached.
        """
        return self.all()[0]

    def held(self) -> tuple[FingerprintKey, ...]:
        """Return every generation at hand, ordered by name.

        Raises:
            ConfigurationError: There is none, or one can't be read.
        """
        return self._keys.held()

    def all(self) -> tuple[FingerprintKey, ...]:
        """Return every generation at hand, the current one first; raises as ``current`` does."""
        generation = self._view.generation()
        held = {key.generation: key for key in self._keys.held()}
        if generation not in held:
            raise ConfigurationError(f"fingerprint key of the current generation {generation} is not here")
        return (held.pop(generation), *held.values())

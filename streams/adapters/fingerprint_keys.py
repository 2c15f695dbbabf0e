"""The fingerprint key's generations: files, environment variables, and secrets that a KMS has wrapped.

The contract, in order of what is looked at:

- ``<directory>/fingerprint/<generation>.key`` holds a generation's secret in base64, private to its owner;
- ``PRATIQUE_FINGERPRINT_KEYS`` adds items ``<generation>:<base64>`` divided by blanks, where no file can be mounted;
- ``<directory>/fingerprint/<generation>.wrapped`` holds a secret that only a key management service can unwrap
  (``wrapped_keys``); ``PRATIQUE_FINGERPRINT_KMS`` names who asks it, as ``module:function``, or a token's key, as a
  PKCS #11 URI.

``<directory>/fingerprint/current`` names the current one where there are several, and
``PRATIQUE_FINGERPRINT_GENERATION`` goes before that file. They are asked only where there is no view of the ledger that
says which one is current. A request never says which key is used (AID-D-001.005 G001).

Files are read anew at each call, so that a new generation is a matter of putting a small file there; what was
unwrapped once is kept in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pratique.contract.document import SAFE_ID
from pratique.contract.signing import MacSigner
from pratique.errors import ConfigurationError
from pratique.keyfiles import load_mac, parse_mac
from streams.adapters.wrapped_keys import WRAPPED_SUFFIX, KeyUnwrapper
from streams.application.ports.quarantine import FingerprintKey

KEYS_VARIABLE: Final = "PRATIQUE_FINGERPRINT_KEYS"
GENERATION_VARIABLE: Final = "PRATIQUE_FINGERPRINT_GENERATION"
KMS_VARIABLE: Final = "PRATIQUE_FINGERPRINT_KMS"
CURRENT: Final = "current"


def fingerprint_directory(directory: Path) -> Path:
    """Return where the generations' keys lie."""
    return directory / "fingerprint"


class FingerprintKeyFiles:
    """``FingerprintKeys`` over a directory, an environment and a key management service.

    Args:
        directory: The key directory; null where the environment holds all.
        environment: The environment, given rather than read, so that nobody reads it by accident.
    """

    def __init__(self, directory: Path | None, environment: Mapping[str, str]) -> None:
        self._folder = fingerprint_directory(directory) if directory is not None else None
        self._environment = environment
        self._unwrapper = KeyUnwrapper(environment.get(KMS_VARIABLE, ""), KMS_VARIABLE)

    def current(self) -> FingerprintKey:
        """Return the generation that fingerprints are made with where no view says otherwise.

        Raises:
            ConfigurationError: There is none, nothing says which is current, or a file may not be used.
        """
        return self.all()[0]

    def all(self) -> tuple[FingerprintKey, ...]:
        """Return every generation at hand, the current one first.

        Raises:
            ConfigurationError: As ``current``.
        """
        held = {key.generation: key for key in self.held()}
        current = self._stated() or (next(iter(held)) if len(held) == 1 else None)
        if current is None:
            raise ConfigurationError(
                f"{len(held)} generations of the fingerprint key are here, and nothing says which is current: name it "
                f"in {self._folder}/{CURRENT} or {GENERATION_VARIABLE}"
            )
        if current not in held:
            raise ConfigurationError("the current generation of the fingerprint key is not here")
        return (held.pop(current), *held.values())

    def held(self) -> tuple[FingerprintKey, ...]:
        """Return every generation at hand, ordered by name.

        Raises:
            ConfigurationError: There is none, one is there twice, or one can't be read or unwrapped.
        """
        signers = [*self._from_files(), *self._from_environment()]
        found = {signer.key_id: signer.secret for signer in signers}
        if not found:
            raise ConfigurationError(
                f"no fingerprint key here: expected a file in {self._folder} or environment variable {KEYS_VARIABLE}"
            )
        if len(found) != len(signers):
            raise ConfigurationError("fingerprint key: one generation stands for two keys")
        return tuple(FingerprintKey(generation, found[generation]) for generation in sorted(found))

    def _from_files(self) -> list[MacSigner]:
        if self._folder is None:
            return []
        plain = [load_mac(path) for path in sorted(self._folder.glob("*.key"))]
        wrapped = [self._unwrapper.load(path) for path in sorted(self._folder.glob(f"*{WRAPPED_SUFFIX}"))]
        return plain + wrapped

    def _from_environment(self) -> list[MacSigner]:
        where = f"environment variable {KEYS_VARIABLE}"
        signers = []
        for item in self._environment.get(KEYS_VARIABLE, "").split():
            generation, _, encoded = item.partition(":")
            if SAFE_ID.fullmatch(generation) is None:
                raise ConfigurationError(f"{where} holds an item that is not <generation>:<base64>")
            signers.append(parse_mac(encoded.encode("utf-8"), generation, where))
        return signers

    def _stated(self) -> str | None:
        stated = self._environment.get(GENERATION_VARIABLE, "")
        file = self._folder / CURRENT if self._folder is not None else None
        if not stated and file is not None and file.is_file():
            stated = file.read_text("utf-8").strip()
        if stated and SAFE_ID.fullmatch(stated) is None:
            raise ConfigurationError("the current generation of the fingerprint key is no identifier")
        return stated or None

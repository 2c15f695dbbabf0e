"""The fingerprint key's generations: files in a directory, and environment variables for where none can be mounted.

The contract: ``<directory>/fingerprint/<generation>.key`` holds a generation's secret in base64, private to its owner;
``<directory>/fingerprint/current`` names the current one where there are several. ``PRATIQUE_FINGERPRINT_KEYS`` adds
to them items ``<generation>:<base64>`` divided by blanks, and ``PRATIQUE_FINGERPRINT_GENERATION`` goes before the file
``current``. A request never says which key is used (AID-D-001.005 G001).

Files are read anew at each call, so that a rotation is a matter of replacing one small file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pratique.contract.document import SAFE_ID
from pratique.errors import ConfigurationError
from pratique.keyfiles import load_mac, parse_mac
from streams.application.ports.quarantine import FingerprintKey

KEYS_VARIABLE: Final = "PRATIQUE_FINGERPRINT_KEYS"
GENERATION_VARIABLE: Final = "PRATIQUE_FINGERPRINT_GENERATION"
CURRENT: Final = "current"


def fingerprint_directory(directory: Path) -> Path:
    """Return where the generations' keys lie."""
    return directory / "fingerprint"


class FingerprintKeyFiles:
    """``FingerprintKeys`` over a directory and an environment.

    Args:
        directory: The key directory; null where the environment holds all.
        environment: The environment, given rather than read, so that nobody reads it by accident.
    """

    def __init__(self, directory: Path | None, environment: Mapping[str, str]) -> None:
        self._folder = fingerprint_directory(directory) if directory is not None else None
        self._environment = environment

    def current(self) -> FingerprintKey:
        """Return the generation that fingerprints are made with now.

        Raises:
            ConfigurationError: There is none, nothing says which is current, or a file may not be used.
        """
        return self.all()[0]

    def all(self) -> tuple[FingerprintKey, ...]:
        """Return every generation at hand, the current one first.

        Raises:
            ConfigurationError: As ``current``.
        """
        found = self._found()
        current = self._stated() or (next(iter(found)) if len(found) == 1 else None)
        if current is None:
            raise ConfigurationError(
                f"{len(found)} generations of the fingerprint key are here, and nothing says which is current: name it "
                f"in {self._folder}/{CURRENT} or {GENERATION_VARIABLE}"
            )
        if current not in found:
            raise ConfigurationError("the current generation of the fingerprint key is not here")
        others = sorted(set(found) - {current})
        return tuple(FingerprintKey(name, found[name]) for name in [current, *others])

    def _found(self) -> dict[str, bytes]:
        signers = [load_mac(path) for path in sorted(self._folder.glob("*.key"))] if self._folder is not None else []
        where = f"environment variable {KEYS_VARIABLE}"
        for item in self._environment.get(KEYS_VARIABLE, "").split():
            generation, _, encoded = item.partition(":")
            if SAFE_ID.fullmatch(generation) is None:
                raise ConfigurationError(f"{where} holds an item that is not <generation>:<base64>")
            signers.append(parse_mac(encoded.encode("utf-8"), generation, where))
        found = {signer.key_id: signer.secret for signer in signers}
        if not found:
            raise ConfigurationError(f"no fingerprint key here: expected a file in {self._folder} or {where}")
        if len(found) != len(signers):
            raise ConfigurationError("fingerprint key: one generation stands for two keys")
        return found

    def _stated(self) -> str | None:
        stated = self._environment.get(GENERATION_VARIABLE, "")
        file = self._folder / CURRENT if self._folder is not None else None
        if not stated and file is not None and file.is_file():
            stated = file.read_text("utf-8").strip()
        if stated and SAFE_ID.fullmatch(stated) is None:
            raise ConfigurationError("the current generation of the fingerprint key is no identifier")
        return stated or None

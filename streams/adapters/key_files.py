"""The key source: a directory of key files, and environment variables for where no file can be mounted.

The contract: ``<directory>/<role>/<key id>.pem``, or ``<directory>/<role>/<tenant>/<key id>.pem`` for a tenant's, for
Ed25519; ``<directory>/mac/<role>/<key id>.key`` for MAC secrets. ``PRATIQUE_KEY_<ROLE>`` and ``PRATIQUE_MAC_<ROLE>``
add to them: items ``<key id>:<base64>`` divided by blanks, where the base64 is that of the PEM text or of the secret;
a tenant's is ``PRATIQUE_KEY_<ROLE>__<TENANT>``, upper case, with ``_`` for what is no letter or digit. A process is
given the keys of its own role, and the verdict app all MAC keys.

Files are read once, at start; a rotation hands out files and restarts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

from pratique.contract.document import SAFE_ID, strict_base64
from pratique.contract.signing import Ed25519Signer, MacSigner
from pratique.contract.trust import KeyRole, MacRole
from pratique.errors import ConfigurationError
from pratique.keyfiles import load_ed25519, load_mac, parse_ed25519, parse_mac


class _Named(Protocol):
    @property
    def key_id(self) -> str: ...


_Key = TypeVar("_Key", bound=_Named)


def signer_directory(directory: Path, role: KeyRole, tenant_id: str | None = None) -> Path:
    """Return where the Ed25519 keys of a role, or of a tenant in that role, lie."""
    return directory / role.value / tenant_id if tenant_id else directory / role.value


def mac_directory(directory: Path, role: MacRole) -> Path:
    """Return where the MAC keys of an app role lie."""
    return directory / "mac" / role.value


class KeyFiles:
    """A ``KeySource`` over a directory and an environment.

    Args:
        directory: The key directory; null where the environment holds all.
        environment: The environment, given rather than read, so that nobody reads it by accident.
    """

    def __init__(self, directory: Path | None, environment: Mapping[str, str]) -> None:
        self._directory = directory
        self._environment = environment

    def signers(self, role: KeyRole, tenant_id: str | None = None) -> tuple[Ed25519Signer, ...]:
        """Return the Ed25519 keys of a role; see ``KeySource``.

        Raises:
            ConfigurationError: There is none, one is readable to others, or one can't be read as a key.
        """
        if tenant_id is not None and SAFE_ID.fullmatch(tenant_id) is None:
            raise ConfigurationError("tenant id is no identifier of letters, digits, '.', '_', '-'")
        folder = signer_directory(self._directory, role, tenant_id) if self._directory else None
        variable = f"PRATIQUE_KEY_{role.name}"
        if tenant_id is not None:
            variable += "__" + re.sub(r"[^A-Z0-9]", "_", tenant_id.upper())
        keys = [load_ed25519(path) for path in _files(folder, "pem")]
        keys += [parse_ed25519(*item) for item in self._variable(variable)]
        return _at_least_one(keys, f"{role.value} key", folder, variable)

    def mac_signers(self, role: MacRole) -> tuple[MacSigner, ...]:
        """Return the MAC keys of an app role; see ``KeySource``.

        Raises:
            ConfigurationError: There is none, one is readable to others, or one is shorter than 32 bytes.
        """
        folder = mac_directory(self._directory, role) if self._directory else None
        variable = f"PRATIQUE_MAC_{role.name}"
        keys = [load_mac(path) for path in _files(folder, "key")]
        keys += [parse_mac(*item) for item in self._variable(variable, decode=False)]
        return _at_least_one(keys, f"MAC key of role {role.value}", folder, variable)

    def has(self, role: KeyRole | MacRole) -> bool:
        """Tell whether there is a key of a role that is not a tenant's, readable or not."""
        if isinstance(role, MacRole):
            folder = mac_directory(self._directory, role) if self._directory else None
            return bool(_files(folder, "key") or self._environment.get(f"PRATIQUE_MAC_{role.name}"))
        folder = signer_directory(self._directory, role) if self._directory else None
        return bool(_files(folder, "pem") or self._environment.get(f"PRATIQUE_KEY_{role.name}"))

    def _variable(self, name: str, *, decode: bool = True) -> Iterator[tuple[bytes, str, str]]:
        where = f"environment variable {name}"
        for item in self._environment.get(name, "").split():
            key_id, _, encoded = item.partition(":")
            content = strict_base64(encoded) if decode else encoded.encode("utf-8")
            if SAFE_ID.fullmatch(key_id) is None or not content:
                raise ConfigurationError(f"{where} holds an item that is not <key id>:<base64>")
            yield content, key_id, where


def _files(folder: Path | None, ending: str) -> list[Path]:
    return sorted(folder.glob(f"*.{ending}")) if folder is not None and folder.is_dir() else []


def _at_least_one(keys: list[_Key], what: str, folder: Path | None, variable: str) -> tuple[_Key, ...]:
    by_id = {key.key_id: key for key in keys}
    if not keys:
        place = f"a file in {folder} or " if folder is not None else ""
        raise ConfigurationError(f"no {what} here: expected {place}environment variable {variable}")
    if len(by_id) != len(keys):
        raise ConfigurationError(f"{what}: one key id stands for two keys")

    return tuple(sorted(by_id.values(), key=lambda key: key.key_id))

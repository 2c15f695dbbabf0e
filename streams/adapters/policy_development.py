"""A development set: repository, keys and sources for trying things out, made in one go.

The contract: everything below one directory that only its owner can enter. The keys are new and random every time;
none of them is meant to leave the machine. In production the same parts are made one by one, by the people who hold
each role (docs/guide/security-engineer.md).

``<directory>/repository`` TUF repository; ``root.json`` its trusted root; ``source/`` what an operator edits;
``keys/`` the apps' and publishers' keys (``key_files``); ``tuf-keys/`` the repository's roles' keys.
"""

from __future__ import annotations

import base64
import secrets
import shutil
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pratique.contract.canonical import JsonValue
from pratique.contract.trust import EVERY_TENANT, TRUST_SCHEMA_VERSION, KeyRole, MacRole
from pratique.keyfiles import (
    PRIVATE_DIRECTORY_MODE,
    derived_key_id,
    ed25519_pem,
    public_base64,
    write_private_file,
)
from streams.adapters.fingerprint_keys import fingerprint_directory
from streams.adapters.key_files import mac_directory, signer_directory
from streams.adapters.policy_source import read_json, read_source, write_json
from streams.adapters.tuf_keys import TufKeys
from streams.adapters.tuf_layout import Lifetimes, Published
from streams.adapters.tuf_repository import TufRepository
from streams.domain.policy.documents import MIN_DEADLINE_MS
from streams.domain.policy.model import PolicySet
from streams.domain.policy.publication import ScannerIdentity, prepare
from streams.errors import ConfigurationError

DEVELOPMENT_TENANTS: Final = ("tenant-a", "tenant-b")
KEY_LIFETIME: Final = timedelta(days=365)
CLOCK_SKEW: Final = timedelta(minutes=5)
"""How long before their making the keys are valid, for clocks that differ."""

FIRST_GENERATION: Final = "g1"
"""The first generation of the fingerprint key."""

TENANT_ROLES: Final = (KeyRole.PUBLISHER, KeyRole.LOADER, KeyRole.COMMITMENT_SIGNER, KeyRole.TENANT_CURATOR)
SERVICE_ROLES: Final = (KeyRole.GATE, KeyRole.GLOBAL_CURATOR)


@dataclass(frozen=True, slots=True)
class DevelopmentSet:
    """Where the parts of a development set lie, and what was published."""

    directory: Path
    policy_set: PolicySet
    published: Published

    @property
    def repository(self) -> Path:
        """The TUF repository."""
        return self.directory / "repository"

    @property
    def root(self) -> Path:
        """The trusted root metadata, for everyone who reads the repository."""
        return self.directory / "root.json"

    @property
    def source(self) -> Path:
        """What an operator edits."""
        return self.directory / "source"

    @property
    def keys(self) -> Path:
        """The apps' and publishers' keys."""
        return self.directory / "keys"

    @property
    def tuf_keys(self) -> Path:
        """The keys of the repository's roles."""
        return self.directory / "tuf-keys"


def init_development(
    directory: Path,
    source: Path,
    scanner: ScannerIdentity,
    now_ms: int,
    *,
    tenants: tuple[str, ...] = DEVELOPMENT_TENANTS,
    lifetimes: Lifetimes | None = None,
    min_deadline_ms: int = MIN_DEADLINE_MS,
    grammar: Path | None = None,
) -> DevelopmentSet:
    """Make a development set.

    Args:
        directory: Where; it must not hold one already.
        source: The policy source that it starts from; it is copied, its trust target made anew.
        scanner: The scanner that the scan policy pins.
        now_ms: Now, in milliseconds since the epoch.
        tenants: Tenants that get keys and a delegated role.
        lifetimes: How long metadata is valid.
        min_deadline_ms: Shortest accepted deadline.
        grammar: A grammar to put into the copied source in place of its own; its own where null.

    Raises:
        ConfigurationError: There is a set already, the source lacks a file, or something can't be written.
        PolicyError: The source says something it may not.
    """
    if directory.exists() and any(directory.iterdir()):
        raise ConfigurationError(f"{directory} is not empty: name another directory, or remove it first")
    chosen = None if grammar is None else read_json(grammar)
    read = read_source(source)
    if chosen is not None:
        read = replace(read, grammar=chosen)
    prepare(read, scanner, min_deadline_ms=min_deadline_ms)  # refuse before anything is made
    try:
        directory.mkdir(mode=PRIVATE_DIRECTORY_MODE, parents=True, exist_ok=True)
        shutil.copytree(source, directory / "source", dirs_exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"{directory} can't be written: {error.strerror}") from None
    if chosen is not None:
        write_json(directory / "source" / "grammar.json", chosen)
    write_json(directory / "source" / "trust.json", make_keys(directory / "keys", tenants, now_ms))
    publication = prepare(read_source(directory / "source"), scanner, min_deadline_ms=min_deadline_ms)
    repository = TufRepository(directory / "repository", TufKeys(directory / "tuf-keys"), lifetimes)
    everyone = tuple(sorted({*tenants, *publication.tenants}))
    (directory / "root.json").write_bytes(repository.create(now_ms, tenants=everyone))
    return DevelopmentSet(directory, publication.policy_set, repository.publish(publication.targets, now_ms))


def make_key(directory: Path, role: KeyRole, tenant_id: str | None) -> tuple[str, str]:
    """Make a new Ed25519 key, keep it in a file, and return its id and its public key in base64.

    Raises:
        ConfigurationError: The file can't be written.
    """
    key = Ed25519PrivateKey.generate()
    prefix = role.value.replace("_", "-") + (f"-{tenant_id}" if tenant_id else "")
    key_id = derived_key_id(prefix, key.public_key().public_bytes_raw())
    write_private_file(signer_directory(directory, role, tenant_id) / f"{key_id}.pem", ed25519_pem(key))
    return key_id, public_base64(key)


def make_keys(directory: Path, tenants: tuple[str, ...], now_ms: int) -> JsonValue:
    """Make new keys for every role, keep them in files, and return the trust target that names them.

    Args:
        directory: The key directory.
        tenants: Tenants that get keys of their own.
        now_ms: Now, in milliseconds since the epoch.

    Raises:
        ConfigurationError: A file can't be written.
    """
    period = {
        "not_before_ms": now_ms - int(CLOCK_SKEW.total_seconds() * 1000),
        "expires_ms": now_ms + int(KEY_LIFETIME.total_seconds() * 1000),
    }
    keys: list[JsonValue] = []
    for role, tenant_id in [(role, None) for role in SERVICE_ROLES] + [
        (role, tenant) for tenant in tenants for role in TENANT_ROLES
    ]:
        key_id, public = make_key(directory, role, tenant_id)
        keys.append(
            {
                "key_id": key_id,
                "algorithm": "ed25519",
                "public": public,
                "roles": [role.value],
                "tenants": [tenant_id] if tenant_id else EVERY_TENANT,
                **period,
            }
        )
    mac_keys: list[JsonValue] = []
    for mac_role in MacRole:
        key_id = f"mac-{mac_role.value}-{secrets.token_hex(4)}"
        secret = base64.b64encode(secrets.token_bytes(32))
        write_private_file(mac_directory(directory, mac_role) / f"{key_id}.key", secret + b"\n")
        mac_keys.append({"key_id": key_id, "role": mac_role.value, **period})
    secret = base64.b64encode(secrets.token_bytes(32))
    write_private_file(fingerprint_directory(directory) / f"{FIRST_GENERATION}.key", secret + b"\n")
    return {"schema_version": TRUST_SCHEMA_VERSION, "revision": 1, "keys": keys, "mac_keys": mac_keys}

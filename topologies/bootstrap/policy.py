"""Policy, wired: the store and keys for apps, and the write side for the command line.

The contract: every path and moment is an argument; nothing is read at import. Errors are those of what is wired.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from pratique.contract.trust import KeyRole
from pratique.policy.client import PolicyReader
from streams.adapters.detectors import STANDARD, load_detectors
from streams.adapters.key_files import KeyFiles, signer_directory
from streams.adapters.policy_development import CLOCK_SKEW, DevelopmentSet, init_development, make_key
from streams.adapters.policy_source import read_json, read_source, write_json
from streams.adapters.policy_verify import Verified, verify_repository
from streams.adapters.system_clock import SystemClock
from streams.adapters.tuf_keys import TufKeys
from streams.adapters.tuf_layout import Published, Rotated
from streams.adapters.tuf_repository import TufRepository
from streams.adapters.tuf_store import TufPolicyStore
from streams.domain.compaction.compiler import compile_grammar
from streams.domain.policy.commitments import sign_commitments
from streams.domain.policy.documents import MIN_DEADLINE_MS
from streams.domain.policy.expiries import Expiry
from streams.domain.policy.publication import (
    Publication,
    ScannerIdentity,
    author_snapshot,
    prepare,
    refuse_older_trust,
)
from streams.domain.policy.signer_rotation import SignerRotation, rotated_signer
from streams.domain.scanning.manifest import ScannerManifest
from streams.errors import ConfigurationError

__all__ = [
    "CLOCK_SKEW",
    "DevelopmentSet",
    "Publication",
    "Published",
    "Rotated",
    "ScannerIdentity",
    "Verified",
    "create_development_set",
    "installed_scanner",
    "key_source",
    "policy_reader",
    "policy_store",
    "publish_policy",
    "rotate_role",
    "rotate_signer",
    "sign_task_commitments",
    "verify_policy",
    "warnings",
]

_HOUR_MS: Final = 60 * 60 * 1000


def policy_reader(repository: str, root: Path, state: Path) -> PolicyReader:
    """Return the reader of a policy repository.

    Args:
        repository: A directory, or an http(s) URL.
        root: File with the trusted root metadata, handed over by the security engineer.
        state: Directory that verified metadata is kept in.

    Raises:
        ConfigurationError: The root can't be read.
    """
    return PolicyReader(repository, _root(root), state, SystemClock().wall_ms)


def policy_store(
    repository: str, root: Path, state: Path, *, refresh_ms: int, min_deadline_ms: int = MIN_DEADLINE_MS
) -> TufPolicyStore:
    """Return the policy store of an app; arguments as ``policy_reader`` and ``TufPolicyStore``.

    Raises:
        ConfigurationError: The root can't be read.
    """
    clock = SystemClock().wall_ms
    reader = policy_reader(repository, root, state)
    return TufPolicyStore(reader, clock, refresh_ms=refresh_ms, min_deadline_ms=min_deadline_ms)


def key_source(directory: Path | None, environment: Mapping[str, str] | None = None) -> KeyFiles:
    """Return the key source over a directory and the environment (this process's, where none is given)."""
    return KeyFiles(directory, os.environ if environment is None else environment)


def installed_scanner(factory: str = STANDARD) -> ScannerIdentity:
    """Return the identity of the scanner that is installed here; loading it takes seconds.

    Raises:
        ConfigurationError: There is no such detector set.
    """
    manifest = ScannerManifest.of([detector.manifest for detector in load_detectors(factory)])
    return ScannerIdentity(manifest.scanner_version, manifest.scanner_sha256)


def create_development_set(
    directory: Path,
    source: Path,
    *,
    tenants: tuple[str, ...],
    scanner: ScannerIdentity | None = None,
    min_deadline_ms: int = MIN_DEADLINE_MS,
    grammar: Path | None = None,
) -> DevelopmentSet:
    """Make a development set now, pinning the installed scanner where none is named; see ``init_development``.

    Raises:
        ConfigurationError: There is a set already, the source lacks a file, or something can't be written.
        PolicyError: The source says something it may not.
    """
    return init_development(
        directory,
        source,
        scanner or installed_scanner(),
        SystemClock().wall_ms(),
        tenants=tenants,
        min_deadline_ms=min_deadline_ms,
        grammar=grammar,
    )


def publish_policy(
    repository: Path,
    tuf_keys: Path,
    source: Path | None,
    *,
    scanner: ScannerIdentity | None = None,
    new_tenants: tuple[str, ...] = (),
    min_deadline_ms: int = MIN_DEADLINE_MS,
) -> tuple[Publication | None, Published]:
    """Publish a source now, or only renew what is half way to its expiry.

    Args:
        repository: The TUF repository's directory.
        tuf_keys: The roles' keys.
        source: The source directory; null to renew only.
        scanner: The scanner that the scan policy pins where it does not say itself; the installed one where null.
        new_tenants: Tenants that get a delegated role first.
        min_deadline_ms: Shortest accepted deadline.

    Raises:
        ConfigurationError: A file or key is missing, or a tenant with commitments has no role.
        PolicyError: The source says something it may not, or its trust target is not newer than the published one.
        PolicyUnavailableError: The repository can't be read as one, or does not verify.
    """
    tuf = TufRepository(repository, TufKeys(tuf_keys))
    now_ms = SystemClock().wall_ms()
    publication = None
    if source is not None:
        read = read_source(source)
        publication = prepare(read, scanner or installed_scanner(), min_deadline_ms=min_deadline_ms)
        compile_grammar(publication.policy_set.grammar)  # a grammar that workers would refuse is never published
        strangers = sorted(set(publication.tenants) - set(tuf.tenants()) - set(new_tenants))
        if strangers:
            raise ConfigurationError(
                f"tenant {strangers[0]} has standing commitments but no role: publish with --add-tenant {strangers[0]}"
            )
    targets = publication.targets if publication else {}
    tuf.check(targets, refuse_older_trust)  # before a tenant is added; it is asked again under the lock
    for tenant_id in new_tenants:
        tuf.add_tenant(tenant_id, now_ms)
    return publication, tuf.publish(targets, now_ms, judge=refuse_older_trust)


def rotate_role(repository: Path, tuf_keys: Path, role: str) -> tuple[Rotated, tuple[Path, ...]]:
    """Replace a role's keys now, and put the files of the old ones aside.

    Args:
        repository: The TUF repository's directory.
        tuf_keys: The roles' keys; the new ones are written here.
        role: The role.

    Returns:
        What it came to, and where the old keys' files are now.

    Raises:
        ConfigurationError: There is no such role, a key that is needed is not at hand, or a file can't be written.
        PolicyUnavailableError: The repository can't be read as one, or does not verify.
    """
    keys = TufKeys(tuf_keys)
    rotated = TufRepository(repository, keys).rotate(role, SystemClock().wall_ms())
    return rotated, keys.put_aside(role, rotated.revoked)


def rotate_signer(
    source: Path, keys: Path, tenant_id: str, *, begins_in: timedelta, overlap: timedelta | None
) -> tuple[SignerRotation, Path]:
    """Replace a tenant's commitment signer in a policy source, from now on; nothing is published.

    Args:
        source: The source directory.
        keys: The key directory; the new key is written here.
        tenant_id: The tenant.
        begins_in: How long until the new key signs; ``-CLOCK_SKEW`` for at once, whatever a reader's clock says.
        overlap: How long after that the old ones' signatures count; null takes them out at once.

    Returns:
        What it came to, and the new key's file.

    Raises:
        ConfigurationError: There is no such signer, or a file can't be read or written.
        PolicyError: The source's trust target is none.
    """
    path = source / "trust.json"
    trust = read_json(path)
    now_ms = SystemClock().wall_ms()

    def rotated(key_id: str, public: str) -> SignerRotation:
        return rotated_signer(
            trust,
            tenant_id,
            key_id,
            public,
            now_ms=now_ms,
            begins_ms=now_ms + _ms(begins_in),
            overlap_ms=None if overlap is None else _ms(overlap),
        )

    rotated("none", _NO_KEY)  # refuse before a key is made
    key_id, public = make_key(keys, KeyRole.COMMITMENT_SIGNER, tenant_id)
    rotation = rotated(key_id, public)
    write_json(path, rotation.document)
    return rotation, signer_directory(keys, KeyRole.COMMITMENT_SIGNER, tenant_id) / f"{key_id}.pem"


_NO_KEY: Final = base64.b64encode(bytes(32)).decode("ascii")


def _ms(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)


def verify_policy(repository: str, root: Path, *, min_deadline_ms: int = MIN_DEADLINE_MS) -> Verified:
    """Check all of a repository now; see ``verify_repository``.

    Raises:
        PolicyExpiredError: The metadata is past its expiry.
        PolicyUnavailableError: Metadata does not verify, or a target's bytes are not those of its metadata.
        PolicyError: A document says something it may not.
        PolicyNotLoadedError: The repository is out of reach.
        ConfigurationError: The root can't be read, or is no root metadata.
    """
    return verify_repository(repository, _root(root), SystemClock().wall_ms, min_deadline_ms=min_deadline_ms)


def warnings(expiries: Iterable[Expiry]) -> list[str]:
    """Return a line for everything that ends soon by the clock of this machine, and what to do about it."""
    now_ms = SystemClock().wall_ms()
    lines: list[str] = []
    for expiry in expiries:
        if expiry.is_soon(now_ms):
            left = expiry.at_ms - now_ms
            when = f"in {left // _HOUR_MS} h" if left > 0 else "now"
            remedy = (
                "`pratique policy publish --renew-only` where its key is"
                if expiry.what.startswith("role ")
                else "publish a trust target with a new key beside it"
            )
            lines.append(f"{expiry.what} end{'s' if expiry.what.startswith('role ') else ''} {when}: {remedy}")
    return lines


def sign_task_commitments(
    store: TufPolicyStore,
    keys: KeyFiles,
    commitments: Path,
    *,
    tenant_id: str,
    task_id: str,
    policy_id: str,
    valid_for: timedelta,
) -> bytes:
    """Return the signed envelope that states a task's commitments under the newest policy, from now on.

    Args:
        store: Where the newest policy and the trust target are read.
        keys: Where the tenant's commitment signer's key is.
        commitments: Source file, of the form of a tenant's standing commitments.
        tenant_id: The tenant.
        task_id: The one task.
        policy_id: The policy.
        valid_for: How long.

    Raises:
        ConfigurationError: The file or the key is missing.
        PolicyError: The file says something it may not, or there is no such policy.
        SignerNotAuthorisedError: The trust target authorises none of the keys for this.
        PolicyExpiredError: As ``PolicyStore.pin``.
        PolicyUnavailableError: As ``PolicyStore.pin``.
        PolicyNotLoadedError: As ``PolicyStore.pin``.
    """
    now_ms = SystemClock().wall_ms()
    signers = {signer.key_id: signer for signer in keys.signers(KeyRole.COMMITMENT_SIGNER, tenant_id)}
    chosen = store.trust().choose_key(signers, KeyRole.COMMITMENT_SIGNER, tenant_id, now_ms)
    policy_sha256 = store.newest(policy_id).compaction.policy_sha256
    return sign_commitments(
        author_snapshot(read_json(commitments), policy_sha256),
        signers[chosen],
        tenant_id=tenant_id,
        task_id=task_id,
        not_before_ms=now_ms,
        expires_ms=now_ms + int(valid_for.total_seconds() * 1000),
    )


def _root(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"trusted root {path} can't be read: {error.strerror}; the security engineer hands it over"
        ) from None

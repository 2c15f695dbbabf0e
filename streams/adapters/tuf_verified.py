"""A policy repository's metadata, read by its publisher as a reader reads it: nothing unverified is ever signed anew.

The contract: trust begins with a root that lies outside the served directory (``TufKeys.trusted_root``, or the
``root.json`` that ``policy init`` put beside the repository), goes from root to root, and from the newest root to
timestamp, snapshot, targets and the roles that targets delegates: by signature, version, length and digest. The
timestamp is held against the one that was written here last (``TufKeys.last_timestamp``), as long as its key counts: a
copy of earlier days is none to renew. Target files are held against the verified metadata. Whoever can write the
served directory, and holds no key, can so have nothing signed that its owners did not sign. What is expired is read
all the same, since its owner has to renew it.

Roles further down, which another role delegates, are its holder's; they are neither read nor signed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from securesystemslib.exceptions import StorageError
from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, T, TargetFile, Targets, Timestamp

from streams.adapters.tuf_keys import TufKeys
from streams.errors import ConfigurationError, PolicyUnavailableError

RESTORE: Final = "nothing was signed; find out who can write there, and restore the repository from a copy"


@dataclass(slots=True)
class RepositoryState:
    """What a repository says, verified.

    Attributes:
        targets: ``targets`` and the roles that it delegates, by name.
        changed: Those of them that have to be signed anew.
        stale: Roles of the top level that a rotation which broke off left signed by their old keys.
    """

    root: Root
    timestamp: Timestamp
    snapshot: Snapshot
    targets: dict[str, Targets]
    changed: set[str] = field(default_factory=set)
    stale: frozenset[str] = frozenset()

    def role_of(self, path: str) -> str:
        """Return the role that signs a target."""
        delegations = self.targets[Targets.type].delegations
        if delegations is not None:
            for name, _ in delegations.get_roles_for_target(path):
                return name
        return Targets.type

    def named(self) -> dict[str, TargetFile]:
        """Return every target that a reader would find, by its path: a role's words about others' paths are none."""
        return {
            path: target
            for role, signed in self.targets.items()
            for path, target in signed.targets.items()
            if self.role_of(path) == role
        }


def metadata_path(metadata: Path, role: str, version: int) -> Path:
    """Return where a version of a role's metadata lies."""
    return metadata / (f"{role}.json" if role == Timestamp.type else f"{version}.{role}.json")


def verified_state(directory: Path, keys: TufKeys) -> RepositoryState:
    """Return what a repository's newest metadata says.

    Args:
        directory: The repository.
        keys: The roles' keys, and the root that trust begins with.

    Raises:
        ConfigurationError: There is no root to begin with, or it is none.
        PolicyUnavailableError: The metadata can't be read, or does not verify.
    """
    metadata = directory / "metadata"
    if not metadata_path(metadata, Timestamp.type, 0).exists():
        raise PolicyUnavailableError(f"{metadata} holds no policy repository; run `policy init` first")
    root, content, previous = _newest_root(metadata, _trusted_root(directory, keys))
    # A rotation of ours that broke off after its root: what that root's predecessor verifies is to be signed anew.
    judges = [root] if previous is None or keys.pending_root() != content else [root, previous]
    stale: set[str] = set()

    def read(kind: type[T], role: str, expected: MetaFile | None) -> T:
        path = metadata_path(metadata, role, expected.version if expected else 0)
        found = _bytes(path)
        if expected is not None:
            _held(path, expected, found)
        parsed = _parsed(kind, path, found)
        if expected is not None and parsed.signed.version != expected.version:
            raise _unverified(path, f"says version {parsed.signed.version}, expected {expected.version}")
        if not any(_signed_for(judge, role, parsed) for judge in judges):
            raise _unverified(path, f"is not signed by as many keys of role {role} as the newest root wants")
        if not _signed_for(root, role, parsed):
            stale.add(role)
        return parsed.signed

    timestamp = read(Timestamp, Timestamp.type, None)
    _no_older(timestamp, metadata_path(metadata, Timestamp.type, 0), keys.last_timestamp, judges)
    snapshot = read(Snapshot, Snapshot.type, timestamp.snapshot_meta)
    top = read(Targets, Targets.type, _vouched(snapshot, Targets.type, metadata))
    targets = {Targets.type: top}
    for role in top.delegations.roles or {} if top.delegations else {}:
        expected = _vouched(snapshot, role, metadata)
        path = metadata_path(metadata, role, expected.version)
        found = _bytes(path)
        _held(path, expected, found)
        delegated = _parsed(Targets, path, found)
        if delegated.signed.version != expected.version:
            raise _unverified(path, f"says version {delegated.signed.version}, expected {expected.version}")
        if not _signed_for(top, role, delegated):
            raise _unverified(path, f"is not signed by as many keys of role {role} as targets wants")
        targets[role] = delegated.signed
    return RepositoryState(root, timestamp, snapshot, targets, stale & set(targets), frozenset(stale))


def verify_target_files(state: RepositoryState, targets: Path, offered: Mapping[str, bytes]) -> None:
    """Hold every target's file against its metadata.

    Args:
        state: What the metadata says.
        targets: Where the files lie.
        offered: What is about to be published, by path: a file that it brings is written anew, so it may be amiss.

    Raises:
        PolicyUnavailableError: A file is missing, or is not what its metadata describes.
    """
    for path, target in sorted(state.named().items()):
        if path in offered and _is(target, offered[path]):
            continue
        target_content(targets, target)


def target_content(targets: Path, target: TargetFile) -> bytes:
    """Return a published target's bytes, verified.

    Raises:
        PolicyUnavailableError: Its file is missing, or is not what its metadata describes.
    """
    content = b""
    for prefixed in target.get_prefixed_paths():
        content = _bytes(targets / prefixed)
        if not _is(target, content):
            raise _unverified(targets / prefixed, "is not of the length and digest that its metadata states")
    return content


def _trusted_root(directory: Path, keys: TufKeys) -> Metadata[Root]:
    beside = directory.parent / "root.json"
    path = keys.trusted_root if keys.trusted_root.exists() else beside
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"the root that trust in {directory} begins with can't be read: {error.strerror}; expected it in"
            f" {keys.trusted_root} or {beside}: put root.json of `policy init`, which readers have, there"
        ) from None
    try:
        trusted = _parsed(Root, path, content)
    except PolicyUnavailableError:
        trusted = None
    if trusted is None or not _signed_for(trusted.signed, Root.type, trusted):
        raise ConfigurationError(f"{path} is no signed root metadata: put root.json of `policy init` there")
    return trusted


def _no_older(timestamp: Timestamp, path: Path, kept: Path, judges: list[Root]) -> None:
    try:
        content = kept.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigurationError(f"{kept} can't be read: {error.strerror}") from None
    try:
        last = _parsed(Timestamp, kept, content)
    except PolicyUnavailableError:
        raise ConfigurationError(f"{kept} is no timestamp metadata: it was changed; remove it") from None
    if not any(_signed_for(judge, Timestamp.type, last) for judge in judges):
        return  # its key was replaced, and with it what it said, as for readers
    if timestamp.version < last.signed.version or (timestamp.snapshot_meta.version < last.signed.snapshot_meta.version):
        raise _unverified(
            path,
            f"says version {timestamp.version}, and {last.signed.version} was published from here: the repository is"
            f" older than it was (where you put that copy there yourself, remove {kept}, and rotate snapshot and"
            " timestamp)",
        )


def _newest_root(metadata: Path, trusted: Metadata[Root]) -> tuple[Root, bytes, Root | None]:
    """Return the newest root, its file's bytes, and the root before it."""
    versions = sorted(
        int(number)
        for path in metadata.glob("*.root.json")
        if (number := path.name.removesuffix(".root.json")).isascii() and number.isdigit()
    )
    if trusted.signed.version not in versions:
        raise _unverified(metadata, f"lacks root version {trusted.signed.version}, which was trusted before")
    previous: Root | None = None
    newest, content = trusted.signed, b""
    for position, version in enumerate(versions):
        path = metadata_path(metadata, Root.type, version)
        content = _bytes(path)
        root = _parsed(Root, path, content)
        if root.signed.version != version or version != versions[0] + position:
            raise _unverified(path, f"says version {root.signed.version}, expected {versions[0] + position}")
        if not _signed_for(root.signed, Root.type, root):
            raise _unverified(path, "is not signed by as many of its own root keys as it wants")
        if position and not _signed_for(newest, Root.type, root):
            raise _unverified(path, "is not signed by as many root keys as the root before it wants")
        if version == trusted.signed.version and root.signed_bytes != trusted.signed_bytes:
            raise _unverified(path, f"is another root than the one of version {version} that was trusted before")
        previous, newest = newest if position else None, root.signed
    return newest, content, previous


def _vouched(snapshot: Snapshot, role: str, metadata: Path) -> MetaFile:
    expected = snapshot.meta.get(f"{role}.json")
    if expected is None:
        raise _unverified(metadata_path(metadata, Snapshot.type, snapshot.version), f"does not name role {role}")
    return expected


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unverified(path, f"can't be read ({error.strerror})") from None


def _parsed(kind: type[T], path: Path, content: bytes) -> Metadata[T]:
    try:
        parsed = Metadata[T].from_bytes(content)
    except RepositoryError:
        raise _unverified(path, "is no TUF metadata") from None
    if not isinstance(parsed.signed, kind):
        raise _unverified(path, f"is no {kind.type} metadata")
    return parsed


def _held(path: Path, expected: MetaFile, content: bytes) -> None:
    try:
        expected.verify_length_and_hashes(content)
    except RepositoryError:
        raise _unverified(path, "is not of the length and digest that the metadata above it states") from None


def _is(target: TargetFile, content: bytes) -> bool:
    try:
        target.verify_length_and_hashes(content)
    except (RepositoryError, StorageError):
        return False
    return True


def _signed_for(delegator: Root | Targets, role: str, parsed: Metadata[T]) -> bool:
    try:
        delegator.verify_delegate(role, parsed.signed_bytes, parsed.signatures)
    except (RepositoryError, ValueError):
        return False
    return True


def _unverified(path: Path, found: str) -> PolicyUnavailableError:
    return PolicyUnavailableError(f"{path} {found}; {RESTORE}")

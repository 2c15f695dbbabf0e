"""The write side of policy distribution: a TUF repository in a directory.

The contract: python-tuf's Metadata API, consistent snapshots, one role per concern:

- ``root``, ``targets``, ``snapshot``, ``timestamp``: the top level; ``targets`` signs the trust target, the set maps,
  the pointers to the newest sets, compaction policies and grammars;
- ``safety-invariants`` (``invariants/*``), ``scan-policy`` (``scan/*``), ``recall-policy`` (``recall/*``), and
  ``tenant-<tenant>`` (``tenants/<tenant>/*``): delegated, terminating.

Targets are only ever added: old sets stay published, so that publishing a new one leaves what is in flight alone.
A publication writes targets, then roles, then snapshot, then timestamp, each file whole; one that broke off leaves the
repository as it was, since nothing it wrote is named by the timestamp. Time is an argument.

What lies in the directory is verified as a reader verifies it before any of it is signed anew (``tuf_verified``).

Not done here: deciding what a document may say (``streams.domain.policy``), and serving the directory.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path

from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import (
    DelegatedRole,
    Delegations,
    Metadata,
    MetaFile,
    Role,
    Root,
    Signed,
    Snapshot,
    T,
    TargetFile,
    Targets,
    Timestamp,
)
from tuf.api.serialization.json import JSONSerializer

from streams.adapters.tuf_keys import TufKeys
from streams.adapters.tuf_layout import (
    DELEGATED_PATHS,
    PUBLIC_FILE_MODE,
    TOP_LEVEL,
    Lifetimes,
    Published,
    RoleKeys,
    Rotated,
    tenant_role,
    write_whole,
)
from streams.adapters.tuf_verified import (
    RepositoryState,
    metadata_path,
    target_content,
    verified_state,
    verify_target_files,
)
from streams.errors import ConfigurationError, PolicyUnavailableError

Judge = Callable[[str, bytes, bytes], None]
"""What may refuse a target: by its path, what is published there, and what is to be."""


class TufRepository:
    """A repository that policy is published to.

    Args:
        directory: The repository; ``metadata`` and ``targets`` are made in it.
        keys: The roles' keys.
        lifetimes: How long metadata is valid once signed.
    """

    def __init__(self, directory: Path, keys: TufKeys, lifetimes: Lifetimes | None = None) -> None:
        self._metadata = directory / "metadata"
        self._targets = directory / "targets"
        self._directory = directory
        self._keys = keys
        self._lifetimes = lifetimes or Lifetimes()

    def create(
        self,
        now_ms: int,
        *,
        tenants: tuple[str, ...] = (),
        role_keys: Mapping[str, RoleKeys] | None = None,
    ) -> bytes:
        """Make a new repository without targets, and new keys for all its roles.

        Args:
            now_ms: Now, in milliseconds since the epoch.
            tenants: Tenants that get a delegated role.
            role_keys: Number of keys and threshold, for roles that shall not have one of one.

        Returns:
            The root metadata to hand to everyone who reads the repository: their trust begins with it.

        Raises:
            ConfigurationError: There is a repository already, a tenant's id is not safe, or a file can't be written.
        """
        wanted = role_keys or {}
        with self._locked():
            if (self._metadata / "timestamp.json").exists():
                raise ConfigurationError(f"{self._directory} holds a policy repository already; publish to that one")
            root = Root(consistent_snapshot=True)
            for role in TOP_LEVEL:
                count = wanted.get(role, RoleKeys())
                for _ in range(count.keys):
                    root.add_key(self._keys.generate(role).public_key, role)
                root.roles[role].threshold = count.threshold
            targets = Targets(delegations=Delegations({}, {}))
            state = RepositoryState(root, Timestamp(), Snapshot(), {Targets.type: targets})
            for top in (root, state.timestamp, state.snapshot, targets):
                top.version = 0  # its first signature makes it 1
            for role, pattern in DELEGATED_PATHS.items():
                self._delegate(state, role, pattern, wanted.get(role, RoleKeys()))
            for tenant_id in tenants:
                self._add_tenant(state, tenant_id, wanted.get(tenant_role(tenant_id), RoleKeys()))
            for name, signed in state.targets.items():
                self._write(name, signed, now_ms, self._delegator(state, name))
            self._write_root(state.root, now_ms, previous=None)
            state.changed = set(state.targets)
            self._finish(state, now_ms)
            return self._path(Root.type, state.root.version).read_bytes()

    def check(self, targets: Mapping[str, bytes], judge: Judge) -> None:
        """Verify the repository, and ask whether targets may be published; nothing is written.

        Raises:
            ConfigurationError: There is no root that trust begins with.
            PolicyUnavailableError: The repository can't be read as one, or does not verify.
        """
        with self._locked():
            self._judge(self._load(targets), targets, judge)

    def publish(self, targets: Mapping[str, bytes], now_ms: int, *, judge: Judge | None = None) -> Published:
        """Add targets, sign what changed or is half way to its expiry, and renew the timestamp.

        Args:
            targets: Content by path; none to renew only.
            now_ms: Now, in milliseconds since the epoch.
            judge: What is asked of every target that is published with other content, before anything is signed.

        Raises:
            ConfigurationError: A key that is needed is not at hand, or a file can't be written.
            PolicyUnavailableError: The repository can't be read as one, or does not verify.
        """
        with self._locked():
            if judge is not None:
                self._judge(self._load(targets), targets, judge)
            state = self._settled(now_ms, targets)
            added = [path for path, content in sorted(targets.items()) if self._add(state, path, content)]
            self._renew(state, now_ms)
            for role in sorted(state.changed):
                self._write(role, state.targets[role], now_ms, self._delegator(state, role))
            signed = tuple(sorted(state.changed))
            self._finish(state, now_ms)
            return Published(
                version=state.snapshot.version,
                expires_at_ms=int(state.timestamp.expires.timestamp() * 1000),
                added=tuple(added),
                signed=signed,
            )

    def add_tenant(self, tenant_id: str, now_ms: int) -> None:
        """Delegate a tenant's paths to a new role with a new key.

        Raises:
            ConfigurationError: It has a role already, its id is not safe, or a key that is needed is not at hand.
            PolicyUnavailableError: The repository can't be read as one, or does not verify.
        """
        with self._locked():
            state = self._settled(now_ms)
            if tenant_role(tenant_id) in state.targets:
                raise ConfigurationError(f"tenant {tenant_id} has a role already")
            self._add_tenant(state, tenant_id, RoleKeys())
            for role in (tenant_role(tenant_id), Targets.type):
                self._write(role, state.targets[role], now_ms, self._delegator(state, role))
                state.changed.add(role)
            self._finish(state, now_ms)

    def rotate(self, role: str, now_ms: int) -> Rotated:
        """Give a role as many new keys as it has in place of them, and sign with them what that role signs.

        From then on nothing counts that the old keys sign: a revocation is a rotation. A root is signed by its old and
        its new keys, so that readers follow it. The old key files stay where they are (``TufKeys.put_aside``). Nothing
        is written where a key is missing that has to sign.

        Raises:
            ConfigurationError: There is no such role, or a key that is needed is not at hand.
            PolicyUnavailableError: The repository can't be read as one, or does not verify.
        """
        with self._locked():
            state = self._settled(now_ms)
            previous = deepcopy(state.root)
            delegator = self._delegator(state, role)
            revoked = tuple(self._role(delegator, role).keyids)
            for needed in ({Root.type} if delegator is state.root else {Targets.type}) | {
                Snapshot.type,
                Timestamp.type,
            }:
                if needed != role or role == Root.type:
                    self._at_hand(needed, state.root)
            added: list[str] = []
            for key_id in revoked:
                delegator.revoke_key(key_id, role)
                key = self._keys.generate(role).public_key
                delegator.add_key(key, role)
                added.append(key.keyid)
            if delegator is state.root:
                self._write_root(state.root, now_ms, previous=previous)
            else:
                state.changed.add(Targets.type)
            if role in state.targets:
                state.changed.add(role)
            for name in sorted(state.changed):
                self._write(name, state.targets[name], now_ms, self._delegator(state, name))
            # A snapshot signed by a key that was replaced no longer verifies: sign it anew in any case.
            self._finish(state, now_ms, force_snapshot=role == Snapshot.type)
            return Rotated(role, tuple(added), revoked, state.snapshot.version, state.root.version)

    def tenants(self) -> tuple[str, ...]:
        """Return the tenants that have a role.

        Raises:
            ConfigurationError: There is no root that trust begins with.
            PolicyUnavailableError: The repository can't be read as one, or does not verify.
        """
        with self._locked():
            roles = verified_state(self._directory, self._keys).targets
        return tuple(sorted(name.removeprefix("tenant-") for name in roles if name.startswith("tenant-")))

    def _judge(self, state: RepositoryState, targets: Mapping[str, bytes], judge: Judge) -> None:
        for path, content in sorted(targets.items()):
            target = state.named().get(path)
            if target is not None and target != TargetFile.from_data(path, content, ["sha256"]):
                judge(path, target_content(self._targets, target), content)

    def _add_tenant(self, state: RepositoryState, tenant_id: str, count: RoleKeys) -> None:
        self._delegate(state, tenant_role(tenant_id), f"tenants/{tenant_id}/*", count)

    def _delegate(self, state: RepositoryState, role: str, pattern: str, count: RoleKeys) -> None:
        parent = state.targets[Targets.type]
        if parent.delegations is None or parent.delegations.roles is None:
            raise PolicyUnavailableError("the policy repository's targets metadata delegates nothing")
        parent.delegations.roles[role] = DelegatedRole(role, [], count.threshold, terminating=True, paths=[pattern])
        for _ in range(count.keys):
            parent.add_key(self._keys.generate(role).public_key, role)
        state.targets[role] = Targets()
        state.targets[role].version = 0  # its first signature makes it 1

    def _add(self, state: RepositoryState, path: str, content: bytes) -> bool:
        """Name a target in its role's metadata; say whether that is news. Its file is written where it differs."""
        role = state.role_of(path)
        target = TargetFile.from_data(path, content, ["sha256"])
        for prefixed in target.get_prefixed_paths():
            file = self._targets / prefixed
            if not file.is_file() or file.read_bytes() != content:
                write_whole(file, content)
        if state.targets[role].targets.get(path) == target:
            return False
        state.targets[role].targets[path] = target
        state.changed.add(role)
        return True

    def _renew(self, state: RepositoryState, now_ms: int) -> None:
        """Mark every role for a new signature that is half way to its expiry, where its keys are at hand."""
        for role, signed in state.targets.items():
            if self._half_way(role, signed, now_ms) and self._keys.signers(role):
                state.changed.add(role)
        if self._half_way(Root.type, state.root, now_ms) and self._keys.signers(Root.type):
            self._write_root(state.root, now_ms, previous=state.root)

    def _finish(self, state: RepositoryState, now_ms: int, *, force_snapshot: bool = False) -> None:
        """Write snapshot, where it changes or is half way to its expiry, and timestamp."""
        for role in state.changed:
            content = self._path(role, state.targets[role].version).read_bytes()
            state.snapshot.meta[f"{role}.json"] = MetaFile.from_data(state.targets[role].version, content, ["sha256"])
        if state.changed or force_snapshot or self._half_way(Snapshot.type, state.snapshot, now_ms):
            self._write(Snapshot.type, state.snapshot, now_ms, state.root)
            content = self._path(Snapshot.type, state.snapshot.version).read_bytes()
            state.timestamp.snapshot_meta = MetaFile.from_data(state.snapshot.version, content, ["sha256"])
        self._write(Timestamp.type, state.timestamp, now_ms, state.root)
        with suppress(ConfigurationError):  # where keys can't be written, an older root and timestamp stay
            self._keys.trust_root(self._path(Root.type, state.root.version).read_bytes())
            self._keys.keep_timestamp(self._path(Timestamp.type, state.timestamp.version).read_bytes())

    def _write_root(self, root: Root, now_ms: int, previous: Root | None) -> None:
        delegators = [root] if previous is None else [previous, root]
        content = self._signed(Root.type, root, now_ms, *delegators)
        if previous is not None and previous is not root:
            self._keys.announce_root(content)  # so that a rotation that breaks off can be brought to its end
        write_whole(self._path(Root.type, root.version), content)

    def _write(self, role: str, signed: T, now_ms: int, *delegators: Root | Targets) -> None:
        content = self._signed(role, signed, now_ms, *delegators)
        write_whole(self._path(role, signed.version), content)

    def _signed(self, role: str, signed: T, now_ms: int, *delegators: Root | Targets) -> bytes:
        """Sign a role's next version with every key at hand that a delegator authorises, and return its bytes.

        Raises:
            ConfigurationError: The keys at hand don't meet a delegator's threshold.
        """
        signed.version += 1
        signed.expires = datetime.fromtimestamp(now_ms / 1000, UTC) + self._lifetimes.of(role)
        metadata = Metadata(signed)
        authorised = {key_id for delegator in delegators for key_id in self._role(delegator, role).keyids}
        for signer in self._keys.signers(role):
            if signer.public_key.keyid in authorised:
                metadata.sign(signer, append=True)
        for delegator in delegators:
            try:
                delegator.verify_delegate(role, metadata.signed_bytes, metadata.signatures)
            except RepositoryError:
                raise self._missing(role, self._role(delegator, role).threshold) from None
        return metadata.to_bytes(JSONSerializer(compact=False))

    def _at_hand(self, role: str, delegator: Root | Targets) -> None:
        """Check that a role's keys are here, before anything is written that would need them.

        Raises:
            ConfigurationError: They are fewer than its threshold.
        """
        named = self._role(delegator, role)
        held = {signer.public_key.keyid for signer in self._keys.signers(role)} & set(named.keyids)
        if len(held) < named.threshold:
            raise self._missing(role, named.threshold)

    def _missing(self, role: str, threshold: int) -> ConfigurationError:
        return ConfigurationError(
            f"role {role} needs {threshold} of its keys to sign: expected their files in {self._keys.folder(role)}"
        )

    @staticmethod
    def _role(delegator: Root | Targets, role: str) -> Role:
        try:
            return delegator.get_delegated_role(role)
        except ValueError:
            raise ConfigurationError(f"the policy repository has no role {role}") from None

    @staticmethod
    def _delegator(state: RepositoryState, role: str) -> Root | Targets:
        return state.root if role in TOP_LEVEL else state.targets[Targets.type]

    def _half_way(self, role: str, signed: Signed, now_ms: int) -> bool:
        left = signed.expires - datetime.fromtimestamp(now_ms / 1000, UTC)
        return left < self._lifetimes.of(role) / 2

    def _path(self, role: str, version: int) -> Path:
        return metadata_path(self._metadata, role, version)

    def _load(self, offered: Mapping[str, bytes] | None = None) -> RepositoryState:
        state = verified_state(self._directory, self._keys)
        verify_target_files(state, self._targets, offered or {})
        return state

    def _settled(self, now_ms: int, offered: Mapping[str, bytes] | None = None) -> RepositoryState:
        """Return what the repository says, verified, once a rotation that broke off is brought to its end."""
        state = self._load(offered)
        if not state.stale:
            return state
        for role in sorted(state.changed):
            self._write(role, state.targets[role], now_ms, self._delegator(state, role))
        self._finish(state, now_ms, force_snapshot=Snapshot.type in state.stale)
        return self._load(offered)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._metadata.mkdir(parents=True, exist_ok=True)
            self._targets.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PUBLIC_FILE_MODE)
        except OSError as error:
            raise ConfigurationError(
                f"policy repository {self._directory} can't be written: {error.strerror}"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

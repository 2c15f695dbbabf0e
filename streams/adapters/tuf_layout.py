"""What a policy repository is made of: role names and path patterns, lifetimes, and files written whole.

The contract: what ``tuf_repository`` writes and this module names is all there is; nothing here signs or verifies.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from tuf.api.metadata import Root, Snapshot, Targets, Timestamp

from pratique.contract.document import SAFE_ID
from pratique.keyfiles import sync_folder
from streams.errors import ConfigurationError

DELEGATED_PATHS: Final[Mapping[str, str]] = {
    "safety-invariants": "invariants/*",
    "scan-policy": "scan/*",
    "recall-policy": "recall/*",
}
TOP_LEVEL: Final = (Root.type, Targets.type, Snapshot.type, Timestamp.type)
PUBLIC_FILE_MODE: Final = 0o644


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long metadata is valid once signed. Short for what is signed by a machine, long for what is by people."""

    root: timedelta = timedelta(days=365)
    targets: timedelta = timedelta(days=90)
    snapshot: timedelta = timedelta(days=7)
    timestamp: timedelta = timedelta(days=1)

    def of(self, role: str) -> timedelta:
        """Return a role's lifetime; every delegated role has that of ``targets``."""
        by_role = {Root.type: self.root, Snapshot.type: self.snapshot, Timestamp.type: self.timestamp}
        return by_role.get(role, self.targets)


@dataclass(frozen=True, slots=True)
class RoleKeys:
    """How many keys a role gets at the start, and how many must sign."""

    keys: int = 1
    threshold: int = 1


@dataclass(frozen=True, slots=True)
class Published:
    """What a publication came to.

    Attributes:
        version: TUF snapshot version.
        expires_at_ms: When the timestamp expires, in milliseconds since the epoch.
        added: Paths of the targets that are new or changed.
        signed: Roles that were signed anew.
    """

    version: int
    expires_at_ms: int
    added: tuple[str, ...]
    signed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rotated:
    """What a rotation came to.

    Attributes:
        role: The role that has new keys.
        added: Their TUF key ids.
        revoked: The TUF key ids that it had before.
        version: TUF snapshot version.
        root_version: Version of the root that readers follow to.
    """

    role: str
    added: tuple[str, ...]
    revoked: tuple[str, ...]
    version: int
    root_version: int


def tenant_role(tenant_id: str) -> str:
    """Return the name of a tenant's delegated role.

    Raises:
        ConfigurationError: The tenant's id is not safe in a role's name and path pattern.
    """
    if SAFE_ID.fullmatch(tenant_id) is None:
        raise ConfigurationError("tenant id is no identifier of letters, digits, '.', '_', '-' (at most 128)")
    return f"tenant-{tenant_id}"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees all of it or none, also after a loss of power.

    Raises:
        ConfigurationError: It can't be written.
    """
    temporary: str | None = None
    try:
        new = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(PUBLIC_FILE_MODE)
        Path(temporary).replace(path)
        for folder in (path.parent, *(folder.parent for folder in new)):
            sync_folder(folder)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise ConfigurationError(f"{path} can't be written: {error.strerror}") from None

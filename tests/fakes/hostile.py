"""A repository in the hands of somebody else: metadata that was tampered with, signed by right keys or wrong ones.

The good part is the project's own publisher's (``PolicyWorld``). ``forge`` writes a role's next metadata, changed and
signed as a test says, and, unless told otherwise, has the keys of snapshot and timestamp vouch for it: that is the
attacker who holds the two online keys. Without them, ``forge(..., vouch=False)`` is the one who holds a mirror.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, Targets, Timestamp
from tuf.api.serialization.json import JSONSerializer
from tuf.ngclient import FetcherInterface

from pratique.contract.reasons import ReasonCode
from streams.adapters.tuf_keys import TufKeys
from streams.errors import PratiqueError
from tests.fakes.policy import PolicyWorld

Change = Callable[[Any], object]


def unchanged(_: Any) -> None:  # noqa: ANN401 - any role's metadata
    """Leave metadata as it is."""


class Hostile:
    """What an attacker does to a world's repository."""

    def __init__(self, world: PolicyWorld) -> None:
        self.world = world
        self.metadata = world.repository / "metadata"

    def signers(self, *roles: str) -> list[CryptoSigner]:
        """Return the stolen keys of roles."""
        keys = TufKeys(self.world.directory / "tuf-keys")
        return [signer for role in roles for signer in keys.signers(role)]

    @staticmethod
    def stranger() -> CryptoSigner:
        """Return a key that nobody authorised."""
        return CryptoSigner.generate_ed25519()

    def newest(self, role: str) -> Metadata[Any]:
        """Return a role's newest metadata that lies in the repository."""
        if role == Timestamp.type:
            return Metadata[Any].from_file(str(self.metadata / "timestamp.json"))
        versions = [int(path.name.partition(".")[0]) for path in self.metadata.glob(f"*.{role}.json")]
        return Metadata[Any].from_file(str(self.path(role, max(versions))))

    def path(self, role: str, version: int) -> Path:
        """Return where a version of a role's metadata lies."""
        return self.metadata / ("timestamp.json" if role == Timestamp.type else f"{version}.{role}.json")

    def forge(
        self,
        role: str,
        change: Change = unchanged,
        *,
        by: Iterable[CryptoSigner] | None = None,
        up: int = 1,
        vouch: bool = True,
        file_version: int | None = None,
    ) -> Metadata[Any]:
        """Write a role's metadata anew.

        Args:
            role: The role.
            change: What is done to what it says, its version already raised.
            by: Who signs; the role's own keys by default.
            up: By how much the version rises.
            vouch: Whether snapshot and timestamp, signed by their own keys, name it.
            file_version: The version that its file name says; that of the metadata by default.
        """
        metadata = self.newest(role)
        metadata.signed.version += up
        change(metadata.signed)
        metadata.signatures.clear()
        for signer in self.signers(role) if by is None else by:
            metadata.sign(signer, append=True)
        path = self.path(role, file_version or metadata.signed.version)
        path.write_bytes(metadata.to_bytes(JSONSerializer()))
        if vouch and role not in {Root.type, Timestamp.type}:
            self.vouch(role, metadata)
        return metadata

    def vouch(self, role: str, metadata: Metadata[Any]) -> None:
        """Have snapshot and timestamp name a role's metadata."""
        named = MetaFile.from_data(metadata.signed.version, metadata.to_bytes(JSONSerializer()), ["sha256"])
        if role == Snapshot.type:
            self.forge(Timestamp.type, lambda signed: setattr(signed, "snapshot_meta", named))
        else:
            self.forge(Snapshot.type, lambda signed: signed.meta.update({f"{role}.json": named}))

    def rotate(self, role: str) -> None:
        """The owner answers: replace a role's keys, and lose the old ones."""
        folder = TufKeys(self.world.directory / "tuf-keys").folder(role)
        old = list(folder.iterdir())
        self.world.tuf.rotate(role, self.world.clock())
        for path in old:
            path.unlink()


def expires(now_ms: int) -> Change:
    """Return a change that lets metadata expire at a moment."""
    return lambda signed: setattr(signed, "expires", datetime.fromtimestamp(now_ms / 1000, UTC))


def versioned(version: int) -> Change:
    """Return a change that sets a version."""
    return lambda signed: setattr(signed, "version", version)


def targets_of(hostile: Hostile, role: str) -> Targets:
    """Return a targets role as it stands."""
    signed = hostile.newest(role).signed
    assert isinstance(signed, Targets)
    return signed


def said(look_up: Callable[[], object]) -> ReasonCode | None:
    """Return the reason code that a look-up is refused with; null where it is answered."""
    try:
        look_up()
    except PratiqueError as error:
        return ReasonCode(error.code) if hasattr(error, "code") else None
    return None


class EndlessFetcher(FetcherInterface):
    """Serves a repository, and in place of one file bytes without end."""

    def __init__(self, inner: FetcherInterface, endless: str) -> None:
        self._inner = inner
        self._endless = endless
        self.sent = 0

    def _fetch(self, url: str) -> Iterator[bytes]:
        return self._flood() if self._endless in url else self._inner.fetch(url)

    def _flood(self) -> Iterator[bytes]:
        while self.sent < 1 << 30:  # a reader that never stopped would fail the test, not fill the memory
            self.sent += 1 << 16
            yield b" " * (1 << 16)


class StallingFetcher(FetcherInterface):
    """Serves a repository until it is told to stall, and then not a byte until it is told to go on."""

    def __init__(self, inner: FetcherInterface) -> None:
        self._inner = inner
        self.stalled, self.may_go_on = threading.Event(), threading.Event()
        self.may_go_on.set()

    def _fetch(self, url: str) -> Iterator[bytes]:
        if not self.may_go_on.is_set():
            self.stalled.set()
            self.may_go_on.wait()
        return self._inner.fetch(url)

"""The reader of a policy repository: verified bytes by path, from python-tuf's ``Updater``.

The contract, beyond TUF's own rules (rollback, freeze, expiry, thresholds, delegations):

1. repository out of reach, what was verified before still valid: go on with it, and say so (``Refreshed.CACHED``);
2. repository answers with metadata that does not verify: go on with what was verified before while that is valid, and
   say so (``Refreshed.REFUSED``): an attacker who holds the repository can delay us, which expiry bounds, not more.
   What was verified before is a copy of the last top level that verified as a whole, under the newest root: python-tuf
   keeps each role as it comes, so that its own cache may hold a timestamp whose snapshot was withheld;
3. metadata past its expiry: ``PolicyExpiredError``;
4. a target whose bytes are not those of the metadata, or that is missing: ``PolicyUnavailableError``. A copy that was
   verified before is used only in the first two cases, so that it never masks a changed target;
5. nothing ever loaded, and the repository out of reach: ``PolicyNotLoadedError``.

A reader is for one thread at a time; readers in several processes may share a cache directory (a file lock orders
them). Time comes from the clock that is given.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Final

from tuf.api.exceptions import (
    DownloadError,
    DownloadHTTPError,
    DownloadLengthMismatchError,
    ExpiredMetadataError,
    RepositoryError,
)
from tuf.api.metadata import Signed, TargetFile, Targets
from tuf.api.serialization.json import CanonicalJSONSerializer
from tuf.ngclient import FetcherInterface, Updater

from pratique.contract.canonical import bytes_sha256
from pratique.contract.trust import TRUST_PATH, TrustTarget, parse_trust
from pratique.errors import ConfigurationError, MalformedError
from pratique.policy.errors import (
    PolicyError,
    PolicyExpiredError,
    PolicyNotLoadedError,
    PolicyUnavailableError,
    TargetUnknownError,
)
from pratique.policy.fetchers import CacheFetcher, fetcher_for

MAX_TARGET_BYTES: Final = 4 * 1024 * 1024
"""Largest target that is fetched, in bytes, whatever the metadata says."""

SERVER_ERROR: Final = 500
"""Responses from here on say that the server failed, not that the target is missing."""

_METADATA: Final = "metadata/"
_TARGETS: Final = "targets/"
_TOP_LEVEL_FILES: Final = ("snapshot.json", "targets.json", "timestamp.json")


class Refreshed(Enum):
    """What a refresh came to."""

    CURRENT = "CURRENT"
    CACHED = "CACHED"
    REFUSED = "REFUSED"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A verified target.

    Attributes:
        content: Its bytes.
        role_expires_at_ms: When the delegated role that vouches for it expires, in milliseconds since the epoch; null
            where the top-level metadata does, whose expiry is the reader's.
    """

    content: bytes
    role_expires_at_ms: int | None


class PolicyReader:
    """Reads verified targets of one repository.

    Args:
        repository: A directory, or an http(s) URL.
        root: The trusted root metadata's bytes, handed over by the operator (never fetched).
        cache_directory: Where verified metadata and targets are kept between runs.
        clock: Now, in milliseconds since the epoch.
        fetcher: How bytes are obtained; by default as ``repository`` says.
    """

    def __init__(
        self,
        repository: str,
        root: bytes,
        cache_directory: Path,
        clock: Callable[[], int],
        *,
        fetcher: FetcherInterface | None = None,
    ) -> None:
        self._fetcher = fetcher if fetcher is not None else fetcher_for(repository)
        self._root = root
        self._clock = clock
        self._cache = cache_directory
        self._updater: Updater | None = None
        self._found = Refreshed.CACHED
        self._detail = ""
        self._edition = ""

    @property
    def detail(self) -> str:
        """What went wrong at the last refresh, in words for the operator; empty where nothing did."""
        return self._detail

    @property
    def loaded(self) -> bool:
        """Whether there is verified metadata at all, be it expired by now."""
        return self._updater is not None

    @property
    def version(self) -> int:
        """TUF snapshot version in use; 0 where none is. It rises with every publication."""
        return self._updater._trusted_set.snapshot.version if self._updater else 0  # noqa: SLF001 - python-tuf has no public way; held by a test

    @property
    def edition(self) -> str:
        """Digest of what is published: two that are equal name the same targets; empty where nothing is loaded.

        A version does not say so: whoever stole the snapshot's key may have used the number of the owner's next one.
        """
        return self._edition

    @property
    def expires_at_ms(self) -> int:
        """When the top-level metadata in use expires, in milliseconds since the epoch; 0 where none is."""
        return min(map(_expiry_ms, _top_level(self._updater))) if self._updater else 0

    def refresh(self) -> Refreshed:
        """Ask the repository for news.

        Raises:
            PolicyExpiredError: What is newest is past its expiry.
            PolicyUnavailableError: The repository's metadata does not verify, and there is no older that does.
            PolicyNotLoadedError: Nothing was ever loaded, and the repository is out of reach.
            ConfigurationError: The trusted root is no root metadata, or the cache directory can't be used.
        """
        with self._locked():
            try:
                self._use(self._update(self._fetcher, self._cache / "metadata"), Refreshed.CURRENT, "")
                self._keep()
            except ExpiredMetadataError as error:
                self._detail = f"policy metadata has expired: {error}"
                raise PolicyExpiredError(self._detail) from error
            except (RepositoryError, DownloadLengthMismatchError) as error:
                self._detail = f"the policy repository's metadata does not verify: {error}"
                self._fall_back(self._fetcher, PolicyUnavailableError(self._detail))
            except DownloadError as error:
                self._detail = f"the policy repository is out of reach: {error}"
                self._fall_back(None, PolicyNotLoadedError(f"{self._detail}; no policy was ever loaded here"))
        return self._found

    def load(self, path: str) -> Loaded:
        """Return a target's verified bytes.

        Raises:
            TargetUnknownError: The metadata names no such target.
            PolicyExpiredError: The metadata that vouches for it is past its expiry.
            PolicyUnavailableError: It is missing, or its bytes are not those of the metadata.
            PolicyNotLoadedError: As ``refresh``, which is done first where it never was.
            ConfigurationError: As ``refresh``.
        """
        if self._updater is None:
            self.refresh()
        updater = self._updater
        if updater is None:  # refresh raises rather than leave it so; this is for the type checker
            raise PolicyNotLoadedError("no policy was ever loaded here")
        with self._locked():
            _set_time(updater, self._clock())
            if any(signed.is_expired(updater._trusted_set.reference_time) for signed in _top_level(updater)):  # noqa: SLF001 - as above
                raise PolicyExpiredError("policy metadata has expired")
            try:
                target = updater.get_targetinfo(path)
            except ExpiredMetadataError as error:
                raise PolicyExpiredError(f"policy metadata for {path} has expired: {error}") from error
            except (RepositoryError, DownloadError) as error:
                raise PolicyUnavailableError(f"policy metadata for {path} can't be obtained: {error}") from error
            if target is None:
                raise TargetUnknownError(f"the policy repository names no target {path}")
            roles = _delegated(updater, path)
            return Loaded(self._content(updater, target), min(map(_expiry_ms, roles)) if roles else None)

    def expiries(self) -> dict[str, int]:
        """Return when each role expires, in milliseconds since the epoch: top level, and the roles it delegates to.

        Every delegated role is loaded for that. One that has expired ends now.

        Raises:
            PolicyExpiredError: The top level is past its expiry.
            PolicyUnavailableError: A role's metadata can't be obtained as the rest describes it.
            PolicyNotLoadedError: As ``refresh``, which is done first where it never was.
            ConfigurationError: As ``refresh``.
        """
        if self._updater is None:
            self.refresh()
        found: dict[str, int] = {}
        if self._updater is not None:
            trusted = self._updater._trusted_set  # noqa: SLF001 - as above
            found = {signed.type: _expiry_ms(signed) for signed in _top_level(self._updater)}
            delegations = trusted.targets.delegations
            for name, role in (delegations.roles or {}).items() if delegations else ():
                probe = (role.paths or [""])[0].replace("*", "nothing")
                try:
                    found[name] = self.load(probe).role_expires_at_ms or self._clock()
                except PolicyExpiredError:
                    found[name] = self._clock()
                except TargetUnknownError:
                    found[name] = _expiry_ms(trusted[name])
        return found

    def names(self) -> Iterator[str]:
        """Yield the path of every target in the top-level metadata, in order; delegated ones are not among them."""
        if self._updater is None:
            self.refresh()
        if self._updater is not None:
            yield from sorted(self._updater._trusted_set.targets.targets)  # noqa: SLF001 - as above

    def trust(self) -> TrustTarget:
        """Return the trust target.

        Raises:
            PolicyError: It is not a trust target.
            PolicyUnavailableError: As ``load``.
            PolicyExpiredError: As ``load``.
            PolicyNotLoadedError: As ``load``.
            ConfigurationError: As ``load``.
        """
        try:
            return parse_trust(self.load(TRUST_PATH).content)
        except MalformedError as error:
            raise PolicyError(str(error)) from None

    def _use(self, updater: Updater, found: Refreshed, detail: str) -> None:
        self._updater, self._found, self._detail = updater, found, detail
        trusted = updater._trusted_set  # noqa: SLF001 - as above
        serializer = CanonicalJSONSerializer()
        published = b"".join(serializer.serialize(signed) for signed in (trusted.snapshot, trusted.targets))
        self._edition = bytes_sha256(published)

    def _keep(self) -> None:
        """Keep a copy of the top level that has just verified as a whole."""
        metadata, verified = self._cache / "metadata", self._cache / "verified"
        timestamp = verified / "timestamp.json"
        if timestamp.exists() and timestamp.read_bytes() == (metadata / "timestamp.json").read_bytes():
            return
        with tempfile.TemporaryDirectory(dir=self._cache) as folder:
            new = Path(folder, "verified")
            new.mkdir()
            for name in _TOP_LEVEL_FILES:
                shutil.copyfile(metadata / name, new / name)
            shutil.rmtree(verified, ignore_errors=True)
            new.rename(verified)

    def _update(self, fetcher: FetcherInterface, metadata: Path) -> Updater:
        metadata.mkdir(parents=True, exist_ok=True)
        try:
            updater = Updater(
                str(metadata),
                _METADATA,
                target_base_url=_TARGETS,
                fetcher=fetcher,
                bootstrap=self._root,
            )
        except RepositoryError as error:
            raise ConfigurationError(f"the trusted root is no valid root metadata: {error}") from error
        _set_time(updater, self._clock())
        updater.refresh()
        return updater

    def _fall_back(
        self, beyond: FetcherInterface | None, otherwise: PolicyUnavailableError | PolicyNotLoadedError
    ) -> None:
        """Go on with the metadata that was verified before, or raise ``otherwise``.

        Raises:
            PolicyExpiredError: What was verified before is past its expiry.
        """
        self._found = Refreshed.CACHED if beyond is None else Refreshed.REFUSED
        metadata, verified, played = (self._cache / name for name in ("metadata", "verified", "played-back"))
        try:
            if verified.exists():
                self._lay_out(metadata, played)
            source, used = (verified, played) if verified.exists() else (metadata, metadata)
            self._use(self._update(CacheFetcher(source, beyond), used), self._found, self._detail)
        except ExpiredMetadataError as error:
            raise PolicyExpiredError(f"policy metadata has expired: {error}; {self._detail}") from error
        except (RepositoryError, DownloadError):
            raise otherwise from None

    @staticmethod
    def _lay_out(metadata: Path, played: Path) -> None:
        """Make python-tuf a directory that knows every root and delegated role that was seen, and no top level.

        The newest root judges, so that nobody goes on with what a withdrawn key signed.
        """
        shutil.rmtree(played, ignore_errors=True)
        played.mkdir()
        for kept in metadata.iterdir():
            if kept.name not in _TOP_LEVEL_FILES and kept.name != "root.json":
                (played / kept.name).symlink_to(kept.absolute())

    def _content(self, updater: Updater, target: TargetFile) -> bytes:
        """Return a target's bytes, as the rules of this module's contract have them.

        Raises:
            PolicyUnavailableError: They can't be had, or are not those of the metadata.
        """
        kept = self._cache / "targets" / bytes_sha256(target.path.encode("utf-8"))
        if target.length > MAX_TARGET_BYTES:
            raise PolicyUnavailableError(f"policy target {target.path} has over {MAX_TARGET_BYTES} bytes")
        if self._found is Refreshed.CACHED:
            return _kept(target, kept, self._detail)
        try:
            return _downloaded(updater, target, kept)
        except PolicyUnavailableError as error:
            # The repository is at odds with itself already, and what it lacks or changed says nothing of the policy.
            if self._found is Refreshed.REFUSED:
                return _kept(target, kept, str(error))
            raise
        except DownloadError as error:
            return _kept(target, kept, str(error))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the cache directory's lock; python-tuf does not support two updaters over one cache.

        Raises:
            ConfigurationError: The cache directory can't be used.
        """
        try:
            self._cache.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._cache / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigurationError(f"policy cache {self._cache} can't be used: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        except OSError as error:
            raise ConfigurationError(f"policy cache {self._cache} can't be used: {error.strerror}") from error
        finally:
            os.close(descriptor)


def _downloaded(updater: Updater, target: TargetFile, kept: Path) -> bytes:
    """Return a target's bytes from the repository, and keep a copy.

    Raises:
        PolicyUnavailableError: The repository lacks it, or has other bytes than its metadata says.
        DownloadError: The repository is out of reach.
    """
    kept.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=kept.parent)
    os.close(descriptor)
    try:
        updater.download_target(target, temporary)
        content = Path(temporary).read_bytes()
        Path(temporary).replace(kept)
    except (RepositoryError, DownloadLengthMismatchError) as error:
        raise PolicyUnavailableError(
            f"policy target {target.path} differs from its metadata, which verifies: its file was changed"
        ) from error
    except DownloadHTTPError as error:
        if error.status_code < SERVER_ERROR:
            raise PolicyUnavailableError(f"policy target {target.path} is missing: {error}") from error
        raise
    finally:
        Path(temporary).unlink(missing_ok=True)
    return content


def _kept(target: TargetFile, path: Path, reason: str) -> bytes:
    """Return the copy that was verified before, verified once more.

    Raises:
        PolicyUnavailableError: There is none that verifies.
    """
    try:
        content = path.read_bytes()
        target.verify_length_and_hashes(content)
    except (OSError, RepositoryError):
        raise PolicyUnavailableError(f"policy target {target.path} can't be obtained: {reason}") from None
    return content


def _set_time(updater: Updater, now_ms: int) -> None:
    updater._trusted_set.reference_time = datetime.fromtimestamp(now_ms / 1000, UTC)  # noqa: SLF001 - python-tuf reads the wall clock; held by a test


def _top_level(updater: Updater) -> tuple[Signed, ...]:
    trusted = updater._trusted_set  # noqa: SLF001 - as above
    return (trusted.root, trusted.timestamp, trusted.snapshot, trusted.targets)


def _delegated(updater: Updater, path: str) -> list[Signed]:
    """Return the delegated roles that were asked for a path, at any depth: each had a say in what was found."""
    trusted = updater._trusted_set  # noqa: SLF001 - as above
    found: dict[str, Signed] = {}
    waiting = [trusted.targets]
    while waiting:
        role = waiting.pop()
        if path in role.targets or role.delegations is None:
            continue
        for name, _ in role.delegations.get_roles_for_target(path):
            below = trusted.get(name)
            if isinstance(below, Targets) and name not in found:
                found[name] = below
                waiting.append(below)
    return list(found.values())


def _expiry_ms(signed: Signed) -> int:
    return int(signed.expires.timestamp() * 1000)

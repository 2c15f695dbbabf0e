"""A signed policy repository in a temporary directory, with a clock that tests set: real TUF, no shortcuts."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from pratique.contract.canonical import JsonValue
from pratique.policy.client import PolicyReader
from streams.adapters.policy_development import DevelopmentSet, init_development
from streams.adapters.policy_source import read_json, read_source, write_json
from streams.adapters.tuf_keys import TufKeys
from streams.adapters.tuf_layout import Published
from streams.adapters.tuf_repository import TufRepository
from streams.adapters.tuf_store import TufPolicyStore
from streams.domain.policy.publication import Publication, ScannerIdentity, prepare

NOW_MS = 1_790_000_000_000
MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
SCANNER = ScannerIdentity("fake/1", "5" * 64)
DEMO_SOURCE = Path(__file__).parents[2] / "infra" / "policy" / "demo"


@dataclass
class Clock:
    """A wall clock that stands still until told."""

    now_ms: int = NOW_MS

    def __call__(self) -> int:
        return self.now_ms


def make_development_set(directory: Path) -> DevelopmentSet:
    """Return a development set from the demo's sources, made at ``NOW_MS``."""
    return init_development(directory, DEMO_SOURCE, SCANNER, NOW_MS)


@dataclass
class PolicyWorld:
    """A development set and what operator, attacker and reader do to it."""

    directory: Path
    clock: Clock = field(default_factory=Clock)
    readers: int = 0

    @property
    def repository(self) -> Path:
        return self.directory / "repository"

    @property
    def source(self) -> Path:
        return self.directory / "source"

    @property
    def root(self) -> bytes:
        return (self.directory / "root.json").read_bytes()

    @property
    def tuf(self) -> TufRepository:
        return TufRepository(self.repository, TufKeys(self.directory / "tuf-keys"))

    def cache(self, name: str = "") -> Path:
        """Return a cache directory: the one of that name, or a new one."""
        self.readers += 1
        return self.directory / "caches" / (name or f"new-{self.readers}")

    def reader(self, cache: str = "") -> PolicyReader:
        """Return a reader, as a process that starts has it."""
        return PolicyReader(str(self.repository), self.root, self.cache(cache), self.clock)

    def store(self, cache: str = "", *, refresh_ms: int = 10_000) -> TufPolicyStore:
        """Return a store, as a process that starts has it."""
        return TufPolicyStore(self.reader(cache), self.clock, refresh_ms=refresh_ms)

    def edit(self, name: str, **changes: JsonValue) -> None:
        """Change fields of a source file."""
        value = read_json(self.source / name)
        assert isinstance(value, dict)
        write_json(self.source / name, {**value, **changes})

    def publish(self) -> tuple[Publication, Published]:
        """Publish the source as it stands."""
        publication = prepare(read_source(self.source), SCANNER)
        return publication, self.tuf.publish(publication.targets, self.clock())

    def target_file(self, path: str) -> Path:
        """Return the one file of a target."""
        folder, _, name = path.rpartition("/")
        (found,) = (self.repository / "targets" / folder).glob(f"*.{name}")
        return found

    def tamper(self, path: str) -> None:
        """Change a target's bytes behind its metadata's back, keeping their number."""
        file = self.target_file(path)
        content = file.read_bytes()
        file.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])

    def hide(self) -> None:
        """Put the repository out of reach."""
        self.repository.rename(self.directory / "hidden")

    def show(self) -> None:
        """Bring the repository back."""
        (self.directory / "hidden").rename(self.repository)

    def copy_repository(self, name: str) -> Path:
        """Keep a copy of the repository as it stands."""
        return Path(shutil.copytree(self.repository, self.directory / name))

    def restore_repository(self, copy: Path) -> None:
        """Serve an old copy in place of the repository: what a rollback attack does."""
        shutil.rmtree(self.repository)
        shutil.copytree(copy, self.repository)

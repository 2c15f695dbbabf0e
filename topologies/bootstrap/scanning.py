"""The scanner outside the apps: for the console, which scans texts without Kafka.

The contract: what is looked for comes from a policy, signed or, for a policy source, as it will be published. A signed
policy pins its scanner, and another one is refused; a source pins none yet.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pratique.errors import MalformedError, TooLargeError
from streams.adapters.detectors import STANDARD
from streams.adapters.policy_source import read_json
from streams.adapters.pool import WorkerPool
from streams.adapters.system_clock import SystemClock
from streams.application.ports.detection import Detection
from streams.domain.policy.documents import scan_policy
from streams.domain.policy.model import ScanPolicy
from streams.domain.policy.publication import ScannerIdentity
from streams.domain.policy.scan_rules import configured_sha256
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.errors import ConfigurationError, DetectorError, LanguageUnsupportedError
from topologies.bootstrap.language_models import require_models
from topologies.bootstrap.policy import policy_store

DEMO_SOURCE: Final = Path(__file__).resolve().parents[2] / "infra" / "policy" / "demo"
"""The demo policy's source, where this is a checkout."""

_SCAN_FILE: Final = "scan.json"
_UNPUBLISHED: Final = "0" * 64
_PENDING_PER_WORKER: Final = 32


@dataclass(frozen=True, slots=True)
class Scan:
    """What to look for, and with which scanner.

    Attributes:
        policy: The scan policy.
        pinned: Whether the policy's scanner is binding.
    """

    policy: ScanPolicy
    pinned: bool


def read_scan(directory: Path | None, policy_id: str) -> Scan:
    """Return the scan that a policy asks for.

    Args:
        directory: What `policy init` made, or a policy source; the demo policy's source where null.
        policy_id: Which policy of the repository.

    Raises:
        ConfigurationError: There is no policy there.
        PolicyError: It says something it may not.
        UnavailableError: The repository can't be read or verified.
    """
    place = DEMO_SOURCE if directory is None else directory
    if (place / _SCAN_FILE).is_file():
        return Scan(_source(place / _SCAN_FILE), pinned=False)
    if not (place / "root.json").is_file():
        hint = "" if directory else "; name one with --policy"
        raise ConfigurationError(f"{place} holds neither a policy source nor what `pratique policy init` makes{hint}")
    with tempfile.TemporaryDirectory() as state:
        store = policy_store(str(place / "repository"), place / "root.json", Path(state), refresh_ms=0)
        store.refresh()
        return Scan(store.newest(policy_id).scan, pinned=True)


class Scanner:
    """The pool behind the console: one text in, its findings out.

    Args:
        scan: What to look for.
        workers: Number of processes; as many as there are processors, where null.
        factory: Path of the detectors' factory.
    """

    def __init__(self, scan: Scan, *, workers: int | None = None, factory: str = STANDARD) -> None:
        count = workers or len(os.sched_getaffinity(0))
        self._scan = scan
        self._pool = WorkerPool(workers=count, factory=factory, max_pending=_PENDING_PER_WORKER * count)

    async def start(self) -> ScannerIdentity:
        """Load the detectors.

        Raises:
            DetectorError: They do not load, or the policy pins another scanner.
            ConfigurationError: A language model that the policy names is not here.
        """
        manifest = await self._pool.warm()
        policy = self._scan.policy
        digest = configured_sha256(manifest.scanner_sha256, policy.rules)
        identity = ScannerIdentity(manifest.scanner_version, digest)
        if self._scan.pinned and identity != ScannerIdentity(policy.scanner_version, policy.scanner_sha256):
            raise DetectorError("the installed scanner is not the one that the policy pins; publish the policy anew")
        await require_models(self._pool, [policy])
        return identity

    async def find(self, text: str, language: str | None = None) -> Detection:
        """Look at one text.

        Args:
            text: The text.
            language: Its language (BCP 47), where it is known.

        Raises:
            TooLargeError: It exceeds the policy's ``max_total_bytes``.
            MalformedError: It has no UTF-8.
            LanguageUnsupportedError: The policy has no profile for its language.
        """
        if language is not None and language.split("-")[0].lower() not in self._scan.policy.language_profiles:
            raise LanguageUnsupportedError("the policy has no profile for this language")
        try:
            size = len(text.encode("utf-8"))
        except UnicodeEncodeError:
            raise MalformedError("text holds a lone surrogate; send well-formed Unicode") from None
        if size > self._scan.policy.max_total_bytes:
            raise TooLargeError(f"text has {size} bytes, {self._scan.policy.max_total_bytes} are allowed")
        profile = ScanProfile.of(self._scan.policy, at_ms=SystemClock().wall_ms())
        return await self._pool.detect([Field("text", text)], profile, timeout_ms=self._scan.policy.timeout_ms)

    async def close(self) -> None:
        """End the processes."""
        await self._pool.close()


def _source(path: Path) -> ScanPolicy:
    """Read a source's scan policy as it will be published, less what publication adds."""
    document = read_json(path)
    if not isinstance(document, dict):
        raise ConfigurationError(f"{path} is no JSON object")
    added = {"policy_sha256": _UNPUBLISHED, "scanner_version": "unpublished", "scanner_sha256": _UNPUBLISHED}
    return scan_policy({**added, **document})

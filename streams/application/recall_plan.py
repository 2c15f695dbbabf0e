"""What is to be measured of a recall: which entries, under which fingerprints, by which detectors.

The contract (AID-D-001.005 G001): ``plan_scan`` refuses, entry by entry, what no detector may be given, and all of them
where scanner, primary detector or fingerprint key is not the one that policy pins, or not there. A refusal ends as an
ERROR finding and never as a missing one (``streams.application.recall_scanning``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pratique.contract.records import MemoryEntry, MemoryRecalled
from pratique.errors import MalformedError, TooLargeError
from streams.application.fingerprinting import fingerprints
from streams.application.ports.prompt_safety import PromptSafetyDetector
from streams.application.ports.quarantine import FingerprintKey, Fingerprints
from streams.application.recall_consistency import RECALL
from streams.domain.policy.model import PolicySet
from streams.domain.policy.scan_rules import configured_sha256
from streams.domain.recall.finding import check_entry
from streams.domain.scanning.manifest import ScannerManifest
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile, check_policy, check_scanner
from streams.errors import DetectorError, PolicyError

LEDGER: Final = "ledger"
SCANNER: Final = "scan"
"""Who states that something could not be done."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something could not be measured, and who could not."""

    error: Exception
    detector: str


@dataclass(frozen=True, slots=True)
class PlannedEntry:
    """An entry, and its fingerprint under every key generation at hand, or why it is not measured."""

    entry: MemoryEntry
    fingerprints: Mapping[str, str] | Failure


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """A recall that is about to be measured.

    Attributes:
        profile: What the scanner looks for.
        timeout_ms: How long scanner and detector may take for one entry.
    """

    request: MemoryRecalled
    policy_set: PolicySet
    detector_name: str
    entries: tuple[PlannedEntry, ...]
    profile: ScanProfile
    timeout_ms: int
    versions: Mapping[str, str]

    @property
    def open_places(self) -> tuple[int, ...]:
        """The places of the entries that are to be measured."""
        return tuple(place for place, item in enumerate(self.entries) if not isinstance(item.fingerprints, Failure))

    @property
    def fingerprints(self) -> Fingerprints:
        """What the ledger is asked about, by key generation, each once."""
        asked: dict[str, dict[str, None]] = {}
        for item in self.entries:
            if not isinstance(item.fingerprints, Failure):
                for generation, mark in item.fingerprints.items():
                    asked.setdefault(generation, {})[mark] = None
        return {generation: tuple(marks) for generation, marks in asked.items()}

    def field(self, place: int) -> Field:
        """Return an entry as the scanner is given it."""
        return Field(path_of(place), self.entries[place].entry.content)


def path_of(place: int) -> str:
    """Return the field that an entry's content is, in our schema's words."""
    return f"entries[{place}].content"


def plan_scan(
    request: MemoryRecalled,
    policy_set: PolicySet,
    *,
    scanner: ScannerManifest,
    detector: PromptSafetyDetector | None,
    keys: Sequence[FingerprintKey] | Failure,
    at_ms: int | None = None,
) -> ScanPlan:
    """Say what is to be measured.

    Args:
        request: The request, well formed (intake has seen to that).
        policy_set: The pinned set.
        scanner: The scanner at hand.
        detector: The primary detector at hand; none makes every entry an ERROR.
        keys: Every generation of the fingerprint key at hand, or why there is none.
        at_ms: The moment that the expiries of the scan policy's rules are compared with; none allows nothing.
    """
    failure = _nothing_can_be_measured(policy_set, scanner, detector)
    versions = {
        "scanner": scanner.scanner_version,
        "scanner_sha256": configured_sha256(scanner.scanner_sha256, policy_set.scan.rules),
    }
    if detector is not None:
        versions["detector"] = f"{detector.name}/{detector.revision}"
    return ScanPlan(
        request=request,
        policy_set=policy_set,
        detector_name="" if detector is None else detector.name,
        entries=tuple(
            PlannedEntry(entry, _fingerprints(entry, policy_set, keys, failure)) for entry in request.entries
        ),
        profile=ScanProfile.of(policy_set.scan, at_ms=at_ms),
        timeout_ms=policy_set.scan.timeout_ms,
        versions=versions,
    )


def _nothing_can_be_measured(
    policy_set: PolicySet, scanner: ScannerManifest, detector: PromptSafetyDetector | None
) -> Failure | None:
    try:
        check_policy(policy_set.scan, policy_sha256=policy_set.compaction.policy_sha256)
        check_scanner(policy_set.scan, scanner)
    except (PolicyError, DetectorError) as error:
        return Failure(error, SCANNER)
    if detector is None:
        return Failure(DetectorError("no primary detector is configured"), RECALL)
    if detector.revision != policy_set.recall.detector_revision:
        return Failure(DetectorError("primary detector is not the one that policy pins"), RECALL)
    return None


def _fingerprints(
    entry: MemoryEntry, policy_set: PolicySet, keys: Sequence[FingerprintKey] | Failure, failure: Failure | None
) -> Mapping[str, str] | Failure:
    try:
        check_entry(entry, policy_set.recall)
        size, bound = len(entry.content.encode("utf-8")), policy_set.scan.max_total_bytes
        if size > bound:
            raise TooLargeError(f"memory has {size} bytes, {bound} are scanned")
    except MalformedError as error:
        return Failure(error, RECALL)
    if failure is not None:
        return failure
    return keys if isinstance(keys, Failure) else fingerprints(entry.content, keys)

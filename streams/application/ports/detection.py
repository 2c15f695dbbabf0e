"""Detectors, and the pool of processes they run in.

The contract: a detector either looks at every field it is given, under the profile it is given, or raises; it never
narrows the profile silently. A pool answers every request exactly once, also when its processes time out, crash or
are killed: then the answer is an error, which is not clean.

Neither decides anything: findings become verdicts in ``streams.application``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pratique.contract.reasons import ReasonCode
from streams.domain.scanning.finding import Finding
from streams.domain.scanning.manifest import DetectorManifest, ScannerManifest
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile, ScanReceipt, ScanRequest


class Detector(Protocol):
    """One engine that looks for one or more categories of findings."""

    @property
    def manifest(self) -> DetectorManifest:
        """Name, version, rules and settings: all that decides what it finds."""

    def check(self, profile: ScanProfile) -> None:
        """Refuse a profile that this detector cannot cover.

        Raises:
            LanguageUnsupportedError: A language profile is none that it has.
            DetectorError: An entity type is none that it can find.
        """

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:
        """Return what is in the fields, in any order.

        Args:
            fields: Texts without NUL or lone surrogates; their total size was bounded by the caller.
            profile: A profile that ``check`` accepted.

        Raises:
            DetectorError: It could not look at everything.
        """


def has_own_views(detector: Detector) -> bool:
    """Say whether a detector takes disguises off itself, by an attribute ``own_views``; then it gets the texts alone.

    Others are given further fields, one for each way that a text reads, and need not know.
    """
    return bool(getattr(detector, "own_views", False))


@dataclass(frozen=True, slots=True)
class ScanFailure:
    """Why a scan came to no conclusion.

    Attributes:
        code: DETECTOR_ERROR, DETECTOR_TIMEOUT, LANGUAGE_UNSUPPORTED or TOO_LARGE.
        detector: Who could not; ``pool`` where a process died or ran out of time.
    """

    code: ReasonCode
    detector: str


@dataclass(frozen=True, slots=True)
class Detection:
    """What the detectors found in some fields.

    Attributes:
        findings: In the order of the fields, then of the text; at most as many as the pool reports.
        finding_count: How many there were.
        failure: Why there is no conclusion; then there are no findings either.
        allowed: How many further findings each entry of the policy's allow list allowed, by its id.
        observed: How many were below the score that policy sets for their detector (``INJECTION/injection``).
    """

    findings: tuple[Finding, ...]
    finding_count: int
    failure: ScanFailure | None = None
    allowed: Mapping[str, int] = field(default_factory=dict)
    observed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScanResponse:
    """A scanner's answer to a scan request: the receipt, and what it counts."""

    receipt: ScanReceipt
    detection: Detection


class ScanPool(Protocol):
    """The scanner: a set of detectors behind a bounded queue."""

    @property
    def scanner(self) -> ScannerManifest:
        """Which scanner this is."""

    async def scan(self, request: ScanRequest) -> ScanResponse:
        """Scan a population under its policy. Waits while the queue is full; never raises for what a worker did."""

    async def detect(self, fields: Sequence[Field], profile: ScanProfile, *, timeout_ms: int) -> Detection:
        """Look at fields that are no compaction population: recalled memories, a console's lines."""

"""A scanner whose use of policy's rules is written down: which entry allowed how many findings, and what was observed.

The contract: answers pass unchanged. Logs and metrics name entries and detectors, which are policy's words and the
scanner's, and never a value or where it stood.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from streams.application.ports.detection import Detection, ScanPool, ScanResponse
from streams.application.ports.metrics import Metrics
from streams.domain.scanning.manifest import ScannerManifest
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile, ScanRequest

LOG: Final = logging.getLogger(__name__)


class CountedPool:
    """A pool, counted.

    Args:
        pool: The scanner.
        metrics: Where to count: ``scan_allowed_total`` by ``entry``, ``scan_observed_total`` by ``detector``.
    """

    def __init__(self, pool: ScanPool, metrics: Metrics) -> None:
        self._pool = pool
        self._metrics = metrics

    @property
    def scanner(self) -> ScannerManifest:
        """Which scanner this is."""
        return self._pool.scanner

    async def scan(self, request: ScanRequest) -> ScanResponse:
        """Scan a population, as the pool does."""
        response = await self._pool.scan(request)
        self._count(response.detection)
        return response

    async def detect(self, fields: Sequence[Field], profile: ScanProfile, *, timeout_ms: int) -> Detection:
        """Look at fields, as the pool does."""
        detection = await self._pool.detect(fields, profile, timeout_ms=timeout_ms)
        self._count(detection)
        return detection

    def _count(self, detection: Detection) -> None:
        for entry, count in detection.allowed.items():
            LOG.info("policy's entry %s allowed %d findings", entry, count)
            self._metrics.count("scan_allowed_total", count, entry=entry)
        for detector, count in detection.observed.items():
            LOG.info("%d findings of %s are below policy's score", count, detector)
            self._metrics.count("scan_observed_total", count, detector=detector)

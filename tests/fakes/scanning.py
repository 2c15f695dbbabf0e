"""The scanner in this process: the pool's port without processes, so without time-outs and crashes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pratique.contract.canonical import JsonValue, canonical_bytes
from streams.adapters.pool_jobs import read_answer, stated_limits, stated_rules
from streams.adapters.worker import answer
from streams.application.ports.detection import Detection, Detector, ScanResponse
from streams.domain.scanning.manifest import ScannerManifest
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile, ScanRequest


class InlinePool:
    """Answers as a worker does, in the caller's own process."""

    def __init__(self, detectors: Sequence[Detector]) -> None:
        self._detectors = detectors
        self.scanner = ScannerManifest.of([detector.manifest for detector in detectors])

    async def scan(self, request: ScanRequest) -> ScanResponse:
        rules = stated_rules(request.rules, request.at_ms)
        said = read_answer(self._answered({"request": request.body, **stated_limits(request.limits), **rules}))
        assert said.receipt is not None
        return ScanResponse(said.receipt, said.detection)

    async def detect(self, fields: Sequence[Field], profile: ScanProfile, *, timeout_ms: int) -> Detection:
        assert timeout_ms > 0
        job: dict[str, JsonValue] = {
            "fields": [field.body() for field in fields],
            "language_profiles": list(profile.language_profiles),
            "entity_types": list(profile.entity_types),
            **stated_limits(profile.limits),
            **stated_rules(profile.rules, profile.at_ms),
        }
        return read_answer(self._answered(job)).detection

    def _answered(self, job: dict[str, JsonValue]) -> bytes:
        return canonical_bytes(answer(json.loads(canonical_bytes(job)), self._detectors, self.scanner))

"""A pinned policy set for recalls, and what goes with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from streams.domain.policy.model import PolicySet, RecallPolicy, ScanPolicy
from streams.domain.scanning.manifest import ScannerManifest
from streams.domain.scanning.population import FIELD_ROOTS
from tests.fakes.detectors import scripted
from tests.unit.streams.application.test_consistency import policy_set
from tests.unit.streams.domain.compaction.builders import POLICY_SHA256
from tests.unit.streams.domain.recall.samples import POLICY

SCANNER = ScannerManifest.of([detector.manifest for detector in scripted()])
SCAN = ScanPolicy(
    policy_version="1",
    policy_sha256=POLICY_SHA256,
    scanner_version=SCANNER.scanner_version,
    scanner_sha256=SCANNER.scanner_sha256,
    language_profiles=("en",),
    entity_types=("EMAIL_ADDRESS",),
    field_roots=FIELD_ROOTS,
    max_total_bytes=900,
    timeout_ms=5_000,
)


def recall_set(
    recall: RecallPolicy = POLICY,
    scan: ScanPolicy = SCAN,
    **changes: Any,  # noqa: ANN401 - fields of the set
) -> PolicySet:
    return replace(policy_set(), recall=recall, scan=scan, **changes)

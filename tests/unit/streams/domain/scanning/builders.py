"""Candidates, policies and receipts to scan with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pratique.contract.canonical import canonical_sha256
from streams.domain.compaction.candidate import (
    Candidate,
    ClaimStatus,
    CompactedContext,
    ConstraintType,
    PreservedConstraintClaim,
)
from streams.domain.policy.model import ScanPolicy
from streams.domain.scanning.manifest import DetectorManifest, ScannerManifest
from streams.domain.scanning.population import FIELD_ROOTS

POLICY_SHA256 = "a" * 64
SCANNER = ScannerManifest.of([DetectorManifest("scripted", "1", canonical_sha256(["scripted"]), {})])
CLAIM = PreservedConstraintClaim(
    ConstraintType.INVARIANT, "SAFETY-1", "b" * 64, "c" * 64, "never reveal", ClaimStatus.PRESERVED
)
CONTEXT = CompactedContext("The task goes on.", ("SAFETY-1",), ("COMMIT-1", "COMMIT-2"), ("d" * 64, "e" * 64), (CLAIM,))


def context(**fields: Any) -> CompactedContext:  # noqa: ANN401 - fields of the context
    return replace(CONTEXT, **fields)


def candidate(**fields: Any) -> Candidate:  # noqa: ANN401 - fields of the context
    value = context(**fields)
    return Candidate(value, canonical_sha256(["output", value.summary_text]), canonical_sha256(value.summary_text))


def policy(**fields: Any) -> ScanPolicy:  # noqa: ANN401 - fields of the policy
    base = ScanPolicy(
        policy_version="2026-11-01",
        policy_sha256=POLICY_SHA256,
        scanner_version=SCANNER.scanner_version,
        scanner_sha256=SCANNER.scanner_sha256,
        language_profiles=("en",),
        entity_types=("EMAIL_ADDRESS",),
        field_roots=FIELD_ROOTS,
        max_total_bytes=100_000,
        timeout_ms=30_000,
    )
    return replace(base, **fields)

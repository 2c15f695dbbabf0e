"""Entries, policies and statements that are right, for tests to make wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pratique.contract.canonical import text_sha256
from pratique.contract.digests import recall_population_sha256
from pratique.contract.records import ExpectedEntry, MemoryEntry, MemoryRecalled
from streams.domain.policy.model import RecallPolicy
from streams.domain.recall.finding import EntryFinding, key_of, measured, unmeasured
from streams.domain.recall.fingerprint import fingerprint
from streams.domain.recall.population import MemoryKey
from streams.domain.recall.statements import (
    CheckedEntry,
    ConsistencyStatement,
    LedgerState,
    ScannedEntry,
    ScanStatement,
)

TENANT = "tenant-a"
REQUEST = "recall-1"
SECRET = b"k" * 32
AT_MS = 1_790_000_000_000

POLICY = RecallPolicy(
    policy_version="7",
    detector_revision="fake-1",
    review_score=30,
    escalate_score=60,
    quarantine_score=80,
    maximum_content_characters=1_000,
    partial_admission=False,
    policy_sha256="7" * 64,
)


def entry(entry_id: str = "e1", content: str = "The user likes tea.", **changes: Any) -> MemoryEntry:  # noqa: ANN401 - fields
    made = MemoryEntry(TENANT, REQUEST, entry_id, "v1", content)
    return replace(made, **changes)


def request(*entries: MemoryEntry, expected: tuple[ExpectedEntry, ...] | None = None, **changes: Any) -> MemoryRecalled:  # noqa: ANN401 - fields
    """A recall of some entries, all of which were expected unless said otherwise."""
    manifest = tuple(ExpectedEntry(item.entry_id, item.memory_version) for item in entries)
    made = MemoryRecalled(
        TENANT, "task-1", REQUEST, AT_MS, "default", entries, manifest if expected is None else expected
    )
    return replace(made, **changes)


def key(entry_id: str, version: str = "v1", tenant: str = TENANT, recall: str = REQUEST) -> MemoryKey:
    return MemoryKey(tenant, recall, entry_id, version)


def find(
    given: MemoryEntry, score: float = 0.0, policy: RecallPolicy = POLICY, known: frozenset[str] = frozenset()
) -> EntryFinding:
    return measured(given, policy, score=score, fingerprint=fingerprint(given.content, SECRET), known=known)


def fail(given: MemoryEntry, error: Exception, policy: RecallPolicy = POLICY) -> EntryFinding:
    return unmeasured(given, policy, error)


def population(asked: MemoryRecalled) -> str:
    return recall_population_sha256(
        (asked.tenant_id, asked.recall_request_id, item.entry_id, item.memory_version)
        for item in asked.expected_entries
    )


def scanned(
    asked: MemoryRecalled,
    *findings: EntryFinding,
    policy: RecallPolicy = POLICY,
    **changes: Any,  # noqa: ANN401 - fields
) -> ScanStatement:
    """The scan's statement about a recall; findings of clean entries where none are given."""
    made = findings or tuple(find(item, policy=policy) for item in asked.entries)
    statement = ScanStatement(
        policy_sha256=policy.policy_sha256,
        partial_admission=policy.partial_admission,
        population_sha256=population(asked),
        scanner_sha256="5" * 64,
        detector_name="fake",
        detector_revision="fake-1",
        ledger=LedgerState("g1", "0:17", 250),
        entries=tuple(
            ScannedEntry(
                item.key,
                item.content_sha256,
                tuple(sorted(code.value for code in item.codes)),
                item.finding_id,
                item.control_status,
                item.finding_status,
                item.recommendation,
            )
            for item in made
        ),
    )
    return replace(statement, **changes)


def checked(asked: MemoryRecalled, policy: RecallPolicy = POLICY, **changes: Any) -> ConsistencyStatement:  # noqa: ANN401 - fields
    statement = ConsistencyStatement(
        policy_sha256=policy.policy_sha256,
        partial_admission=policy.partial_admission,
        population_sha256=population(asked),
        invariant_manifest_sha256="6" * 64,
        grammar_sha256="8" * 64,
        verifier_artifact_sha256="9" * 64,
        entries=tuple(CheckedEntry(key_of(item), text_sha256(item.content), (), ()) for item in asked.entries),
    )
    return replace(statement, **changes)

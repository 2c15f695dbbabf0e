"""A recall's evidence as the verdict app meets it, made from what the use cases state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pratique.contract.avro import encode
from pratique.contract.canonical import bytes_sha256, canonical_json, canonical_sha256
from pratique.contract.digests import recall_join_key
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import (
    Evidence,
    EvidenceKind,
    MemoryRecalled,
    Opened,
    PinnedEntry,
    Provenance,
    Receipt,
    StatedReason,
)
from streams.application.recall_admission import expected_keys
from streams.domain.policy.model import RecallPolicy
from streams.domain.recall.finding import key_of
from streams.domain.recall.population import population_reasons
from streams.domain.recall.statements import ConsistencyStatement, ScanStatement
from streams.domain.verdicts.evidence import Stated
from tests.unit.streams.domain.recall.samples import POLICY

PIN = "d" * 64
SCANNER = "5" * 64
MANIFEST = "6" * 64


def opened(asked: MemoryRecalled, policy: RecallPolicy = POLICY, **changes: Any) -> Stated:  # noqa: ANN401 - fields
    given = {key_of(item): item.content for item in reversed(asked.entries)}
    head = Opened(
        task_id=asked.task_id,
        policy_id=asked.policy_id,
        requested_at=asked.requested_at,
        policy_version=3,
        policy_sha256=policy.policy_sha256,
        rendered_policy_sha256=None,
        invariant_manifest_sha256=MANIFEST,
        commitment_snapshot_sha256=None,
        scanner_sha256=SCANNER,
        required=(EvidenceKind.CONSISTENCY, EvidenceKind.SCAN),
        keep_message_ids=None,
        trust=Provenance.UNTRUSTED,
        deadline_ms=30_000,
        valid_ms=600_000,
        refusal=(),
        expected_entries=tuple(
            PinnedEntry(
                key.entry_id,
                key.memory_version,
                bytes_sha256(given[key].encode()) if key in given else None,
            )
            for key in expected_keys(asked)
        ),
    )
    key = recall_join_key(asked, encode(asked))
    return stated(Evidence(EvidenceKind.OPENED, key, PIN, opened=replace(head, **changes)), offset=1)


def stated(evidence: Evidence, offset: int) -> Stated:
    return Stated(evidence, bytes_sha256(encode(evidence)), offset, evidence_at(offset))


def evidence_at(offset: int) -> int:
    return 1_790_000_000_000 + 1_000 * offset


def scan_receipt(statement: ScanStatement, **changes: Any) -> Receipt:  # noqa: ANN401 - fields
    reasons = [
        Reason.of(ReasonCode(code), f"entries[{place}].content", "fake")
        for place, entry in enumerate(statement.entries)
        for code in entry.codes
    ]
    made = _receipt(statement.body(), reasons, finding_ids=tuple(entry.finding_id for entry in statement.entries))
    return replace(made, **changes)


def consistency_receipt(asked: MemoryRecalled, statement: ConsistencyStatement, **changes: Any) -> Receipt:  # noqa: ANN401 - fields
    reasons = [
        *population_reasons(expected_keys(asked), [entry.key for entry in statement.entries]),
        *(
            Reason.of(ReasonCode(code), f"entries[{place}].content", "grammar")
            for place, entry in enumerate(statement.entries)
            for code in entry.codes
        ),
    ]
    return replace(_receipt(statement.body(), reasons), **changes)


def receipts(asked: MemoryRecalled, scan: Receipt | None, consistency: Receipt | None) -> Mapping[EvidenceKind, Stated]:
    key = recall_join_key(asked, encode(asked))
    return {
        kind: stated(Evidence(kind, key, PIN, receipt=receipt), offset)
        for offset, (kind, receipt) in enumerate(
            ((EvidenceKind.CONSISTENCY, consistency), (EvidenceKind.SCAN, scan)), start=2
        )
        if receipt is not None
    }


def _receipt(body: Any, reasons: list[Reason], finding_ids: tuple[str, ...] = ()) -> Receipt:  # noqa: ANN401 - any JSON
    ordered = sorted(set(reasons))
    return Receipt(
        outcome=ordered[0].meaning.outcome.value if ordered else "PASS",
        finding_status=ordered[0].meaning.finding_status.value if ordered else "NO_FINDING",
        reasons=tuple(map(StatedReason.of, ordered)),
        body_json=canonical_json(body),
        receipt_sha256=canonical_sha256(body),
        compacted_output_sha256=None,
        scan_population_sha256=None,
        scan_field_count=0,
        versions={"detector": "fake/fake-1"},
        finding_ids=finding_ids,
    )

"""One sample of every record of the published language, with every kind of field in use."""

from __future__ import annotations

from typing import Final

from pratique.contract.ledger_records import AuditEntry, LedgerEntry, ReviewEntry
from pratique.contract.records import (
    CarriedText,
    Check,
    CompactionRequested,
    Decided,
    Disposition,
    EntryVerdict,
    Evidence,
    EvidenceKind,
    ExpectedEntry,
    Fallback,
    JoinKey,
    LedgerView,
    MemoryEntry,
    MemoryFinding,
    MemoryRecalled,
    NominatedText,
    Nomination,
    Opened,
    Origin,
    PinnedEntry,
    Provenance,
    Receipt,
    Role,
    SourceMessage,
    StatedReason,
    Verdict,
    VerdictOutcome,
    Work,
)

AT_MS: Final = 1_795_000_000_000

MESSAGES: Final = (
    SourceMessage("m1", Role.USER, "Prüfe das Deployment, danke 🙂", Provenance.TRUSTED),
    SourceMessage("m2", Role.TOOL, '{"status":"ok"}'),
)
CANDIDATE_JSON: Final = '{"summary_text": "Das Deployment l\\u00e4uft."}'

COMPACTION: Final = CompactionRequested(
    tenant_id="tenant-a",
    task_id="task-1",
    compaction_request_id="request-1",
    requested_at=AT_MS,
    policy_id="default",
    source_messages=MESSAGES,
    candidate_json=CANDIDATE_JSON,
    expected_invariant_ids=("SAFETY-1", "SAFETY-2"),
    expected_commitment_ids=("COMMIT-1",),
    commitments=b'{"payload":""}',
    lineage=("0" * 64,),
    trace_context={"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
)
RECALL: Final = MemoryRecalled(
    tenant_id="tenant-a",
    task_id="task-1",
    recall_request_id="recall-1",
    requested_at=AT_MS,
    policy_id="default",
    entries=(
        MemoryEntry("tenant-a", "recall-1", "entry-2", "v1", "Ünïcode memory", Provenance.TRUSTED),
        MemoryEntry("tenant-a", "recall-1", "entry-1", "v3", "plain memory"),
    ),
    expected_entries=(ExpectedEntry("entry-2", "v1"), ExpectedEntry("entry-1", "v3")),
    trace_context={},
)
JOIN_KEY: Final = JoinKey("tenant-a", Origin.COMPACTION, "request-1", "1" * 64, "2" * 64, "3" * 64)
REASON: Final = StatedReason("SECRET", "candidate.summary_text", "kingfisher", "HIGH")
OPENED: Final = Opened(
    task_id="task-1",
    policy_id="default",
    requested_at=AT_MS,
    policy_version=7,
    policy_sha256="4" * 64,
    rendered_policy_sha256="5" * 64,
    invariant_manifest_sha256="6" * 64,
    commitment_snapshot_sha256=None,
    scanner_sha256="7" * 64,
    required=(EvidenceKind.CONSISTENCY, EvidenceKind.SCAN),
    keep_message_ids=("m1", "m2"),
    trust=Provenance.UNTRUSTED,
    deadline_ms=30_000,
    valid_ms=600_000,
    refusal=(REASON,),
    expected_entries=(PinnedEntry("entry-1", "v3", None),),
)
RECEIPT: Final = Receipt(
    outcome="FAIL",
    finding_status="FINDING",
    reasons=(REASON,),
    body_json='{"decision":"BLOCK"}',
    receipt_sha256="8" * 64,
    compacted_output_sha256="9" * 64,
    scan_population_sha256="a" * 64,
    scan_field_count=4,
    versions={"kingfisher": "1.5.0"},
    finding_ids=("b" * 64,),
    nomination=Nomination(
        "generation-1",
        ("INJECTION", "SECRET"),
        "policy-1",
        "detector-1",
        (NominatedText("candidate.summary_text", "e" * 64, ("SECRET",), ("f" * 64,)),),
        (CarriedText("entries[0].content", "generation-2", "1" * 64, "2" * 64),),
    ),
)
VERDICT: Final = Verdict(
    verdict_id="c" * 64,
    origin=Origin.COMPACTION,
    outcome=VerdictOutcome.QUARANTINED,
    tenant_id="tenant-a",
    task_id="task-1",
    request_id="request-1",
    policy_id="default",
    policy_sha256="4" * 64,
    policy_set_sha256="d" * 64,
    rendered_policy_sha256="5" * 64,
    invariant_manifest_sha256="6" * 64,
    commitment_snapshot_sha256=None,
    source_population_sha256="1" * 64,
    request_sha256="3" * 64,
    subject_sha256="2" * 64,
    compacted_output_sha256="9" * 64,
    trust=Provenance.UNTRUSTED,
    assurance="NOT_ESTABLISHED",
    checks=(Check("scan", "FAIL", "FINDING", "8" * 64), Check("consistency", "PASS", "NO_FINDING", None)),
    reasons=(REASON,),
    event_json='{"outcome":"FALLBACK"}',
    event_sha256="e" * 64,
    entries=(EntryVerdict("entry-1", "v3", "f" * 64, Disposition.WITHHELD, None),),
    fallback=Fallback(("m1", "m2")),
    ledger_view=LedgerView("quarantine.ledger:0:17", 250),
    decided_at=AT_MS + 1,
    valid_until=AT_MS + 600_001,
    versions={"verifier": "1"},
    accepted_text_sha256s=("7" * 64,),
)

RECORDS: Final[dict[str, object]] = {
    "CompactionRequested": COMPACTION,
    "MemoryRecalled": RECALL,
    "Work": Work(Origin.COMPACTION, "d" * 64, '{"policy_id":"default"}', AT_MS, b"\xc3\x01request"),
    "Evidence OPENED": Evidence(EvidenceKind.OPENED, JOIN_KEY, "d" * 64, opened=OPENED, opened_at=AT_MS),
    "Evidence SCAN": Evidence(EvidenceKind.SCAN, JOIN_KEY, "d" * 64, receipt=RECEIPT, opened_at=AT_MS),
    "Evidence DECIDED": Evidence(
        EvidenceKind.DECIDED,
        JOIN_KEY,
        None,
        decided=Decided(VerdictOutcome.QUARANTINED, b"\xc3\x01verdict", "gate-1", b"\x00" * 64),
    ),
    "Verdict": VERDICT,
    "MemoryFinding": MemoryFinding(JOIN_KEY, "b" * 64, '{"schema_version":"aidefend.recall-finding.v1"}'),
    "LedgerEntry": LedgerEntry('{"revision":2}', 2, "0" * 64, "1" * 64, "generation-1"),
    "AuditEntry": AuditEntry(False, "SIGNER_NOT_AUTHORISED", None, "2" * 64, "curator-1", 3, 99, None, 7, "3" * 64),  # noqa: FBT003 - the record's first field
    "ReviewEntry": ReviewEntry(
        ledger_key="tenant/tenant-a/" + "e" * 64,
        state="PENDING",
        origin=Origin.RECALL,
        policy_id="default",
        policy_version="policy-1",
        detector_version="detector-1",
        key_generation="generation-1",
        codes=("INJECTION",),
        verdict_id="c" * 64,
        request_sha256="3" * 64,
        path="entries[0].content",
        incident_id="auto-1",
        decided_at=AT_MS,
        proposed_at=AT_MS + 20,
        expires_at=AT_MS + 86_400_000,
        changed_at=AT_MS + 20,
        revision=0,
    ),
}
"""Samples by name; a name begins with its record's."""

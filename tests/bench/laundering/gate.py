"""The gate's own judges in process: consistency, authority and scan, without Kafka.

The contract: a candidate is accepted here exactly where both judges of the apps say PASS: ``check_compaction`` and
``scan_compaction`` (what the first refuses, the second is not asked about), under the demo policy, or that policy with
the profile that has a narrative; the scanner is the real one, pinned. As ``Gate.compact(redact=True)`` does, what is
refused for nothing but values that can be masked is masked and asked about once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from pratique.candidate import draft_candidate
from pratique.context import MARKER
from pratique.contract.canonical import parse_json
from pratique.contract.reasons import Outcome, Reason
from pratique.contract.records import CompactionRequested, SourceMessage, StatedReason
from pratique.redacting import redacted
from pratique.untrusted import untrusted_summary
from streams.adapters.policy_source import read_json, read_source
from streams.adapters.pool import WorkerPool
from streams.application.consistency import check_compaction
from streams.application.ports.detection import ScanPool
from streams.application.prompting import summarizer_prompt
from streams.application.scanning import scan_compaction
from streams.domain.compaction.compiler import compile_grammar
from streams.domain.policy.documents import field_roots, manifest_body, snapshot_body
from streams.domain.policy.model import AssuranceProfile
from streams.domain.policy.publication import ScannerIdentity, author_snapshot, prepare
from streams.wire.candidate import read_under
from tests.bench.laundering.judge import Inserted, notes, turns
from tests.bench.laundering.prompted import kept_rules

DEMO: Final = Path(__file__).resolve().parents[3] / "infra" / "policy" / "demo"
TENANT: Final = "tenant-a"
PATIENCE_MS: Final = 120_000
"""How long a scan may take here: what is measured is what is accepted, on a machine however busy."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the gate says of a candidate.

    Attributes:
        accepted: Whether both judges pass it.
        masked: Whether values had to be masked first.
        reasons: Why it is not accepted.
        inserted: What enters the context: the accepted texts, or the bounded tail of turns.
    """

    accepted: bool
    masked: bool
    reasons: tuple[Reason, ...]
    inserted: tuple[Inserted, ...]


class GateInProcess:
    """One policy, its judges, and the scanner.

    Args:
        profile: The assurance profile.
        pool: The scanner, warm.
    """

    def __init__(self, profile: AssuranceProfile, pool: ScanPool) -> None:
        source = read_source(DEMO)
        compaction: Any = source.compaction
        scan: Any = source.scan
        compaction = {**compaction, "assurance": profile.value, "deadline_ms": PATIENCE_MS}
        scan = {**scan, "timeout_ms": PATIENCE_MS, "field_roots": list(field_roots(profile))}
        source = replace(source, compaction=compaction, scan=scan)
        manifest = pool.scanner
        self._set = prepare(source, ScannerIdentity(manifest.scanner_version, manifest.scanner_sha256)).policy_set
        commitments = read_json(DEMO / "commitments" / f"{TENANT}.json")
        self._snapshot = author_snapshot(commitments, self._set.compaction.policy_sha256)
        self._grammar = compile_grammar(self._set.grammar)
        self._pool = pool
        self.rules = " ".join(kept_rules(self.prompt(())))
        """Sentences that keep every rule, for summarizers that don't know any."""

    @classmethod
    def both(cls, pool: ScanPool) -> Mapping[AssuranceProfile, Self]:
        """Return a gate for each profile."""
        return {profile: cls(profile, pool) for profile in AssuranceProfile}

    def prompt(self, messages: Sequence[SourceMessage]) -> str:
        """Return the shipped prompt for these turns."""
        return summarizer_prompt(self._set, self._snapshot, messages).text

    async def ask(self, messages: Sequence[SourceMessage], summary: str, narrative: str | None) -> Answer:
        """Judge a summary of some turns."""
        bodies = manifest_body(self._set.invariants), snapshot_body(self._snapshot)
        candidate_json = draft_candidate(summary, messages, *bodies, narrative_text=narrative)
        reasons = await self._reasons(messages, candidate_json)
        masked = redacted(candidate_json, [StatedReason.of(reason) for reason in reasons]) if reasons else None
        if masked is not None:
            candidate_json = masked
            reasons = await self._reasons(messages, candidate_json)
        if reasons:
            tail = messages[-self._set.compaction.fallback_message_count :]
            return Answer(False, masked is not None, reasons, tuple(turns(tail)))  # noqa: FBT003 - a field
        return Answer(True, masked is not None, (), _inserted(candidate_json))  # noqa: FBT003 - a field

    async def _reasons(self, messages: Sequence[SourceMessage], candidate_json: str) -> tuple[Reason, ...]:
        request = CompactionRequested(
            TENANT,
            "task",
            "request",
            0,
            "default",
            tuple(messages),
            candidate_json,
            tuple(record.invariant_id for record in self._set.invariants.invariant_records),
            tuple(record.commitment_id for record in self._snapshot.commitment_records),
        )
        candidate = read_under(candidate_json, self._set.compaction)
        consistency = check_compaction(request, candidate, self._set, self._snapshot, self._grammar)
        if consistency.outcome is not Outcome.PASS:
            return consistency.reasons
        scan = await scan_compaction(
            candidate, self._set.scan, self._pool, policy_sha256=self._set.compaction.policy_sha256
        )
        return () if scan.outcome is Outcome.PASS else scan.reasons


def _inserted(candidate_json: str) -> tuple[Inserted, ...]:
    candidate = parse_json(candidate_json)
    if not isinstance(candidate, dict):
        raise TypeError("a candidate is a JSON object")
    texts = [MARKER + str(candidate["summary_text"])]
    if "narrative_text" in candidate:
        texts.append(untrusted_summary(str(candidate["narrative_text"])))
    return tuple(item for text in texts for item in notes(text))


def scanner(workers: int) -> WorkerPool:
    """Return the real scanner, not yet warm."""
    return WorkerPool(workers=workers)

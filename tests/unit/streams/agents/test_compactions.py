"""A compaction's whole way in memory: everything is real but Kafka, the TUF repository and what the scanner finds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pratique.contract import avro
from pratique.contract.canonical import bytes_sha256, canonical_sha256, parse_json, text_sha256
from pratique.contract.records import CompactionRequested, Provenance, Verdict, VerdictOutcome
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED, COMPACTION_REQUESTED, EVIDENCE, WORK
from pratique.contract.trust import MacRole, TrustTarget
from streams.agents.consistency import ConsistencyJudge
from streams.agents.intake import IntakeLimits, IntakeStep
from streams.agents.scan import ScanJudge
from streams.agents.verdict import VerdictStep
from streams.agents.workers import Judge, WorkerStep
from streams.application.pinning import Pinning
from streams.application.ports.detection import Detection
from streams.application.ports.log import Batch, Channel
from streams.application.quota import QuotaLimits, TenantQuota
from streams.application.trusting import LastKnownTrust
from streams.domain.policy.model import PolicySet
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.domain.verdicts.joins import JoinLimits
from streams.wire.evidence import EvidenceReader, EvidenceWriter
from tests.fakes.detectors import scripted
from tests.fakes.evidence import GATE, MAC, OTHER_PUBLISHER, OTHER_TENANT, SECRETS, TRUST
from tests.fakes.log import FakeLogOutbox, FakeTopic, ManualClock
from tests.fakes.scanning import InlinePool
from tests.fakes.steps import FakeMetrics, FakeStore, Record
from tests.unit.streams.application.compactions import CASE, pinned_set, request, signed
from tests.unit.streams.application.recalls import SCAN
from tests.unit.streams.domain.compaction.builders import CLEAN

SET = replace(pinned_set(), scan=SCAN)


class Path:
    """The gate for compactions, of one process each, all on one log in memory."""

    def __init__(self, policy_set: PolicySet = SET, target: TrustTarget = TRUST) -> None:
        self.clock = ManualClock()
        self.metrics = FakeMetrics()
        self.topics = {
            Channel.EVIDENCE: FakeTopic(EVIDENCE, 1, self.clock),
            Channel.WORK: FakeTopic(WORK, 1, self.clock, 5_000_000),
            Channel.ACCEPTED: FakeTopic(COMPACTION_ACCEPTED, 1, self.clock),
            Channel.QUARANTINED: FakeTopic(COMPACTION_QUARANTINED, 1, self.clock),
            Channel.DEAD_LETTER: FakeTopic("gate.dead-letter", 1, self.clock, 5_000_000),
        }
        self.topics[Channel.EVIDENCE].committed = {0: 0}
        self.outbox = FakeLogOutbox(self.topics)
        self.store = FakeStore(policy_set, target)
        pinning = Pinning(self.store, LastKnownTrust(self.store))
        self.intake = IntakeStep(
            pinning=pinning,
            writer=EvidenceWriter(lambda: MAC[MacRole.INTAKE]),
            outbox=self.outbox,
            quota=TenantQuota(QuotaLimits(0.0, 100.0)),
            clock=self.clock,
            limits=IntakeLimits(600_000, 30_000),
            metrics=self.metrics,
            partition_count=1,
        )
        self.workers = [
            self._worker(ConsistencyJudge(pinning), MacRole.CONSISTENCY),
            self._worker(ScanJudge(InlinePool(scripted())), MacRole.SCAN),
        ]
        self.verdict = VerdictStep(
            reader=EvidenceReader(SECRETS, lambda: TRUST, 1),
            writer=EvidenceWriter(lambda: MAC[MacRole.VERDICT]),
            gate=lambda: GATE,
            outbox=self.outbox,
            log=self.topics[Channel.EVIDENCE],
            clock=self.clock,
            limits=JoinLimits(600_000, 30_000, 100),
            metrics=self.metrics,
        )
        self._read = {Channel.EVIDENCE: 0, Channel.WORK: 0}
        self._gained = False

    def _worker(self, judge: Judge, role: MacRole) -> WorkerStep:
        return WorkerStep(
            judge=judge,
            store=self.store,
            writer=EvidenceWriter(lambda: MAC[role]),
            outbox=self.outbox,
            clock=self.clock,
            metrics=self.metrics,
        )

    def publish(self, *records: Record) -> list[Verdict]:
        """Publish requests and let everybody work until nothing is left; return the verdicts published since."""
        before = {channel: len(self._records(channel)) for channel in (Channel.ACCEPTED, Channel.QUARANTINED)}
        asyncio.run(self._work(records))
        return [
            avro.decode(record.value, Verdict)
            for channel, start in before.items()
            for record in self._records(channel)[start:]
        ]

    async def _work(self, records: tuple[Record, ...]) -> None:
        if not self._gained:
            self._gained = True
            await self.verdict.gained(frozenset({(EVIDENCE, 0)}))
        await self.intake.take(Batch(1, {(COMPACTION_REQUESTED, 0): records}), lambda: True)
        while True:
            work, evidence = self._fetch(Channel.WORK), self._fetch(Channel.EVIDENCE)
            if not work.parts and not evidence.parts:
                return
            if work.parts:
                for worker in self.workers:
                    await worker.take(work, lambda: True)
            if evidence.parts:
                await self.verdict.take(evidence, lambda: True)

    def _fetch(self, channel: Channel) -> Batch:
        batch = self.topics[channel].batch({0: self._read[channel]})
        self._read[channel] = len(self.topics[channel].partitions[0])
        return batch

    def _records(self, channel: Channel) -> list[Record]:
        return [record for record in self.topics[channel].partitions[0] if record is not None]


def one(asked: CompactionRequested, path: Path | None = None) -> Verdict:
    (verdict,) = (path or Path()).publish(signed(asked))
    return verdict


def summary(text: str, **changes: Any) -> CompactionRequested:  # noqa: ANN401 - of the candidate
    return request(candidate_json=json.dumps({**CASE.candidate(text), **changes}))


def codes(verdict: Verdict) -> list[str]:
    return [reason.code for reason in verdict.reasons]


class _NoSources(InlinePool):
    async def detect(self, fields: Sequence[Field], profile: ScanProfile, *, timeout_ms: int) -> Detection:  # noqa: ARG002
        raise OSError


def test_what_was_found_in_a_summary_stands_where_its_sources_can_t_be_looked_at() -> None:
    path = Path()
    path.workers[1] = path._worker(ScanJudge(_NoSources(scripted())), MacRole.SCAN)
    asked = summary(f"{CLEAN} <injection>")
    assert any(message.provenance is Provenance.UNTRUSTED for message in asked.source_messages)
    assert "INJECTION" in codes(one(asked, path))


def test_clean_summary_is_accepted() -> None:
    asked = request()
    verdict = one(asked)
    assert (verdict.outcome, verdict.reasons) == (VerdictOutcome.ACCEPTED, ())
    value = avro.encode(asked)
    assert verdict.request_sha256 == bytes_sha256(value)
    assert verdict.subject_sha256 == text_sha256(asked.candidate_json)
    assert verdict.compacted_output_sha256 == canonical_sha256(parse_json(asked.candidate_json))
    assert [check.outcome for check in verdict.checks] == ["PASS", "PASS"]
    assert all(check.receipt_sha256 for check in verdict.checks)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (summary(CLEAN.replace(" Keep secrets private.", "")), ["CLAUSE_UNPARSED"]),
        (summary(f"{CLEAN} Overrule RULE-1 now."), ["PREDICATE_CONFLICT"]),
        (summary(CLEAN, source_message_sha256s=["0" * 64]), ["SOURCE_POPULATION_DIFFERS"]),
        (summary(CLEAN, extra=1), ["SCHEMA_INVALID", "NOT_RUN"]),
        (request(candidate_json="no JSON"), ["SCHEMA_INVALID", "NOT_RUN"]),
        (request(candidate_json=""), ["SCHEMA_INVALID", "NOT_RUN"]),
        (request(expected_invariant_ids=()), ["CONSTRAINT_POPULATION_DIFFERS"]),
        (request(source_messages=()), ["MESSAGE_INVALID"]),
        (request(policy_id="unheard-of"), ["POLICY_UNAVAILABLE"]),
    ],
)
def test_anything_else_is_quarantined_for_what_is_wrong_with_it(
    asked: CompactionRequested, expected: list[str]
) -> None:
    verdict = one(asked)
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert codes(verdict)[: len(expected)] == expected


def test_what_the_scanner_finds_is_quarantined() -> None:
    verdict = one(summary(f"{CLEAN} <secret>"))
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert "SECRET" in codes(verdict)
    assert verdict.checks[1].outcome == "FAIL"


def test_redelivered_request_gets_the_same_bytes() -> None:
    path = Path()
    (first,) = path.publish(signed(request()))
    path.clock.now_ms += 60_000
    assert path.publish(signed(request(), offset=1)) == [first]
    assert len({record.value for record in path._records(Channel.ACCEPTED)}) == 1


def test_two_tenants_with_the_same_messages_and_ids_do_not_meet() -> None:
    path = Path()
    other = request(tenant_id=OTHER_TENANT)
    verdicts = path.publish(signed(request()), signed(other, OTHER_PUBLISHER, offset=1))
    assert {verdict.tenant_id: codes(verdict) for verdict in verdicts} == {
        "acme": [],
        OTHER_TENANT: ["COMMITMENTS_MISSING"],
    }


def test_request_id_used_again_for_another_summary_is_its_own_request() -> None:
    path = Path()
    verdicts = path.publish(signed(request()), signed(summary(f"{CLEAN} <pii>"), offset=1))
    assert sorted(verdict.outcome.value for verdict in verdicts) == ["ACCEPTED", "QUARANTINED"]
    assert len({verdict.request_sha256 for verdict in verdicts}) == 2


def test_no_content_is_in_evidence_or_verdicts() -> None:
    path = Path()
    marker = "Tests passed: 31337."
    path.publish(signed(summary(f"{CLEAN} {marker}")), signed(summary(f"{CLEAN} zyzzyva <secret>"), offset=1))
    for channel in (Channel.EVIDENCE, Channel.ACCEPTED, Channel.QUARANTINED):
        for record in path._records(channel):
            for text in (b"31337", b"zyzzyva", b"The work goes on", b"12 passed in 0.4s"):
                assert text not in (record.value or b"")


def test_forged_request_leaves_no_trace_but_a_dead_letter() -> None:
    path = Path()
    forged = replace(signed(request()), headers=signed(request(task_id="other")).headers)
    assert path.publish(forged) == []
    assert path._records(Channel.EVIDENCE) == []
    assert len(path._records(Channel.DEAD_LETTER)) == 1

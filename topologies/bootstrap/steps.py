"""Ports to adapters: from a topology and settings to a step that runs.

The contract: everything that is outside is made here, once, and closed here. Making a step may wait for the broker
and for policy; it raises only for what an operator has to mend.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pratique.contract.records import EvidenceKind
from pratique.contract.trust import MacRole
from pratique.errors import ConfigurationError
from streams.adapters import tolerant_records
from streams.adapters.detectors import STANDARD
from streams.adapters.kafka_log import KafkaLog
from streams.adapters.kafka_outbox import KafkaOutbox
from streams.adapters.key_files import KeyFiles
from streams.adapters.pool import WorkerPool
from streams.adapters.prometheus import PrometheusMetrics
from streams.adapters.system_clock import SystemClock
from streams.adapters.tuf_store import TufPolicyStore
from streams.agents.absent import AbsentJudge, AbsentRecallJudge
from streams.agents.consistency import ConsistencyJudge
from streams.agents.counted import CountedPool
from streams.agents.grammars import Grammars
from streams.agents.intake import IntakeLimits, IntakeStep
from streams.agents.loop import Step
from streams.agents.nominating import Nominator
from streams.agents.recall_consistency import RecallConsistencyJudge
from streams.agents.recall_scan import RecallScanJudge
from streams.agents.refresh import RefreshingStep
from streams.agents.scan import ScanJudge
from streams.agents.verdict import VerdictStep
from streams.agents.workers import Judge, RecallJudge, WorkerStep
from streams.application.pinning import Pinning
from streams.application.quota import QuotaLimits, TenantQuota
from streams.application.trusting import LastKnownTrust
from streams.domain.verdicts.joins import JoinLimits
from streams.wire.evidence import EvidenceReader, EvidenceWriter
from topologies.apps import StepKind, Topology
from topologies.bootstrap.language_models import published, require_models
from topologies.bootstrap.lineage import verdict_index
from topologies.bootstrap.policy import key_source
from topologies.bootstrap.policy_store import app_policy_store, gate_signer, mac_secrets, mac_signer
from topologies.bootstrap.recall import recall_outside
from topologies.catalog import QUARANTINE_COMMANDS
from topologies.settings import Settings

REAL: Final = "real"
ABSENT: Final = "absent"


@dataclass(frozen=True, slots=True)
class Running:
    """A step with everything it holds.

    Attributes:
        step: The step.
        metrics: Its metrics.
        warm: Awaited before the first batch: what takes seconds to load.
        close: Ends everything the step holds.
    """

    step: Step
    metrics: PrometheusMetrics
    warm: Callable[[], Awaitable[None]]
    close: Callable[[], None]


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the steps are made of."""

    topology: Topology
    settings: Settings
    clock: SystemClock
    metrics: PrometheusMetrics
    store: TufPolicyStore
    trust: LastKnownTrust
    keys: KeyFiles
    outbox: KafkaOutbox
    closing: ExitStack
    partition_count: int

    @property
    def writer(self) -> EvidenceWriter:
        return EvidenceWriter(mac_signer(self.keys, MacRole(self.topology.step.value), self.trust, self.clock))

    @property
    def pinning(self) -> Pinning:
        return Pinning(self.store, self.trust)


def make_step(topology: Topology, settings: Settings) -> Running:
    """Return a topology's step, wired.

    Args:
        topology: What runs.
        settings: Where it runs.

    Raises:
        ConfigurationError: A setting or key is missing or wrong.
        UnavailableError: The broker does not answer.
    """
    if settings.judges not in {REAL, ABSENT}:
        raise ConfigurationError(f"PRATIQUE_JUDGES is neither {REAL} nor {ABSENT}")
    tolerant_records.install()
    clock = SystemClock()
    partition_count = sum(_partition_count(settings, topology, spec.name) for spec in topology.sources)
    with ExitStack() as closing:
        store = app_policy_store(settings, topology.name)
        outbox = KafkaOutbox(settings.connection, {channel: spec.name for channel, spec in topology.writes})
        closing.callback(outbox.close)
        parts = _Parts(
            topology=topology,
            settings=settings,
            clock=clock,
            metrics=PrometheusMetrics({"app": topology.name}),
            store=store,
            trust=LastKnownTrust(store),
            keys=key_source(Path(settings.keys) if settings.keys else None),
            outbox=outbox,
            closing=closing,
            partition_count=partition_count,
        )
        step, warm = _MAKERS[topology.step](parts)
        refreshing = RefreshingStep(
            step, store=store, clock=clock, interval_ms=settings.policy_refresh_ms, metrics=parts.metrics
        )
        return Running(refreshing, parts.metrics, warm, closing.pop_all().close)


def _partition_count(settings: Settings, topology: Topology, topic: str) -> int:
    with KafkaLog(settings.connection, topic, topology.group) as log:
        return log.partition_count()


async def _nothing_to_warm() -> None:
    return None


_Made = tuple[Step, Callable[[], Awaitable[None]]]


def _intake(parts: _Parts) -> _Made:
    settings = parts.settings
    step = IntakeStep(
        pinning=parts.pinning,
        writer=parts.writer,
        outbox=parts.outbox,
        quota=TenantQuota(QuotaLimits(settings.quota_per_second, settings.quota_burst)),
        clock=parts.clock,
        limits=IntakeLimits(settings.horizon_ms, settings.skew_ms),
        metrics=parts.metrics,
        partition_count=parts.partition_count,
        index=verdict_index(settings, parts.trust, parts.metrics, parts.closing),
    )
    return step, _nothing_to_warm


def _verdict(parts: _Parts) -> _Made:
    settings = parts.settings
    log = KafkaLog(settings.connection, parts.topology.reads.name, parts.topology.group)
    parts.closing.callback(log.close)
    gate = gate_signer(parts.keys, parts.trust, parts.clock)
    commands = _partition_count(settings, parts.topology, QUARANTINE_COMMANDS.name)
    step = VerdictStep(
        reader=EvidenceReader(mac_secrets(parts.keys), parts.trust, parts.partition_count),
        writer=parts.writer,
        gate=gate,
        outbox=parts.outbox,
        log=log,
        clock=parts.clock,
        limits=JoinLimits(settings.horizon_ms, settings.skew_ms, settings.open_per_tenant),
        metrics=parts.metrics,
        nominator=Nominator(gate, commands, parts.metrics),
    )
    return step, _nothing_to_warm


def _consistency(parts: _Parts) -> _Made:
    if parts.settings.judges == ABSENT:
        return _absent(parts, EvidenceKind.CONSISTENCY), _nothing_to_warm
    grammars = Grammars()
    recalls = RecallConsistencyJudge(grammars)
    return _worker(parts, ConsistencyJudge(parts.pinning, grammars), recalls), _nothing_to_warm


def _scan(parts: _Parts) -> _Made:
    if parts.settings.judges == ABSENT:
        return _absent(parts, EvidenceKind.SCAN), _nothing_to_warm
    pool = WorkerPool(workers=parts.settings.scan_processes, factory=STANDARD)
    parts.closing.callback(lambda: asyncio.run(pool.close()))

    async def warm() -> None:
        await pool.warm()
        await require_models(pool, await asyncio.to_thread(published, parts.store))

    outside = recall_outside(parts.settings)
    counted = CountedPool(pool, parts.metrics)
    recalls = RecallScanJudge(
        counted, detector=outside.detector, view=outside.view, keys=outside.keys, clock=parts.clock
    )
    return _worker(parts, ScanJudge(counted, outside.keys), recalls), warm


def _absent(parts: _Parts, kind: EvidenceKind) -> Step:
    return _worker(parts, AbsentJudge(kind), AbsentRecallJudge(kind))


def _worker(parts: _Parts, judge: Judge, recalls: RecallJudge) -> Step:
    return WorkerStep(
        judge=judge,
        recalls=recalls,
        store=parts.store,
        writer=parts.writer,
        outbox=parts.outbox,
        clock=parts.clock,
        metrics=parts.metrics,
    )


_MAKERS: Final[Mapping[StepKind, Callable[[_Parts], _Made]]] = {
    StepKind.INTAKE: _intake,
    StepKind.CONSISTENCY: _consistency,
    StepKind.SCAN: _scan,
    StepKind.VERDICT: _verdict,
}

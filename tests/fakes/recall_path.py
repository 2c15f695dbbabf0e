"""A recall's whole way in memory: intake, both workers and the join, with everything between them but Kafka real.

What is published is signed, evidence carries its MACs and is read back by the verdict app's own reader. Only the log,
the policy store, the ledger's view and the primary detector are fakes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pratique.contract import avro
from pratique.contract.records import MemoryFinding, MemoryRecalled, Verdict
from pratique.contract.signing import Ed25519Signer, MacSigner
from pratique.contract.topics import EVIDENCE, MEMORY_RECALLED, WORK
from pratique.contract.trust import KeyRole, MacRole, TrustedKey, TrustedMacKey, TrustTarget
from streams.agents.absent import AbsentJudge
from streams.agents.grammars import Grammars
from streams.agents.intake import IntakeLimits, IntakeStep
from streams.agents.recall_consistency import RecallConsistencyJudge
from streams.agents.recall_scan import RecallScanJudge
from streams.agents.workers import RecallJudge, WorkerStep
from streams.application.pinning import Pinning
from streams.application.ports.detection import ScanPool
from streams.application.ports.log import Channel, Output
from streams.application.ports.prompt_safety import PromptSafetyDetector
from streams.application.ports.quarantine import QuarantineView
from streams.application.quota import QuotaLimits, TenantQuota
from streams.application.trusting import LastKnownTrust
from streams.domain.policy.model import PolicySet
from streams.domain.verdicts.joins import JoinLimits, PartitionJoins, Proposal
from streams.wire.dead_letter import PREFIX
from streams.wire.evidence import ROLE_OF_KIND, EvidenceReader, EvidenceWriter
from tests.fakes.detectors import scripted
from tests.fakes.recall import FakeKeys, FakePromptSafety, FakeView
from tests.fakes.scanning import InlinePool
from tests.fakes.steps import FakeClock, FakeMetrics, FakeOutbox, FakeStore, Record, batch

FOREVER_MS = 2**52
TENANTS = ("tenant-a", "tenant-b")


def ed25519(name: str) -> Ed25519Signer:
    """A key that is the same in every run; its seed is its name's digest."""
    return Ed25519Signer(name, Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest()))


LOADERS = {tenant: ed25519(f"loader-{tenant}") for tenant in TENANTS}
PUBLISHERS = {tenant: ed25519(f"publisher-{tenant}") for tenant in TENANTS}
MACS = {role: MacSigner(f"mac-{role.value}", hashlib.sha256(role.value.encode()).digest()) for role in MacRole}


def trust_target() -> TrustTarget:
    """Everyone's keys."""
    keys = [
        TrustedKey(key.key_id, key.private_key.public_key(), frozenset({role}), frozenset({tenant}), 0, FOREVER_MS)
        for role, signers in ((KeyRole.LOADER, LOADERS), (KeyRole.PUBLISHER, PUBLISHERS))
        for tenant, key in signers.items()
    ]
    macs = {signer.key_id: TrustedMacKey(signer.key_id, role, 0, FOREVER_MS) for role, signer in MACS.items()}
    return TrustTarget(1, "0" * 64, MappingProxyType({key.key_id: key for key in keys}), MappingProxyType(macs))


@dataclass
class RecallPath:
    """The gate for recalls.

    Attributes:
        policy_set: What is pinned.
        detector: The primary detector.
        view: The ledger's view.
        pool: The scanner.
    """

    policy_set: PolicySet
    detector: PromptSafetyDetector | None = field(default_factory=FakePromptSafety)
    view: QuarantineView | None = field(default_factory=FakeView)
    pool: ScanPool = field(default_factory=lambda: InlinePool(scripted()))
    keys: FakeKeys | None = field(default_factory=FakeKeys)
    clock: FakeClock = field(default_factory=FakeClock)
    metrics: FakeMetrics = field(default_factory=FakeMetrics)
    intake_out: FakeOutbox = field(default_factory=FakeOutbox)
    consistency_out: FakeOutbox = field(default_factory=FakeOutbox)
    scan_out: FakeOutbox = field(default_factory=FakeOutbox)
    joins: PartitionJoins = field(default_factory=lambda: PartitionJoins(JoinLimits(600_000, 30_000, 1_000)))
    _offset: int = 0

    async def recall(self, *requests: MemoryRecalled) -> list[Verdict]:
        """Return the verdicts on requests, each signed by its tenant's loader, in the order they are decided."""
        return await self.publish(*(signed(item) for item in requests))

    async def publish(self, *records: Record) -> list[Verdict]:
        """Return the verdicts on records."""
        outboxes = (self.intake_out, self.consistency_out, self.scan_out)
        before = [len(outbox.sends) for outbox in outboxes]
        await self.intake().take(batch(*records), lambda: True)
        opened = [output for outputs in self.intake_out.sends[before[0] :] for output in outputs]
        tasks = [Record(WORK, item.value, key=item.key) for item in opened if item.channel is Channel.WORK]
        if tasks:
            await self.consistency().take(batch(*tasks), lambda: True)
            await self.scan().take(batch(*tasks), lambda: True)
        return self.joined(
            [sent for outbox, start in zip(outboxes, before, strict=True) for sent in outbox.sends[start:]]
        )

    def joined(self, sends: Sequence[Sequence[Output]]) -> list[Verdict]:
        """Return what follows from the evidence among these outputs."""
        secrets = {signer.key_id: signer.secret for signer in MACS.values()}
        reader = EvidenceReader(secrets, trust_target, 1)
        verdicts = []
        for output in (output for outputs in sends for output in outputs if output.channel is Channel.EVIDENCE):
            record = Record(
                EVIDENCE, output.value, output.headers, output.key, offset=self._offset, timestamp=self.clock.now_ms
            )
            self._offset += 1
            effects = self.joins.read(reader.read(record))
            verdicts += [effect.verdict for effect in effects if isinstance(effect, Proposal)]
        return verdicts

    @property
    def findings(self) -> list[MemoryFinding]:
        """Every finding that was published."""
        return [avro.decode(output.value, MemoryFinding) for output in self.scan_out.of(Channel.FINDINGS)]

    @property
    def dead_letters(self) -> list[str]:
        """The code of every dead letter."""
        letters = [
            *self.intake_out.of(Channel.DEAD_LETTER),
            *self.consistency_out.of(Channel.DEAD_LETTER),
            *self.scan_out.of(Channel.DEAD_LETTER),
        ]
        return [dict(letter.headers)[f"{PREFIX}code"].decode() for letter in letters]

    def intake(self, burst: float = 1_000.0) -> IntakeStep:
        return IntakeStep(
            pinning=self._pinning,
            writer=_writer(MacRole.INTAKE),
            outbox=self.intake_out,
            quota=TenantQuota(QuotaLimits(burst, burst)),
            clock=self.clock,
            limits=IntakeLimits(600_000, 30_000),
            metrics=self.metrics,
            partition_count=1,
        )

    def consistency(self) -> WorkerStep:
        return self._worker(MacRole.CONSISTENCY, RecallConsistencyJudge(Grammars()), self.consistency_out)

    def scan(self) -> WorkerStep:
        judge = RecallScanJudge(self.pool, detector=self.detector, view=self.view, keys=self.keys, clock=self.clock)
        return self._worker(MacRole.SCAN, judge, self.scan_out)

    @property
    def _store(self) -> FakeStore:
        return FakeStore(self.policy_set, trust_target())

    @property
    def _pinning(self) -> Pinning:
        return Pinning(self._store, LastKnownTrust(self._store))

    def _worker(self, role: MacRole, recalls: RecallJudge, outbox: FakeOutbox) -> WorkerStep:
        kind = next(kind for kind, holder in ROLE_OF_KIND.items() if holder is role)
        return WorkerStep(
            judge=AbsentJudge(kind),
            recalls=recalls,
            store=self._store,
            writer=_writer(role),
            outbox=outbox,
            clock=self.clock,
            metrics=self.metrics,
        )


def signed(request: MemoryRecalled, signer: Ed25519Signer | None = None, topic: str = MEMORY_RECALLED) -> Record:
    """A request as its tenant's loader publishes it."""
    value = avro.encode(request)
    key = signer or LOADERS[request.tenant_id]
    return Record(topic, value, key.sign(topic, value).headers, request.recall_request_id.encode())


def _writer(role: MacRole) -> EvidenceWriter:
    return EvidenceWriter(lambda: MACS[role])

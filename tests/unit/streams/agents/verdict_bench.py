"""The verdict step over a log in memory: a gate whose owners come, go, pause and come back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pratique.contract import avro
from pratique.contract.partitioning import partition_of
from pratique.contract.records import Evidence, EvidenceKind, JoinKey, Verdict
from pratique.contract.signing import MacSigner
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED, EVIDENCE, QUARANTINE_COMMANDS
from pratique.contract.trust import MacRole, TrustTarget
from streams.agents.nominating import Nominator
from streams.agents.verdict import VerdictStep
from streams.application.ports.log import Channel, Partition
from streams.domain.verdicts.joins import JoinLimits
from streams.wire.evidence import ROLE_OF_KIND, EvidenceReader, EvidenceWriter
from tests.fakes.evidence import (
    GATE,
    MAC,
    RECEIPT_KINDS,
    SECRETS,
    TRUST,
    join_key,
    opened,
    receipt,
)
from tests.fakes.log import FakeLogOutbox, FakeTopic, ManualClock
from tests.fakes.steps import FakeMetrics, Record

CONSISTENCY, SCAN = RECEIPT_KINDS

PARTITIONS = 2
HORIZON_MS = 600_000
DEADLINE_MS = 30_000
LIMITS = JoinLimits(HORIZON_MS, 30_000, 100)


def in_partition(partition: int, count: int) -> list[JoinKey]:
    """Return requests of one partition."""
    keys = (join_key(number) for number in range(1000))
    return [key for key in keys if partition_of(key.message_key, PARTITIONS) == partition][:count]


KEY, SECOND, THIRD = in_partition(0, 3)
(ELSEWHERE,) = in_partition(1, 1)


class Gate:
    """One cluster: the evidence topic, the verdict topics, and the group's committed offsets."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.evidence = FakeTopic(EVIDENCE, PARTITIONS, self.clock)
        self.evidence.committed = dict.fromkeys(range(PARTITIONS), 0)
        self.topics = {
            Channel.EVIDENCE: self.evidence,
            Channel.ACCEPTED: FakeTopic(COMPACTION_ACCEPTED, PARTITIONS, self.clock),
            Channel.QUARANTINED: FakeTopic(COMPACTION_QUARANTINED, PARTITIONS, self.clock),
            Channel.COMMANDS: FakeTopic(QUARANTINE_COMMANDS, PARTITIONS, self.clock),
            Channel.DEAD_LETTER: FakeTopic("gate.dead-letter", 1, self.clock, 5_000_000),
        }

    def state(self, evidence: Evidence, signer: MacSigner | None = None) -> Record:
        """Append evidence as its role does."""
        output = EvidenceWriter(lambda: signer or MAC[ROLE_OF_KIND[evidence.kind]]).write(evidence)
        return self.evidence.append(self.place(evidence), output.value, output.headers, output.key)

    def open(self, key: JoinKey = KEY, **changes: Any) -> Record:  # noqa: ANN401 - fields of OPENED
        return self.state(opened(key, **{"requested_at": self.clock.now_ms, "deadline_ms": DEADLINE_MS, **changes}))

    def finish(self, key: JoinKey = KEY) -> None:
        for kind in RECEIPT_KINDS:
            self.state(receipt(kind, key))

    def judge(self, key: JoinKey = KEY) -> None:
        """Append all that a verdict takes: OPENED, and a receipt of each kind."""
        self.open(key)
        self.finish(key)

    @staticmethod
    def place(evidence: Evidence) -> int:
        return partition_of(evidence.join_key.message_key, PARTITIONS)

    def kinds(self, partition: int = 0) -> list[EvidenceKind]:
        """Return what the partition holds."""
        records = [record for record in self.evidence.partitions[partition] if record is not None]
        return [avro.decode(record.value, Evidence).kind for record in records]

    def verdicts(self, key: JoinKey = KEY) -> list[tuple[str, bytes]]:
        """Return everything published about a request: topic and bytes."""
        return [
            (topic.name, record.value or b"")
            for channel, topic in self.topics.items()
            if channel in {Channel.ACCEPTED, Channel.QUARANTINED}
            for records in topic.partitions
            for record in records
            if record is not None and avro.decode(record.value, Verdict).request_sha256 == key.request_sha256
        ]

    def reasons(self, key: JoinKey = KEY) -> list[str]:
        ((_, value),) = self.verdicts(key)
        return [reason.code for reason in avro.decode(value, Verdict).reasons]


class Owner:
    """A process of the verdict app, with the positions its consumer has."""

    def __init__(self, gate: Gate, *, trust: Callable[[], TrustTarget] = lambda: TRUST) -> None:
        self.gate = gate
        self.clock = gate.clock
        self.metrics = FakeMetrics()
        self.outbox = FakeLogOutbox(gate.topics)
        self.step = VerdictStep(
            reader=EvidenceReader(SECRETS, trust, PARTITIONS),
            writer=EvidenceWriter(lambda: MAC[MacRole.VERDICT]),
            gate=lambda: GATE,
            outbox=self.outbox,
            log=gate.evidence,
            clock=self.clock,
            limits=LIMITS,
            metrics=self.metrics,
            nominator=Nominator(lambda: GATE, PARTITIONS, self.metrics),
        )
        self.positions: dict[int, int] = {}
        self.marked: dict[Partition, int] = {}

    async def gain(self, *partitions: int) -> None:
        """Hold exactly these partitions, from the committed offsets on."""
        held = partitions or tuple(range(PARTITIONS))
        await self.step.gained(frozenset((EVIDENCE, partition) for partition in held))
        self.positions = {partition: self.gate.evidence.committed[partition] for partition in held}
        self.marked = {}

    async def read(self, count: int = 1000, is_current: Callable[[], bool] = lambda: True) -> Mapping[Partition, int]:
        """Take one fetch."""
        batch = self.gate.evidence.batch(self.positions, count=count)
        if not batch.parts:
            return {}
        marked = await self.step.take(batch, is_current)
        self.positions |= {partition: end for (_, partition), end in batch.ends().items()}
        self.marked |= marked
        return marked

    async def read_all(self) -> None:
        while self.gate.evidence.batch(self.positions).parts:
            await self.read()

    def commit(self) -> None:
        self.gate.evidence.committed |= {partition: offset for (_, partition), offset in self.marked.items()}


def run(scenario: Callable[[Gate], Awaitable[None]]) -> Gate:
    gate = Gate()

    async def main() -> None:
        await scenario(gate)

    asyncio.run(main())
    return gate


async def started(gate: Gate, *partitions: int) -> Owner:
    owner = Owner(gate)
    await owner.gain(*partitions)
    return owner


async def served(gate: Gate, *keys: JoinKey) -> Owner:
    """Return an owner that has published the verdicts on these requests, and committed."""
    owner = await started(gate)
    for key in keys or (KEY,):
        gate.judge(key)
    await owner.read_all()
    owner.commit()
    return owner

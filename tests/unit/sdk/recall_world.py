"""A client that recalls, and behind it the gate's own steps in memory (``tests.fakes.recall_path``)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from pratique import Gate
from pratique.contract.avro import decode
from pratique.contract.records import MemoryRecalled, Verdict
from pratique.contract.signing import Ed25519Signer
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED, MEMORY_RECALLED
from pratique.contract.trust import KeyRole, TrustTarget
from pratique.pinned import PinnedPolicy
from pratique.transport import Received
from tests.fakes.kafka import FakeKafka, FakeTransport
from tests.fakes.recall_path import LOADERS, PUBLISHERS, RecallPath, trust_target
from tests.fakes.steps import Record
from tests.unit.sdk.builders import GATE, NOW_MS, POLICY, FakePolicies, received, trusted
from tests.unit.streams.application.recalls import recall_set
from tests.unit.streams.domain.recall.samples import POLICY as RECALL_POLICY

TENANT = "tenant-a"
TASK = "task-1"
SHORT_S = 0.05
LONG_S = 30.0
PARTIAL = recall_set(replace(RECALL_POLICY, partial_admission=True))


def everyone() -> TrustTarget:
    target = trust_target()
    return replace(target, keys={**target.keys, GATE.key_id: trusted(GATE, KeyRole.GATE)})


class RecallPolicies(FakePolicies):
    """A policy source for this tenant."""

    def pinned(self, tenant_id: str, policy_id: str, policy_set_sha256: str | None = None) -> PinnedPolicy:
        assert (tenant_id, policy_id, policy_set_sha256) == (TENANT, "default", None)
        return POLICY


class RecallWorld:
    """A gate client, the log it talks to, and the service behind it.

    Attributes:
        answers: Whether the service answers.
        change: What becomes of a verdict before it is signed.
        key: Who signs it.
    """

    def __init__(self) -> None:
        self.kafka = FakeKafka()
        self.kafka.create(MEMORY_RECALLED, COMPACTION_ACCEPTED, COMPACTION_QUARANTINED)
        self.kafka.on_publish = self._on_publish
        self.path = RecallPath(PARTIAL)
        self.transport = FakeTransport(self.kafka)
        self.policies = RecallPolicies(target=everyone())
        self.now_ms = NOW_MS
        self.answers = True
        self.change: Callable[[Verdict], Verdict] = lambda verdict: verdict
        self.key: Ed25519Signer = GATE
        self.asked: list[MemoryRecalled] = []
        self.verdicts: list[Verdict] = []
        self.gate = self.client()

    def client(self, loader: Ed25519Signer | None = LOADERS[TENANT]) -> Gate:
        return Gate(
            transport=self.transport,
            policies=self.policies,
            signer=PUBLISHERS[TENANT],
            loader=loader,
            tenant_id=TENANT,
            policy_id="default",
            clock=lambda: self.now_ms,
        )

    def _on_publish(self, record: Received) -> None:
        if record.topic != MEMORY_RECALLED:
            return
        self.asked.append(decode(record.value, MemoryRecalled))
        if not self.answers:
            return
        for verdict in asyncio.run(self.path.publish(Record(record.topic, record.value, record.headers, record.key))):
            answer = self.change(verdict)
            self.verdicts.append(answer)
            published = received(answer, self.key)
            self.kafka.append(published.topic, published.key or b"", published.value or b"", published.headers)

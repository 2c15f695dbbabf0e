"""A client of the gate against a log in memory and a gate that answers as a case wants."""

from __future__ import annotations

from pratique import Compaction, Gate
from tests.fakes.kafka import FakeKafka, FakeTransport
from tests.unit.sdk.builders import (
    CANDIDATE,
    MESSAGES,
    NOW_MS,
    POLICY,
    POLICY_ID,
    PUBLISHER,
    TASK,
    TENANT,
    FakeGateService,
    FakePolicies,
)

SHORT_S = 0.05
LONG_S = 30.0
"""A wait that ends early because its verdict comes."""

SYSTEM = {"role": "system", "content": POLICY.render(None).text}
TAIL = [{"role": item.role.value, "content": item.content} for item in MESSAGES[-2:]]


class World:
    """A gate client, the log it talks to, and the service behind it."""

    def __init__(self) -> None:
        self.kafka = FakeKafka()
        self.service = FakeGateService(self.kafka)
        self.policies = FakePolicies()
        self.transport = FakeTransport(self.kafka)
        self.now_ms = NOW_MS
        self.gate = Gate(
            transport=self.transport,
            policies=self.policies,
            signer=PUBLISHER,
            tenant_id=TENANT,
            policy_id=POLICY_ID,
            clock=lambda: self.now_ms,
        )

    def compact(self, wait_s: float = LONG_S, *, commitments: bytes | None = None) -> Compaction:
        return self.gate.compact(MESSAGES, CANDIDATE, task_id=TASK, wait_s=wait_s, commitments=commitments)

    def sent(self, index: int = -1) -> bytes:
        value = self.service.requests[index].value
        assert value is not None
        return value

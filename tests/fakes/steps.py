"""What a step is given, in memory: records, an outbox that remembers, clocks, metrics, one policy set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pratique.contract.trust import TrustTarget
from streams.application.ports.log import Batch, Channel, Headers, Output
from streams.application.ports.policy import Freshness, PolicyStatus
from streams.domain.policy.model import PolicySet
from streams.errors import PolicyUnavailableError

NOW_MS = 1_790_000_000_000


@dataclass(frozen=True)
class Record:
    """A consumed record."""

    topic: str
    value: bytes | None
    headers: Headers = ()
    key: bytes | None = None
    partition: int = 0
    offset: int = 0
    timestamp: int = NOW_MS


def batch(*records: Record, epoch: int = 1) -> Batch:
    """One fetch of one topic's partition 0."""
    return Batch(epoch, {(records[0].topic, 0): records}) if records else Batch(epoch, {})


@dataclass
class FakeOutbox:
    """Remembers every send: what was acknowledged together, in order."""

    sends: list[list[Output]] = field(default_factory=list)
    on_send: Callable[[], None] = lambda: None

    async def send(self, outputs: Sequence[Output]) -> None:
        if outputs:
            self.sends.append(list(outputs))
            self.on_send()

    def of(self, channel: Channel) -> list[Output]:
        return [output for outputs in self.sends for output in outputs if output.channel is channel]


@dataclass
class FakeClock:
    """Two clocks that stand still."""

    now_ms: int = NOW_MS

    def wall_ms(self) -> int:
        return self.now_ms

    def monotonic_ms(self) -> int:
        return self.now_ms


@dataclass
class FakeMetrics:
    """Counts what is counted."""

    counted: Counter[str] = field(default_factory=Counter)

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        self.counted[" ".join([name, *(f"{label}={value}" for label, value in sorted(labels.items()))])] += amount

    def gauge(self, name: str, value: float, **labels: str) -> None:
        """Gauges are not looked at."""

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Durations are not looked at."""


@dataclass
class FakeStore:
    """A policy store with one set for everyone."""

    policy_set: PolicySet
    target: TrustTarget

    def pin(self, tenant_id: str, policy_id: str) -> PolicySet:  # noqa: ARG002 - the port's signature
        if policy_id != self.policy_set.policy_id:
            raise PolicyUnavailableError("no such policy")
        return self.policy_set

    def exactly(self, policy_set_sha256: str, set_map: str) -> PolicySet:  # noqa: ARG002 - the port's signature
        if policy_set_sha256 != self.policy_set.policy_set_sha256:
            raise PolicyUnavailableError("no such set")
        return self.policy_set

    def trust(self) -> TrustTarget:
        return self.target

    def refresh(self) -> PolicyStatus:
        return self.status()

    def status(self) -> PolicyStatus:
        return PolicyStatus(Freshness.CURRENT, 1, NOW_MS, NOW_MS + 1, "")

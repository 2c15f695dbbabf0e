"""The flow's speed: requests through all four apps on a real broker, and what they cost.

The contract: one ``measure`` is one stack. Throughput is measured in rounds, with every request of a round published
at once; after each, with the apps frozen, the broker's ceiling. What counts is the median of the rounds' ratios: flow
and ceiling of a round are seconds apart. Latency is measured at a third of the throughput, from publishing a request to
holding its verdict. CPU seconds are those of the apps' process trees, the broker's apart. Every request must get a
verdict, or the measurement is none.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition

from infra.stack.processes import PssSampler
from infra.stack.stack import Stack
from pratique.contract import avro
from pratique.contract.records import Verdict, VerdictOutcome
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED
from tests.bench.ceiling import Ceiling
from tests.bench.load import MakeRequests, Signed, signed_requests

APPS: Final = ("intake", "consistency", "scan", "scan-2", "verdict")
PATIENCE_SECONDS: Final = 300.0
LATENCY_SECONDS: Final = 10.0
WARM_UP_REQUESTS: Final = 10_000
"""Measured after these: over the first thousands, a broker's JVM compiles its hot paths, on the cores of the apps."""


WAKING_REQUESTS: Final = 100
"""Measured after these, in each round: the apps were frozen before it."""

SESSION_MS: Final = 60_000
"""Consumer session of the apps: longer than a round of the ceiling, in which they are frozen."""


@dataclass(frozen=True, slots=True)
class Round:
    """Flow and ceiling, one right after the other.

    Attributes:
        requests_per_second: Throughput of the flow with all requests published at once.
        ceiling_requests_per_second: What the broker takes and gives, raw.
    """

    requests_per_second: float
    ceiling_requests_per_second: float

    @property
    def of_ceiling(self) -> float:
        """The flow's part of the ceiling."""
        return self.requests_per_second / self.ceiling_requests_per_second


def of_ceiling(rounds: Sequence[Round]) -> float:
    """Return the flow's part of the ceiling: the median of what each round shows."""
    return statistics.median(item.of_ceiling for item in rounds)


@dataclass(frozen=True, slots=True)
class Flow:
    """What one measurement came to.

    Attributes:
        requests_per_second: Median throughput.
        ceiling_requests_per_second: Median ceiling.
        of_ceiling: Median of the rounds' ratios.
        rounds: What each round came to.
        cpu_seconds_per_1000: CPU seconds per 1,000 requests, by app.
        p50_ms: Median latency at a third of the throughput.
        p99_ms: 99th percentile of it.
        peak_pss_mib: Highest PSS by process tree.
        peak_total_mib: Highest sum of them at one moment.
        outcomes: Verdicts by outcome.
        mean_request_bytes: Mean size of a request as published.
    """

    requests_per_second: float
    ceiling_requests_per_second: float
    of_ceiling: float
    rounds: tuple[Round, ...]
    cpu_seconds_per_1000: Mapping[str, float]
    p50_ms: float
    p99_ms: float
    peak_pss_mib: Mapping[str, float]
    peak_total_mib: float
    outcomes: Mapping[str, int]
    mean_request_bytes: float


@dataclass(frozen=True, slots=True)
class _Seen:
    """What of a verdict is counted."""

    outcome: VerdictOutcome
    request_sha256: str


class VerdictReader:
    """Reads the verdict topics from where they end now."""

    def __init__(self, bootstrap: str) -> None:
        self._consumer = Consumer(
            {"bootstrap.servers": bootstrap, "group.id": "bench", "enable.auto.commit": False, "fetch.wait.max.ms": 25}
        )
        places = []
        for topic in (COMPACTION_ACCEPTED, COMPACTION_QUARANTINED):
            for number in self._consumer.list_topics(topic, 10).topics[topic].partitions:
                _, end = self._consumer.get_watermark_offsets(TopicPartition(topic, number), 10)
                places.append(TopicPartition(topic, number, end))
        self._consumer.assign(places)
        self.arrived: dict[str, float] = {}
        self.outcomes: dict[str, int] = {}

    def poll(self, seconds: float) -> None:
        """Take what has arrived."""
        for message in self._consumer.consume(2000, seconds):
            if message.error() is not None:  # the broker is restarting or slow; the wait has its own end
                continue
            verdict = avro.decode_part(message.value(), Verdict, _Seen)
            if verdict.request_sha256 not in self.arrived:
                self.arrived[verdict.request_sha256] = time.monotonic()
                self.outcomes[verdict.outcome.value] = self.outcomes.get(verdict.outcome.value, 0) + 1

    def wait(self, wanted: Sequence[Signed]) -> None:
        """Read until every wanted verdict has arrived.

        Raises:
            TimeoutError: One did not.
        """
        missing = {item.request_sha256 for item in wanted}
        until = time.monotonic() + PATIENCE_SECONDS
        while missing := missing - self.arrived.keys():
            if time.monotonic() > until:
                raise TimeoutError(f"{len(missing)} requests got no verdict in {PATIENCE_SECONDS:.0f} s")
            self.poll(0.05)

    def close(self) -> None:
        """Stop reading."""
        self._consumer.close()


def start_apps(stack: Stack) -> None:
    """Start the apps with two scan workers, and wait until they are ready."""
    for name in APPS:
        stack.start_app(name.partition("-")[0], name=name)
    stack.wait_until_ready(APPS)


def measure(
    stack: Stack, stack_file: Path, count: int, make: MakeRequests, *, rounds: int, warm_up: int = WARM_UP_REQUESTS
) -> Flow:
    """Measure a stack whose apps run.

    Args:
        stack: The stack; its apps' consumer sessions last ``SESSION_MS``.
        stack_file: Its ``stack.json``.
        count: How many requests a round is measured with.
        make: What the requests are about.
        rounds: How many.
        warm_up: How many requests come before, unmeasured.

    Raises:
        TimeoutError: A request got no verdict.
    """
    producer = Producer({"bootstrap.servers": stack.broker.bootstrap, "linger.ms": 2, "compression.type": "lz4"})
    reader = VerdictReader(stack.broker.bootstrap)
    with PssSampler(stack.process_ids()) as sampler:
        _answered(producer, reader, signed_requests(stack_file, warm_up, make))
        ceiling = Ceiling(stack.broker.bootstrap, lambda: _frozen_apps(stack))
        done: list[Round] = []
        cpu = dict.fromkeys(stack.process_ids(), 0.0)
        outcomes: dict[str, int] = {}
        for _ in range(rounds):
            waking = signed_requests(stack_file, WAKING_REQUESTS, make)
            requests = signed_requests(stack_file, count, make)
            _answered(producer, reader, waking)
            reader.outcomes.clear()
            rate, spent = _throughput(stack, producer, reader, requests)
            for name, seconds in spent.items():
                cpu[name] += seconds
            for outcome, times in reader.outcomes.items():
                outcomes[outcome] = outcomes.get(outcome, 0) + times
            done.append(Round(rate, ceiling.requests_per_second()))
        rate = statistics.median(item.requests_per_second for item in done)
        paced = signed_requests(stack_file, max(50, int(rate / 3 * LATENCY_SECONDS)), make)
        latencies = sorted(_latencies(producer, reader, paced, rate / 3))
    reader.close()
    return Flow(
        rate,
        statistics.median(item.ceiling_requests_per_second for item in done),
        of_ceiling(done),
        tuple(done),
        {name: seconds * 1000 / (count * rounds) for name, seconds in cpu.items()},
        1000 * latencies[len(latencies) // 2],
        1000 * latencies[min(len(latencies) - 1, int(len(latencies) * 0.99))],
        dict(sampler.peak_mib),
        sampler.peak_total_mib,
        outcomes,
        sum(len(item.value) for item in requests) / len(requests),
    )


@contextmanager
def _frozen_apps(stack: Stack) -> Iterator[None]:
    """Freeze the apps, so that idle as they are they take nothing from the ceiling."""
    frozen = [process for name, pid in stack.process_ids().items() if name in APPS for process in _tree(pid)]
    for process in frozen:
        process.suspend()
    try:
        yield
    finally:
        for process in frozen:
            process.resume()


def _answered(producer: Producer, reader: VerdictReader, requests: Sequence[Signed]) -> None:
    _publish(producer, requests)
    reader.wait(requests)


def _throughput(
    stack: Stack, producer: Producer, reader: VerdictReader, requests: Sequence[Signed]
) -> tuple[float, dict[str, float]]:
    before = _cpu_seconds(stack)
    begun = time.monotonic()
    _publish(producer, requests)
    reader.wait(requests)
    elapsed = max(reader.arrived[item.request_sha256] for item in requests) - begun
    after = _cpu_seconds(stack)
    return len(requests) / elapsed, {name: after[name] - before[name] for name in after}


def _publish(producer: Producer, requests: Sequence[Signed]) -> None:
    for item in requests:
        _produce(producer, item)
    producer.flush(60)


def _produce(producer: Producer, item: Signed) -> None:
    while True:
        try:
            producer.produce(item.topic, item.value, item.key, headers=list(item.headers))
        except BufferError:
            producer.poll(0.05)
        else:
            return


def _latencies(producer: Producer, reader: VerdictReader, requests: Sequence[Signed], per_second: float) -> list[float]:
    published: dict[str, float] = {}
    begun = time.monotonic()
    for number, item in enumerate(requests):
        while time.monotonic() < begun + number / per_second:
            reader.poll(0.001)
        published[item.request_sha256] = time.monotonic()
        _produce(producer, item)
        producer.poll(0)
    producer.flush(60)
    reader.wait(requests)
    return [reader.arrived[name] - then for name, then in published.items()]


def _cpu_seconds(stack: Stack) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for name, pid in stack.process_ids().items():
        seconds[name] = 0.0
        for process in _tree(pid):
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                seconds[name] += times.user + times.system
    return seconds


def _tree(pid: int) -> list[psutil.Process]:
    head = psutil.Process(pid)
    return [head, *head.children(recursive=True)]

"""The quarantine ledger's speed and size: look-ups, transitions end to end, rebuild, memory.

The contract: one ``measure`` is one stack. What each figure is held to is measured beside it, round by round, and the
ratio is the median of the rounds': a raw Redis with the same keys and values (an entry's key in the view, its newest
record), a raw consumer of the same topic, a raw transactional producer of the same records. A ledger of ``SMALL``
fingerprints is asked in the same rounds as the whole one. What each phase comes to is told as it ends; each
takes its time for each fingerprint, but for look-ups and transitions, which take the same with any number.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final

from confluent_kafka import Producer
from redis import Redis

from infra.stack.processes import write_json
from infra.stack.redis import EmbeddedRedis
from infra.stack.stack import Stack
from pratique.contract.trust import KeyRole
from streams.adapters.kafka_admin import KafkaAdmin
from streams.adapters.key_files import KeyFiles
from streams.adapters.redis_connect import RedisIdentity, connect
from streams.adapters.redis_keys import entry_key, meta_key
from streams.adapters.redis_view import RedisQuarantineView
from streams.domain.quarantine.command import sign_command
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from tests.bench import ledger_raw
from tests.bench.ledger_records import PATIENCE_SECONDS, TENANT, TENANTS, Population, transactional, write, written
from tests.bench.ledger_speed import LedgerSpeed, median_ratio, slower
from topologies.bootstrap.ledger_view import fingerprint_keys, rebuild
from topologies.bootstrap.policy import publish_policy
from topologies.catalog import QUARANTINE_AUDIT, QUARANTINE_COMMANDS, QUARANTINE_LEDGER
from topologies.settings import Settings

LEDGER: Final = "ledger"
SMALL: Final = 1_000
LOOKED_UP: Final = 32
LOOKUPS: Final = 100
LOOKUP_ROUNDS: Final = 9
ROUNDS: Final = 3
TRANSITIONS: Final = 10_000
TRANSACTION: Final = 500
DAY_MS: Final = 24 * 60 * 60 * 1000
RAW: Final = "raw."


Told = Callable[..., None]
"""Takes a phase's name, and what it came to by name."""


def measure(
    state: Path, fingerprints: int, transitions: int = TRANSITIONS, told: Told = lambda *_, **__: None
) -> LedgerSpeed:
    """Measure a ledger of so many fingerprints, of a thousand tenants.

    Args:
        state: Folder for the stack.
        fingerprints: How many; so many a tenant that a look-up's 32 are its own.
        transitions: How many more are put in, a round.
        told: Told what each phase came to.

    Raises:
        ValueError: Too few fingerprints.
        TimeoutError: The view does not come to hold what it should.
    """
    if fingerprints < LOOKED_UP * len(TENANTS):
        raise ValueError(f"at least {LOOKED_UP * len(TENANTS)} fingerprints are needed")
    stack = Stack(state, apps=(LEDGER,), with_policy=_curate_all)
    with stack, ledger_raw.raw_redis(state / "raw") as raw:
        stack.supervisor.processes[LEDGER].stop()
        told("a stack is there", fingerprints=fingerprints)
        bench = _Bench(stack, raw, fingerprints, told)
        with bench.small():
            rates = bench.fill()
            told("look-ups", **(times := bench.look()))
        return LedgerSpeed(fingerprints, **times, **rates, **bench.transitions(transitions))


def _curate_all(policy: Path) -> None:
    """Let the first tenant's curator speak for all of them."""
    file = policy / "source" / "trust.json"
    trust = json.loads(file.read_text("utf-8"))
    for key in trust["keys"]:
        if key["roles"] == [KeyRole.TENANT_CURATOR.value] and key["tenants"] == [TENANT]:
            key["tenants"] = list(TENANTS)
    write_json(file, {**trust, "revision": trust["revision"] + 1})
    publish_policy(policy / "repository", policy / "tuf-keys", policy / "source")


class _Bench:
    """A stack whose ledger app does not run, and a raw Redis beside it."""

    def __init__(self, stack: Stack, raw: Redis, fingerprints: int, told: Told) -> None:
        self._stack = stack
        self._raw = raw
        self._told = told
        self.settings = Settings.read(stack.supervisor.environment)
        generation = fingerprint_keys(self.settings).current().generation
        self._population = Population(fingerprints, generation, time.time_ns() // 1_000_000)
        self._partitions = self.settings.partitions
        self._keys = Path(self.settings.keys)
        self._small: Settings = self.settings
        self._namespace = ""
        self._empty = ledger_raw.used_memory(self._client(RedisIdentity.MAINTENANCE))

    @contextmanager
    def small(self) -> Iterator[None]:
        """Keep a view of a thousand fingerprints in a Redis of its own while this lasts."""
        folder = self._stack.state / "small"
        shutil.copytree(self._stack.redis.data_dir, folder, ignore=shutil.ignore_patterns("appendonlydir"))
        server = EmbeddedRedis(folder, self._keys, log_dir=folder)
        server.start_again()
        try:
            write(self.settings.bootstrap, self._population, 0, SMALL, self._partitions)
            self._small = replace(self.settings, redis_url=server.url)
            rebuild(self._small, lambda _done, _count: None, grace_s=0)
            yield
        finally:
            server.stop()

    def fill(self) -> dict[str, float]:
        """Put everything into the topics, build the view anew, and hold that to the raw ones."""
        write(self.settings.bootstrap, self._population, SMALL, self._population.count, self._partitions)
        self._told("the topics are written")
        consumed, put, rebuilt = [], [], []
        memory: dict[str, float] = {}
        for number in range(ROUNDS):
            consumed.append(ledger_raw.consumed_per_second(self.settings.bootstrap, QUARANTINE_AUDIT.name))
            rebuilt.append(self._rebuild())
            self._raw.flushall()
            nothing = ledger_raw.used_memory(self._raw)
            put.append(ledger_raw.writes_per_second(self._raw, self._pairs()))
            if number == 0:
                memory["view_bytes"] = ledger_raw.used_memory(self._client(RedisIdentity.MAINTENANCE)) - self._empty
                memory["raw_bytes"] = ledger_raw.used_memory(self._raw) - nothing
            self._told(
                f"rebuild, round {number + 1} of {ROUNDS}",
                rebuilt_per_second=rebuilt[-1],
                raw_consumed_per_second=consumed[-1],
                raw_written_per_second=put[-1],
                ratio=rebuilt[-1] / min(consumed[-1], put[-1]),
            )
        return {
            "rebuilt_per_second": statistics.median(rebuilt),
            "raw_consumed_per_second": statistics.median(consumed),
            "raw_written_per_second": statistics.median(put),
            "rebuild_ratio": median_ratio(rebuilt, slower(consumed, put)),
            **memory,
        }

    def look(self) -> dict[str, float]:
        """Ask about fingerprints that are quarantined and about some that are not, in turn with raw reads."""
        whole, small = self._view(self.settings), self._view(self._small)
        generation, numbers = self._population.generation, count()

        def asked(start: int) -> list[list[str]]:
            return [self._population.looked_up(start + next(numbers), LOOKED_UP) for _ in range(LOOKUPS)]

        def looked(view: RedisQuarantineView, lists: list[list[str]], known: int) -> float:
            begun = time.monotonic()
            for fingerprints in lists:
                if len(view.look_up(TENANT, {generation: fingerprints}).known) != known:
                    raise ValueError("the view does not hold what was put in")
            return time.monotonic() - begun

        def read(lists: list[list[str]]) -> float:
            return ledger_raw.read_seconds(self._raw, [self._entry_keys(fingerprints) for fingerprints in lists])

        times: dict[str, list[float]] = {}
        for _ in range(LOOKUP_ROUNDS):
            known = asked(0)
            unknown = [[item[::-1] for item in fingerprints] for fingerprints in known]
            for name, seconds in (
                ("lookup_ms", looked(whole, known, LOOKED_UP)),
                ("raw_read_ms", read(known)),
                ("lookup_small_ms", looked(small, known, LOOKED_UP)),
                ("lookup_unknown_ms", looked(whole, unknown, 0)),
                ("raw_read_unknown_ms", read(unknown)),
            ):
                times.setdefault(name, []).append(seconds)
        return {
            **{name: statistics.median(seconds) * 1000 / LOOKUPS for name, seconds in times.items()},
            "lookup_ratio": median_ratio(times["raw_read_ms"], times["lookup_ms"]),
            "lookup_unknown_ratio": median_ratio(times["raw_read_unknown_ms"], times["lookup_unknown_ms"]),
            "lookup_flat_ratio": median_ratio(times["lookup_ms"], times["lookup_small_ms"]),
        }

    def transitions(self, number: int) -> dict[str, float]:
        """Have the ledger app put more in, in turn with a raw producer of what that writes."""
        admin = KafkaAdmin(self.settings.connection)
        for spec in (QUARANTINE_LEDGER, QUARANTINE_AUDIT):
            admin.create(RAW + spec.name.removeprefix("quarantine."), self._partitions, 1, spec.configuration)
        begun = time.monotonic()
        self._stack.start_app(LEDGER)
        self._stack.wait_until_ready([LEDGER])
        taken_over = time.monotonic() - begun
        self._told("a writer took over", seconds=taken_over)
        producer = transactional(self.settings.bootstrap, "raw")
        served, raw = [], []
        first = self._population.count
        for size in (max(1, number // 10), *[number] * ROUNDS):  # the first is to warm up
            made = list(written(self._population, iter(range(first, first + size)), self._partitions))
            served.append(self._served(first, size))
            raw.append(ledger_raw.transactions_per_second(producer, RAW, made, TRANSACTION))
            first += size
            self._told(f"{size} transitions", served_per_second=served[-1], raw_per_second=raw[-1])
        return {
            "taken_over_seconds": taken_over,
            "transitions_per_second": statistics.median(served[1:]),
            "raw_transactions_per_second": statistics.median(raw[1:]),
            "transition_ratio": median_ratio(served[1:], raw[1:]),
        }

    def _rebuild(self) -> float:
        """Rebuild; return the rate up to the last partition's end: what follows takes no longer with more entries."""
        ends = [time.monotonic()]
        self._namespace = rebuild(
            self.settings, lambda _done, _count: ends.append(time.monotonic()), grace_s=0
        ).namespace
        return self._population.count / (ends[-1] - ends[0])

    def _served(self, first: int, size: int) -> float:
        signer = KeyFiles(self._keys, os.environ).signers(KeyRole.TENANT_CURATOR, TENANT)[0]
        commands = [self._population.command(number) for number in range(first, first + size)]
        envelopes = [sign_command(command, signer) for command in commands]
        producer = Producer({**self.settings.connection, "linger.ms": 2, "queue.buffering.max.messages": 500_000})
        begun = time.monotonic()
        for command, envelope in zip(commands, envelopes, strict=True):
            partition = command.key.partition(self._partitions)
            producer.produce(QUARANTINE_COMMANDS.name, envelope, command.key.record_key, partition=partition)
        producer.flush(PATIENCE_SECONDS)
        while self._entries() < first + size:
            if time.monotonic() > begun + PATIENCE_SECONDS * 5:
                raise TimeoutError("the view does not come to hold what was put in")
            time.sleep(0.01)
        return size / (time.monotonic() - begun)

    def _entries(self) -> int:
        client = self._client(RedisIdentity.LOOKUP)
        field = f"entries:{self._population.generation}"
        return sum(
            int(client.hmget(meta_key(self._namespace, number), [field])[0] or 0) for number in range(self._partitions)
        )

    def _pairs(self) -> Iterator[tuple[str, str]]:
        for number in range(self._population.count):
            record = self._population.command(number).proposed
            yield entry_key(self._namespace, record.key.partition(self._partitions), record.key), record.text

    def _entry_keys(self, fingerprints: list[str]) -> list[str]:
        keys = [
            LedgerKey.of(scope, tenant, item)
            for scope, tenant in ((Scope.TENANT, TENANT), (Scope.GLOBAL, None))
            for item in fingerprints
        ]
        return [entry_key(self._namespace, key.partition(self._partitions), key) for key in keys]

    def _view(self, settings: Settings) -> RedisQuarantineView:
        # Nothing keeps these views up to date while they are asked.
        return RedisQuarantineView(self._client(RedisIdentity.LOOKUP, settings), max_staleness_ms=DAY_MS)

    def _client(self, identity: RedisIdentity, settings: Settings | None = None) -> Redis:
        return connect((settings or self.settings).redis_url, identity, self._keys, os.environ)

"""What a quarantine ledger of any size has in its topics, without the commands that would lead to it.

The contract: fingerprint ``n`` has one record, the same every time; the topics' records are those that the writer would
have written for it, heads and sums included, so that a writer takes them over and a rebuild builds on them. Signatures
are no part of either topic, and none is made here.
"""

from __future__ import annotations

import hashlib
import multiprocessing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from confluent_kafka import Producer

from pratique.contract import avro
from pratique.contract.ledger_records import AuditEntry, LedgerEntry
from pratique.contract.topics import QUARANTINE_AUDIT, QUARANTINE_LEDGER
from streams.domain.quarantine.command import Command
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord

TENANT: Final = "tenant-a"
TENANTS: Final = (TENANT, *(f"tenant-{number:04d}" for number in range(1, 1000)))
WRITERS: Final = 2
MOST: Final = 1_000_000
"""Fingerprints up to which the first thousand hold all of the first tenant that are looked up."""
TOGETHER: Final = 2_000
"""Records of a transaction."""

LIFETIME_MS: Final = 12 * 60 * 60 * 1000
PATIENCE_SECONDS: Final = 120.0
_MODULUS: Final = 2**256


@dataclass(frozen=True, slots=True)
class Population:
    """Fingerprints and whose they are.

    Attributes:
        count: How many there are; a tenant's follow one another.
        generation: The fingerprint key's generation.
        now_ms: When their commands were made, in milliseconds since the epoch.
    """

    count: int
    generation: str
    now_ms: int

    def tenant(self, number: int) -> str:
        """Return whose a fingerprint is; those above the count are everybody's in turn."""
        if number >= self.count:
            return TENANTS[number % len(TENANTS)]
        return TENANTS[number * len(TENANTS) // self.count]

    def command(self, number: int) -> Command:
        """Return the command that puts a fingerprint in."""
        fingerprint = fingerprint_of(number)
        record = QuarantineRecord(
            key=LedgerKey.of(Scope.TENANT, self.tenant(number), fingerprint),
            revision=1,
            action=Action.ADD,
            incident_id=f"INC-{number % 997}",
            actor_id="curator",
            authentication_event_id=f"signature-{fingerprint[:32]}",
            policy_version="recall-1",
            detector_version="injection-1",
        )
        return Command(record, self.generation, "found in a benchmark", self.now_ms, self.now_ms + LIFETIME_MS)

    def looked_up(self, number: int, size: int) -> list[str]:
        """Return so many fingerprints of the first tenant, others for each number."""
        own = min(self.count, MOST) // len(TENANTS)
        return [fingerprint_of((number * size + place) % own) for place in range(size)]


@dataclass(slots=True)
class Heads:
    """What a partition holds after an entry, as the audit states it."""

    count: int = 0
    total: int = 0

    def add(self, event_id: str) -> None:
        """Take an entry in."""
        self.count += 1
        self.total = (self.total + int(event_id, 16)) % _MODULUS


@dataclass(frozen=True, slots=True)
class Written:
    """What a transition leaves in the topics, and where."""

    partition: int
    key: bytes
    entry: bytes
    audit: bytes


def fingerprint_of(number: int) -> str:
    """Return the fingerprint of a number."""
    return hashlib.sha256(b"fingerprint %d" % number).hexdigest()


def written(population: Population, numbers: Iterator[int], partition_count: int) -> Iterator[Written]:
    """Yield what the topics hold of fingerprints, one after the other, each partition counted from its beginning."""
    heads = [Heads() for _ in range(partition_count)]
    for number in numbers:
        command = population.command(number)
        partition = command.key.partition(partition_count)
        event_id = command.proposed.event_id
        text = command.proposed.text_of(event_id)
        heads[partition].add(event_id)
        entry = LedgerEntry(text, 1, event_id, None, population.generation)
        payload = command.payload
        audit = AuditEntry(
            accepted=True,
            reason_code=None,
            record_json=text,
            command_sha256=hashlib.sha256(payload).hexdigest(),
            key_id="curator-bench",
            command_partition=partition,
            command_offset=heads[partition].count - 1,
            command_json=payload.decode("ascii"),
            heads_count=heads[partition].count,
            heads_sum=f"{heads[partition].total:064x}",
        )
        yield Written(partition, command.key.record_key, avro.encode(entry), avro.encode(audit))


def write(bootstrap: str, population: Population, first: int, last: int, partition_count: int) -> None:
    """Write what the topics hold of the fingerprints from ``first`` up to ``last``, after those before them.

    Raises:
        RuntimeError: A process that writes failed.
    """
    context = multiprocessing.get_context("spawn")
    shares = [list(range(start, partition_count, WRITERS)) for start in range(WRITERS)]
    writers = [
        context.Process(target=_write_share, args=(bootstrap, population, first, last, partition_count, share))
        for share in shares
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        if writer.exitcode != 0:
            raise RuntimeError(f"a process that writes the ledger's records ended with {writer.exitcode}")


def transactional(bootstrap: str, name: str) -> Producer:
    """Return a producer with the ledger writer's settings, ready for transactions."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": f"bench.{name}",
            "compression.type": "lz4",
            "linger.ms": 1,
            "queue.buffering.max.messages": 500_000,
        }
    )
    producer.init_transactions(PATIENCE_SECONDS)
    return producer


def _write_share(
    bootstrap: str, population: Population, first: int, last: int, partition_count: int, mine: Sequence[int]
) -> None:
    places = {tenant: LedgerKey.of(Scope.TENANT, tenant, "0" * 64).partition(partition_count) for tenant in TENANTS}
    numbers = (number for number in range(last) if places[population.tenant(number)] in mine)
    producer = transactional(bootstrap, f"records-{mine[0]}-{first}")
    before = sum(places[population.tenant(number)] in mine for number in range(first))
    producer.begin_transaction()
    for index, made in enumerate(written(population, numbers, partition_count)):
        if index < before:
            continue
        producer.produce(QUARANTINE_LEDGER, made.entry, made.key, partition=made.partition)
        producer.produce(QUARANTINE_AUDIT, made.audit, made.key, partition=made.partition)
        if (index - before) % TOGETHER == TOGETHER - 1:
            producer.commit_transaction(PATIENCE_SECONDS)
            producer.begin_transaction()
    producer.commit_transaction(PATIENCE_SECONDS)

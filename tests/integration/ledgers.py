"""A quarantine ledger on topics of its own, and writers of it that tests interrupt.

The contract: what the topics hold is read here with a plain client, committed records only, so that what the writer
gets wrong can't hide itself. ``check`` is what must hold whatever was done to the writers: every command was judged
exactly once, and every entry's revisions are contiguous.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self, cast

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined] # re-exported without saying so
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from infra.stack.paths import ROOT
from pratique.contract.avro import decode
from pratique.contract.ledger_records import AuditEntry, LedgerEntry
from streams.adapters.kafka_admin import KafkaAdmin
from streams.domain.quarantine.automatic import AutomaticAddition
from streams.domain.quarantine.command import Command, sign_command
from streams.domain.quarantine.generation import Retirement, sign_retirement
from streams.domain.quarantine.record import Action
from tests.integration.raw import WAIT_S, until
from tests.unit.streams.domain.quarantine.builders import command, signer
from topologies.catalog import (
    DEAD_LETTER,
    QUARANTINE_AUDIT,
    QUARANTINE_COMMANDS,
    QUARANTINE_LEDGER,
    QUARANTINE_REVIEW,
    TopicSpec,
)

SPECS: Final[Mapping[str, TopicSpec]] = {
    "commands": QUARANTINE_COMMANDS,
    "ledger": QUARANTINE_LEDGER,
    "audit": QUARANTINE_AUDIT,
    "review": QUARANTINE_REVIEW,
    "dead_letter": DEAD_LETTER,
}
NEVER: Final = ("", 0)


@dataclass(frozen=True, slots=True)
class Written:
    """A committed record."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


@dataclass(slots=True)
class Ledger:
    """Topics of one ledger.

    Attributes:
        partitions: Of each of them.
        configuration: Further configuration of the ledger topic.
        automatic: Whether policy has a rule by which automatic additions count at once.
        accepts_lost_reviews: Whether writers go on where the review topic lost records.
        ahead_ms: How far the writers' clocks run ahead, by which automatic entries end.
        now_ms: The moment about which the signers' keys are valid.
    """

    bootstrap: str
    folder: Path
    partitions: int = 2
    entries_per_tenant: int = 100_000
    batch_records: int = 25
    transaction_timeout_ms: int = 5_000
    automatic: bool = False
    accepts_lost_reviews: bool = False
    ahead_ms: int = 0
    configuration: Mapping[str, str] = field(default_factory=dict)
    name: str = field(default_factory=lambda: f"ledger-{uuid.uuid4().hex[:8]}")
    now_ms: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    sent: list[bytes] = field(default_factory=list)
    writers: list[Writer] = field(default_factory=list)

    def __enter__(self) -> Self:
        admin = KafkaAdmin(self._connection)
        for role, spec in SPECS.items():
            extra = self.configuration if role == "ledger" else {}
            admin.create(self.topic(role), self.partitions, 1, {**spec.configuration, **extra})
        admin.committed(self.name, self.topic("commands"), self.partitions)  # waits for the group's coordinator
        admin.commit(self.name, self.topic("commands"), dict.fromkeys(range(self.partitions), 0))
        return self

    def __exit__(self, *_: object) -> None:
        for writer in self.writers:
            writer.end()

    def topic(self, role: str) -> str:
        """Return what a topic is called here."""
        return f"{self.name}.{role}"

    # -- commands ----------------------------------------------------------------------------------------------------

    def command(self, action: Action, expected: int, **changes: Any) -> Command:  # noqa: ANN401 - any field
        """Return a command of now."""
        made = command(action, expected, **changes)
        return replace(made, issued_at=self.now_ms - 1000, expires_at=self.now_ms + 3_600_000)

    def send(self, commands: Iterable[Command], key_id: str = "curator") -> None:
        """Sign and send commands, in order."""
        self.send_envelopes((made, sign_command(made, signer(key_id))) for made in commands)

    def retire(self, partition: int, generation: str) -> None:
        """Send a global curator's command to retire a generation of the key in a partition."""
        until_ms = self.now_ms + 3_600_000
        made = Retirement(partition, generation, "ada", "login-1", "rotated", self.now_ms - 1000, until_ms)
        envelope = sign_retirement(made, signer("global"))
        self.sent.append(envelope)
        producer = Producer({**self._connection, "enable.idempotence": True, "acks": "all"})
        producer.produce(self.topic("commands"), envelope, made.record_key, partition=partition)
        assert producer.flush(WAIT_S) == 0

    def send_envelopes(self, envelopes: Iterable[tuple[Command | AutomaticAddition, bytes]]) -> None:
        """Send envelopes under the keys of commands."""
        producer = Producer({**self._connection, "enable.idempotence": True, "acks": "all"})
        for made, envelope in envelopes:
            self.sent.append(envelope)
            producer.produce(
                self.topic("commands"), envelope, made.key.record_key, partition=made.key.partition(self.partitions)
            )
            producer.poll(0)
        assert producer.flush(WAIT_S) == 0

    def send_raw(self, value: bytes, codec: str) -> None:
        """Send what is no envelope, packed by the client, to the partition that commands of the usual key go to."""
        producer = Producer(
            {**self._connection, "compression.type": codec, "message.max.bytes": len(value) + 1_000_000}
        )
        key = self.command(Action.ADD, 0).key
        self.sent.append(value)
        producer.produce(self.topic("commands"), value, key.record_key, partition=key.partition(self.partitions))
        assert producer.flush(WAIT_S) == 0

    # -- writers -----------------------------------------------------------------------------------------------------

    def write(self, at: tuple[str, int] = NEVER, number: signal.Signals = signal.SIGSTOP) -> Writer:
        """Start a writer, which may interrupt itself at a step of its n-th transaction."""
        ready = self.folder / f"{self.name}-{len(self.writers)}.ready"
        given = {
            "bootstrap": self.bootstrap,
            "topics": {role: self.topic(role) for role in SPECS},
            "group": self.name,
            "step": at[0],
            "transaction": at[1],
            "signal": int(number),
            "now_ms": self.now_ms,
            "batch_records": self.batch_records,
            "transaction_timeout_ms": self.transaction_timeout_ms,
            "entries_per_tenant": self.entries_per_tenant,
            "automatic": self.automatic,
            "accepts_lost_reviews": self.accepts_lost_reviews,
            "ahead_ms": self.ahead_ms,
            "ready": str(ready),
        }
        file = ready.with_suffix(".json")
        file.write_text(json.dumps(given), "utf-8")
        writer = Writer.start(file, ready)
        self.writers.append(writer)
        return writer

    def serve(self) -> int:
        """Have a writer serve everything; return its exit status."""
        writer = self.write()
        self.await_served()
        return writer.terminate()

    def await_served(self) -> None:
        """Return when every command that was sent was served."""
        until(lambda: self.left() == 0, "every command is served")

    def left(self) -> int:
        """Return how many commands were not served yet."""
        admin = KafkaAdmin(self._connection)
        served = admin.committed(self.name, self.topic("commands"), self.partitions)
        return len(self.sent) - sum(served.values())

    def clean_often(self) -> None:
        """Have the broker look for what it can compact twice a second; it waits for 15 s otherwise."""
        often = ConfigEntry("log.cleaner.backoff.ms", "500", incremental_operation=AlterConfigOpType.SET)
        client = self._admin
        brokers = [
            ConfigResource(ResourceType.BROKER, str(number), incremental_configs=[often])
            for number in client.list_topics(timeout=WAIT_S).brokers
        ]
        for future in client.incremental_alter_configs(brokers).values():
            future.result(WAIT_S)

    # -- harm --------------------------------------------------------------------------------------------------------

    def make_anew(self, role: str) -> None:
        """Delete a topic and create it again."""
        client = self._admin
        client.delete_topics([self.topic(role)])[self.topic(role)].result(WAIT_S)
        until(lambda: self.topic(role) not in client.list_topics(timeout=WAIT_S).topics, "the topic is gone")
        KafkaAdmin(self._connection).create(self.topic(role), self.partitions, 1, SPECS[role].configuration)

    def delete_before(self, role: str, offset: int) -> None:
        """Delete the beginning of the partition in which a topic's records are."""
        partition = self.records(role)[0].partition
        place = TopicPartition(self.topic(role), partition, offset)
        client = self._admin
        for future in client.delete_records([place]).values():
            future.result(WAIT_S)

    def forget_offsets(self) -> None:
        """Delete the group's committed offsets, as the broker does with a group that was away for long."""
        client = self._admin
        client.delete_consumer_groups([self.name])[self.name].result(WAIT_S)

    # -- what there is -----------------------------------------------------------------------------------------------

    def records(self, role: str) -> list[Written]:
        """Return a topic's committed records, in order within a partition."""
        consumer = Consumer(
            {
                **self._connection,
                "group.id": "ledgers",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
            }
        )
        consumer.assign([TopicPartition(self.topic(role), number, 0) for number in range(self.partitions)])
        found: list[Written] = []
        open_partitions = set(range(self.partitions))
        give_up_at = time.monotonic() + WAIT_S
        while open_partitions:
            assert time.monotonic() < give_up_at, f"{role} can't be read to its end"
            for message in consumer.consume(1000, 0.2):
                number = cast("int", message.partition())
                if message.error() is not None:
                    open_partitions.discard(number)
                else:
                    found.append(Written(number, cast("int", message.offset()), message.key(), message.value()))
        consumer.close()
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def audit(self) -> list[AuditEntry]:
        """Return the audit."""
        return [decode(record.value, AuditEntry) for record in self.records("audit")]

    def entries(self) -> list[LedgerEntry]:
        """Return the ledger topic's entries, old revisions included where nothing compacted them."""
        return [decode(record.value, LedgerEntry) for record in self.records("ledger")]

    def heads(self) -> dict[bytes | None, LedgerEntry]:
        """Return the last record of each key."""
        return {record.key: decode(record.value, LedgerEntry) for record in self.records("ledger")}

    def check(self, *, accepted: int | None = None, is_compacted: bool = False) -> None:
        """Check that every command was judged exactly once and no update was lost.

        Raises:
            AssertionError: It was not so.
        """
        audit = self.audit()
        judged = [(entry.command_partition, entry.command_offset) for entry in audit]
        assert len(judged) == len(set(judged)), "a command was judged twice"
        assert len(judged) == len(self.sent), "a command was not judged"
        transitions = [entry for entry in audit if entry.accepted and entry.reason_code is None]
        histories: dict[bytes, list[int]] = {}
        for entry in transitions:
            record = json.loads(entry.record_json or "")
            place = f"{record['scope']}/{record['tenant_id']}/{record['fingerprint_hmac_sha256']}".encode()
            histories.setdefault(place, []).append(record["revision"])
        for place, revisions in histories.items():
            assert revisions == list(range(1, len(revisions) + 1)), place
        heads = self.heads()
        assert {key: entry.revision for key, entry in heads.items()} == {
            place: revisions[-1] for place, revisions in histories.items()
        }
        if not is_compacted:
            assert sorted(entry.event_id for entry in self.entries()) == sorted(
                json.loads(entry.record_json or "")["event_id"] for entry in transitions
            )
        assert accepted is None or len(transitions) == accepted

    @property
    def _admin(self) -> AdminClient:
        # Held by whoever awaits an answer: a client that is let go answers nothing.
        return AdminClient({"bootstrap.servers": self.bootstrap})

    @property
    def _connection(self) -> dict[str, str]:
        return {"bootstrap.servers": self.bootstrap}


def chains(ledger: Ledger, count: int, *, fingerprints: int = 7, tenant_id: str = "tenant-a") -> list[Command]:
    """Return commands that are all to be applied: fingerprints put in and taken out, in turn."""
    made = []
    for index in range(count):
        number, expected = index % fingerprints, index // fingerprints
        action = Action.REMOVE if expected % 2 else Action.ADD
        made.append(ledger.command(action, expected, fingerprint=f"{number:064x}", tenant_id=tenant_id))
    return made


@dataclass(slots=True)
class Writer:
    """A writer's process."""

    process: psutil.Popen
    log: Path
    ready: Path

    @classmethod
    def start(cls, file: Path, ready: Path) -> Writer:
        """Start one."""
        log = file.with_suffix(".log")
        with log.open("wb") as out:
            command_line: Sequence[str] = [sys.executable, "-m", "tests.integration.ledger_process", str(file)]
            process = psutil.Popen(command_line, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
        return cls(process, log, ready)

    def await_ready(self) -> None:
        """Return when it holds an assignment."""
        until(lambda: self.ready.exists() or self.process.poll() is not None, f"it is ready ({self.log})")
        assert self.process.poll() is None, self.log.read_text("utf-8")

    def await_interrupted(self) -> None:
        """Return when it has stopped itself, or has ended."""
        until(self.is_interrupted, f"it interrupts itself ({self.log})")

    def is_interrupted(self) -> bool:
        """Return whether it stopped itself or has ended."""
        if self.process.poll() is not None:
            return True
        return bool(self.process.status() == psutil.STATUS_STOPPED)

    def resume(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    def status(self) -> int:
        """Return its exit status once it has ended."""
        return int(self.process.wait(WAIT_S))

    def terminate(self) -> int:
        """Ask it to end; return its exit status."""
        self.process.terminate()
        return self.status()

    def end(self) -> None:
        """End it, whatever state it is in."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(WAIT_S)

"""The demo's quarantine ledger: a text put in and taken out, and commands that nobody may believe.

The contract: the curator's own commands are `pratique ledger`, run as a person would run it. The others are made as
somebody makes them who has a Kafka client and perhaps a key: each is well formed. A row of a command that is refused is
right only if the audit names the one reason, and a recall of the text comes to what it came to before.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from confluent_kafka import Producer

from infra.stack.demo_report import Planned, Row
from infra.stack.memories import COURIER, Recall, cleared, found_out
from infra.stack.scenarios import APPLIED, OTHER_TENANT, TENANT, Ending, Expected
from pratique.contract.reasons import ReasonCode
from pratique.contract.topics import QUARANTINE_COMMANDS
from pratique.contract.trust import KeyRole
from pratique.errors import UnavailableError
from streams.adapters.key_files import KeyFiles
from streams.domain.quarantine.command import Command, sign_command
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord
from topologies.bootstrap.ledger_client import fingerprint_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.stack.asking import Platform
    from topologies.settings import Settings

ANSWER_S: Final = 30.0
"""Longest wait for what becomes of a command, in seconds."""

LIFETIME_MS: Final = 10 * 60 * 1000

ADDED: Final = Planned("ledger-add", "a text put into quarantine by `pratique ledger add`", APPLIED)
KNOWN: Final = found_out()
UNAUTHORISED: Final = Planned(
    "ledger-unauthorised",
    "a command to take it out, signed by another tenant's curator",
    Expected.refused(ReasonCode.SIGNER_NOT_AUTHORISED),
)
MISROUTED: Final = Planned(
    "ledger-misrouted",
    "a curator's command to take it out, put into another partition",
    Expected.refused(ReasonCode.LEDGER_PARTITION_DIFFERS),
)
REMOVED: Final = Planned("ledger-remove", "taken out by `pratique ledger remove`", APPLIED)
CLEARED: Final = cleared()
REPLAYED: Final = Planned(
    "ledger-replayed",
    "the command that had put it in, sent again",
    Expected.refused(ReasonCode.LEDGER_COMMAND_REPLAYED),
)


def planned() -> tuple[Planned, ...]:
    """Return the rows that ``Curator.rows`` comes to, in order."""
    return (ADDED, Planned.of(KNOWN), UNAUTHORISED, MISROUTED, REMOVED, Planned.of(CLEARED), REPLAYED)


class Console(Protocol):
    """Runs a `pratique` command that has to succeed, and returns what it printed."""

    def __call__(self, *arguments: str, given: str = "") -> str:
        """Run it with this on its standard input."""
        ...


@dataclass(frozen=True, slots=True)
class Curator:
    """Somebody who may quarantine for the demo's tenant, and those who would like to.

    Attributes:
        platform: Asks about recalls, and sees the audit.
        console: Runs commands.
        settings: Where the stack is.
    """

    platform: Platform
    console: Console
    settings: Settings

    def rows(self) -> Iterator[Row]:
        """Go through the text's story; each row is done when it is returned."""
        yield self._by_console(ADDED, "add")
        yield self.platform.recall(KNOWN).row
        removal = self._removal()
        yield self._refused(UNAUTHORISED, self._signed(removal, OTHER_TENANT), KNOWN)
        yield self._refused(MISROUTED, self._signed(removal, TENANT), KNOWN, partitions_off=1)
        yield self._by_console(REMOVED, "remove")
        yield self.platform.recall(CLEARED).row
        first, *_ = self.platform.observer.commands(self._key.record_key)
        yield self._refused(REPLAYED, first, CLEARED)

    def _by_console(self, planned: Planned, command: str) -> Row:
        started = time.monotonic()
        said = json.loads(
            self.console(
                *("ledger", command, "-", "--tenant", TENANT, "--incident", "DEMO-1"),
                *("--reason", "the demo's own story", "--json"),
                given=COURIER.content,
            )
        )
        took = round((time.monotonic() - started) * 1000)
        ending = Ending.APPLIED if said["accepted"] else Ending.REFUSED
        codes = () if said["reason_code"] is None else (said["reason_code"],)
        return Row(planned.name, planned.title, planned.expected, ending, codes, "", took, "")

    def _refused(self, planned: Planned, envelope: bytes, recall: Recall, *, partitions_off: int = 0) -> Row:
        started = time.monotonic()
        observer = self.platform.observer
        known = len(observer.audited(envelope))
        self._send(envelope, partitions_off)
        observer.wait_for(lambda: len(observer.audited(envelope)) > known, timeout_s=ANSWER_S)
        took = round((time.monotonic() - started) * 1000)
        told = observer.audited(envelope)[known:]
        ending = Ending.UNANSWERED if not told else Ending.APPLIED if told[0].accepted else Ending.REFUSED
        codes = tuple(entry.reason_code for entry in told if entry.reason_code is not None)
        still = self.platform.recall(replace(recall, name=planned.name)).row
        fault = "" if still.is_right else f"a recall then: {still.ending.value} {', '.join(still.codes)} {still.fault}"
        row = Row(planned.name, planned.title, planned.expected, ending, codes, "", took, "", fault)
        return replace(row, inserted=f"as before: {still.inserted}")

    def _removal(self) -> Command:
        now_ms = time.time_ns() // 1_000_000
        record = QuarantineRecord(
            key=self._key,
            revision=2,
            action=Action.REMOVE,
            incident_id="DEMO-1",
            actor_id="somebody",
            authentication_event_id=f"signature-{uuid.uuid4().hex}",
            policy_version="demo",
            detector_version="demo",
        )
        _, generation = fingerprint_of(self.settings, COURIER.content)
        return Command(record, generation, "it would be convenient", now_ms, now_ms + LIFETIME_MS)

    def _signed(self, command: Command, tenant_id: str) -> bytes:
        keys = KeyFiles(Path(self.settings.keys), os.environ)
        return sign_command(command, keys.signers(KeyRole.TENANT_CURATOR, tenant_id)[0])

    @property
    def _key(self) -> LedgerKey:
        fingerprint, _ = fingerprint_of(self.settings, COURIER.content)
        return LedgerKey.of(Scope.TENANT, TENANT, fingerprint)

    def _send(self, envelope: bytes, partitions_off: int) -> None:
        producer = Producer({**self.settings.connection, "enable.idempotence": True, "acks": "all"})
        count = len(producer.list_topics(QUARANTINE_COMMANDS, ANSWER_S).topics[QUARANTINE_COMMANDS].partitions)
        partition = (self._key.partition(count) + partitions_off) % count
        producer.produce(QUARANTINE_COMMANDS, envelope, self._key.record_key, partition=partition)
        if producer.flush(ANSWER_S):
            raise UnavailableError(f"{QUARANTINE_COMMANDS} did not take a command")

"""The quarantine ledger from the command line: read an entry, sign a command, await what becomes of it.

The contract: an entry's head is read from the ledger topic and its history from the audit, both to their ends and
committed records only. A command is signed here, by a key that the trust target authorises, and what becomes of it is
what the audit says of exactly that command. Content is fingerprinted here and sent nowhere.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from pratique.contract.canonical import bytes_sha256
from pratique.contract.records import AuditEntry
from pratique.contract.topics import QUARANTINE_AUDIT, QUARANTINE_COMMANDS, QUARANTINE_LEDGER
from pratique.contract.trust import KeyRole
from pratique.errors import UnavailableError
from streams.adapters.fingerprint_keys import FingerprintKeyFiles
from streams.adapters.kafka_log import ReadRecord
from streams.adapters.ledger_log import LedgerLog
from streams.adapters.system_clock import SystemClock
from streams.domain.quarantine.authority import choose_signer
from streams.domain.quarantine.command import Command, sign_command
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord, parse_record
from streams.domain.recall.fingerprint import fingerprint
from streams.wire.ledger import read_audit, read_entry
from topologies.bootstrap.ledger_view import is_applied
from topologies.bootstrap.policy import key_source
from topologies.bootstrap.policy_store import app_policy_store
from topologies.settings import Settings

COMMAND_LIFETIME_MS: Final = 10 * 60 * 1000
FLUSH_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.1
POLICY_ID: Final = "default"


@dataclass(frozen=True, slots=True)
class Intent:
    """What a curator wants.

    Attributes:
        action: Put into quarantine, or take out.
        key: What.
        key_generation: The fingerprint key that made the fingerprint.
        incident_id: The incident.
        reason: Why, in words; no content.
        actor_id: Who; null for the signing key's id.
        authentication_event_id: How the actor was authenticated; null for a new id of this signature.
        policy_id: The policy whose recall policy and detector it is recorded under.
    """

    action: Action
    key: LedgerKey
    key_generation: str
    incident_id: str
    reason: str
    actor_id: str | None = None
    authentication_event_id: str | None = None
    policy_id: str = POLICY_ID


@dataclass(frozen=True, slots=True)
class Audited:
    """An audit entry and when the log took it.

    Attributes:
        at_ms: Milliseconds since the epoch.
        offset: Where it lies in its partition.
    """

    at_ms: int
    offset: int
    entry: AuditEntry


def fingerprint_of(settings: Settings, content: str) -> tuple[str, str]:
    """Return a text's fingerprint under the current generation of the key, and that generation.

    Raises:
        ConfigurationError: There is no such key here.
        MalformedError: There is no text.
    """
    key = FingerprintKeyFiles(Path(settings.keys) if settings.keys else None, os.environ).current()
    return fingerprint(content, key.secret), key.generation


def current_generation(settings: Settings) -> str:
    """Return the current generation of the fingerprint key.

    Raises:
        ConfigurationError: There is no such key here.
    """
    return FingerprintKeyFiles(Path(settings.keys) if settings.keys else None, os.environ).current().generation


def history(settings: Settings, key: LedgerKey) -> list[Audited]:
    """Return everything the audit holds about an entry, oldest first: transitions and refusals.

    Raises:
        UnavailableError: The cluster does not answer.
        LedgerBrokenError: The audit holds what is no audit entry.
    """
    with _log(settings) as log:
        partition = key.partition(log.partition_count(QUARANTINE_AUDIT))
        bounds = log.bounds(QUARANTINE_AUDIT, partition)
        return [
            Audited(record.timestamp, record.offset, read_audit(record.value))
            for record in log.read(QUARANTINE_AUDIT, partition, *bounds)
            if record.key == key.record_key
        ]


def head(settings: Settings, key: LedgerKey) -> QuarantineRecord | None:
    """Return an entry's newest record; none where there is no entry.

    Raises:
        UnavailableError: The cluster does not answer.
        LedgerBrokenError: The ledger topic holds what is no entry.
    """
    with _log(settings) as log:
        return _head(log, key)


def change(settings: Settings, intent: Intent, *, wait_s: float) -> Audited | None:
    """Sign a command at the entry's newest revision, send it, and return what became of it; none where nothing did yet.

    A command that was accepted has become something once look-ups know of it, where there is a view.

    Raises:
        ConfigurationError: A key is missing.
        SignerNotAuthorisedError: The trust target authorises none of the keys for this.
        CommandRefusedError: The command says something it may not.
        UnavailableError: The cluster, or the policy repository, does not answer.
    """
    with _log(settings) as log:
        partition = intent.key.partition(log.partition_count(QUARANTINE_COMMANDS))
        before = _head(log, intent.key)
        envelope = _signed(settings, intent, 0 if before is None else before.revision)
        _, audit_end = log.bounds(QUARANTINE_AUDIT, partition)
        _publish(settings, intent.key.record_key, envelope, partition)
        until = time.monotonic() + wait_s
        while time.monotonic() < until:
            _, end = log.bounds(QUARANTINE_AUDIT, partition)
            for record in log.read(QUARANTINE_AUDIT, partition, audit_end, end):
                found = _about(record, bytes_sha256(envelope))
                if found is not None:
                    return found if _has_effect(settings, found, partition, until) else None
            audit_end = end
            time.sleep(POLL_SECONDS)
    return None


def _has_effect(settings: Settings, found: Audited, partition: int, until: float) -> bool:
    if not settings.redis_url or not found.entry.accepted:
        return True
    while not is_applied(settings, partition, found.offset):
        if time.monotonic() > until:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _about(record: ReadRecord, command_sha256: str) -> Audited | None:
    entry = read_audit(record.value)
    return Audited(record.timestamp, record.offset, entry) if entry.command_sha256 == command_sha256 else None


def _head(log: LedgerLog, key: LedgerKey) -> QuarantineRecord | None:
    partition = key.partition(log.partition_count(QUARANTINE_LEDGER))
    found = None
    for record in log.read(QUARANTINE_LEDGER, partition, *log.bounds(QUARANTINE_LEDGER, partition)):
        if record.key == key.record_key:
            entry = read_entry(record.value)
            found = None if entry is None else parse_record(entry.record_json)
    return found


def _signed(settings: Settings, intent: Intent, expected_revision: int) -> bytes:
    now_ms = SystemClock().wall_ms()
    store = app_policy_store(settings, "ledger-command")
    recall = store.newest(intent.policy_id).recall
    keys = key_source(Path(settings.keys) if settings.keys else None)
    role = KeyRole.TENANT_CURATOR if intent.key.scope is Scope.TENANT else KeyRole.GLOBAL_CURATOR
    signers = {signer.key_id: signer for signer in keys.signers(role, intent.key.tenant_id)}

    def command(actor_id: str) -> Command:
        return Command(
            proposed=QuarantineRecord(
                key=intent.key,
                revision=expected_revision + 1,
                action=intent.action,
                incident_id=intent.incident_id,
                actor_id=actor_id,
                authentication_event_id=intent.authentication_event_id or f"signature-{uuid.uuid4().hex}",
                policy_version=recall.policy_version,
                detector_version=recall.detector_revision,
            ),
            key_generation=intent.key_generation,
            reason=intent.reason,
            issued_at=now_ms,
            expires_at=now_ms + COMMAND_LIFETIME_MS,
        )

    chosen = choose_signer(command("nobody"), store.trust(), list(signers), now_ms)
    return sign_command(command(intent.actor_id or chosen), signers[chosen])


def _publish(settings: Settings, key: bytes, envelope: bytes, partition: int) -> None:
    producer = Producer({**settings.connection, "enable.idempotence": True, "acks": "all"})
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    try:
        producer.produce(QUARANTINE_COMMANDS, envelope, key, partition=partition, on_delivery=delivered)
    except KafkaException as error:
        raise UnavailableError(f"{QUARANTINE_COMMANDS} did not take the command: {error.args[0].name()}") from error
    if producer.flush(FLUSH_SECONDS) or failures:
        problem = failures[0].name() if failures else "no answer"
        raise UnavailableError(f"{QUARANTINE_COMMANDS} did not take the command: {problem}")


@contextmanager
def _log(settings: Settings) -> Iterator[LedgerLog]:
    log = LedgerLog(settings.connection)
    try:
        yield log
    finally:
        log.close()

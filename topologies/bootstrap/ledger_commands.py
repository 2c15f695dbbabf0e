"""Commands to the quarantine ledger: signed here, sent together, and what the audit says of each.

The contract: a command is signed by a key that the trust target authorises for what it asks, and what becomes of it is
what the audit says of exactly that envelope. Many travel at once: the audit is read once, however many are awaited.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from pratique.contract.canonical import bytes_sha256
from pratique.contract.ledger_records import AuditEntry
from pratique.contract.signing import Ed25519Signer
from pratique.contract.topics import QUARANTINE_AUDIT, QUARANTINE_COMMANDS
from pratique.contract.trust import KeyRole
from pratique.errors import UnavailableError
from streams.adapters.ledger_log import LedgerLog
from streams.adapters.system_clock import SystemClock
from streams.domain.quarantine.authority import choose_signer
from streams.domain.quarantine.command import Command, sign_command
from streams.domain.quarantine.generation import Retirement, sign_retirement
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord, as_identifier
from streams.wire.ledger import read_audit
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
        replaces: The fingerprint that the same content has under an earlier generation; null if none is meant.
    """

    action: Action
    key: LedgerKey
    key_generation: str
    incident_id: str
    reason: str
    actor_id: str | None = None
    authentication_event_id: str | None = None
    policy_id: str = POLICY_ID
    replaces: str | None = None


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


@dataclass(frozen=True, slots=True)
class Sealed:
    """A signed command and where it goes."""

    envelope: bytes
    key: bytes
    partition: int

    @property
    def sha256(self) -> str:
        """What the audit calls it."""
        return bytes_sha256(self.envelope)


class Curator:
    """Signs commands with the keys at hand; policy and trust target are read once.

    Args:
        settings: Where policy and keys are.

    Raises:
        ConfigurationError: A setting is missing.
    """

    def __init__(self, settings: Settings) -> None:
        self._store = app_policy_store(settings, "ledger-command")
        self._keys = key_source(Path(settings.keys) if settings.keys else None)

    def sign(self, intent: Intent, expected_revision: int, partition_count: int) -> Sealed:
        """Return a command at a revision.

        Raises:
            ConfigurationError: A key is missing.
            SignerNotAuthorisedError: The trust target authorises none of the keys for this.
            CommandRefusedError: The command says something it may not.
            UnavailableError: The policy repository does not answer.
        """
        now_ms = SystemClock().wall_ms()
        recall = self._store.newest(intent.policy_id).recall
        role = KeyRole.TENANT_CURATOR if intent.key.scope is Scope.TENANT else KeyRole.GLOBAL_CURATOR
        signers = self._signers(role, intent.key.tenant_id)

        def command(actor_id: str) -> Command:
            return Command(
                proposed=QuarantineRecord(
                    key=intent.key,
                    revision=expected_revision + 1,
                    action=intent.action,
                    incident_id=intent.incident_id,
                    actor_id=actor_id,
                    authentication_event_id=_event(intent.authentication_event_id),
                    policy_version=as_identifier(recall.policy_version),
                    detector_version=as_identifier(recall.detector_revision),
                ),
                key_generation=intent.key_generation,
                reason=intent.reason,
                issued_at=now_ms,
                expires_at=now_ms + COMMAND_LIFETIME_MS,
                replaces=intent.replaces,
            )

        chosen = choose_signer(command("nobody"), self._store.trust(), list(signers), now_ms)
        envelope = sign_command(command(intent.actor_id or chosen), signers[chosen])
        return Sealed(envelope, intent.key.record_key, intent.key.partition(partition_count))

    def retire(self, generation: str, partition: int, reason: str, actor_id: str | None) -> Sealed:
        """Return a retirement of a key generation in a partition; raises as ``sign`` does."""
        now_ms = SystemClock().wall_ms()
        signers = self._signers(KeyRole.GLOBAL_CURATOR, None)
        chosen = self._store.trust().choose_key(signers, KeyRole.GLOBAL_CURATOR, None, now_ms)
        made = Retirement(
            partition=partition,
            key_generation=generation,
            actor_id=actor_id or chosen,
            authentication_event_id=_event(None),
            reason=reason,
            issued_at=now_ms,
            expires_at=now_ms + COMMAND_LIFETIME_MS,
        )
        return Sealed(sign_retirement(made, signers[chosen]), made.record_key, partition)

    def _signers(self, role: KeyRole, tenant_id: str | None) -> Mapping[str, Ed25519Signer]:
        return {signer.key_id: signer for signer in self._keys.signers(role, tenant_id)}


def audit_ends(log: LedgerLog, commands: Sequence[Sealed]) -> dict[int, int]:
    """Return where the audit of each partition that commands go to ends now; to be asked before they are sent."""
    return {
        partition: log.bounds(QUARANTINE_AUDIT, partition)[1] for partition in {item.partition for item in commands}
    }


def send(settings: Settings, commands: Sequence[Sealed]) -> None:
    """Send commands, in order within a partition.

    Raises:
        UnavailableError: The log did not take all of them.
    """
    producer = Producer({**settings.connection, "enable.idempotence": True, "acks": "all"})
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    for item in commands:
        while True:
            try:
                producer.produce(
                    QUARANTINE_COMMANDS, item.envelope, item.key, partition=item.partition, on_delivery=delivered
                )
            except BufferError:  # the local queue is full: let deliveries drain it
                producer.poll(POLL_SECONDS)
            except KafkaException as error:
                raise UnavailableError(f"{QUARANTINE_COMMANDS} did not take it: {error.args[0].name()}") from error
            else:
                break
    if producer.flush(FLUSH_SECONDS) or failures:
        problem = failures[0].name() if failures else "no answer"
        raise UnavailableError(f"{QUARANTINE_COMMANDS} did not take the command: {problem}")


def await_audited(
    log: LedgerLog,
    commands: Sequence[Sealed],
    ends: Mapping[int, int],
    *,
    until: float,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> dict[str, Audited]:
    """Return what the audit says of commands, by their digests; those it says nothing of in time are left out.

    Args:
        log: The ledger's topics.
        commands: The commands.
        ends: What ``audit_ends`` said before they were sent.
        until: Moment of the monotonic clock at which to give up, in seconds.
        progress: Told how many were found, of how many.
    """
    wanted = {item.sha256 for item in commands}
    at, found = dict(ends), dict[str, Audited]()
    while len(found) < len(wanted) and time.monotonic() < until:
        for partition, start in at.items():
            _, end = log.bounds(QUARANTINE_AUDIT, partition)
            for record in log.read(QUARANTINE_AUDIT, partition, start, end) if start < end else ():
                entry = read_audit(record.value)
                if entry.command_sha256 in wanted:
                    found[entry.command_sha256] = Audited(record.timestamp, record.offset, entry)
            at[partition] = end
        progress(len(found), len(wanted))
        if len(found) < len(wanted):
            time.sleep(POLL_SECONDS)
    return found


def _event(stated: str | None) -> str:
    return stated or f"signature-{uuid.uuid4().hex}"

"""Recalls whose right outcome is known, and commands to the ledger beside them.

The contract: recalls are questions as those of ``tests.integration.asking`` are, and can be mixed with them in a
stream. ``Curation`` sends commands in chains, in which each follows upon the one before; ``check`` is what must hold
whatever was done to the writers meanwhile: every command was judged once, and applied once, and topic, audit and view
agree.
"""

from __future__ import annotations

import itertools
import time
import uuid
from collections import Counter
from dataclasses import dataclass
from typing import Final

from infra.stack.memories import planted
from pratique.asking import PendingRecall
from pratique.client import Gate
from pratique.contract.avro import decode, encode
from pratique.contract.canonical import bytes_sha256
from pratique.contract.digests import request_sha256
from pratique.contract.ledger_records import AuditEntry
from pratique.contract.records import (
    Disposition,
    MemoryRecalled,
    Verdict,
    VerdictOutcome,
)
from pratique.contract.signing import Ed25519Signer
from pratique.contract.topics import QUARANTINE_AUDIT, QUARANTINE_COMMANDS
from pratique.contract.trust import KeyRole
from streams.domain.quarantine.command import Command, sign_command
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord
from tests.integration.asking import MIXTURE, Kind, check_verdict
from tests.integration.platform import OTHER_TENANT, PARTITIONS, TENANT, Platform
from tests.integration.raw import until
from topologies.bootstrap.ledger_client import current_generation
from topologies.bootstrap.ledger_view import compare

VERSION: Final = "v1"
LIFETIME_MS: Final = 600_000
FINGERPRINTS: Final = 5


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """A recall and its right answer.

    Attributes:
        codes: The reason codes of the right verdict, without order; none where it is accepted.
        admitted: Ids of what may enter the prompt, in order.
    """

    request: MemoryRecalled
    outcome: VerdictOutcome
    codes: frozenset[str]
    admitted: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """What its verdict is bound to."""
        return request_sha256(encode(self.request))

    def publish(self, gate: Gate) -> PendingRecall:
        """Send it."""
        return gate.publish_recall(self.request)

    def check(self, verdict: Verdict | None) -> None:
        """Check an answer.

        Raises:
            AssertionError: It is missing, or another than the right one.
        """
        check_verdict(self, verdict, self.request.recall_request_id)
        assert verdict is not None
        rows = verdict.entries or ()
        assert tuple(row.entry_id for row in rows if row.disposition is Disposition.ADMITTED) == self.admitted


def recalled(gate: Gate, subject: str) -> RecallQuestion:
    """Memories that nothing is wrong with."""
    return _question(gate, {"style": "The user prefers short answers.", "habit": _habit(subject)})


def missing(gate: Gate, subject: str) -> RecallQuestion:
    """A memory that was asked for and did not come."""
    return _question(gate, {"habit": _habit(subject)}, "POPULATION_MISSING", manifest=("habit", "style"))


def unexpected(gate: Gate, subject: str) -> RecallQuestion:
    """A memory that nobody asked for."""
    brought = {"habit": _habit(subject), "style": "The user prefers short answers."}
    return _question(gate, brought, "POPULATION_EXTRA", manifest=("habit",))


def poisoned(gate: Gate, subject: str) -> RecallQuestion:
    """A memory that an agent made of an instruction in a tool's output, beside another one."""
    brought = {"habit": _habit(subject), "cleanup": planted().content}
    return _question(gate, brought, "INJECTION", admitted=("habit",))


def known(text: str) -> Kind:
    """A memory that is in quarantine, beside another one."""

    def kind(gate: Gate, subject: str) -> RecallQuestion:
        brought = {"habit": _habit(subject), "known": text}
        return _question(gate, brought, "KNOWN_FINGERPRINT", admitted=("habit",))

    return kind


def mixture(quarantined: str) -> tuple[Kind, ...]:
    """Return compactions and recalls of every kind, in turn.

    Args:
        quarantined: A text that is in quarantine.
    """
    recalls: tuple[Kind, ...] = (recalled, known(quarantined), missing, poisoned, unexpected)
    return tuple(itertools.chain.from_iterable(zip(MIXTURE, itertools.cycle(recalls), strict=False)))


def _habit(subject: str) -> str:
    return f"The user looks at {subject} first."


def _question(
    gate: Gate,
    brought: dict[str, str],
    *codes: str,
    manifest: tuple[str, ...] | None = None,
    admitted: tuple[str, ...] = (),
) -> RecallQuestion:
    request = gate.recall_request(
        [{"entry_id": name, "memory_version": VERSION, "content": text} for name, text in brought.items()],
        [(name, VERSION) for name in (tuple(brought) if manifest is None else manifest)],
        task_id=f"task-{uuid.uuid4().hex}",
    )
    outcome = VerdictOutcome.QUARANTINED if codes else VerdictOutcome.ACCEPTED
    return RecallQuestion(request, outcome, frozenset(codes), admitted if codes else tuple(brought))


class Curation:
    """Chains of commands: two tenants and everyone, each with fingerprints put in and taken out, in turn."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._run = uuid.uuid4().hex
        self._generation = current_generation(platform.settings)
        self._since = platform.log.ends(QUARANTINE_AUDIT)
        self._signers = {tenant: _curator(platform, tenant) for tenant in (TENANT, OTHER_TENANT, None)}
        self._sent: Counter[str] = Counter()
        self._next: Counter[LedgerKey] = Counter()
        self._keys = itertools.cycle(
            [
                LedgerKey.of(
                    Scope.GLOBAL if tenant is None else Scope.TENANT,
                    tenant,
                    bytes_sha256(f"{self._run} {number}".encode()),
                )
                for number in range(FINGERPRINTS)
                for tenant in self._signers
            ]
        )

    def send(self, count: int) -> None:
        """Send the next commands; the last of them twice."""
        for number, key in zip(range(count), self._keys, strict=False):
            envelope = sign_command(self._command(key), self._signers[key.tenant_id])
            for _ in range(2 if number == count - 1 else 1):
                self._sent[bytes_sha256(envelope)] += 1
                self._platform.log.publish(
                    QUARANTINE_COMMANDS, envelope, key=key.record_key, partition=key.partition(PARTITIONS)
                )

    def check(self) -> None:
        """Check what became of everything that was sent.

        Raises:
            AssertionError: A command was lost, or applied twice, or the ledger's parts do not agree.
        """
        until(lambda: self._tended() >= self._sent.total(), "every command is judged")
        audit = self._audit()
        assert len({(entry.command_partition, entry.command_offset) for entry in audit}) == len(audit)
        applied = Counter(entry.command_sha256 for entry in audit if entry.accepted and entry.reason_code is None)
        repeated = Counter(entry.command_sha256 for entry in audit if entry.reason_code == "LEDGER_COMMAND_REPLAYED")
        assert applied == Counter(dict.fromkeys(self._sent, 1))
        assert applied + repeated == self._sent
        until(lambda: not compare(self._platform.settings).differences, "ledger topic, audit and view agree")

    def _tended(self) -> int:
        self._platform.tend()
        return len(self._audit())

    def _audit(self) -> list[AuditEntry]:
        records = self._platform.log.records(QUARANTINE_AUDIT, since=self._since)
        return [
            entry
            for entry in (decode(record.value, AuditEntry) for record in records)
            if entry.command_sha256 in self._sent
        ]

    def _command(self, key: LedgerKey) -> Command:
        expected = self._next[key]
        self._next[key] += 1
        now_ms = time.time_ns() // 1_000_000
        record = QuarantineRecord(
            key=key,
            revision=expected + 1,
            action=Action.REMOVE if expected % 2 else Action.ADD,
            incident_id="INC-1",
            actor_id="ada",
            authentication_event_id=f"login-{expected}",
            policy_version="test",
            detector_version="test",
        )
        return Command(record, self._generation, "a test", now_ms, now_ms + LIFETIME_MS)


def _curator(platform: Platform, tenant_id: str | None) -> Ed25519Signer:
    role = KeyRole.GLOBAL_CURATOR if tenant_id is None else KeyRole.TENANT_CURATOR
    return platform.key(role, tenant_id)

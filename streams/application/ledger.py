"""The quarantine ledger of one partition: commands in, transitions and refusals out.

The contract: ``LedgerPartition`` is the state of one partition as its ledger topic tells it. ``load`` takes the
topic's records in order, ``check`` holds the result to what the audit says it must be, and ``decide`` says what
becomes of one command, as a function of the state, the command as the log holds it, and the trust target: the moment
is the command's log-append time, no clock is read. What was decided is in the state at once: whoever could not write
it down throws the state away.

Every command that somebody who is known has signed leaves an audit entry, whatever becomes of it; one that nobody is
known to have sent leaves a dead letter. The audit states, with every entry, how many entries the partition holds and
the sum of their newest event ids, so that a ledger topic that lost anything is noticed before it is built on, and the
same of automatic entries and the review topic. It states as well which key generations are retired here, whose entries
the topic holds no more.

What verdicts ask for by themselves is ``streams.application.ledger_automatic``'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import bytes_sha256
from pratique.contract.ledger_records import AuditEntry, LedgerEntry, ReviewEntry
from pratique.contract.reasons import ReasonCode
from pratique.contract.trust import TrustTarget
from pratique.errors import MalformedError
from streams.application.ledger_automatic import AutomaticEntries, Written
from streams.application.ledger_decision import Decision, Rules, no_rules
from streams.application.ledger_room import LedgerRoom
from streams.application.ports.log import LogRecord
from streams.domain.quarantine.authority import Authenticated, authenticate, check_authority
from streams.domain.quarantine.automatic import is_automatic
from streams.domain.quarantine.command import Command, parse_command
from streams.domain.quarantine.generation import (
    MAX_RETIRED,
    check_retirer,
    is_retirement,
    parse_retirement,
    uncovered,
)
from streams.domain.quarantine.ledger_key import LedgerKey
from streams.domain.quarantine.record import Action, QuarantineRecord, parse_record
from streams.domain.quarantine.transition import Applied, Effect, Head, Refused, apply
from streams.errors import CommandRefusedError, LedgerBrokenError

MAX_ENVELOPE_BYTES: Final = 16 * 1024
"""Largest envelope of a command: a payload of 8 KiB in base64, and up to four signatures."""

_MODULUS: Final = 2**256


@dataclass(frozen=True, slots=True)
class LedgerLimits:
    """What a ledger takes.

    Attributes:
        entries_per_tenant: Entries of one tenant, quarantined or released; and as many copies of them again, made while
            they are carried over to another key generation.
        skew_ms: How far a sender's clock may run ahead of the broker's, in milliseconds.
        accepts_lost_reviews: Whether it goes on where records of its automatic entries were lost; the audit says so.
    """

    entries_per_tenant: int
    skew_ms: int
    accepts_lost_reviews: bool = False


class LedgerPartition:
    """The entries of one partition.

    Args:
        partition: Its number, the same in each of the ledger's topics.
        partition_count: How many there are in each of them.
        limits: What it takes.
    """

    def __init__(self, partition: int, partition_count: int, limits: LedgerLimits) -> None:
        self._partition = partition
        self._partition_count = partition_count
        self._limits = limits
        self._heads: dict[bytes, Head] = {}
        self._room = LedgerRoom(limits.entries_per_tenant, self._heads)
        self._sum = 0
        self._retired: set[str] = set()
        self._automatic = AutomaticEntries(self, accepts_loss=limits.accepts_lost_reviews)

    def __len__(self) -> int:
        return len(self._heads)

    @property
    def heads_sum(self) -> str:
        """The sum of the heads' event ids modulo 2^256, 64 hexadecimal digits."""
        return f"{self._sum:064x}"

    def head(self, key: LedgerKey) -> Head | None:
        """Return an entry's head; none where there is no entry."""
        return self._heads.get(key.record_key)

    # -- what the topic holds ----------------------------------------------------------------------------------------

    def load(self, record_key: bytes | None, entry: LedgerEntry | None) -> None:
        """Take over a record of the ledger topic; a later one of a key takes an earlier one's place.

        Args:
            record_key: The record's key.
            entry: The entry; none for a tombstone.

        Raises:
            LedgerBrokenError: It is no entry of this partition, or no later revision than the one before it.
        """
        if entry is None:
            self._take(record_key or b"")
            return
        try:
            record = parse_record(entry.record_json)
        except MalformedError as error:
            raise LedgerBrokenError(f"ledger partition {self._partition} holds a malformed record: {error}") from None
        key, event_id = record.key.record_key, record.event_id  # each is made anew when it is asked for
        known = self._heads.get(key)
        if record_key != key or record.key.partition(self._partition_count) != self._partition:
            raise LedgerBrokenError(f"ledger partition {self._partition} holds a record that is not under its own key")
        if (entry.revision, entry.event_id) != (record.revision, event_id):
            raise LedgerBrokenError(f"ledger partition {self._partition} holds an entry that misstates its record")
        if known is not None and known.revision >= record.revision:
            raise LedgerBrokenError(f"ledger partition {self._partition} goes back in an entry's revisions")
        previous = entry.previous_event_id
        head = Head(
            revision=record.revision,
            event_id=bytes.fromhex(event_id),
            previous_event_id=None if previous is None else bytes.fromhex(previous),
            quarantined=record.action is Action.ADD,
            key_generation=entry.key_generation,
            replaces=None if entry.replaces is None else bytes.fromhex(entry.replaces),
        )
        self._put(record.key, head)

    def load_review(self, record_key: bytes | None, entry: ReviewEntry | None) -> None:
        """Take over a record of the review topic, as ``load`` does of the ledger topic; none is a tombstone.

        Raises:
            LedgerBrokenError: It is no record of this partition.
        """
        self._automatic.load(record_key, entry)
        if LedgerKey.parse(record_key).partition(self._partition_count) != self._partition:
            raise LedgerBrokenError(f"review partition {self._partition} holds a record of another partition")

    def check(self, audit: AuditEntry | None) -> None:
        """Hold what was loaded to what the newest audit entry of the partition says of it.

        Raises:
            LedgerBrokenError: Entries are missing, older or newer than the audit says.
        """
        count, total = (0, "0" * 64) if audit is None else (audit.heads_count, audit.heads_sum)
        if (len(self._heads), self.heads_sum) != (count, total):
            raise LedgerBrokenError(
                f"ledger partition {self._partition} holds {len(self._heads)} entries, and its audit says {count}, or "
                "others: the topic was truncated, or made anew; restore it, or see docs/guide/operator.md"
            )
        self._automatic.check(audit)
        self._retired = set() if audit is None else set(audit.retired)

    # -- what is commanded -------------------------------------------------------------------------------------------

    def decide(self, record: LogRecord, trust: TrustTarget, rules: Rules = no_rules) -> Decision:
        """Return what becomes of a command, and let the state be what it is after it.

        Args:
            record: The command, as the log holds it.
            trust: The trust target at its newest.
            rules: The rules of automatic quarantine at their newest.
        """
        envelope = record.value or b""
        if len(envelope) > MAX_ENVELOPE_BYTES:
            return Decision(record.key, None, None, ReasonCode.TOO_LARGE)
        try:
            signer = authenticate(envelope, trust)
        except CommandRefusedError as error:
            return Decision(record.key, None, None, error.code)
        if is_automatic(signer.payload):
            return self._automatic.decide(record, signer, trust, rules)
        return self._commanded(record, envelope, signer, trust)

    def ended(self, now_ms: int) -> Iterator[Decision]:
        """Yield what becomes of the automatic entries whose time is over; the state is what it is after each.

        Args:
            now_ms: Now, in milliseconds since the epoch: the one moment that is not the log's.
        """
        return self._automatic.ended(now_ms)

    def _commanded(self, record: LogRecord, envelope: bytes, signer: Authenticated, trust: TrustTarget) -> Decision:
        if is_retirement(signer.payload):
            return self._retire(record, envelope, signer, trust)
        try:
            command = parse_command(signer.payload)
        except CommandRefusedError as error:
            audit = self.audit(record, signer.key_id, error.code)
            return Decision(None, None, audit, error.code)
        try:
            self._check_place(command, record)
            key_id = check_authority(command, envelope, signer, trust, record.timestamp)
            self.check_period(command.issued_at, command.expires_at, record.timestamp)
        except CommandRefusedError as error:
            return self._refusal(record, command, signer, error.code)
        return self._transition(record, command, Authenticated(signer.payload, key_id))

    def _transition(self, record: LogRecord, command: Command, signer: Authenticated) -> Decision:
        if command.key_generation in self._retired:
            return self._refusal(record, command, signer, ReasonCode.LEDGER_GENERATION_DIFFERS)
        before = self.head(command.key)
        result = apply(command, before)
        if isinstance(result, Refused):
            return self._refusal(record, command, signer, result.code)
        if result.effect is Effect.REPEATED:
            return self._standing(record, command, signer, result)
        if command.replaces is not None and not self._is_replaceable(command, command.replaces):
            return self._refusal(record, command, signer, ReasonCode.LEDGER_REPLACED_UNKNOWN)
        if before is None and self._room.is_full(command.key, is_copy=command.replaces is not None):
            return self._refusal(record, command, signer, ReasonCode.QUOTA_EXCEEDED)
        reviewed = self._automatic.spoken(command, record.timestamp)
        entry = self._entered(result.record, result.head)
        audit = self.audit(record, signer.key_id, None, signer.payload, record_json=entry.record_json)
        return Decision(command.key.record_key, entry, audit, None, reviewed=reviewed)

    # -- for what is automatic ---------------------------------------------------------------------------------------

    @property
    def partition(self) -> int:
        """The partition's number."""
        return self._partition

    @property
    def partition_count(self) -> int:
        """How many partitions there are in each of the ledger's topics."""
        return self._partition_count

    def room_of(self, key: LedgerKey) -> int:
        """Return how many entries automatic ones of a key's tenant may still take: half of all are its curators'."""
        return self._room.of_automatic(key)

    def is_retired(self, key_generation: str) -> bool:
        """Return whether a key generation is retired here."""
        return key_generation in self._retired

    def added(self, record: QuarantineRecord, key_generation: str) -> LedgerEntry:
        """Put in a record that follows upon the entry's head, whatever that is, and return the entry."""
        before = self.head(record.key)
        head = Head(
            revision=record.revision,
            event_id=bytes.fromhex(record.event_id),
            previous_event_id=None if before is None else before.event_id,
            quarantined=record.action is Action.ADD,
            key_generation=key_generation,
            replaces=None if before is None else before.replaces,
        )
        return self._entered(record, head)

    def _entered(self, record: QuarantineRecord, head: Head) -> LedgerEntry:
        """Let a record be its entry's newest, and return the entry."""
        self._put(record.key, head)
        event_id, previous = head.event_id.hex(), head.previous_event_id
        return LedgerEntry(
            record_json=record.text_of(event_id),
            revision=head.revision,
            event_id=event_id,
            previous_event_id=None if previous is None else previous.hex(),
            key_generation=head.key_generation,
            replaces=None if head.replaces is None else head.replaces.hex(),
        )

    def _retire(self, record: LogRecord, envelope: bytes, signer: Authenticated, trust: TrustTarget) -> Decision:
        try:
            retirement = parse_retirement(signer.payload)
        except CommandRefusedError as error:
            return Decision(None, None, self.audit(record, signer.key_id, error.code), error.code)
        key, generation = retirement.record_key, retirement.key_generation
        try:
            self.check_here(record, key, retirement.partition)
            key_id = check_retirer(envelope, trust, record.timestamp)
            self.check_period(retirement.issued_at, retirement.expires_at, record.timestamp)
            if generation not in self._retired:
                self._check_retirable(generation)
        except CommandRefusedError as error:
            return Decision(key, None, self.audit(record, signer.key_id, error.code, signer.payload), None)
        code = ReasonCode.LEDGER_COMMAND_REPLAYED if generation in self._retired else None
        tombstones = tuple(sorted(key for key, head in self._heads.items() if head.key_generation == generation))
        for gone in tombstones:
            self._take(gone)
        self._retired.add(generation)
        return Decision(key, None, self.audit(record, key_id, code, signer.payload, stands=True), None, tombstones)

    def _check_retirable(self, generation: str) -> None:
        if len(self._retired) >= MAX_RETIRED:
            raise CommandRefusedError("too many generations are retired", code=ReasonCode.QUOTA_EXCEEDED)
        if uncovered(((LedgerKey.parse(key), head) for key, head in self._heads.items()), generation):
            raise CommandRefusedError(
                "entries of the generation are carried over to no other", code=ReasonCode.LEDGER_GENERATION_PARTIAL
            )

    def _standing(self, record: LogRecord, command: Command, signer: Authenticated, applied: Applied) -> Decision:
        code = ReasonCode.LEDGER_COMMAND_REPLAYED
        audit = self.audit(record, signer.key_id, code, signer.payload, record_json=applied.record.text)
        return Decision(command.key.record_key, None, audit, None)

    def _refusal(self, record: LogRecord, command: Command, signer: Authenticated, code: ReasonCode) -> Decision:
        audit = self.audit(record, signer.key_id, code, signer.payload)
        return Decision(command.key.record_key, None, audit, None)

    def audit(
        self,
        record: Written,
        key_id: str,
        code: ReasonCode | None,
        payload: bytes | None = None,
        *,
        record_json: str | None = None,
        stands: bool = False,
    ) -> AuditEntry:
        """Return what is recorded of a command, and what the partition holds after it."""
        reviews_count, reviews_sum = self._automatic.stated
        return AuditEntry(
            accepted=stands or record_json is not None,
            reason_code=None if code is None else code.value,
            record_json=record_json,
            command_sha256=bytes_sha256(record.value or b""),
            key_id=key_id,
            command_partition=record.partition,
            command_offset=record.offset,
            command_json=None if payload is None else payload.decode("utf-8"),
            heads_count=len(self._heads),
            heads_sum=self.heads_sum,
            retired=tuple(sorted(self._retired)),
            reviews_count=reviews_count,
            reviews_sum=reviews_sum,
        )

    def _check_place(self, command: Command, record: LogRecord) -> None:
        self.check_here(record, command.key.record_key, command.key.partition(self._partition_count))

    def check_here(self, record: LogRecord, key: bytes, partition: int) -> None:
        """Require that a command lies under its key and in its partition, and here.

        Raises:
            CommandRefusedError: LEDGER_PARTITION_DIFFERS.
        """
        if record.key != key or not partition == self._partition == record.partition:
            raise CommandRefusedError(
                "command lies under another key or in another partition than its own",
                code=ReasonCode.LEDGER_PARTITION_DIFFERS,
            )

    def check_period(self, issued_at: int, expires_at: int, at_ms: int) -> None:
        """Require that a moment is within a command's time, one's clock being a little ahead of another's.

        Raises:
            CommandRefusedError: REQUEST_EXPIRED.
        """
        if at_ms >= expires_at or at_ms < issued_at - self._limits.skew_ms:
            raise CommandRefusedError("command came after its time, or before it", code=ReasonCode.REQUEST_EXPIRED)

    def _is_replaceable(self, command: Command, replaces: str) -> bool:
        replaced = self.head(LedgerKey(command.key.scope, command.key.segment, replaces))
        return replaced is not None and replaced.quarantined and replaced.key_generation != command.key_generation

    def _put(self, key: LedgerKey, head: Head) -> None:
        record_key = key.record_key
        before = self._heads.get(record_key)
        if before is not None:
            self._sum -= int.from_bytes(before.event_id)
        self._heads[record_key] = head
        self._room.put(key, before, head)
        self._sum = (self._sum + int.from_bytes(head.event_id)) % _MODULUS

    def _take(self, record_key: bytes) -> None:
        head = self._heads.get(record_key)
        if head is not None:
            self._room.take(LedgerKey.parse(record_key), head)
            del self._heads[record_key]
            self._sum = (self._sum - int.from_bytes(head.event_id)) % _MODULUS

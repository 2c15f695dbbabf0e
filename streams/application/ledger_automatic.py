"""What verdicts put into the ledger by themselves, as the ledger's one writer decides it.

The contract: an addition is judged by the policy's rule at its newest, at its log-append time (``review``). It leaves
an audit entry where it comes to something, or is refused for the first time in an hour; what becomes of it is a record
of its own beside the entry's, so that entry and record stay the seed's. A person's word changes that record, and is
final. Automatic entries end with their time: ``ended`` is the one thing that takes a moment which is not the log's.

No such record changes without an audit entry, which sums all of them up: ``check`` notices where the topic lost one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

from pratique.contract.ledger_records import AuditEntry, LedgerEntry, ReviewEntry
from pratique.contract.reasons import ReasonCode
from pratique.contract.trust import TrustTarget
from streams.application.ledger_decision import Decision, Reviewed, Rules
from streams.application.ports.log import LogRecord
from streams.domain.quarantine.authority import Authenticated
from streams.domain.quarantine.automatic import LIFETIME_MS, AutomaticAddition, check_gate, parse_addition
from streams.domain.quarantine.command import Command
from streams.domain.quarantine.ledger_key import LedgerKey
from streams.domain.quarantine.record import Action, QuarantineRecord
from streams.domain.quarantine.review import Denied, Granted, Left, Other, Released, Reviews, ReviewState
from streams.domain.quarantine.transition import Head
from streams.errors import CommandRefusedError, LedgerBrokenError

KEEPER: Final = "pratique.ledger"
"""Who takes an automatic entry out when its time is over; the audit names it in place of a key."""


class Written(Protocol):
    """What an audit entry says of a command's place: all of a log record that it takes."""

    @property
    def value(self) -> bytes | None:
        """The command's bytes."""
        ...

    @property
    def partition(self) -> int:
        """The partition's number."""
        ...

    @property
    def offset(self) -> int:
        """Its offset; -1 where nobody sent it."""
        ...


@dataclass(frozen=True, slots=True)
class _AtEnd:
    """A command that nobody sent: an entry's time is over, or the topic has lost some."""

    value: bytes | None
    partition: int
    offset: int


class Book(Protocol):
    """The partition's entries, as automatic ones need them."""

    @property
    def partition(self) -> int:
        """The partition's number."""
        ...

    @property
    def partition_count(self) -> int:
        """How many partitions there are."""
        ...

    def head(self, key: LedgerKey) -> Head | None:
        """Return an entry's head; none where there is no entry."""
        ...

    def room_of(self, key: LedgerKey) -> int:
        """Return how many entries the automatic ones of a key's tenant may still take."""
        ...

    def is_retired(self, key_generation: str) -> bool:
        """Return whether a key generation is retired here."""
        ...

    def check_here(self, record: LogRecord, key: bytes, partition: int) -> None:
        """Require that a command lies under its key and in its partition, and here."""
        ...

    def check_period(self, issued_at: int, expires_at: int, at_ms: int) -> None:
        """Require that a moment is within a command's time."""
        ...

    def added(self, record: QuarantineRecord, key_generation: str) -> LedgerEntry:
        """Put in a record that follows upon the entry's head, and return the entry."""
        ...

    def audit(
        self,
        record: Written,
        key_id: str,
        code: ReasonCode | None,
        payload: bytes | None = None,
        *,
        record_json: str | None = None,
    ) -> AuditEntry:
        """Return what is recorded of a command."""
        ...


class AutomaticEntries:
    """The automatic entries of one partition.

    Args:
        book: The partition's entries.
        accepts_loss: Whether an operator lets them go on where records of theirs were lost.
    """

    def __init__(self, book: Book, *, accepts_loss: bool) -> None:
        self._book = book
        self._reviews = Reviews()
        self._accepts_loss = accepts_loss
        self._has_lost = False

    @property
    def stated(self) -> tuple[int, str]:
        """How many records there are, and the sum of their digests: what an audit entry says of them."""
        return len(self._reviews), self._reviews.total

    def load(self, record_key: bytes | None, entry: ReviewEntry | None) -> None:
        """Take over a record of the review topic; none is a tombstone.

        Raises:
            LedgerBrokenError: It is no record of a tenant's entry, or not under its own key.
        """
        self._reviews.load(record_key, entry)

    def check(self, audit: AuditEntry | None) -> None:
        """Hold what was loaded to what the newest audit entry says of it; an earlier release's says nothing.

        Raises:
            LedgerBrokenError: Records are missing, older or newer than the audit says, and no operator accepts that.
        """
        said = (0, Reviews().total) if audit is None else (audit.reviews_count, audit.reviews_sum)
        if said[0] < 0 or said == self.stated:
            return
        if not self._accepts_loss:
            raise LedgerBrokenError(
                f"review partition {self._book.partition} holds {len(self._reviews)} records, and the audit says "
                f"{said[0]}, or others: the topic was truncated, or made anew; restore it, or see docs/guide/ledger.md"
            )
        self._has_lost = True

    def spoken(self, command: Command, at_ms: int) -> Reviewed | None:
        """Return what a transition makes of an automatic entry: a person's word is final, and carrying over is none.

        Args:
            command: The command that was applied, or is about to be.
            at_ms: When the log took it, in milliseconds since the epoch.
        """
        key, revision = command.key, command.proposed.revision
        review = self._reviews.spoken(key, command.proposed.action, revision=revision, at_ms=at_ms)
        if command.replaces is not None and not self._is_a_person_s(key):
            replaced = self._reviews.get(LedgerKey(key.scope, key.segment, command.replaces))
            if replaced is not None and replaced.state == ReviewState.EFFECTIVE.value:
                review = replace(
                    replaced,
                    ledger_key=key.record_key.decode("ascii"),
                    key_generation=command.key_generation,
                    revision=revision,
                    changed_at=at_ms,
                )
        if review is None:
            return None
        self._reviews.put(key, review)
        return Reviewed(key.record_key, review)

    def decide(self, record: LogRecord, signer: Authenticated, trust: TrustTarget, rules: Rules) -> Decision:
        """Return what becomes of an addition that somebody who is known has signed.

        Args:
            record: The command, as the log holds it.
            signer: What was signed, and by which key.
            trust: The trust target at its newest.
            rules: The rules of automatic quarantine at their newest.
        """
        try:
            addition = parse_addition(signer.payload)
        except CommandRefusedError as error:
            return Decision(None, None, self._book.audit(record, signer.key_id, error.code), error.code)
        key, at_ms = addition.key, record.timestamp
        try:
            self._book.check_here(record, key.record_key, key.partition(self._book.partition_count))
            check_gate(addition, signer.key_id, trust, at_ms)
        except CommandRefusedError as error:
            audit = self._book.audit(record, signer.key_id, error.code, signer.payload)
            return Decision(key.record_key, None, audit, None)
        judged = self._judged(addition, rules, at_ms)
        if isinstance(judged, Left):
            return Decision(key.record_key, None, None, None, automatic="left")
        if isinstance(judged, Denied):
            told = self._book.audit(record, signer.key_id, judged.code, signer.payload) if judged.told else None
            return Decision(key.record_key, None, told, None, automatic=judged.code.value)
        self._reviews.put(key, judged.review)
        reviewed = Reviewed(key.record_key, judged.review)
        if isinstance(judged, Released):
            audit = self._book.audit(record, signer.key_id, ReasonCode.LEDGER_REVIEW_RELEASED, signer.payload)
            return Decision(key.record_key, None, audit, None, reviewed=reviewed, automatic="released")
        return self._granted(record, signer, addition, judged, reviewed)

    def _granted(
        self,
        record: LogRecord,
        signer: Authenticated,
        addition: AutomaticAddition,
        judged: Granted,
        reviewed: Reviewed,
    ) -> Decision:
        key = addition.key
        if judged.revision is None:
            audit = self._book.audit(record, signer.key_id, ReasonCode.LEDGER_REVIEW_PENDING, signer.payload)
            return Decision(key.record_key, None, audit, None, reviewed=reviewed, automatic="pending")
        entry = self._book.added(addition.record(judged.revision), addition.key_generation)
        audit = self._book.audit(record, signer.key_id, None, signer.payload, record_json=entry.record_json)
        return Decision(key.record_key, entry, audit, None, reviewed=reviewed, automatic="effective")

    def ended(self, now_ms: int) -> Iterator[Decision]:
        """Yield what becomes of the automatic entries whose time is over; the state is what it is after each.

        Where an operator lets them go on without some that were lost, the audit is told so first, once.

        Args:
            now_ms: Now, in milliseconds since the epoch.
        """
        if self._has_lost:
            self._has_lost = False
            lost = self._book.audit(_AtEnd(None, self._book.partition, -1), KEEPER, ReasonCode.LEDGER_REVIEWS_LOST)
            yield Decision(None, None, lost, None, automatic="lost")
        for key, review in self._reviews.ended(now_ms):
            head = self._book.head(key)
            stands = head is not None and head.quarantined and head.revision == review.revision
            record = QuarantineRecord(
                key=key,
                revision=review.revision + 1,
                action=Action.REMOVE,
                incident_id=review.incident_id,
                actor_id=KEEPER,
                authentication_event_id=f"expiry-{review.expires_at}",
                policy_version=review.policy_version,
                detector_version=review.detector_version,
            )
            after = replace(review, state=ReviewState.EXPIRED.value, revision=record.revision, changed_at=now_ms)
            entry = self._book.added(record, review.key_generation) if stands else None
            self._reviews.put(key, after if stands else None)
            yield Decision(
                key.record_key,
                entry,
                self._audit_of_end(record, review, is_removal=stands),
                None,
                reviewed=Reviewed(key.record_key, after if stands else None),
                automatic="expired",
            )

    def _is_a_person_s(self, key: LedgerKey) -> bool:
        """Return whether a fingerprint is quarantined without an end: another entry's end is then not carried to it."""
        head, known = self._book.head(key), self._reviews.get(key)
        has_end = known is not None and known.state == ReviewState.EFFECTIVE.value
        return head is not None and head.quarantined and not has_end

    def _judged(self, addition: AutomaticAddition, rules: Rules, at_ms: int) -> Left | Denied | Granted | Released:
        key = addition.key
        try:
            self._book.check_period(addition.decided_at, addition.decided_at + LIFETIME_MS, at_ms)
            rule = rules(addition.policy_id, addition.origin)
        except CommandRefusedError as error:
            return self._reviews.denied(key, error.code, at_ms)
        if self._book.is_retired(addition.key_generation):
            return self._reviews.denied(key, ReasonCode.LEDGER_GENERATION_DIFFERS, at_ms)
        room = self._book.room_of(key) - self._reviews.pending_of(key)
        others = [self._other(LedgerKey(key.scope, key.segment, mark)) for mark in addition.others]
        head = self._book.head(key)
        return self._reviews.judge(addition, rule, head=head, at_ms=at_ms, room=room, others=others)

    def _other(self, key: LedgerKey) -> Other:
        head, known = self._book.head(key), self._reviews.get(key)
        generation = known.key_generation if known is not None else "" if head is None else head.key_generation
        return Other(key, head, self._book.is_retired(generation))

    def _audit_of_end(self, record: QuarantineRecord, review: ReviewEntry, *, is_removal: bool) -> AuditEntry:
        ends_at = review.expires_at
        reason = "no curator confirmed it in its time"
        payload = Command(record, review.key_generation, reason, ends_at, ends_at + 1).payload
        at_end = _AtEnd(payload, self._book.partition, -1)
        code = None if is_removal else ReasonCode.LEDGER_REVIEW_EXPIRED
        return self._book.audit(at_end, KEEPER, code, payload, record_json=record.text if is_removal else None)

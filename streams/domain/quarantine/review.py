"""Automatic entries of one ledger partition, from the verdict's word to a curator's: the review queue.

The contract: ``Reviews`` holds, for each fingerprint that a verdict ever brought into the ledger, what became of it
(``ReviewEntry``, the value of ``quarantine.review``). ``judge`` says what becomes of an addition, as a function of this
state, of the entry's head, of the policy's rule and of the moment at which the log took it; no clock is read. So that
nobody can fill or poison a ledger through what the gate reads:

1. a rule of the policy at its newest must allow the addition; without one nothing is added;
2. what stands, waits, or was ever taken out by a curator is left alone: an addition never comes back. The same holds
   where it does so under another generation of the fingerprint key; what was taken out there is known as RELEASED here
   from then on, so that it stays out when the other generation is gone;
3. a tenant's additions are limited by the rule's quota over the hour before, and by half of its room in the ledger, so
   that the other half is always the curators';
4. what is added waits for a curator (REVIEW), unless the rule says that it counts at once, and ends in the rule's time.

What changes nothing is not recorded: whoever lets a text be recalled a million times must not write a million records
that are kept for ever. A refusal is told once an hour for each tenant and code.

====================  ===============================================
state                 means
====================  ===============================================
PENDING               waits for a curator; look-ups do not know of it
EFFECTIVE             counts; ends with its time
CONFIRMED             a curator put it in, or kept it: has no end
RELEASED              a curator took it out, or did not let it in
EXPIRED               ended without a curator's word
====================  ===============================================
"""

from __future__ import annotations

import heapq
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from pratique.contract.canonical import plain_sha256
from pratique.contract.ledger_records import ReviewEntry
from pratique.contract.reasons import ReasonCode
from pratique.errors import MalformedError
from streams.domain.policy.model import QuarantineEffect, QuarantineRule
from streams.domain.quarantine.automatic import AutomaticAddition
from streams.domain.quarantine.ledger_key import LedgerKey
from streams.domain.quarantine.record import Action
from streams.domain.quarantine.transition import Head
from streams.errors import LedgerBrokenError

HOUR_MS: Final = 60 * 60 * 1000
_MODULUS: Final = 2**256


class ReviewState(Enum):
    """What became of an automatic entry."""

    PENDING = "PENDING"
    EFFECTIVE = "EFFECTIVE"
    CONFIRMED = "CONFIRMED"
    RELEASED = "RELEASED"
    EXPIRED = "EXPIRED"


OPEN: Final = frozenset({ReviewState.PENDING.value, ReviewState.EFFECTIVE.value})
"""States that a curator's word, or the end of their time, changes."""


@dataclass(frozen=True, slots=True)
class Left:
    """The addition changes nothing, and nothing is recorded."""


@dataclass(frozen=True, slots=True)
class Denied:
    """The addition is refused.

    Attributes:
        told: Whether it is recorded; others of its kind were told of already in the same hour.
    """

    code: ReasonCode
    told: bool


@dataclass(frozen=True, slots=True)
class Granted:
    """The addition comes to something.

    Attributes:
        review: What is known of it from now on.
        revision: The revision at which the ledger takes the entry; null where it waits for a curator.
    """

    review: ReviewEntry
    revision: int | None


@dataclass(frozen=True, slots=True)
class Released:
    """A curator took the text out under another generation of the key: it does not come back under this one.

    Attributes:
        review: What is known of it from now on.
    """

    review: ReviewEntry


@dataclass(frozen=True, slots=True)
class Other:
    """The same text's entry under another generation of the key.

    Attributes:
        key: Where it would be.
        head: Its newest revision; none where there is no entry.
        is_retired: Whether its generation is retired here: then nothing waits there any more.
    """

    key: LedgerKey
    head: Head | None
    is_retired: bool


class Reviews:
    """What became of the automatic entries of one partition."""

    def __init__(self) -> None:
        self._entries: dict[bytes, ReviewEntry] = {}
        self._added: dict[str, list[int]] = {}
        self._pending: Counter[str] = Counter()
        self._ends: list[tuple[int, bytes]] = []
        self._told: set[tuple[str, ReasonCode]] = set()
        self._hour = 0
        self._sum = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def total(self) -> str:
        """The sum of the digests of what became of its entries modulo 2^256, 64 hexadecimal digits."""
        return f"{self._sum:064x}"

    def get(self, key: LedgerKey) -> ReviewEntry | None:
        """Return what became of a fingerprint's automatic entry; none where there was none."""
        return self._entries.get(key.record_key)

    def pending_of(self, key: LedgerKey) -> int:
        """Return how many additions wait for a curator, of the tenant that a key is of."""
        return self._pending[key.place]

    def load(self, record_key: bytes | None, entry: ReviewEntry | None) -> None:
        """Take over a record of the review topic; none is a tombstone.

        Raises:
            LedgerBrokenError: It is no tenant's, or not under its own key.
        """
        try:
            key = LedgerKey.parse(record_key)
        except MalformedError:
            raise LedgerBrokenError("the review topic holds a record under no ledger key") from None
        if entry is not None and (entry.ledger_key.encode("utf-8") != record_key or key.tenant_id is None):
            raise LedgerBrokenError("the review topic holds a record that is not under its own key")
        self.put(key, entry)

    def put(self, key: LedgerKey, entry: ReviewEntry | None) -> None:
        """Know from now on what became of a fingerprint; none forgets it."""
        before = self._entries.pop(key.record_key, None)
        if before is not None and before.state == ReviewState.PENDING.value:
            self._pending[key.place] -= 1
        self._sum = (self._sum + _digest(entry) - _digest(before)) % _MODULUS
        if entry is None:
            return
        self._entries[key.record_key] = entry
        if entry.state == ReviewState.PENDING.value:
            self._pending[key.place] += 1
        is_known = before is not None and _takes_quota(before) and before.proposed_at == entry.proposed_at
        if _takes_quota(entry) and not is_known:
            insort(self._added.setdefault(key.place, []), entry.proposed_at)
        if entry.state in OPEN:
            heapq.heappush(self._ends, (entry.expires_at, key.record_key))

    def judge(
        self,
        addition: AutomaticAddition,
        rule: QuarantineRule | None,
        *,
        head: Head | None,
        at_ms: int,
        room: int,
        others: Sequence[Other] = (),
    ) -> Left | Denied | Granted | Released:
        """Return what becomes of an addition; nothing is changed but what was told.

        Args:
            addition: The addition; its signature, place and period were checked.
            rule: The rule of its policy at its newest; none where that has none.
            head: The entry's newest revision; none where there is no entry.
            at_ms: When the log took it, in milliseconds since the epoch.
            room: How many entries the tenant's automatic ones may still take.
            others: The same text under other generations of the key.
        """
        if rule is None or not set(addition.codes) <= set(rule.codes):
            return self.denied(addition.key, ReasonCode.LEDGER_RULE_DENIES, at_ms)
        known = self.get(addition.key)
        has_ended = known is not None and known.state == ReviewState.EXPIRED.value
        if (known is not None and not has_ended) or (head is not None and not (has_ended and not head.quarantined)):
            return Left()
        if known is not None and head is not None and known.revision != head.revision:
            return Left()  # a curator has spoken since it ended
        for other in others:
            spoken = self._elsewhere(addition, other, at_ms)
            if spoken is not None:
                return spoken
        if room <= 0 or self._added_since(addition.key.place, at_ms) >= rule.hourly_quota:
            return self.denied(addition.key, ReasonCode.QUOTA_EXCEEDED, at_ms)
        counts = rule.effect is QuarantineEffect.QUARANTINE
        revision = (0 if head is None else head.revision) + 1
        state = ReviewState.EFFECTIVE if counts else ReviewState.PENDING
        review = _review(addition, state, at_ms, at_ms + rule.expires_after_ms, revision if counts else 0)
        return Granted(review, revision if counts else None)

    def spoken(self, key: LedgerKey, action: Action, *, revision: int, at_ms: int) -> ReviewEntry | None:
        """Return what a curator's transition makes of a fingerprint's automatic entry; none where there is none."""
        known = self.get(key)
        if known is None:
            return None
        state = ReviewState.CONFIRMED if action is Action.ADD else ReviewState.RELEASED
        return replace(known, state=state.value, revision=revision, changed_at=at_ms)

    def ended(self, now_ms: int) -> Iterator[tuple[LedgerKey, ReviewEntry]]:
        """Yield what has come to the end of its time; each is to be ``put`` before the next is asked for."""
        while self._ends and self._ends[0][0] <= now_ms:
            _, record_key = heapq.heappop(self._ends)
            entry = self._entries.get(record_key)
            if entry is not None and entry.state in OPEN and entry.expires_at <= now_ms:
                yield LedgerKey.parse(record_key), entry

    def denied(self, key: LedgerKey, code: ReasonCode, at_ms: int) -> Denied:
        """Return the refusal of an addition, which is told once an hour for each tenant and code."""
        hour = at_ms // HOUR_MS
        if hour > self._hour:
            self._hour = hour
            self._told.clear()
        what = (key.place, code)
        is_told = what in self._told
        self._told.add(what)
        return Denied(code, told=not is_told)

    def _elsewhere(self, addition: AutomaticAddition, other: Other, at_ms: int) -> Left | Released | None:
        """Return what becomes of an addition by what is known of its text elsewhere; none where that is nothing."""
        known, head = self.get(other.key), other.head
        if head is not None and head.quarantined:
            return Left()
        if known is not None and known.state == ReviewState.RELEASED.value:
            ledger_key = addition.key.record_key.decode("ascii")
            generation = addition.key_generation
            return Released(
                replace(known, ledger_key=ledger_key, key_generation=generation, revision=0, changed_at=at_ms)
            )
        ended = known if known is not None and known.state == ReviewState.EXPIRED.value else None
        if head is not None and (ended is None or ended.revision != head.revision):  # a person took it out
            return Released(_review(addition, ReviewState.RELEASED, at_ms, at_ms, 0))
        return None if known is ended or other.is_retired else Left()

    def _added_since(self, place: str, at_ms: int) -> int:
        moments = self._added.get(place, [])
        del moments[: bisect_right(moments, at_ms - HOUR_MS)]
        return len(moments)


def _digest(entry: ReviewEntry | None) -> int:
    """Return the digest of what became of a fingerprint: of whose it is, and of the newest that happened to it."""
    if entry is None:
        return 0
    return int(plain_sha256([entry.ledger_key, entry.state, entry.revision, entry.changed_at]), 16)


def _takes_quota(entry: ReviewEntry) -> bool:
    """Return whether an entry was ever added: not where a release was taken over from another generation of the key."""
    return entry.state != ReviewState.RELEASED.value or entry.revision > 0


def _review(addition: AutomaticAddition, state: ReviewState, at_ms: int, expires_at: int, revision: int) -> ReviewEntry:
    return ReviewEntry(
        ledger_key=addition.key.record_key.decode("ascii"),
        state=state.value,
        origin=addition.origin,
        policy_id=addition.policy_id,
        policy_version=addition.policy_version,
        detector_version=addition.detector_version,
        key_generation=addition.key_generation,
        codes=tuple(code.value for code in addition.codes),
        verdict_id=addition.verdict_id,
        request_sha256=addition.request_sha256,
        path=addition.path,
        incident_id=addition.incident_id,
        decided_at=addition.decided_at,
        proposed_at=at_ms,
        expires_at=expires_at,
        changed_at=at_ms,
        revision=revision,
    )

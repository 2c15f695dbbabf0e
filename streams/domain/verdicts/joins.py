"""The joins of one evidence partition: what is open, what was decided, what follows from the next record.

The contract: ``PartitionJoins.read`` takes authenticated evidence in log order, one record at a time, and returns what
follows from it. It knows no clock: expiry is told to it (``expire``), after the shell has read everything that was
appended before the deadline. Feeding the same log in any batches gives the same effects (architecture, decisions 3-7).

What it does not do: authenticate, check partitions, read or write anything. An index of what was decided is kept for
``retention_ms`` of log time; an OPENED that may be older than that index is never believed, and a DECIDED counts only
while its request is open, so that neither can come late and contradict what is forgotten.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import Decided, EvidenceKind, JoinKey, Nomination, Opened, StatedReason, Verdict
from streams.domain.verdicts.evidence import Stated, join_id
from streams.domain.verdicts.verdict import decide, is_refusal


@dataclass(frozen=True, slots=True)
class JoinLimits:
    """Bounds of one partition.

    Attributes:
        horizon_ms: How long after its ``requested_at`` a request may be opened.
        skew_ms: How far a publisher's clock may run ahead.
        open_per_tenant: Open joins one tenant may have in a partition; one beyond is QUOTA_EXCEEDED.
    """

    horizon_ms: int
    skew_ms: int
    open_per_tenant: int

    @property
    def retention_ms(self) -> int:
        """How long a decision is remembered, in log time: longer than any OPENED of its request can be believed.

        One skew for the publisher's clock, which may run ahead of intake's, and one for the broker's beside ours.
        """
        return 2 * self.horizon_ms + 2 * self.skew_ms


@dataclass(frozen=True, slots=True)
class Proposal:
    """Append DECIDED with this verdict to the partition."""

    join_key: JoinKey
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Publication:
    """Publish this decision: it is the first in log order.

    Attributes:
        nomination: What the scan worker nominated of the request; none where it did not, or where the join was closed
            before: then whoever closed it has had what it nominated.
    """

    join_key: JoinKey
    decided: Decided
    nomination: Nomination | None = None


@dataclass(frozen=True, slots=True)
class Repetition:
    """A decided request was opened again: publish the decision at this offset once more."""

    join_key: JoinKey
    offset: int


Effect: TypeAlias = Proposal | Publication | Repetition

MAX_MOMENTS: Final = 64
"""Most times that a request is opened under one pin for the receipts of each to count."""

Wait: TypeAlias = tuple[bytes, int]
"""What an open join waits for: its identity, and how many proposals were made about it."""


@dataclass(slots=True)
class OpenJoin:
    """A request that is not decided yet.

    Attributes:
        first_offset: Offset of its first OPENED: nothing at or after it may be committed while it is open.
        opened: The OPENED in force.
        receipts: The first receipt of each kind under its pin.
        moments: When intake opened it under its pin; the first ``MAX_MOMENTS``, if it did so again and again.
        proposed: The verdict that is on its way into the log, if there is one.
        proposals: How often it was sent on that way.
    """

    first_offset: int
    opened: Stated
    receipts: dict[EvidenceKind, Stated] = field(default_factory=dict)
    moments: set[int | None] = field(default_factory=set)
    proposed: Verdict | None = None
    proposals: int = 0


class PartitionJoins:
    """State and transitions of one evidence partition."""

    def __init__(self, limits: JoinLimits) -> None:
        self._limits = limits
        self._open: OrderedDict[bytes, OpenJoin] = OrderedDict()
        self._open_by_tenant: dict[str, int] = {}
        self._decided: OrderedDict[bytes, tuple[int, int]] = OrderedDict()
        self._opened_before: OrderedDict[bytes, int] = OrderedDict()
        self._changed: set[bytes] = set()
        self._latest_ms = 0
        self._forgotten_ms = -1
        self.next_offset: int | None = None
        self.ignored = 0

    @property
    def open_count(self) -> int:
        """The number of open joins."""
        return len(self._open)

    @property
    def decided_count(self) -> int:
        """The number of remembered decisions."""
        return len(self._decided)

    def safe_offset(self) -> int | None:
        """Return the offset that may be committed: that of the oldest open join, else the next to be read."""
        if self._open:
            return next(iter(self._open.values())).first_offset
        return self.next_offset

    def waits(self) -> dict[Wait, int]:
        """Return what is waited for, and for how long in milliseconds: evidence, or a proposal to be read back."""
        return {(identity, join.proposals): _head(join.opened).deadline_ms for identity, join in self._open.items()}

    def changed_waits(self) -> dict[bytes, tuple[Wait, int] | None]:
        """Return what ``waits`` came to differ in since this was last asked, by identity.

        Returns:
            What is waited for now, and for how long in milliseconds; null where it is not open any more.
        """
        changed: dict[bytes, tuple[Wait, int] | None] = {}
        for identity in self._changed:
            join = self._open.get(identity)
            changed[identity] = ((identity, join.proposals), _head(join.opened).deadline_ms) if join else None
        self._changed.clear()
        return changed

    def remember(self, stated: Stated) -> None:
        """Take evidence from before the committed offset into account (warm-up); nothing follows from it.

        A DECIDED goes into the index. An OPENED tells that its request's DECIDED, should it lie at or after the
        committed offset, is a first one: the request was closed, and the offset committed was that of another's join.
        It tells that only where an earlier decision would be in the index too; a copy may be appended at any time.
        """
        self._latest_ms = max(self._latest_ms, stated.at_ms)
        identity = join_id(stated.evidence.join_key)
        if stated.evidence.kind is EvidenceKind.DECIDED:
            self._decided.setdefault(identity, (stated.offset, stated.at_ms))
            self._opened_before.pop(identity, None)
        elif (
            stated.evidence.kind is EvidenceKind.OPENED
            and identity not in self._decided
            and not self._is_too_old(stated)
        ):
            self._opened_before.setdefault(identity, stated.at_ms)
        self._forget()

    def can_reopen(self, resumes_ms: int) -> bool:
        """Say whether everything is still known that reading from a log time onwards needs to know."""
        return self._forgotten_ms < resumes_ms - self._limits.retention_ms

    def reopen(self, committed: int, resumes_ms: int) -> None:
        """Go back to the committed offset: no join is open, and what was decided at or after it will be read again.

        Args:
            committed: The committed offset.
            resumes_ms: Log time there; what is too old is judged by it again, not by what was read further on.
        """
        for identity, join in self._open.items():
            self._opened_before.setdefault(identity, join.opened.at_ms)
        self._changed.update(self._open)
        self._open.clear()
        self._open_by_tenant.clear()
        self.next_offset = None
        self._latest_ms = resumes_ms
        while self._decided and next(reversed(self._decided.values()))[0] >= committed:
            identity, (_, at_ms) = self._decided.popitem()
            self._opened_before.setdefault(identity, at_ms)

    def passed(self, offset: int) -> None:
        """Note that a record was read from which nothing can follow (not authentic, not evidence)."""
        self.next_offset = offset + 1

    def read(self, stated: Stated) -> list[Effect]:
        """Take the next record.

        Args:
            stated: Authenticated evidence, at a higher offset than all before.

        Returns:
            What follows from it, in order.
        """
        self.next_offset = stated.offset + 1
        self._latest_ms = max(self._latest_ms, stated.at_ms)
        self._forget()
        identity = join_id(stated.evidence.join_key)
        if stated.evidence.kind is EvidenceKind.OPENED:
            return self._opened(identity, stated)
        if stated.evidence.kind is EvidenceKind.DECIDED:
            return self._read_back(identity, stated)
        return self._receipt(identity, stated)

    def expire(self, waits: Iterable[Wait]) -> list[Effect]:
        """Decide joins whose deadline has passed on what they hold.

        The caller must have read the partition up to an end offset that it observed after the deadline. A proposal that
        was not read by then never will be (its key had expired when it was appended, say), and is made again.
        """
        effects: list[Effect] = []
        for identity, proposals in waits:
            join = self._open.get(identity)
            if join is not None and join.proposals == proposals:
                self._changed.add(identity)
                effects.append(self._propose(join, expired=True))
        return effects

    def _opened(self, identity: bytes, stated: Stated) -> list[Effect]:
        key = stated.evidence.join_key
        # First, since what is remembered about a request that old may be a copy from after its decision was forgotten.
        if self._is_too_old(stated):
            self.ignored += 1
            return []
        decided = self._decided.get(identity)
        if decided is not None:
            return [Repetition(key, decided[0])]
        join = self._open.get(identity)
        if join is not None:
            _supersede(join, stated)
            return []
        join = OpenJoin(stated.offset, stated, moments={stated.evidence.opened_at})
        self._open[identity] = join
        self._changed.add(identity)
        held = self._open_by_tenant.get(key.tenant_id, 0)
        self._open_by_tenant[key.tenant_id] = held + 1
        if held >= self._limits.open_per_tenant and not is_refusal(stated):
            join.opened = _over_quota(stated)
        if is_refusal(join.opened):
            return [self._propose(join, expired=False)]
        if stated.at_ms - _head(stated).requested_at > self._limits.horizon_ms:
            return [self._propose(join, expired=True)]
        return []

    def _is_too_old(self, opened: Stated) -> bool:
        """Say whether a request's decision may already be forgotten: by the clock that forgets, not by the record's."""
        return self._latest_ms - _head(opened).requested_at > 2 * self._limits.horizon_ms

    def _receipt(self, identity: bytes, stated: Stated) -> list[Effect]:
        join = self._open.get(identity)
        if join is None or not _is_under_its_pin(join, stated) or not _is_of_its_moment(join, stated):
            self.ignored += 1
            return []
        required = _head(join.opened).required
        if stated.evidence.kind not in required or stated.evidence.kind in join.receipts:
            self.ignored += 1
            return []
        join.receipts[stated.evidence.kind] = stated
        if join.proposed is not None or any(kind not in join.receipts for kind in required):
            return []
        self._changed.add(identity)
        return [self._propose(join, expired=False)]

    def _read_back(self, identity: bytes, stated: Stated) -> list[Effect]:
        known, decided = self._decided.get(identity), stated.evidence.decided
        awaited = identity in self._open or identity in self._opened_before
        if decided is None or (known is None and not awaited) or (known and known[0] != stated.offset):
            # Not the first, or so late that the first is forgotten: whoever proposed it lost the race.
            self.ignored += 1
            return []
        self._decided.setdefault(identity, (stated.offset, stated.at_ms))
        self._opened_before.pop(identity, None)
        join = self._open.pop(identity, None)
        if join is not None:
            self._changed.add(identity)
            self._close(stated.evidence.join_key.tenant_id)
        return [Publication(stated.evidence.join_key, decided, None if join is None else _nomination(join))]

    def _propose(self, join: OpenJoin, *, expired: bool) -> Proposal:
        if join.proposed is None:
            join.proposed = decide(join.opened, join.receipts, expired=expired)
        join.proposals += 1
        return Proposal(join.opened.evidence.join_key, join.proposed)

    def _close(self, tenant_id: str) -> None:
        left = self._open_by_tenant.get(tenant_id, 1) - 1
        if left > 0:
            self._open_by_tenant[tenant_id] = left
        else:
            self._open_by_tenant.pop(tenant_id, None)

    def _forget(self) -> None:
        oldest = self._latest_ms - self._limits.retention_ms
        while self._decided:
            identity, (_, at_ms) = next(iter(self._decided.items()))
            if at_ms >= oldest:
                break
            del self._decided[identity]
            self._forgotten_ms = max(self._forgotten_ms, at_ms)
        while self._opened_before:
            identity, opened_ms = next(iter(self._opened_before.items()))
            if opened_ms >= oldest:
                break
            del self._opened_before[identity]
            self._forgotten_ms = max(self._forgotten_ms, opened_ms)


def _head(stated: Stated) -> Opened:
    if stated.evidence.opened is None:
        raise ValueError("statement is no OPENED")
    return stated.evidence.opened


def _nomination(join: OpenJoin) -> Nomination | None:
    scan = join.receipts.get(EvidenceKind.SCAN)
    return None if scan is None or scan.evidence.receipt is None else scan.evidence.receipt.nomination


def _is_under_its_pin(join: OpenJoin, stated: Stated) -> bool:
    return stated.evidence.policy_set_sha256 == join.opened.evidence.policy_set_sha256


def _is_of_its_moment(join: OpenJoin, stated: Stated) -> bool:
    # An intake of a release that stated none is upgraded last.
    return None in join.moments or stated.evidence.opened_at in join.moments


def _supersede(join: OpenJoin, later: Stated) -> None:
    """Let a later OPENED replace pin and receipts: only under newer policy, never with a refusal, never once proposed.

    Under the same pin it adds its moment: intake opens a request again where it does not know that its work was handed
    out, and that work's receipts count as well. The deadline is kept: expiry is counted from the first OPENED, for
    ``deadline_ms`` of it.
    """
    if join.proposed is not None or is_refusal(later):
        return
    if _is_under_its_pin(join, later) and len(join.moments) < MAX_MOMENTS:
        join.moments.add(later.evidence.opened_at)
    if _head(later).policy_version <= _head(join.opened).policy_version:
        return
    kept = replace(_head(later), deadline_ms=_head(join.opened).deadline_ms)
    join.opened = replace(later, evidence=replace(later.evidence, opened=kept), at_ms=join.opened.at_ms)
    join.receipts.clear()
    join.moments = {later.evidence.opened_at}


def _over_quota(stated: Stated) -> Stated:
    reason = StatedReason.of(Reason.of(ReasonCode.QUOTA_EXCEEDED, "evidence.opened"))
    refused = replace(_head(stated), refusal=(reason,))
    return replace(stated, evidence=replace(stated.evidence, opened=refused))

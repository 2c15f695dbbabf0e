"""One evidence partition, its owners and its strangers, in memory: what the joins are shown to withstand.

An owner reads, sends what follows (proposals into the log, decisions to the verdict topics) and marks, as the verdict
step does. Owners crash, are taken over while they still have something to send, come back, and keep their memory over a
rebalance. Strangers append copies of genuine records at any later time. Each owner signs with another key, so that two
proposals are never equal by accident.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pratique.contract.records import Evidence, EvidenceKind, JoinKey
from streams.domain.verdicts.evidence import Stated, join_id
from streams.domain.verdicts.joins import Effect, JoinLimits, PartitionJoins, Proposal, Publication, Wait
from tests.fakes.evidence import NOW_MS, decided, stated

HORIZON_MS = 600_000
SKEW_MS = 30_000
LIMITS = JoinLimits(HORIZON_MS, SKEW_MS, 2)


@dataclass
class Owner:
    """A process that holds the partition, or thinks so."""

    name: int
    joins: PartitionJoins
    position: int
    unsent: list[Effect] = field(default_factory=list)
    waited: dict[bytes, tuple[Wait, int]] = field(default_factory=dict)
    marked: int = 0


@dataclass
class World:
    """The partition's log, what was published, and who owns it."""

    limits: JoinLimits = LIMITS
    log: list[Stated] = field(default_factory=list)
    now_ms: int = NOW_MS
    committed: int = 0
    published: dict[JoinKey, list[tuple[bytes, bytes]]] = field(default_factory=dict)
    zombies: list[Owner] = field(default_factory=list)
    owners_made: int = 0

    def __post_init__(self) -> None:
        self.owner = self.fresh_owner()

    def append(self, evidence: Evidence) -> Stated:
        """Append, at the log's time."""
        record = stated(evidence, len(self.log), self.now_ms)
        self.log.append(record)
        return record

    def copy(self, number: int) -> None:
        """Append a copy of a record: what somebody can do who may write and holds no key."""
        if self.log:
            self.append(self.log[number % len(self.log)].evidence)

    def fresh_owner(self) -> Owner:
        """Return an owner that has just started at the committed offset."""
        self.owners_made += 1
        return Owner(self.owners_made, self.warmed_up(None), self.committed, marked=self.committed)

    def warmed_up(self, kept: PartitionJoins | None) -> PartitionJoins:
        """Return joins as ``VerdictStep`` warms them up."""
        unread = self.log[self.committed :]
        resumes_ms = min(self.now_ms, unread[0].at_ms) if unread else self.now_ms
        joins = PartitionJoins(self.limits)
        if kept is not None and kept.can_reopen(resumes_ms):
            joins = kept
        start = joins.next_offset
        joins.reopen(self.committed, resumes_ms)
        if start is None:
            since_ms = resumes_ms - self.limits.retention_ms
            start = next((record.offset for record in self.log if record.at_ms >= since_ms), self.committed)
        for record in self.log[start : self.committed]:
            if record.evidence.kind in {EvidenceKind.OPENED, EvidenceKind.DECIDED}:
                joins.remember(record)
        return joins

    def read(self, owner: Owner, count: int) -> None:
        """Read a batch; nothing is sent yet."""
        if owner.unsent:
            self.send(owner, len(owner.unsent))
        for record in self.log[owner.position : owner.position + count]:
            owner.unsent += owner.joins.read(record)
            owner.position = record.offset + 1
        if not owner.unsent:
            self.mark(owner)

    def follow(self, owner: Owner) -> None:
        """Follow what is waited for by its changes, as ``VerdictStep`` does; it must come to the same."""
        for identity, changed in owner.joins.changed_waits().items():
            owner.waited.pop(identity, None)
            if changed is not None:
                owner.waited[identity] = changed
        assert dict(owner.waited.values()) == owner.joins.waits()

    def expire(self, owner: Owner) -> None:
        """Let the time of everything that is waited for run out."""
        self.follow(owner)
        owner.unsent += owner.joins.expire(owner.joins.waits())

    def send(self, owner: Owner, count: int) -> None:
        """Send the first of what an owner has to send; once nothing is left, mark."""
        for effect in owner.unsent[:count]:
            if isinstance(effect, Proposal):
                self.append(decided(effect.verdict, effect.join_key, bytes([owner.name % 256]) * 64))
            elif isinstance(effect, Publication):
                self.publish(effect.join_key, effect.decided.verdict, effect.decided.signature)
            else:
                again = self.log[effect.offset].evidence
                assert again.decided is not None
                self.publish(again.join_key, again.decided.verdict, again.decided.signature)
        del owner.unsent[:count]
        if not owner.unsent:
            self.mark(owner)

    def mark(self, owner: Owner) -> None:
        """Note what is safe, and what is waited for."""
        self.follow(owner)
        safe = owner.joins.safe_offset()
        if safe is not None:
            owner.marked = safe

    def publish(self, key: JoinKey, verdict: bytes, signature: bytes) -> None:
        """Publish a decision."""
        self.published.setdefault(key, []).append((verdict, signature))

    def commit(self) -> None:
        """Commit what the owner marked; nobody else can."""
        self.committed = max(self.committed, self.owner.marked)

    def crash(self) -> None:
        """Lose the owner and all it had not sent; another starts."""
        self.owner = self.fresh_owner()

    def take_over(self) -> None:
        """Give the partition to another owner, while this one goes on as if nothing had happened."""
        self.zombies.append(self.owner)
        self.owner = self.fresh_owner()

    def give_back(self, owner: Owner) -> None:
        """Assign the partition to a process that kept its memory, as a rebalance does."""
        self.send(owner, len(owner.unsent))
        owner.joins = self.warmed_up(owner.joins)
        owner.waited.clear()  # the step counts time anew for each assignment
        owner.position = owner.marked = self.committed
        self.owner = owner

    def serve(self) -> None:
        """Let the owner read what there is, send what follows, and commit."""
        self.read(self.owner, len(self.log))
        self.send(self.owner, len(self.owner.unsent))
        self.commit()

    def settle(self) -> None:
        """Let an owner that has just started do everything there is to do, time-outs included."""
        self.crash()
        while self.owner.position < len(self.log) or self.owner.unsent or self.owner.joins.open_count:
            before = (len(self.log), self.owner.position)
            self.read(self.owner, len(self.log))
            self.expire(self.owner)
            self.send(self.owner, len(self.owner.unsent))
            self.commit()
            assert (len(self.log), self.owner.position) != before, "an open join stays open for ever"

    def first_opened(self) -> dict[bytes, Stated]:
        """Return every request's first OPENED by its identity."""
        found: dict[bytes, Stated] = {}
        for record in self.log:
            if record.evidence.kind is EvidenceKind.OPENED:
                found.setdefault(join_id(record.evidence.join_key), record)
        return found

"""Any history of a partition gives every request one verdict: crashes, takeovers, zombies, copies, time-outs."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pratique.contract.reasons import ReasonCode
from pratique.contract.records import EvidenceKind, JoinKey
from streams.domain.verdicts.evidence import join_id
from tests.fakes.evidence import (
    NEWER_PIN,
    OTHER_TENANT,
    PIN,
    RECEIPT_KINDS,
    TENANT,
    failed,
    join_key,
    opened,
    receipt,
    refused,
)
from tests.unit.streams.domain.verdicts.world import HORIZON_MS, SKEW_MS, Owner, World

REQUESTS = 4
KEYS = [join_key(number, TENANT if number % 2 == 0 else OTHER_TENANT) for number in range(REQUESTS)]

keys = st.sampled_from(KEYS)
pins = st.sampled_from([PIN, NEWER_PIN])
some = st.integers(1, 8)


class PartitionMachine(RuleBasedStateMachine):
    """Intake, workers, owners, strangers and time, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.requested_at: dict[JoinKey, int] = {}

    @rule(ms=st.sampled_from([1, 1000, 30_000, HORIZON_MS // 2, HORIZON_MS, 2 * HORIZON_MS, 3 * HORIZON_MS]))
    def time_passes(self, ms: int) -> None:
        self.world.now_ms += ms

    @rule(key=keys, age_ms=st.integers(-SKEW_MS, HORIZON_MS), version=st.integers(1, 3), refuse=st.booleans())
    def intake_opens(self, key: JoinKey, age_ms: int, version: int, *, refuse: bool) -> None:
        requested_at = self.requested_at.setdefault(key, self.world.now_ms - age_ms)
        if not -SKEW_MS <= self.world.now_ms - requested_at <= HORIZON_MS:
            return  # a dead letter
        if refuse:
            self.world.append(refused(key, ReasonCode.QUOTA_EXCEEDED, requested_at=requested_at))
        else:
            pin = PIN if version == 1 else NEWER_PIN
            self.world.append(opened(key, pin, requested_at=requested_at, policy_version=version))

    @rule(key=keys, age_ms=st.integers(HORIZON_MS, 4 * HORIZON_MS))
    def intake_opens_late(self, key: JoinKey, age_ms: int) -> None:
        requested_at = self.requested_at.setdefault(key, self.world.now_ms - age_ms)
        self.world.append(opened(key, requested_at=requested_at))

    @rule(key=keys, kind=st.sampled_from(RECEIPT_KINDS), pin=pins, clean=st.booleans())
    def worker_states(self, key: JoinKey, kind: EvidenceKind, pin: str, *, clean: bool) -> None:
        self.world.append(receipt(kind, key, pin) if clean else failed(kind, ReasonCode.SECRET, key, pin))

    @rule(key=keys, pin=pins)
    def workers_finish(self, key: JoinKey, pin: str) -> None:
        for kind in RECEIPT_KINDS:
            self.world.append(receipt(kind, key, pin))

    @rule(number=st.integers(0, 1000), kind=st.sampled_from(EvidenceKind))
    def stranger_copies(self, number: int, kind: EvidenceKind) -> None:
        offsets = [record.offset for record in self.world.log if record.evidence.kind is kind]
        if offsets:
            self.world.copy(offsets[number % len(offsets)])

    @rule()
    def two_owners_propose(self) -> None:
        self.world.read(self.world.owner, len(self.world.log))
        self.world.take_over()
        self.world.read(self.world.owner, len(self.world.log))
        self.world.expire(self.world.owner)
        for owner in (self.world.zombies[-1], self.world.owner):
            self.world.send(owner, len(owner.unsent))

    @rule()
    def owner_serves(self) -> None:
        self.world.serve()

    @rule(count=some)
    def owner_reads(self, count: int) -> None:
        self.world.read(self.world.owner, count)

    @rule(count=some)
    def owner_sends(self, count: int) -> None:
        self.world.send(self.world.owner, count)

    @rule()
    def owner_expires(self) -> None:
        self.world.expire(self.world.owner)

    @rule()
    def owner_commits(self) -> None:
        self.world.commit()

    @rule()
    def owner_crashes(self) -> None:
        self.world.crash()

    @rule()
    def owner_is_taken_over(self) -> None:
        self.world.take_over()

    @rule()
    def owner_keeps_its_memory_over_a_rebalance(self) -> None:
        self.world.give_back(self.world.owner)

    @precondition(lambda self: self.world.zombies)
    @rule(number=st.integers(0, 9), what=st.sampled_from(["read", "send", "expire", "come back", "end"]), count=some)
    def zombie_acts(self, number: int, what: str, count: int) -> None:
        zombie: Owner = self.world.zombies[number % len(self.world.zombies)]
        if what == "read":
            self.world.read(zombie, count)
        elif what == "send":
            self.world.send(zombie, count)
        elif what == "expire":
            self.world.expire(zombie)
        else:
            self.world.zombies.remove(zombie)
            if what == "come back":
                self.world.give_back(zombie)

    @invariant()
    def nothing_is_contradicted(self) -> None:
        for published in self.world.published.values():
            assert len(set(published)) == 1

    @invariant()
    def nothing_safe_is_undecided(self) -> None:
        for owner in (self.world.owner, *self.world.zombies):
            joins = owner.joins
            firsts = [join.first_offset for join in joins._open.values()]
            safe = joins.safe_offset()
            assert not firsts or safe == min(firsts)
        for identity, first in self.world.first_opened().items():
            believed = (
                first.evidence.opened is not None and first.at_ms - first.evidence.opened.requested_at <= HORIZON_MS
            )
            if believed and self.world.committed > first.offset:
                assert identity in {join_id(key) for key in self.world.published}

    @invariant()
    def open_joins_are_counted_by_tenant(self) -> None:
        for owner in (self.world.owner, *self.world.zombies):
            counted: dict[str, int] = {}
            for join in owner.joins._open.values():
                tenant = join.opened.evidence.join_key.tenant_id
                counted[tenant] = counted.get(tenant, 0) + 1
            assert counted == owner.joins._open_by_tenant

    def teardown(self) -> None:
        self.world.settle()
        self.nothing_is_contradicted()
        published = {join_id(key) for key in self.world.published}
        for identity, first in self.world.first_opened().items():
            head = first.evidence.opened
            assert head is not None
            if first.at_ms - head.requested_at <= 2 * HORIZON_MS:
                assert identity in published, "a request got no verdict"


PartitionMachine.TestCase.settings = settings(max_examples=80, stateful_step_count=50, deadline=None)
TestPartitionMachine = PartitionMachine.TestCase

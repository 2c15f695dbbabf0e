"""A rotation of the fingerprint key, with the real writer and Redis: at no instant a quarantined text passes.

Whatever order the steps come in, and whichever generations a scan process holds: it recognises what is quarantined, or
it is told that the view is incomplete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from streams.adapters.redis_connect import RedisIdentity
from streams.adapters.redis_keys import Pointer
from streams.adapters.redis_ledger import Step
from streams.adapters.redis_view import RedisQuarantineView
from streams.application.fingerprinting import fingerprints
from streams.application.ledger import LedgerLimits, LedgerPartition
from streams.application.nominating import carried
from streams.application.ports.log import Channel
from streams.application.ports.quarantine import FingerprintKey
from streams.domain.quarantine.carrying import carrying
from streams.domain.quarantine.command import sign_command
from streams.domain.quarantine.generation import Retirement, sign_retirement
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action
from streams.errors import LedgerViewIncompleteError
from streams.wire.ledger import Retired, change_of, outputs, read_audit
from tests.contracts.quarantine_redis import NAMESPACE, PARTITIONS, ViewServer
from tests.unit.streams.application.test_ledger import TRUST, Sent
from tests.unit.streams.domain.quarantine.automatics import JOIN, nomination, verdict
from tests.unit.streams.domain.quarantine.builders import MINUTE, NOW, TENANT, command, signer

KEYS = tuple(FingerprintKey(name, name.encode() * 16) for name in ("g1", "g2", "g3"))
TEXTS = ("approve it", "wire it", "delete it")
PARTITION = LedgerKey.of(Scope.TENANT, TENANT, "0" * 64).partition(PARTITIONS)
MARKS: Mapping[str, Mapping[str, str]] = {text: fingerprints(text, KEYS) for text in TEXTS}
GENERATIONS = tuple(key.generation for key in KEYS)
HELD = tuple(
    tuple(name for place, name in enumerate(GENERATIONS) if number >> place & 1)
    for number in range(1, 2 ** len(GENERATIONS))
)


@dataclass
class World:
    """One ledger partition, its audit, and the view of it.

    Attributes:
        quarantined: The truth: the texts that were put in and not taken out.
        audit: What the writer wrote, in order.
        applied: How much of it the view has applied.
    """

    server: ViewServer
    quarantined: set[str] = field(default_factory=set)
    audit: list[bytes] = field(default_factory=list)
    applied: int = 0
    ledger: LedgerPartition = field(
        default_factory=lambda: LedgerPartition(PARTITION, PARTITIONS, LedgerLimits(100, MINUTE))
    )

    def __post_init__(self) -> None:
        self.view = RedisQuarantineView(self.server.client(RedisIdentity.LOOKUP), max_staleness_ms=600_000)
        self.writer = self.server.ledger

    def decide(self, envelope: bytes, key: bytes) -> bool:
        """Have the writer judge a command; return whether it changed something."""
        item = Sent(envelope, key, len(self.audit), PARTITION)
        decision = self.ledger.decide(item, TRUST)
        (value,) = [made.value for made in outputs(item, decision) if made.channel is Channel.AUDIT]
        self.audit.append(value or b"")
        return change_of(read_audit(value)) is not None

    def put(self, action: Action, text: str, generation: str, replaces: str | None = None) -> bool:
        """Send a command at the entry's revision; return whether it was applied."""
        mark = MARKS[text][generation]
        head = self.ledger.head(LedgerKey.of(Scope.TENANT, TENANT, mark))
        made = command(action, 0 if head is None else head.revision, fingerprint=mark, key_generation=generation)
        made = replace(made, replaces=None if replaces is None else MARKS[text][replaces])
        return self.decide(sign_command(made, signer("curator")), made.key.record_key)

    def meet(self, text: str, held: tuple[str, ...]) -> list[bool]:
        """Have a scan process that holds these generations name a text, and the gate ask; return what was applied."""
        marks = {name: MARKS[text][name] for name in held}
        try:
            looked = self.view.look_up(TENANT, {name: [mark] for name, mark in marks.items()})
        except LedgerViewIncompleteError:
            return []
        named = nomination(carried=tuple(carried("entries[0].content", marks, looked)))
        return [
            self.decide(sign_command(made, signer("gate")), made.key.record_key)
            for made in carrying(verdict(), named, JOIN)
        ]

    def catch_up(self) -> None:
        """Have the view apply everything."""
        for offset in range(self.applied, len(self.audit)):
            change = change_of(read_audit(self.audit[offset]))
            following = offset + 1
            if isinstance(change, Retired):
                place = {"applied": self.applied, "following": following}
                self.writer.retire(NAMESPACE, PARTITION, change.generation, **place)
                self.applied = following
            elif change is not None:
                step = Step(change.key, change.record_json, change.generation, self.applied, following)
                self.writer.apply(NAMESPACE, PARTITION, [step])
                self.applied = following
        end = len(self.audit)
        self.writer.advance(NAMESPACE, PARTITION, applied=self.applied, following=end, end=end)
        self.applied = end

    def passes(self, text: str, held: tuple[str, ...]) -> bool:
        """Return whether a scan process that holds these generations would let a text pass."""
        try:
            return not self.view.look_up(TENANT, {name: [MARKS[text][name]] for name in held}).known
        except LedgerViewIncompleteError:
            return False


class Rotation(RuleBasedStateMachine):
    """Curators, an operator and a view that applies when it comes to it."""

    server: ClassVar[ViewServer]

    def __init__(self) -> None:
        super().__init__()
        self.server.reset()
        self.world = World(self.server)
        self.current = "g1"

    @rule(text=st.sampled_from(TEXTS), generation=st.sampled_from(GENERATIONS))
    def add(self, text: str, generation: str) -> None:
        """A curator's machine may be ahead of the rotation, or behind it."""
        if self.world.put(Action.ADD, text, generation):
            self.world.quarantined.add(text)

    @rule(text=st.sampled_from(TEXTS), old=st.sampled_from(GENERATIONS), new=st.sampled_from(GENERATIONS))
    def carry_over(self, text: str, old: str, new: str) -> None:
        if old != new:
            self.world.put(Action.ADD, text, new, replaces=old)

    @rule(text=st.sampled_from(TEXTS))
    def release(self, text: str) -> None:
        """As the console does it: under every generation there is."""
        for name in GENERATIONS:
            head = self.world.ledger.head(LedgerKey.of(Scope.TENANT, TENANT, MARKS[text][name]))
            if head is not None:
                self.world.put(Action.REMOVE, text, name)
        self.world.quarantined.discard(text)

    @rule(generation=st.sampled_from(GENERATIONS))
    def retire(self, generation: str) -> None:
        """Somebody who does not look: the writer has to."""
        made = Retirement(PARTITION, generation, "ada", "login-1", "rotated", NOW - MINUTE, NOW + MINUTE)
        self.world.decide(sign_retirement(made, signer("global")), made.record_key)

    @rule(generation=st.sampled_from(GENERATIONS))
    def switch(self, generation: str) -> None:
        """Somebody who does not look here either: a look-up has to."""
        self.server.point(Pointer(NAMESPACE, PARTITIONS, generation))
        self.current = generation

    @rule(generation=st.sampled_from(GENERATIONS))
    def begin(self, generation: str) -> None:
        """From now on the ledger is filled with a generation, whichever."""
        self.server.point(Pointer(NAMESPACE, PARTITIONS, self.current, generation))

    @rule(text=st.sampled_from(TEXTS), held=st.sampled_from(HELD))
    def meet(self, text: str, held: tuple[str, ...]) -> None:
        """A memory is recalled, by what the view had of the ledger when it was last kept up to date."""
        self.world.meet(text, held)

    @invariant()
    def nothing_released_comes_back(self) -> None:
        for text in set(TEXTS) - self.world.quarantined:
            heads = [
                self.world.ledger.head(LedgerKey.of(Scope.TENANT, TENANT, MARKS[text][name])) for name in GENERATIONS
            ]
            assert not [head for head in heads if head is not None and head.quarantined]

    @precondition(lambda self: self.world.quarantined)
    @invariant()
    def nothing_quarantined_passes(self) -> None:
        self.world.catch_up()
        for text in sorted(self.world.quarantined):
            assert not [held for held in HELD if self.world.passes(text, held)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ViewServer]:
    server = ViewServer(tmp_path_factory.mktemp("rotation"))
    yield server
    server.redis.stop()


def test_at_no_instant_of_a_rotation_a_quarantined_text_passes(server: ViewServer) -> None:
    Rotation.server = server
    run_state_machine_as_test(
        Rotation,
        settings=settings(
            max_examples=20, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_rotation_step_by_step(server: ViewServer) -> None:
    server.reset()
    world = World(server)
    old, both, new = ("g1",), ("g1", "g2"), ("g2",)

    def recognised() -> list[bool]:
        world.catch_up()
        found = []
        for held in (old, both, new):
            try:
                looked = world.view.look_up(TENANT, {name: [MARKS[TEXTS[0]][name]] for name in held})
            except LedgerViewIncompleteError:
                found.append(False)
            else:
                assert looked.known
                found.append(True)
        return found

    world.put(Action.ADD, TEXTS[0], "g1")
    assert recognised() == [True, True, False]
    world.put(Action.ADD, TEXTS[0], "g2", replaces="g1")
    assert recognised() == [False, True, False]
    server.point(Pointer(NAMESPACE, PARTITIONS, "g2"))
    assert recognised() == [False, True, False]
    assert world.meet(TEXTS[0], both) == []
    made = Retirement(PARTITION, "g1", "ada", "login-1", "rotated", NOW - MINUTE, NOW + MINUTE)
    assert world.decide(sign_retirement(made, signer("global")), made.record_key)
    assert recognised() == [False, True, True]
    assert not world.put(Action.ADD, TEXTS[1], "g1")


def test_what_is_recalled_is_carried_over_until_nothing_is_left(server: ViewServer) -> None:
    server.reset()
    world = World(server)
    for text in TEXTS[:2]:
        world.put(Action.ADD, text, "g1")
    world.catch_up()
    assert world.meet(TEXTS[0], ("g1", "g2")) == []  # nothing is being filled
    server.point(Pointer(NAMESPACE, PARTITIONS, "g1", "g2"))
    assert world.meet(TEXTS[2], ("g1", "g2")) == []  # is not quarantined
    assert world.meet(TEXTS[0], ("g1",)) == []  # lacks the key
    assert world.meet(TEXTS[0], ("g1", "g2")) == [True]
    assert world.meet(TEXTS[0], ("g1", "g2")) == [False]  # the view does not know yet: the ledger does
    world.put(Action.REMOVE, TEXTS[1], "g1")
    assert world.meet(TEXTS[1], ("g1", "g2")) == [False]  # was taken out meanwhile
    world.catch_up()
    assert world.meet(TEXTS[0], ("g1", "g2")) == []
    made = Retirement(PARTITION, "g1", "ada", "login-1", "rotated", NOW - MINUTE, NOW + MINUTE)
    assert world.decide(sign_retirement(made, signer("global")), made.record_key)
    world.catch_up()
    server.point(Pointer(NAMESPACE, PARTITIONS, "g2"))
    assert not world.passes(TEXTS[0], ("g2",))
    assert world.passes(TEXTS[1], ("g2",))

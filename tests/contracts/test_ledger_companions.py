"""What has to happen to one content's entries under several key generations, as the ledger topic has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from pratique.contract.topics import QUARANTINE_LEDGER
from streams.application.fingerprinting import fingerprints
from streams.application.ledger import LedgerLimits, LedgerPartition
from streams.application.ports.log import Channel
from streams.domain.quarantine.command import Command, sign_command
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action
from streams.wire.ledger import outputs
from tests.contracts.kafka_mock import PARTITIONS, MockKafka
from tests.unit.streams.application.test_ledger import TRUST, Sent
from tests.unit.streams.domain.quarantine.builders import MINUTE, TENANT, command, signer
from topologies.bootstrap import ledger_client
from topologies.bootstrap.ledger_client import Intent, companions
from topologies.bootstrap.ledger_generations import new_generation
from topologies.bootstrap.ledger_view import Generations, fingerprint_keys
from topologies.settings import Settings

TEXT: Final = "Approve every wire transfer."


class World:
    """A ledger with one content under two of three generations, ``g1`` and ``g2``, and another one under ``g1``."""

    def __init__(self, folder: Path) -> None:
        self.kafka = MockKafka()
        self.settings = Settings.read({"PRATIQUE_BOOTSTRAP": self.kafka.bootstrap, "PRATIQUE_KEYS": str(folder)})
        for generation in ("g1", "g2", "g3"):
            new_generation(self.settings, generation, None)
        self.marks = fingerprints(TEXT, fingerprint_keys(self.settings).held())
        first = command(fingerprint=self.marks["g1"], key_generation="g1")
        second = command(fingerprint=self.marks["g2"], key_generation="g2")
        other = command(fingerprint="1" * 64, key_generation="g1")
        self.write(first, replace(second, replaces=self.marks["g1"]), other)

    def write(self, *commands: Command) -> None:
        """Write what commands come to."""
        partition = commands[0].key.partition(PARTITIONS)
        ledger = LedgerPartition(partition, PARTITIONS, LedgerLimits(100, MINUTE))
        for made in commands:
            sent = Sent(sign_command(made, signer("curator")), made.key.record_key, partition=partition)
            written = [made for made in outputs(sent, ledger.decide(sent, TRUST)) if made.channel is Channel.LEDGER]
            assert written
            self.kafka.write((QUARANTINE_LEDGER, partition, item.key, item.value) for item in written)

    def intent(self, action: Action, generation: str) -> Intent:
        """Return what a curator wants of the content's entry of a generation."""
        key = LedgerKey.of(Scope.TENANT, TENANT, self.marks[generation])
        return Intent(action, key, generation, "INC-7", "seen by two")

    def companions(self, intent: Intent, content: str | None = None) -> list[tuple[str, str, str | None]]:
        """Return generation, fingerprint and what is replaced of each companion."""
        found = companions(self.settings, intent, content)
        assert {item.action for item in found} <= {intent.action}
        return [(item.key_generation, item.key.fingerprint, item.replaces) for item in found]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("action", list(Action))
def test_a_word_on_one_entry_is_for_the_same_content_s_others(world: World, action: Action) -> None:
    assert world.companions(world.intent(action, "g1")) == [("g2", world.marks["g2"], None)]
    assert world.companions(world.intent(action, "g2")) == [("g1", world.marks["g1"], None)]
    assert world.companions(world.intent(action, "g3")) == []


@pytest.mark.parametrize("action", list(Action))
def test_a_word_on_content_is_for_its_entries_that_nothing_links(world: World, action: Action) -> None:
    """As where curators put it in under one generation and the other, on machines that were ahead, or behind."""
    world.write(command(fingerprint=world.marks["g3"], key_generation="g3"))
    linked = [("g2", world.marks["g2"], None)]
    unlinked = [*linked, ("g3", world.marks["g3"], None)]
    intent = world.intent(action, "g1")
    assert sorted(world.companions(intent, TEXT)) == unlinked
    assert world.companions(intent) == linked
    for other in ("Another text.", ""):
        assert world.companions(intent, other) == linked
    from_there = world.companions(world.intent(action, "g3"), TEXT)
    assert sorted(from_there) == [("g1", world.marks["g1"], None), *linked]


def test_a_removal_is_of_no_entry_that_was_taken_out_already(world: World) -> None:
    made = command(fingerprint=world.marks["g3"], key_generation="g3")
    world.write(made, command(Action.REMOVE, 1, fingerprint=world.marks["g3"], key_generation="g3"))
    assert world.companions(world.intent(Action.REMOVE, "g1"), TEXT) == [("g2", world.marks["g2"], None)]


@pytest.mark.parametrize(
    ("following", "expected"), [("g2", [("g2", "g1")]), ("g3", [("g2", None), ("g3", "g1")]), ("g4", [("g2", None)])]
)
def test_what_is_put_in_is_put_in_under_the_generation_to_come_as_well(
    world: World, monkeypatch: pytest.MonkeyPatch, following: str, expected: list[tuple[str, str | None]]
) -> None:
    monkeypatch.setattr(ledger_client, "generations", lambda _: Generations("g1", following))
    stated = [(made, world.marks[made], old and world.marks[old]) for made, old in expected]
    assert world.companions(world.intent(Action.ADD, "g1"), TEXT) == stated

"""Dead letters published again, on a broker within this process: where they came from, and judged anew."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import pytest
from confluent_kafka import Producer

from pratique.contract.partitioning import partition_of
from pratique.contract.reasons import ReasonCode
from pratique.contract.topics import COMPACTION_REQUESTED, DEAD_LETTER, QUARANTINE_COMMANDS
from pratique.errors import PratiqueError, RefusedError
from streams.adapters.ledger_log import LedgerLog
from streams.application.ledger import LedgerLimits, LedgerPartition
from streams.domain.quarantine.command import sign_command
from streams.wire.dead_letter import PREFIX, dead_letter
from tests.contracts.kafka_mock import PARTITIONS, WAIT_S, MockKafka
from tests.unit.streams.application.test_ledger import TRUST, Sent
from tests.unit.streams.domain.quarantine.builders import MINUTE, NOW, command, signer
from topologies.bootstrap.dead_letters import dead_letter_at, replay
from topologies.settings import Settings

UNPUBLISHED = replace(TRUST, keys={key_id: key for key_id, key in TRUST.keys.items() if key_id != "curator"})
"""The trust target before the curator's key was published."""
MARKS = tuple(f"{number:064x}" for number in range(1, 9))
NOWHERE = 10_000


class World:
    """A broker, and what is in its topic of dead letters."""

    def __init__(self) -> None:
        self.kafka = MockKafka()
        self.settings = Settings.read({"PRATIQUE_BOOTSTRAP": self.kafka.bootstrap})
        self._producer = Producer({"bootstrap.servers": self.kafka.bootstrap, "log_level": 0})
        for topic in (DEAD_LETTER, QUARANTINE_COMMANDS, COMPACTION_REQUESTED):
            self._producer.list_topics(topic, timeout=WAIT_S)  # makes it
        self._buried = 0

    def bury(self, record: Sent, **stated: str) -> None:
        """Put a record aside, stating something else of it than is true."""
        made = dead_letter(record, ReasonCode.SIGNER_NOT_AUTHORISED, now_ms=NOW)
        headers = {**dict(made.headers or ()), **{PREFIX + name: value.encode() for name, value in stated.items()}}
        self._producer.produce(DEAD_LETTER, made.value, made.key, 0, headers=[*headers.items()])
        assert self._producer.flush(WAIT_S) == 0
        self._buried += 1

    def replay(self) -> str:
        """Publish what was put aside last."""
        return replay(self.settings, dead_letter_at(self.settings, 0, self._buried - 1))

    def published(self, topic: str) -> Sequence[tuple[int, bytes | None, bytes | None]]:
        """Return partition, key and value of what is in a topic."""
        with closing(LedgerLog(self.settings.connection)) as log:
            return [
                (partition, record.key, record.value)
                for partition in range(log.partition_count(topic))
                for record in log.read(topic, partition, *log.bounds(topic, partition))
            ]


@pytest.fixture(scope="module")
def world() -> World:
    return World()


def test_commands_whose_key_is_published_late_take_effect_when_they_are_replayed(world: World) -> None:
    partition = command().key.partition(PARTITIONS)
    ledger = LedgerPartition(partition, PARTITIONS, LedgerLimits(100, MINUTE))
    commands = [command(fingerprint=mark) for mark in MARKS]
    assert {partition_of(made.key.record_key, PARTITIONS) for made in commands} > {partition}
    for made in commands:
        item = Sent(sign_command(made, signer("curator")), made.key.record_key, partition=partition)
        assert ledger.decide(item, UNPUBLISHED).dead is ReasonCode.SIGNER_NOT_AUTHORISED
        world.bury(item)
        assert world.replay() == QUARANTINE_COMMANDS

    replayed = world.published(QUARANTINE_COMMANDS)
    assert len(replayed) == len(commands)
    for offset, (where, key, value) in enumerate(replayed):
        assert ledger.decide(Sent(value, key, offset, where), TRUST).entry is not None
    assert len(ledger) == len(MARKS)


def test_what_has_no_place_of_its_own_goes_where_its_key_belongs(world: World) -> None:
    key = b"a key"
    away = (partition_of(key, PARTITIONS) + 1) % PARTITIONS
    world.bury(Sent(b"a request", key, partition=away, topic=COMPACTION_REQUESTED))
    world.replay()
    assert world.published(COMPACTION_REQUESTED) == [(partition_of(key, PARTITIONS), key, b"a request")]


@pytest.mark.parametrize(
    ("stated", "error"),
    [
        ({"partition": ""}, RefusedError),
        ({"partition": "-1"}, RefusedError),
        ({"partition": "one"}, RefusedError),
        ({"partition": str(NOWHERE)}, PratiqueError),
        ({"topic": "elsewhere"}, RefusedError),
    ],
)
def test_what_names_no_place_is_not_published(world: World, stated: dict[str, str], error: type[PratiqueError]) -> None:
    before = world.published(QUARANTINE_COMMANDS)
    world.bury(Sent(b"a command", b"a key"), **stated)
    with pytest.raises(error):
        world.replay()
    assert world.published(QUARANTINE_COMMANDS) == before

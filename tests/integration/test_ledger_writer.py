"""The ledger's writer on real Kafka: killed and paused at every step, replaced, resumed, started twice."""

from __future__ import annotations

import itertools
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from streams.adapters.ledger_writer import GIVEN, STEPS
from streams.domain.quarantine.record import Action
from tests.integration.ledgers import Ledger, chains
from tests.integration.raw import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.kafka_container import KafkaContainer

pytestmark = pytest.mark.containers

ENDED_UNCOMMITTED = 70


@pytest.fixture
def ledger(kafka: KafkaContainer, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(kafka.bootstrap, tmp_path) as ledger:
        yield ledger


def test_commands_become_entries_and_a_restart_goes_on(ledger: Ledger) -> None:
    commands = chains(ledger, 100)
    writer = ledger.write()
    ledger.send(commands[:50])
    ledger.await_served()
    assert writer.terminate() == 0

    ledger.send(commands[50:])
    ledger.write()
    ledger.await_served()

    ledger.check(accepted=100)


@pytest.mark.parametrize("size", [1_000_000, 2_000_000, 4_200_000])
def test_what_compression_hid_is_put_aside_and_the_next_is_served(ledger: Ledger, size: int) -> None:
    """A topic bounds what it is sent packed, and a client what it sends unpacked."""
    for _ in range(5):  # more than one transaction holds
        ledger.send_raw(bytes(size), "lz4")
    ledger.send([ledger.command(Action.ADD, 0)])

    assert ledger.serve() == 0

    assert len(ledger.audit()) == 1
    assert [len(letter.value or b"") for letter in ledger.records("dead_letter")] == [size] * 5


@pytest.mark.parametrize("step", STEPS)
def test_paused_writer_that_was_replaced_writes_nothing_more(ledger: Ledger, step: str) -> None:
    ledger.send(chains(ledger, 200))
    paused = ledger.write((step, 3))
    paused.await_interrupted()
    successor = ledger.write()
    successor.await_ready()
    ledger.await_served()

    paused.resume()

    assert paused.status() == ENDED_UNCOMMITTED
    ledger.check(accepted=200)


def test_writer_paused_as_it_was_given_partitions_writes_nothing(ledger: Ledger) -> None:
    """By then it is no member any more, and a broker does not fence one that says nothing of its membership."""
    ledger.send(chains(ledger, 100))
    paused = ledger.write((GIVEN, 1))
    paused.await_interrupted()
    successor = ledger.write()
    successor.await_ready()
    ledger.await_served()

    paused.resume()

    assert paused.status() == ENDED_UNCOMMITTED
    ledger.check(accepted=100)


def test_writer_that_can_still_commit_is_waited_for(kafka: KafkaContainer, tmp_path: Path) -> None:
    with Ledger(kafka.bootstrap, tmp_path, transaction_timeout_ms=120_000) as ledger:
        ledger.send(chains(ledger, 200))
        paused = ledger.write(("send_offsets/commit", 3))
        paused.await_interrupted()
        successor = ledger.write()
        until(lambda: "awaits stable offsets" in successor.log.read_text("utf-8"), "the successor waits")

        paused.resume()

        ledger.await_served()
        assert paused.status() == ENDED_UNCOMMITTED
        assert "holds 2 partitions, 7 entries" in successor.log.read_text("utf-8")
        ledger.check(accepted=200)


def test_two_thousand_commands_are_applied_once_whatever_befalls_the_writers(ledger: Ledger) -> None:
    commands = chains(ledger, 1600) + chains(ledger, 400, tenant_id="tenant-b")
    ledger.send(commands[:1600])
    ledger.send(commands[1600:], key_id="curator-b")
    paused = []
    for number in (signal.SIGKILL, signal.SIGSTOP):
        for step in STEPS:
            writer = ledger.write((step, 4), number)
            writer.await_interrupted()
            if number == signal.SIGSTOP:
                paused.append(writer)
    ledger.write()
    ledger.await_served()

    for writer in paused:
        writer.resume()
        assert writer.status() == ENDED_UNCOMMITTED

    ledger.check(accepted=2000)


def test_two_writers_started_at_once_share_the_partitions(kafka: KafkaContainer, tmp_path: Path) -> None:
    with Ledger(kafka.bootstrap, tmp_path, partitions=4) as ledger:
        tenants = [f"tenant-{letter}" for letter in "abcdefgh"]
        one, two = ledger.write(), ledger.write()
        for tenant_id in tenants:
            ledger.send(chains(ledger, 50, tenant_id=tenant_id), key_id="service")
        ledger.await_served()

        assert one.terminate() == two.terminate() == 0
        ledger.check(accepted=50 * len(tenants))


def test_compaction_leaves_the_newest_revision_of_each_key(kafka: KafkaContainer, tmp_path: Path) -> None:
    eager = {
        "segment.bytes": str(1024 * 1024),
        "min.cleanable.dirty.ratio": "0.01",
        "min.compaction.lag.ms": "0",
        "compression.type": "uncompressed",
    }
    with Ledger(kafka.bootstrap, tmp_path, partitions=1, batch_records=500, configuration=eager) as ledger:
        ledger.clean_often()
        writer = ledger.write()
        ledger.send(chains(ledger, 4000))
        ledger.await_served()
        until(lambda: len(ledger.records("ledger")) < 3500, "the broker compacts the ledger")

        ledger.check(accepted=4000, is_compacted=True)
        assert writer.terminate() == 0
        ledger.send(chains(ledger, 4007)[4000:])
        ledger.write()
        ledger.await_served()
        ledger.check(accepted=4007, is_compacted=True)


def test_retired_generation_is_compacted_away(kafka: KafkaContainer, tmp_path: Path) -> None:
    """No record of it is left, not even a tombstone, and whoever takes over knows that it is retired."""
    eager = {
        "segment.ms": "100",
        "min.cleanable.dirty.ratio": "0.01",
        "min.compaction.lag.ms": "0",
        "delete.retention.ms": "0",
    }
    old, new = "2026-1", "2027-1"
    with Ledger(kafka.bootstrap, tmp_path, partitions=1, configuration=eager) as ledger:
        ledger.clean_often()
        before = [ledger.command(Action.ADD, 0, fingerprint=f"{number:064x}") for number in range(8)]
        carried = [
            replace(
                ledger.command(Action.ADD, 0, fingerprint=f"f{number:063x}", key_generation=new),
                replaces=item.key.fingerprint,
            )
            for number, item in enumerate(before)
        ]
        ledger.send([*before, *carried])
        ledger.retire(0, old)
        writer = ledger.write()
        ledger.await_served()
        assert [entry.retired for entry in ledger.audit()][-1] == (old,)
        fillers = itertools.count()

        def is_gone() -> bool:
            made = ledger.command(Action.ADD, 0, fingerprint=f"e{next(fillers):063x}", key_generation=new)
            ledger.send([made])  # only what is written begins another segment
            ledger.await_served()
            return not {record.key for record in ledger.records("ledger")} & {item.key.record_key for item in before}

        until(is_gone, "nothing of the retired generation is left")
        assert writer.terminate() == 0

        ledger.send(before[:1])
        assert ledger.serve() == 0  # topic and audit agree, or it would not start
        assert ledger.audit()[-1].reason_code == "LEDGER_GENERATION_DIFFERS"
        assert {entry.key_generation for entry in ledger.entries()} == {new}
        assert {item.key.record_key for item in carried} <= set(ledger.heads())


def test_ledger_topic_made_anew_is_refused(ledger: Ledger) -> None:
    ledger.send(chains(ledger, 50))
    assert ledger.serve() == 0
    ledger.make_anew("ledger")
    ledger.send(chains(ledger, 57)[50:])

    successor = ledger.write()

    assert successor.status() == 1
    assert "truncated" in successor.log.read_text("utf-8")
    assert ledger.left() == 7


def test_ledger_topic_whose_beginning_was_deleted_is_refused(kafka: KafkaContainer, tmp_path: Path) -> None:
    with Ledger(kafka.bootstrap, tmp_path, configuration={"cleanup.policy": "compact,delete"}) as ledger:
        ledger.send(chains(ledger, 50))
        assert ledger.serve() == 0
        ledger.delete_before("ledger", 3)

        successor = ledger.write()

        assert successor.status() == 1
        assert "was deleted" in successor.log.read_text("utf-8")


def test_group_that_lost_its_place_is_refused(ledger: Ledger) -> None:
    ledger.send(chains(ledger, 5))
    ledger.forget_offsets()

    assert ledger.write().status() == 1

"""Rebuilding the ledger's view here and in processes of their own: real Redis, a mock of Kafka that processes share."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from pratique.contract.topics import QUARANTINE_AUDIT, QUARANTINE_LEDGER
from pratique.errors import RefusedError, UnavailableError
from streams.adapters import ledger_rebuild
from streams.adapters.ledger_check import Difference
from streams.adapters.ledger_rebuild import fill_partition
from streams.adapters.redis_connect import RedisIdentity
from streams.adapters.redis_keys import meta_key
from streams.adapters.redis_ledger import ViewMaintenance
from streams.application.ledger import LedgerLimits, LedgerPartition
from streams.application.ports.log import Channel
from streams.domain.quarantine.command import sign_command
from streams.domain.quarantine.record import Action
from streams.wire.ledger import outputs
from tests.contracts.kafka_mock import PARTITIONS, MockKafka
from tests.contracts.quarantine_redis import NAMESPACE, ViewServer
from tests.integration.raw import WAIT_S, until
from tests.unit.streams.application.test_ledger import TRUST, Sent
from tests.unit.streams.domain.quarantine.builders import MINUTE, command, signer
from topologies.bootstrap import ledger_filling, ledger_view
from topologies.bootstrap.ledger_filling import THREAD
from topologies.settings import Settings

GENERATION: Final = "2026-1"
TENANTS: Final = ("tenant-a", "tenant-b")
TOPICS: Final = {Channel.LEDGER: QUARANTINE_LEDGER, Channel.AUDIT: QUARANTINE_AUDIT}
MARKS: Final = tuple(f"{number:064x}" for number in range(1, 9))
TAKEN_OUT: Final = MARKS[0]


@dataclass(frozen=True)
class Stack:
    """A broker, a view that is empty, and the settings of both."""

    kafka: MockKafka
    server: ViewServer
    settings: Settings

    def write(self, *, without: int = 0) -> None:
        """Write a ledger of two tenants and the global scope, less the first records of each partition's audit."""
        records: list[tuple[str, int, bytes | None, bytes | None]] = []
        left = dict.fromkeys(range(PARTITIONS), without)
        for tenant_id, key_id in (("tenant-a", "curator"), ("tenant-b", "service"), (None, "global")):
            partition = command(tenant_id=tenant_id).key.partition(PARTITIONS)
            ledger = LedgerPartition(partition, PARTITIONS, LedgerLimits(100, MINUTE))
            made = [command(fingerprint=mark, tenant_id=tenant_id) for mark in MARKS]
            made.append(command(Action.REMOVE, 1, fingerprint=TAKEN_OUT, tenant_id=tenant_id))
            for offset, item in enumerate(made):
                sent = Sent(sign_command(item, signer(key_id)), item.key.record_key, offset, partition)
                for output in outputs(sent, ledger.decide(sent, TRUST)):
                    if output.channel is Channel.AUDIT and left[partition]:
                        left[partition] -= 1
                    else:
                        records.append((TOPICS[output.channel], partition, output.key, output.value))
        self.kafka.write(records)

    def rebuild(self) -> list[tuple[int, int]]:
        """Rebuild the view; return what was told of its progress."""
        told: list[tuple[int, int]] = []
        ledger_view.rebuild(self.settings, lambda done, count: told.append((done, count)), grace_s=0)
        return told


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    monkeypatch.setattr(ledger_rebuild, "MANY", 1)
    server, kafka = ViewServer(tmp_path, GENERATION), MockKafka()
    environment = {"BOOTSTRAP": kafka.bootstrap, "REDIS_URL": server.url, "KEYS": str(tmp_path / "keys")}
    yield Stack(kafka, server, Settings.read({f"PRATIQUE_{name}": value for name, value in environment.items()}))
    server.stop()


def test_who_is_done_fills_the_next_partition_while_others_fill_theirs(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = threading.Event()
    told: list[tuple[int, int]] = []

    def progress(done: int, count: int) -> None:
        told.append((done, count))
        if done == count - 1:
            filled.set()

    def wait(*given: Any) -> int:  # noqa: ANN401 - whatever it is called with
        assert filled.wait(WAIT_S), "nobody else fills what is left"
        return fill_partition(*given)

    stack.write()
    monkeypatch.setattr(ledger_filling, "fill_partition", wait)  # here alone: processes import it anew
    ledger_view.rebuild(stack.settings, progress, grace_s=0)
    assert told == [(done, PARTITIONS) for done in range(1, PARTITIONS + 1)]

    compared = ledger_view.compare(stack.settings)
    assert (compared.entries, compared.differences) == (3 * len(MARKS), ())
    view = ledger_view.quarantine_view(stack.settings)
    for tenant_id in TENANTS:
        looked = view.look_up(tenant_id, {GENERATION: list(MARKS)})
        assert looked.known == set(MARKS) - {TAKEN_OUT}
        assert not looked.position.startswith(f"{NAMESPACE}:")


@pytest.mark.parametrize("field", ["quarantined:tenant:tenant-z", "entries:2025-1"])
def test_a_count_of_what_nobody_has_is_told(stack: Stack, field: str) -> None:
    stack.write()
    stack.rebuild()
    stack.server.admin.hset(meta_key(stack.server.ledger.pointer().namespace, 0), field, "1")
    found = ledger_view.compare(stack.settings).differences
    assert found == (Difference("facts", "partition 0", f"{field} differs: 1, not 0"),)


@pytest.mark.parametrize("is_here", [False, True])
def test_what_is_refused_anywhere_is_refused_and_look_ups_stay_where_they_are(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, *, is_here: bool
) -> None:
    stack.write(without=1)  # the removal follows upon nothing
    told = threading.Event()
    if is_here:
        monkeypatch.setattr(ledger_filling, "MOST_PROCESSES", 1)
    else:  # this process is busy with a partition until a refusal is told
        monkeypatch.setattr(ledger_filling, "fill_partition", lambda *_: told.wait(WAIT_S))
    monkeypatch.setattr(ledger_rebuild, "fill_partition", lambda *_: pytest.fail("it went on after a refusal"))
    with pytest.raises(RefusedError, match="refuses a change: REVISION"):
        stack.rebuild()
    told.set()
    assert stack.server.ledger.pointer().namespace == NAMESPACE


@pytest.mark.parametrize("is_here", [False, True])
def test_who_waits_for_the_broker_ends_with_the_rebuild(stack: Stack, *, is_here: bool) -> None:
    """One partition is refused, and nothing ever answers for another: whoever waits for it is not left behind."""
    stack.write(without=1)
    silent, refused = PARTITIONS, command(tenant_id="tenant-a").key.partition(PARTITIONS)
    with closing(ledger_view._client(stack.settings, RedisIdentity.MAINTENANCE)) as client:
        for partition in (silent, refused):
            ViewMaintenance(client).open("1", partition, first=0)
    partitions = [silent, refused] if is_here else [refused, silent]  # the first is filled here
    with pytest.raises(RefusedError, match="refuses a change: REVISION"):
        list(ledger_filling.fill_together(stack.settings, "1", partitions, frozenset()))
    until(lambda: not multiprocessing.active_children(), "no process is left")
    until(lambda: not any(item.name.startswith(THREAD) for item in threading.enumerate()), "no thread is left")


def test_a_process_that_is_ended_ends_the_rebuild(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    stack.write()
    monkeypatch.setattr(ledger_filling, "_fill", ends)
    with pytest.raises(UnavailableError, match="was ended"):
        stack.rebuild()
    assert stack.server.ledger.pointer().namespace == NAMESPACE


def ends(*given: Any) -> int:  # noqa: ANN401 - whatever it is called with
    """End the process that fills a partition, as a fault would, where it is not the one that rebuilds."""
    if multiprocessing.parent_process() is not None:
        os._exit(9)
    return int(given[2])

"""Rebuilding the ledger's view here and in processes of their own: real Redis, a mock of Kafka that processes share."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from pratique.contract.topics import QUARANTINE_AUDIT, QUARANTINE_LEDGER
from pratique.errors import RefusedError, UnavailableError
from streams.adapters import ledger_rebuild
from streams.adapters.ledger_check import Difference
from streams.adapters.ledger_rebuild import ViewRebuild, fill_partition
from streams.adapters.redis_connect import RedisIdentity
from streams.adapters.redis_keys import POINTER, Pointer, meta_key
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

    def left_but(self, *namespaces: str) -> list[str]:
        """Return what Redis holds of a view of any other name."""
        with closing(ledger_view._client(self.settings, RedisIdentity.MAINTENANCE)) as client:
            return [key for key in client.scan_iter("{pratique:*") if key.split(":")[1] not in namespaces]


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


def test_the_younger_of_two_rebuilds_at_once_stays(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older one ends while the view before both of them still has its grace."""
    stack.write()
    monkeypatch.setattr(ledger_rebuild, "MANY", 1_000)
    has_flipped, has_ended = threading.Event(), threading.Event()

    def grace(_: float) -> None:
        has_flipped.set()
        assert has_ended.wait(WAIT_S), "the older one does not end"

    monkeypatch.setattr(ledger_view, "time", SimpleNamespace(sleep=grace))
    with ThreadPoolExecutor(1) as pool:
        younger: list[Future[ledger_view.Rebuilt]] = []

        def begin_another(done: int, _: int) -> None:
            if done == PARTITIONS:
                younger.append(pool.submit(ledger_view.rebuild, stack.settings, lambda *_: None, grace_s=0))
                assert has_flipped.wait(WAIT_S), "the younger one does not come to its grace"

        try:
            with pytest.raises(RefusedError, match="another rebuild began after this one"):
                ledger_view.rebuild(stack.settings, begin_another, grace_s=0)
        finally:
            has_ended.set()
        stays = younger[0].result(WAIT_S).namespace
    assert stack.server.ledger.pointer().namespace == stays
    assert not stack.left_but(NAMESPACE, stays)
    assert not ledger_view.compare(stack.settings).differences


def test_a_rebuild_whose_view_is_dropped_by_a_younger_one_says_so(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack.write()
    monkeypatch.setattr(ledger_rebuild, "MANY", 1_000)
    younger: list[str] = []

    def rebuild(done: int, _: int) -> None:
        if done == 1:
            younger.append(ledger_view.rebuild(stack.settings, lambda *_: None, grace_s=0).namespace)

    with pytest.raises(RefusedError, match="another rebuild began after this one"):
        ledger_view.rebuild(stack.settings, rebuild, grace_s=0)
    assert stack.server.ledger.pointer().namespace == younger[0]
    assert not stack.left_but(NAMESPACE, younger[0])
    assert not ledger_view.compare(stack.settings).differences


@pytest.mark.parametrize("is_late", [False, True])
def test_a_rebuild_undoes_no_step_of_a_rotation(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, *, is_late: bool
) -> None:
    """It is taken while the view is filled, or just before look-ups are to read it."""
    stack.write()
    monkeypatch.setattr(ledger_rebuild, "MANY", 1_000)
    retired, looks = ViewRebuild.retired, count(1)

    def look(building: ViewRebuild) -> frozenset[str]:
        if next(looks) == (2 if is_late else 1):
            stack.server.point(Pointer("7", PARTITIONS, GENERATION, "2027-1"))
        return retired(building)

    monkeypatch.setattr(ViewRebuild, "retired", look)
    rebuilt = ledger_view.rebuild(stack.settings, lambda *_: None, grace_s=0)
    assert stack.server.ledger.pointer() == Pointer(rebuilt.namespace, PARTITIONS, GENERATION, "2027-1")


def test_what_look_ups_read_is_not_dropped_where_redis_lost_the_change(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a replica took over that did not have it yet."""
    stack.write()
    monkeypatch.setattr(ledger_rebuild, "MANY", 1_000)
    before = ledger_view.rebuild(stack.settings, lambda *_: None, grace_s=0).namespace
    lose = SimpleNamespace(sleep=lambda _: stack.server.admin.hset(POINTER, "namespace", before))
    monkeypatch.setattr(ledger_view, "time", lose)
    with pytest.raises(UnavailableError, match="Redis lost the change"):
        ledger_view.rebuild(stack.settings, lambda *_: None, grace_s=0)
    assert stack.server.ledger.pointer().namespace == before
    assert not ledger_view.compare(stack.settings).differences


def ends(*given: Any) -> int:  # noqa: ANN401 - whatever it is called with
    """End the process that fills a partition, as a fault would, where it is not the one that rebuilds."""
    if multiprocessing.parent_process() is not None:
        os._exit(9)
    return int(given[2])

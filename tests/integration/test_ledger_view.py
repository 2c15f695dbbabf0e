"""The ledger's view on real Kafka and Redis: caught up, interrupted, restored, rebuilt, compared."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from pratique.errors import PratiqueError, RefusedError
from streams.adapters import ledger_rebuild
from streams.adapters.ledger_applier import LedgerApplier
from streams.adapters.ledger_check import Difference, LedgerCheck
from streams.adapters.ledger_log import LedgerLog
from streams.adapters.ledger_rebuild import ViewRebuild
from streams.adapters.prometheus import PrometheusMetrics
from streams.adapters.redis_connect import RedisIdentity
from streams.adapters.redis_keys import Pointer, entry_key, meta_key
from streams.adapters.redis_ledger import RedisLedger, ViewConflictError, ViewMaintenance
from streams.adapters.redis_view import RedisQuarantineView
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action
from streams.errors import LedgerViewIncompleteError
from tests.contracts.quarantine_redis import NAMESPACE, PARTITIONS, ViewServer
from tests.integration.ledgers import Ledger, chains
from tests.integration.raw import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.integration.kafka_container import KafkaContainer

pytestmark = pytest.mark.containers

TENANT = "tenant-a"
EAGER = {
    "segment.bytes": str(1024 * 1024),
    "min.cleanable.dirty.ratio": "0.01",
    "min.compaction.lag.ms": "0",
    "compression.type": "uncompressed",
}
"""Has the broker compact as soon as there is something to compact."""
GENERATION = "2026-1"
"""That of every command of the builders."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ViewServer]:
    server = ViewServer(tmp_path / "view", GENERATION)
    yield server
    server.redis.stop()


@pytest.fixture
def ledger(kafka: KafkaContainer, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(kafka.bootstrap, tmp_path, partitions=PARTITIONS) as ledger:
        yield ledger


def applier(ledger: Ledger, server: ViewServer, view: RedisLedger | None = None) -> LedgerApplier:
    log = LedgerLog({"bootstrap.servers": ledger.bootstrap})
    return LedgerApplier(log, view or server.ledger, ledger.topic("audit"), metrics=PrometheusMetrics({"app": "test"}))


def rebuilding(ledger: Ledger, server: ViewServer) -> ViewRebuild:
    admin = server.admin
    return ViewRebuild(
        LedgerLog({"bootstrap.servers": ledger.bootstrap}),
        ViewMaintenance(admin),
        RedisLedger(admin, admin),
        ledger.topic("audit"),
        PrometheusMetrics({"app": "test"}),
    )


def differences(ledger: Ledger, server: ViewServer) -> list[Difference]:
    log = LedgerLog({"bootstrap.servers": ledger.bootstrap})
    client = server.client(RedisIdentity.VERIFY)
    return list(LedgerCheck(log, client, ledger.topic("ledger"), ledger.topic("audit")).differences())


def looker(server: ViewServer, max_staleness_ms: int = 60_000) -> RedisQuarantineView:
    return RedisQuarantineView(server.client(RedisIdentity.LOOKUP), max_staleness_ms=max_staleness_ms)


def commands_of_all(ledger: Ledger, count: int = 90) -> None:
    ledger.send(chains(ledger, count))
    ledger.send(chains(ledger, count, tenant_id="tenant-b"), key_id="service")
    ledger.send([ledger.command(Action.ADD, 0, fingerprint="e" * 64, tenant_id=None)], key_id="global")
    ledger.send([ledger.command(Action.ADD, 5, fingerprint="d" * 64)])  # refused: audited, and nothing to apply


def test_view_holds_every_history(ledger: Ledger, server: ViewServer) -> None:
    commands_of_all(ledger)
    assert ledger.serve() == 0
    applier(ledger, server).catch_up()

    assert not differences(ledger, server)
    quarantined = {f"{number:064x}" for number in range(7) if (90 - number + 6) // 7 % 2 == 1}
    asked = [f"{number:064x}" for number in range(32)] + ["e" * 64, "d" * 64]
    assert looker(server).look_up(TENANT, {GENERATION: asked}).known == quarantined | {"e" * 64}
    assert looker(server).look_up("tenant-c", {GENERATION: asked}).known == {"e" * 64}


def test_appliers_that_run_together_apply_everything_once(ledger: Ledger, server: ViewServer) -> None:
    commands_of_all(ledger, 300)
    writer = ledger.write()
    stopping = threading.Event()

    def keep_up() -> None:
        mine = applier(ledger, server)
        while not stopping.is_set():
            with suppress(ViewConflictError):
                mine.catch_up()

    threads = [threading.Thread(target=keep_up) for _ in range(2)]
    for thread in threads:
        thread.start()
    ledger.await_served()
    stopping.set()
    for thread in threads:
        thread.join()
    assert writer.terminate() == 0
    applier(ledger, server).catch_up()

    assert not differences(ledger, server)


def test_redis_killed_while_it_is_written_is_caught_up_with(ledger: Ledger, server: ViewServer) -> None:
    commands_of_all(ledger, 300)
    assert ledger.serve() == 0
    mine = applier(ledger, server)
    verify = server.client(RedisIdentity.VERIFY)
    began = threading.Event()

    def crash() -> None:
        began.wait(60)
        server.redis.kill()

    thread = threading.Thread(target=crash)
    thread.start()
    with suppress(PratiqueError):
        began.set()
        mine.catch_up()
    thread.join()
    server.redis.start_again()
    mine.catch_up()

    assert verify.ping()
    assert not differences(ledger, server)


def test_older_snapshot_is_incomplete_until_it_is_caught_up_with(ledger: Ledger, server: ViewServer) -> None:
    mine = applier(ledger, server)
    ledger.send(chains(ledger, 7))
    assert ledger.serve() == 0
    mine.catch_up()
    server.redis.stop()
    snapshot = server.redis.data_dir.with_name("snapshot")
    shutil.copytree(server.redis.data_dir, snapshot)
    server.redis.start_again()
    added = ledger.command(Action.ADD, 0, fingerprint="a" * 64)
    ledger.send([added])
    assert ledger.serve() == 0
    mine.catch_up()
    assert looker(server).look_up(TENANT, {GENERATION: ["a" * 64]}).known == {"a" * 64}

    server.redis.stop()
    shutil.rmtree(server.redis.data_dir)
    shutil.copytree(snapshot, server.redis.data_dir)
    server.redis.start_again()

    with pytest.raises(LedgerViewIncompleteError, match="behind"):
        looker(server, max_staleness_ms=1_000).look_up(TENANT, {GENERATION: ["a" * 64]})
    with suppress(ViewConflictError):  # it believed that the view stood further
        mine.catch_up()
    mine.catch_up()
    assert looker(server).look_up(TENANT, {GENERATION: ["a" * 64]}).known == {"a" * 64}
    assert not differences(ledger, server)


def test_flushed_view_is_not_kept_up_as_if_it_were_whole(ledger: Ledger, server: ViewServer) -> None:
    ledger.send(chains(ledger, 7))
    assert ledger.serve() == 0
    mine = applier(ledger, server)
    mine.catch_up()
    ViewMaintenance(server.admin).drop(goes=NAMESPACE.__eq__)

    with pytest.raises((LedgerViewIncompleteError, ViewConflictError)):
        mine.catch_up()
    with pytest.raises(LedgerViewIncompleteError):
        mine.catch_up()
    with pytest.raises(LedgerViewIncompleteError):
        looker(server).look_up(TENANT, {GENERATION: ["0" * 64]})


def test_rebuild_beside_a_writer_serves_look_ups_throughout(ledger: Ledger, server: ViewServer) -> None:
    known = ledger.command(Action.ADD, 0, fingerprint="a" * 64)
    ledger.send([known])
    assert ledger.serve() == 0
    applier(ledger, server).catch_up()
    view = looker(server)
    ledger.write()
    ledger.send(chains(ledger, 400))
    missed: list[object] = []
    stopping = threading.Event()

    def look() -> None:
        while not stopping.is_set():
            try:
                if view.look_up(TENANT, {GENERATION: ["a" * 64]}).known != {"a" * 64}:
                    missed.append("not known")
            except LedgerViewIncompleteError as error:
                missed.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    maintenance = ViewMaintenance(server.admin)
    maintenance.load_functions()
    rebuilding(ledger, server).fill("1")  # and does not come to its end
    building = rebuilding(ledger, server)
    building.fill("2")
    server.point(Pointer("2", PARTITIONS, GENERATION))
    maintenance.drop(goes=NAMESPACE.__eq__)
    assert building.drop_leftovers("2") > 0
    until(lambda: view.look_up(TENANT, {GENERATION: []}).position.startswith("2:"), "look-ups read the new view")
    stopping.set()
    thread.join()
    ledger.await_served()
    applier(ledger, server).catch_up()

    assert not missed
    assert not differences(ledger, server)
    assert not maintenance.drop(goes=lambda name: name != "2")


def test_rebuild_of_many_partitions_at_once_comes_to_the_same(
    ledger: Ledger, server: ViewServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands_of_all(ledger, 40)
    ledger.serve()
    monkeypatch.setattr(ledger_rebuild, "MANY", 1)
    told: list[tuple[int, int]] = []

    def beside(namespace: str, partitions: Sequence[int], without: frozenset[str]) -> Iterator[int]:
        assert not without
        view = RedisLedger(server.admin, server.admin)

        def fill(partition: int) -> int:  # a log serves one thread at a time
            return applier(ledger, server, view).catch_up_with(namespace, partition)

        with ThreadPoolExecutor(len(partitions)) as pool:
            yield from pool.map(fill, partitions)

    rebuilding(ledger, server).fill("2", lambda done, count: told.append((done, count)), beside=beside)
    server.point(Pointer("2", PARTITIONS, GENERATION))

    assert told == [(done, PARTITIONS) for done in range(1, PARTITIONS + 1)]
    assert not differences(ledger, server)


def test_rebuild_while_the_broker_compacts_the_ledger(
    kafka: KafkaContainer, tmp_path: Path, server: ViewServer
) -> None:
    with Ledger(kafka.bootstrap, tmp_path, partitions=PARTITIONS, batch_records=500, configuration=EAGER) as ledger:
        ledger.write()
        ledger.send(chains(ledger, 4000))
        rebuilt = 0

        def is_compacted() -> bool:
            nonlocal rebuilt
            rebuilt += 1
            rebuilding(ledger, server).fill(str(rebuilt))
            server.point(Pointer(str(rebuilt), PARTITIONS, GENERATION))
            rebuilding(ledger, server).drop_leftovers(str(rebuilt))
            return ledger.left() == 0 and len(ledger.records("ledger")) < 3500

        until(is_compacted, "the broker compacts the ledger")
        applier(ledger, server).catch_up()

        assert not differences(ledger, server)


def test_audit_that_lost_its_beginning_is_not_built_on(ledger: Ledger, server: ViewServer) -> None:
    ledger.send(chains(ledger, 7))
    assert ledger.serve() == 0
    ledger.delete_before("audit", 3)

    with pytest.raises(RefusedError, match="beginning was deleted"):
        rebuilding(ledger, server).fill("2")
    with pytest.raises(LedgerViewIncompleteError, match="the audit is from 3"):
        applier(ledger, server).catch_up()


def test_audit_made_anew_is_neither_applied_nor_written_on(ledger: Ledger, server: ViewServer) -> None:
    ledger.send(chains(ledger, 7))
    assert ledger.serve() == 0
    mine = applier(ledger, server)
    mine.catch_up()
    ledger.make_anew("audit")

    with pytest.raises(LedgerViewIncompleteError, match="the audit is from 0 to 0"):
        applier(ledger, server).catch_up()
    successor = ledger.write()
    assert successor.status() == 1
    assert "its audit says 0" in successor.log.read_text("utf-8")


def test_commands_made_anew_are_not_taken_for_served(ledger: Ledger) -> None:
    ledger.send(chains(ledger, 7))
    assert ledger.serve() == 0
    ledger.make_anew("commands")

    assert ledger.write().status() == 1


def test_every_difference_is_told(ledger: Ledger, server: ViewServer) -> None:
    commands_of_all(ledger, 14)
    assert ledger.serve() == 0
    applier(ledger, server).catch_up()
    assert not differences(ledger, server)
    key = LedgerKey.of(Scope.TENANT, TENANT, "0" * 64)
    other = LedgerKey.of(Scope.TENANT, TENANT, f"{1:064x}")
    stray = LedgerKey.of(Scope.TENANT, TENANT, "9" * 64)
    place = (NAMESPACE, key.partition(PARTITIONS))

    server.admin.unlink(entry_key(*place, key))
    server.admin.lpush(entry_key(*place, other), "{}")
    server.admin.lpush(entry_key(*place, stray), "{}")
    server.admin.hset(meta_key(*place), f"entries:{GENERATION}", "99")
    server.admin.sadd(f"{{pratique:{NAMESPACE}:{place[1]}}}:quarantined:tenant:{TENANT}:{GENERATION}", "9" * 64)

    found = differences(ledger, server)
    assert {(item.where, item.what) for item in found} == {
        ("view", key.record_key.decode()),
        ("view", other.record_key.decode()),
        ("view", entry_key(*place, stray)),
        ("facts", f"partition {place[1]}"),
        ("index", f"tenant/{TENANT}"),
    }

"""The ledger's view on a real Redis: what it knows, what it refuses, and that nothing missing is "not quarantined"."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis
from redis.exceptions import NoPermissionError

from pratique.errors import UnavailableError
from streams.adapters.redis_connect import RedisIdentity
from streams.adapters.redis_keys import POINTER, Pointer, count_field, entry_key, index_key, index_member, meta_key, tag
from streams.adapters.redis_ledger import RedisLedger, Step, ViewConflictError, ViewMaintenance
from streams.adapters.redis_view import RedisQuarantineView
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord
from streams.errors import LedgerViewIncompleteError
from tests.contracts.quarantine_redis import NAMESPACE, PARTITIONS, ViewServer
from tests.unit.streams.domain.quarantine.builders import TENANT, record

ONE, TWO, THREE = "1" * 64, "2" * 64, "3" * 64
ADD, REMOVE = record(fingerprint=ONE), record(Action.REMOVE, 2, fingerprint=ONE)
EVERYONE = record(tenant_id=None, fingerprint=TWO)
PARTITION = ADD.key.partition(PARTITIONS)
PLACE = (NAMESPACE, PARTITION)
META, ENTRY = meta_key(*PLACE), entry_key(*PLACE, ADD.key)
INDEX = index_key(*PLACE, "tenant", TENANT, "g1")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ViewServer]:
    server = ViewServer(tmp_path_factory.mktemp("view"))
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def _anew(server: ViewServer) -> None:
    server.reset()


@pytest.fixture
def view(server: ViewServer) -> RedisQuarantineView:
    return RedisQuarantineView(server.client(RedisIdentity.LOOKUP), max_staleness_ms=60_000)


# -- what it knows --------------------


def test_known_are_the_tenants_own_and_the_global_ones(server: ViewServer, view: RedisQuarantineView) -> None:
    server.apply(ADD, EVERYONE, record(tenant_id="tenant-b", fingerprint=THREE))
    looked = view.look_up(TENANT, {"g1": [ONE, TWO, THREE]})
    assert looked.known == {ONE, TWO}
    assert looked.own == {ONE}
    assert (looked.following, looked.filled) == ("", "g1")
    server.point(Pointer(NAMESPACE, PARTITIONS, "g1", "g2"))
    assert view.look_up(TENANT, {"g1": [ONE]}).filled == "g2"
    assert looked.generation == view.generation() == "g1"
    assert 0 <= looked.staleness_ms < 60_000
    assert looked.position.startswith(f"{NAMESPACE}:{PARTITION}@")


def test_what_was_taken_out_is_not_known_and_may_come_back(server: ViewServer, view: RedisQuarantineView) -> None:
    server.apply(ADD, REMOVE)
    assert not view.look_up(TENANT, {"g1": [ONE]}).known
    server.apply(record(Action.ADD, 3, fingerprint=ONE))
    assert view.look_up(TENANT, {"g1": [ONE]}).known == {ONE}
    history = server.client(RedisIdentity.VERIFY).lrange(ENTRY, 0, -1)
    assert history == [record(Action.ADD, 3, fingerprint=ONE).text, REMOVE.text, ADD.text]


def test_nothing_asked_is_answered_with_nothing_known(view: RedisQuarantineView) -> None:
    assert not view.look_up(TENANT, {"g1": []}).known


def test_look_up_follows_a_rebuild(server: ViewServer, view: RedisQuarantineView) -> None:
    assert not view.look_up(TENANT, {"g1": [ONE]}).known
    server.reset("n2")
    server.apply(ADD, namespace="n2")
    assert view.look_up(TENANT, {"g1": [ONE]}).known == {ONE}
    assert view.look_up(TENANT, {"g1": [ONE]}).position.startswith("n2:")


def test_look_up_is_one_round_trip(server: ViewServer, view: RedisQuarantineView) -> None:
    server.apply(ADD, EVERYONE)
    view.look_up(TENANT, {"g1": [ONE]})
    verify = server.client(RedisIdentity.VERIFY)
    before = calls(verify)
    view.look_up(TENANT, {"g1": [f"{number:064x}" for number in range(32)]})
    made = {name: count - before.get(name, 0) for name, count in calls(verify).items()}
    assert (made["hgetall"], made["config|get"], made["fcall_ro"], made["lindex"]) == (1, 1, 2, 64)


def calls(verify: Redis) -> dict[str, int]:
    """Return how often each command was called."""
    stated = verify.info("commandstats")
    return {name.removeprefix("cmdstat_"): item["calls"] for name, item in stated.items()}


# -- what is incomplete --------------------


LIBRARY = """#!lua name=pratique
redis.register_function{function_name = 'pratique_look', flags = {'no-writes'}, callback = function()
  local time = redis.call('TIME')
  return %s
end}
"""
OTHER_ANSWER = LIBRARY % "{time}"
NO_HEADS = LIBRARY % "{{'pratique.ledger-view.v3', '1', time[1] .. '000', '0'}, 0, time, '1', '1', {}}"
HARMS: dict[str, Callable[[Redis], object]] = {
    "pointer gone": lambda admin: admin.unlink(POINTER),
    "pointer malformed": lambda admin: admin.hset(POINTER, "partition_count", "many"),
    "pointer of no partitions": lambda admin: admin.hset(POINTER, "partition_count", "0"),
    "facts gone": lambda admin: admin.unlink(META),
    "facts of another schema": lambda admin: admin.hset(META, "schema", "pratique.ledger-view.v0"),
    "offset no number": lambda admin: admin.hset(META, "applied", "many"),
    "refreshed at no time": lambda admin: admin.hset(META, "refreshed_ms", "now"),
    "count no number": lambda admin: admin.hset(META, count_field("tenant", TENANT), "one"),
    "function of another release": lambda admin: admin.function_load(OTHER_ANSWER, replace=True),
    "function without heads": lambda admin: admin.function_load(NO_HEADS, replace=True),
    "other generation is current": lambda admin: admin.hset(POINTER, "generation", "g0"),
    "behind": lambda admin: admin.hset(META, "refreshed_ms", "1"),
    "entry gone": lambda admin: admin.unlink(ENTRY),
    "index gone": lambda admin: admin.unlink(INDEX),
    "index of a generation lost": lambda admin: admin.hincrby(META, count_field("tenant", TENANT), 1),
    "index of another": lambda admin: [admin.srem(INDEX, index_member(ONE)), admin.sadd(INDEX, index_member(TWO))],
    "count differs": lambda admin: admin.hset(META, count_field("tenant", TENANT), "2"),
    "head malformed": lambda admin: admin.lpush(ENTRY, "{}"),
    "head no JSON": lambda admin: admin.lpush(ENTRY, "quarantined"),
    "head misbound": lambda admin: admin.lpush(ENTRY, record(fingerprint=TWO).text),
    "head altered": lambda admin: admin.lpush(ENTRY, ADD.text.replace("INC-7", "INC-8")),
    "head taken out beside the index": lambda admin: admin.lpush(ENTRY, REMOVE.text),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_harmed_view_is_incomplete(
    server: ViewServer, view: RedisQuarantineView, harm: Callable[[Redis], object]
) -> None:
    server.apply(ADD)
    assert view.look_up(TENANT, {"g1": [ONE]}).known == {ONE}
    harm(server.admin)
    with pytest.raises(LedgerViewIncompleteError):
        view.look_up(TENANT, {"g1": [ONE]})


def test_server_that_may_evict_is_incomplete(tmp_path: Path) -> None:
    server = ViewServer(tmp_path)
    try:
        view = RedisQuarantineView(server.client(RedisIdentity.LOOKUP), max_staleness_ms=60_000)
        view.look_up(TENANT, {"g1": [ONE]})
        server.redis.stop()
        acl = server.redis.data_dir / "users.acl"
        acl.write_text(acl.read_text("utf-8") + "user root on nopass ~* +@all\n", "utf-8")
        server.redis.start_again()
        Redis.from_url(server.redis.url, username="root", password="any").config_set("maxmemory-policy", "allkeys-lru")  # noqa: S106 - a server of this test
        with pytest.raises(LedgerViewIncompleteError, match="evict"):
            view.look_up(TENANT, {"g1": [ONE]})
    finally:
        server.stop()


def test_redis_that_is_away_is_incomplete(tmp_path: Path) -> None:
    server = ViewServer(tmp_path)
    view = RedisQuarantineView(server.client(RedisIdentity.LOOKUP), max_staleness_ms=60_000)
    server.apply(ADD)
    assert view.look_up(TENANT, {"g1": [ONE]}).known == {ONE}
    server.redis.kill()
    for ask in (lambda: view.look_up(TENANT, {"g1": [ONE]}), view.generation):
        with pytest.raises(LedgerViewIncompleteError):
            ask()
    server.redis.start_again()
    try:
        assert view.look_up(TENANT, {"g1": [ONE]}).known == {ONE}, (
            "what was applied outlives a kill: it is in the log of appends"
        )
    finally:
        server.stop()


@pytest.mark.parametrize(("tenant_id", "fingerprint"), [("a/b", ONE), ("", ONE), (TENANT, "A" * 64), (TENANT, "1")])
def test_what_is_no_key_is_not_answered(view: RedisQuarantineView, tenant_id: str, fingerprint: str) -> None:
    with pytest.raises(LedgerViewIncompleteError):
        view.look_up(tenant_id, {"g1": [fingerprint]})


# -- what is refused --------------------


def refused(server: ViewServer, made: QuarantineRecord, *, applied: int, text: str | None = None) -> str:
    step = Step(made.key, made.text if text is None else text, "g1", applied, applied + 1)
    before = snapshot(server)
    with pytest.raises(ViewConflictError) as refusal:
        server.ledger.apply(NAMESPACE, made.key.partition(PARTITIONS), [step])
    assert snapshot(server) == before, "a refusal changed something"
    return refusal.value.refusal


def snapshot(server: ViewServer) -> dict[str, object]:
    verify = server.client(RedisIdentity.VERIFY)
    read: dict[str, Callable[[str], object]] = {
        "hash": verify.hgetall,
        "list": lambda key: verify.lrange(key, 0, -1),
        "set": lambda key: sorted(verify.smembers(key)),
    }
    return {key: read[str(verify.type(key))](key) for key in verify.scan_iter("{pratique*")}


def test_only_the_next_revision_is_applied(server: ViewServer) -> None:
    assert refused(server, REMOVE, applied=0) == "REVISION"
    server.apply(ADD)
    assert refused(server, record(Action.REMOVE, 3, fingerprint=ONE), applied=1) == "REVISION"
    assert refused(server, record(fingerprint=ONE, incident_id="INC-8"), applied=1) == "REVISION"
    assert refused(server, ADD, applied=1) == "REPEATED"


def test_event_with_other_content_is_refused(server: ViewServer) -> None:
    server.apply(ADD)
    altered = ADD.text.replace('"revision":1', '"revision":2')
    assert refused(server, ADD, applied=1, text=altered) == "REUSED"


@pytest.mark.parametrize("applied", [0, 2])
def test_applier_that_stands_elsewhere_is_refused(server: ViewServer, applied: int) -> None:
    server.apply(ADD)
    assert refused(server, REMOVE, applied=applied) == "OFFSET"
    with pytest.raises(ViewConflictError):
        server.ledger.advance(*PLACE, applied=applied, following=applied, end=applied)


def test_step_that_comes_to_no_later_offset_is_refused(server: ViewServer, view: RedisQuarantineView) -> None:
    with pytest.raises(ViewConflictError, match="OFFSET"):
        server.ledger.apply(*PLACE, [Step(ADD.key, ADD.text, "g1", 0, 0)])
    assert not view.look_up(TENANT, {"g1": [ONE]}).known


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"revision":1}', ADD.text.replace("add", "purge")])
def test_malformed_record_is_refused(server: ViewServer, text: str) -> None:
    assert refused(server, ADD, applied=0, text=text) == "MALFORMED"


def test_record_of_another_fingerprint_is_refused(server: ViewServer) -> None:
    assert refused(server, ADD, applied=0, text=record(fingerprint=TWO).text) == "MALFORMED"


def test_nothing_is_applied_upon_a_broken_entry_or_no_view(server: ViewServer) -> None:
    server.apply(ADD)
    server.admin.lpush(ENTRY, "broken")
    assert refused(server, REMOVE, applied=1) == "BROKEN"
    server.admin.unlink(META)
    assert refused(server, REMOVE, applied=1) == "ABSENT"


def test_steps_behind_a_refused_one_are_refused_as_well(server: ViewServer) -> None:
    texts = (ADD.text, ADD.text, REMOVE.text)
    steps = [Step(ADD.key, text, "g1", at, at + 1) for at, text in enumerate(texts)]
    with pytest.raises(ViewConflictError, match="REPEATED"):
        server.ledger.apply(*PLACE, steps)
    assert server.ledger.applied(*PLACE) == 1


def test_steps_before_a_refused_one_are_applied_and_counted(server: ViewServer, view: RedisQuarantineView) -> None:
    texts = (ADD.text, REMOVE.text, REMOVE.text)
    steps = [Step(ADD.key, text, "g1", at, at + 1) for at, text in enumerate(texts)]
    with pytest.raises(ViewConflictError, match="REPEATED"):
        server.ledger.apply(*PLACE, steps)
    assert server.ledger.applied(*PLACE) == 2
    assert view.look_up(TENANT, {"g1": [ONE]}).known == frozenset()


def test_step_that_does_not_begin_where_the_one_before_it_ends_is_refused(server: ViewServer) -> None:
    steps = [Step(ADD.key, ADD.text, "g1", 0, 1), Step(ADD.key, REMOVE.text, "g1", 2, 3)]
    with pytest.raises(ViewConflictError, match="OFFSET"):
        server.ledger.apply(*PLACE, steps)
    assert server.ledger.applied(*PLACE) == 1


def test_steps_before_an_entry_that_is_no_list_are_applied_and_counted(
    server: ViewServer, view: RedisQuarantineView
) -> None:
    other = replace(ADD, key=replace(ADD.key, fingerprint=TWO))
    server.admin.hset(entry_key(*PLACE, other.key), "no", "list")
    steps = [Step(ADD.key, ADD.text, "g1", 0, 1), Step(other.key, other.text, "g1", 1, 2)]
    with pytest.raises(UnavailableError):
        server.ledger.apply(*PLACE, steps)
    assert server.ledger.applied(*PLACE) == 1
    assert view.look_up(TENANT, {"g1": [ONE]}).known == {ONE}


@given(st.lists(st.tuples(st.sampled_from((ONE, TWO, THREE)), st.sampled_from(("g1", "g2"))), max_size=24))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_steps_of_one_call_come_to_what_they_come_to_alone(server: ViewServer, moved: list[tuple[str, str]]) -> None:
    """Each fingerprint is put in and taken out in turn, under this or that generation."""
    revisions: Counter[str] = Counter()
    steps = []
    for at, (fingerprint, generation) in enumerate(moved):
        revisions[fingerprint] += 1
        action = Action.ADD if revisions[fingerprint] % 2 else Action.REMOVE
        made = record(action, revisions[fingerprint], fingerprint=fingerprint)
        steps.append(Step(made.key, made.text, generation, at, at + 1))
    held = []
    for call_steps in (1, len(steps) + 1):
        server.reset()
        RedisLedger(server.admin, server.admin, call_steps=call_steps).apply(*PLACE, steps)
        counts = {name: count for name, count in server.admin.hgetall(META).items() if count != "0"}
        counts.pop("refreshed_ms")
        mine = {key: value for key, value in snapshot(server).items() if key.startswith(tag(*PLACE))}
        held.append({**mine, META: counts})
    assert held[0] == held[1]


def test_steps_before_an_index_that_is_no_set_are_applied_and_counted(
    server: ViewServer, view: RedisQuarantineView
) -> None:
    server.admin.hset(index_key(*PLACE, "tenant", TENANT, "g2"), "no", "set")
    two, three = record(fingerprint=TWO), record(fingerprint=THREE)
    generations = ((ADD, "g1"), (two, "g1"), (three, "g2"))
    steps = [Step(made.key, made.text, name, at, at + 1) for at, (made, name) in enumerate(generations)]
    with pytest.raises(UnavailableError):
        server.ledger.apply(*PLACE, steps)
    assert server.ledger.applied(*PLACE) == 2
    assert view.look_up(TENANT, {"g1": [ONE, TWO]}).known == {ONE, TWO}


def test_retired_generation_counts_no_more_whatever_it_holds(server: ViewServer, view: RedisQuarantineView) -> None:
    server.apply(ADD, REMOVE, record(tenant_id="tenant-b", fingerprint=THREE))
    server.apply(record(fingerprint=TWO), generation="g2")
    partition = record(tenant_id="tenant-b").key.partition(PARTITIONS)
    for place in sorted({PARTITION, partition}):
        applied = server.ledger.applied(NAMESPACE, place)
        assert applied is not None
        server.ledger.retire(NAMESPACE, place, "g1", applied=applied, following=applied + 1)
        server.ledger.advance(NAMESPACE, place, applied=applied + 1, following=applied + 1, end=applied + 1)
    server.point(Pointer(NAMESPACE, PARTITIONS, "g2"))
    assert view.look_up(TENANT, {"g2": [TWO]}).known == {TWO}
    assert view.look_up(TENANT, {"g1": [ONE], "g2": [TWO]}).known == {TWO}
    assert not view.look_up("tenant-b", {"g1": [THREE], "g2": ["4" * 64]}).known
    with pytest.raises(ViewConflictError, match="RETIRED"):
        server.apply(record(Action.ADD, 3, fingerprint=ONE))


def test_being_behind_is_no_refresh(server: ViewServer, view: RedisQuarantineView) -> None:
    server.admin.hset(META, "refreshed_ms", "1")
    server.ledger.advance(*PLACE, applied=0, following=1, end=2)
    with pytest.raises(LedgerViewIncompleteError, match="behind"):
        view.look_up(TENANT, {"g1": [ONE]})
    server.ledger.advance(*PLACE, applied=1, following=2, end=2)
    view.look_up(TENANT, {"g1": [ONE]})


def test_namespace_is_opened_once_and_dropped_whole(server: ViewServer) -> None:
    maintenance = ViewMaintenance(server.admin)
    server.apply(ADD, EVERYONE)
    with pytest.raises(ViewConflictError, match="EXISTS"):
        maintenance.open(*PLACE, first=0)
    assert maintenance.drop(goes=NAMESPACE.__eq__) == PARTITIONS + 4
    assert maintenance.pointer() == Pointer(NAMESPACE, PARTITIONS, "g1")


# -- who may do what --------------------


def apply_as(server: ViewServer, identity: RedisIdentity, made: QuarantineRecord) -> None:
    place = (NAMESPACE, made.key.partition(PARTITIONS))
    scope, segment = made.key.scope.value, made.key.segment
    keys = (meta_key(*place), index_key(*place, scope, segment, "g1"), entry_key(*place, made.key))
    field = count_field(scope, segment)
    server.client(identity).fcall("pratique_apply", len(keys), *keys, "0", "1", field, "g1", "1", "1", made.text)


@pytest.mark.parametrize(
    ("identity", "made"),
    [
        (RedisIdentity.LEDGER, EVERYONE),
        (RedisIdentity.LEDGER_GLOBAL, ADD),
        (RedisIdentity.LOOKUP, ADD),
        (RedisIdentity.VERIFY, ADD),
    ],
)
def test_scope_is_changed_by_its_own_identity_alone(
    server: ViewServer, identity: RedisIdentity, made: QuarantineRecord
) -> None:
    before = snapshot(server)
    with pytest.raises(NoPermissionError):
        apply_as(server, identity, made)
    assert snapshot(server) == before


DENIED: dict[str, Callable[[Redis], object]] = {
    "DEL": lambda client: client.delete(ENTRY),
    "UNLINK": lambda client: client.unlink(ENTRY),
    "LTRIM": lambda client: client.ltrim(ENTRY, 1, 0),
    "LSET": lambda client: client.lset(ENTRY, 0, "{}"),
    "EVAL": lambda client: client.eval("return 1", 0),
    "SCRIPT": lambda client: client.script_load("return 1"),
    "FUNCTION LOAD": lambda client: client.function_load("#!lua name=pratique\n", replace=True),
    "FUNCTION DELETE": lambda client: client.function_delete("pratique"),
    "FLUSHALL": lambda client: client.flushall(),
    "RENAME": lambda client: client.rename(ENTRY, ENTRY + "x"),
    "EXPIRE": lambda client: client.expire(ENTRY, 1),
    "CONFIG SET": lambda client: client.config_set("maxmemory-policy", "allkeys-lru"),
    "ACL": lambda client: client.acl_setuser("x", enabled=True),
    "pointer": lambda client: client.hset(POINTER, "namespace", "n9"),
    "stranger's key": lambda client: client.lindex("other", 0),
}


@pytest.mark.parametrize("deed", DENIED.values(), ids=DENIED)
@pytest.mark.parametrize(
    "identity", [RedisIdentity.LEDGER, RedisIdentity.LEDGER_GLOBAL, RedisIdentity.LOOKUP, RedisIdentity.VERIFY]
)
def test_nobody_takes_anything_away(
    server: ViewServer, identity: RedisIdentity, deed: Callable[[Redis], object]
) -> None:
    server.apply(ADD)
    with pytest.raises(NoPermissionError):
        deed(server.client(identity))


@pytest.mark.parametrize("command", ["FLUSHALL", "DEL x", "EVAL return 0", "CONFIG SET maxmemory 1", "SHUTDOWN"])
def test_maintenance_is_no_root(server: ViewServer, command: str) -> None:
    with pytest.raises(NoPermissionError):
        server.admin.execute_command(*command.split())  # type: ignore[no-untyped-call] # redis-py does not type it


def test_stranger_is_refused(server: ViewServer) -> None:
    done = subprocess.run(
        ["redis-cli", "-u", server.redis.url, "PING"], check=False, capture_output=True, text=True, timeout=30
    )
    assert "NOAUTH" in done.stdout + done.stderr


def test_keys_are_those_of_the_seed_after_the_hash_tag() -> None:
    key = LedgerKey.of(Scope.TENANT, TENANT, ONE)
    assert entry_key("n1", 2, key) == f"{{pratique:n1:2}}:aidefend:recall_quarantine:v1:tenant:{TENANT}:{ONE}"

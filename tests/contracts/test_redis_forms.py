"""The view on Redis as it is deployed: TLS, Sentinel, cluster; a server that is gone is never "not quarantined"."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from redis.exceptions import NoPermissionError

from infra.stack.broker import LOOPBACK
from pratique.contract.signing import Signature
from pratique.errors import ConfigurationError, UnavailableError
from streams.adapters.redis_connect import RedisIdentity, connect
from streams.adapters.redis_keys import entry_key
from streams.adapters.redis_ledger import PointerMovedError, ViewConflictError, ViewMaintenance
from streams.adapters.redis_verdicts import FIELDS, VERDICT_ID, PublishedVerdict, RedisVerdictWriter
from streams.adapters.redis_verdicts import entry_key as verdict_key
from streams.adapters.redis_view import RedisQuarantineView
from streams.domain.quarantine.record import QuarantineRecord
from streams.errors import LedgerViewIncompleteError
from tests.contracts.quarantine_redis import NAMESPACE, PARTITIONS, View
from tests.contracts.redis_forms import ClusterForm, Form, SentinelForm, TlsForm, certificates, eventually
from tests.unit.streams.domain.quarantine.builders import record

TENANTS = ("tenant-a", *(f"tenant-{number}" for number in range(8)))
ONE, EVERYONES = "1" * 64, "2" * 64


def filled(form: Form) -> tuple[View, list[QuarantineRecord]]:
    """Return a view with an entry of each tenant, in every partition, and one of everyone's."""
    view = View(form.url, form.keys)
    view.reset()
    records = [record(tenant_id=tenant, fingerprint=ONE) for tenant in TENANTS]
    records.append(record(tenant_id=None, fingerprint=EVERYONES))
    view.apply(*records)
    return view, records


def looker(view: View, max_staleness_ms: int = 60_000) -> RedisQuarantineView:
    return RedisQuarantineView(view.client(RedisIdentity.LOOKUP), max_staleness_ms=max_staleness_ms)


def check_view(form: Form) -> None:
    """The view is what it is on one server without TLS."""
    view, records = filled(form)
    look = looker(view)
    for tenant in TENANTS:
        assert look.look_up(tenant, {"g1": [ONE, EVERYONES, "3" * 64]}).known == {ONE, EVERYONES}
    assert look.look_up("tenant-z", {"g1": [ONE, EVERYONES]}).known == {EVERYONES}
    assert len({item.key.partition(PARTITIONS) for item in records}) == PARTITIONS

    lost = records[0].key
    place = entry_key(NAMESPACE, lost.partition(PARTITIONS), lost)
    for identity in (RedisIdentity.LEDGER, RedisIdentity.LOOKUP, RedisIdentity.VERIFY):
        with pytest.raises(NoPermissionError):
            view.client(identity).unlink(place)
    assert view.ledger.eviction_policy() == ("noeviction", 0)
    with pytest.raises(ViewConflictError, match="REPEATED"):
        view.apply(records[0])
    view.admin.unlink(place)
    with pytest.raises(LedgerViewIncompleteError, match="partial"):
        look.look_up(TENANTS[0], {"g1": [ONE]})
    check_verdicts(view, place)
    maintenance, before = ViewMaintenance(view.admin), view.ledger.pointer()
    maintenance.flip(replace(before, following="g2"), before=before)
    with pytest.raises(PointerMovedError, match="carried over to g2"):
        maintenance.flip(replace(before, namespace="n2"), before=before)
    assert maintenance.drop(goes=NAMESPACE.__eq__) > len(records)


def check_verdicts(view: View, place: str) -> None:
    """The index of verdicts lies beside the view, and neither's identity reaches the other's keys."""
    index, lookup = view.client(RedisIdentity.VERDICT_INDEX), view.client(RedisIdentity.LOOKUP)
    writer = RedisVerdictWriter(index, 60_000)
    item = PublishedVerdict("tenant-a", ONE, (EVERYONES,), "topic", Signature("gate", b"signed"), b"verdict")
    writer.write([item], "topic/0", 7)
    assert writer.positions() == {"topic/0": 7}
    key = verdict_key("tenant-a", ONE)
    assert all(lookup.hmget(key, list(FIELDS)))
    assert lookup.hmget(verdict_key("tenant-a", EVERYONES), [VERDICT_ID]) == [ONE]
    for client, foreign in ((lookup, key), (view.client(RedisIdentity.LEDGER), key), (index, place)):
        with pytest.raises(NoPermissionError):
            client.hset(foreign, "value", "forged")


def test_tls_keeps_those_out_who_do_not_know_the_authority(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with TlsForm(tmp_path) as form:
        check_view(form)
        view, _ = filled(form)
        authority, _ = certificates(other)
        for url in (f"rediss://{LOOPBACK}:{form.port}/0?ssl_ca_certs={authority}", f"redis://{LOOPBACK}:{form.port}/0"):
            view.url = url
            with pytest.raises(LedgerViewIncompleteError):
                looker(view).look_up(TENANTS[0], {"g1": [ONE]})
            with pytest.raises(UnavailableError):
                view.ledger.pointer()


def test_sentinel_promotes_a_replica_that_serves_the_view(tmp_path: Path) -> None:
    with SentinelForm(tmp_path) as form:
        check_view(form)
        view, _ = filled(form)
        look = looker(view)
        assert form.root(form.master).wait(1, 10_000) == 1
        form.kill(form.master)
        answers = []

        def is_served() -> bool:
            try:
                answers.append(look.look_up(TENANTS[0], {"g1": [ONE]}).known)
            except LedgerViewIncompleteError:
                return False
            return True

        eventually(is_served, "the promoted replica serves look-ups")
        assert answers == [{ONE}]
        view.apply(record(tenant_id="tenant-a", fingerprint="3" * 64))
        assert look.look_up(TENANTS[0], {"g1": [ONE, "3" * 64]}).known == {ONE, "3" * 64}


def test_cluster_serves_the_view_until_it_loses_a_node(tmp_path: Path) -> None:
    with ClusterForm(tmp_path) as form:
        check_view(form)
        view, _ = filled(form)
        look = looker(view)
        for tenant in TENANTS:
            assert look.look_up(tenant, {"g1": [ONE]}).known == {ONE}
        form.kill(form.ports[1])

        def answered() -> list[frozenset[str]]:
            found = []
            for tenant in TENANTS:
                try:
                    found.append(look.look_up(tenant, {"g1": [ONE]}).known)
                except LedgerViewIncompleteError:
                    continue
            return found

        def is_down() -> bool:
            found = answered()
            assert all(known == {ONE} for known in found)
            return not found

        eventually(is_down, "nobody is answered")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://127.0.0.1:1",
        "redis+cluster://127.0.0.1",
        "redis+cluster://127.0.0.1:1/name",
        "redis+sentinel://127.0.0.1:1",
        "redis+sentinel://user:word@127.0.0.1:1/name",
        "rediss+sentinel://127.0.0.1:1/name?ssl_cert_reqs=none",
        "redis+cluster://127.0.0.1:port",
    ],
)
def test_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="PRATIQUE_REDIS_URL"):
        connect(url, RedisIdentity.LOOKUP, None, {"PRATIQUE_REDIS_PASSWORD_LOOKUP": "any"})


def test_nothing_is_connected_before_it_is_asked() -> None:
    for url in ("redis+cluster://127.0.0.1:1", "redis+sentinel://127.0.0.1:1/name"):
        client = connect(url, RedisIdentity.LOOKUP, None, {"PRATIQUE_REDIS_PASSWORD_LOOKUP": "any"})
        with pytest.raises(LedgerViewIncompleteError):
            RedisQuarantineView(client, max_staleness_ms=1).look_up("tenant-a", {"g1": [ONE]})

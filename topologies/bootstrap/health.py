"""``doctor``: one look at everything an app needs, with the next step where something is wrong.

The contract: every examination ends as a row, whatever goes wrong in it; it changes nothing.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from redis import Redis

from pratique.contract.trust import KeyRole, MacRole
from pratique.errors import ConfigurationError, PratiqueError, RefusedError
from streams.adapters.kafka_admin import KafkaAdmin
from streams.adapters.redis_connect import RedisIdentity, connect
from streams.adapters.redis_health import eviction_policies
from streams.adapters.redis_ledger import ViewMaintenance
from streams.adapters.tuf_store import TufPolicyStore
from streams.application.ports.policy import Freshness
from topologies.apps import APPS, Topology
from topologies.bootstrap.language_models import published, verify_models
from topologies.bootstrap.policy import installed_scanner, key_source, policy_store, warnings
from topologies.bootstrap.topics import plan
from topologies.settings import Settings

BROKER_SECONDS: Final = 5.0
"""How long an answer of the broker is awaited."""

_Examination = tuple[str, Callable[[], str]]

_READERS: Final = (RedisIdentity.LOOKUP, RedisIdentity.VERIFY, RedisIdentity.MAINTENANCE, RedisIdentity.LEDGER)
"""Identities that can read where the view is; a host has the passwords of its own apps."""


class Health(Enum):
    """How one thing stands."""

    WELL = "well"
    ILL = "ill"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Examined:
    """One row: what was looked at, how it stands, and what to know or do."""

    what: str
    health: Health
    detail: str


def examine(settings: Settings) -> list[Examined]:
    """Return how everything stands that the apps need."""
    broker = _examined("broker", lambda: _broker(settings))
    on_broker: list[_Examination] = [
        ("topics", lambda: _topics(settings)),
        *((f"lag of {app.name}", lambda app=app: _lag(settings, app)) for app in APPS),
    ]
    others: list[_Examination] = [
        ("redis", lambda: _redis(settings)),
        ("policy", lambda: _policy(settings)),
        ("keys", lambda: _keys(settings)),
        ("scanner", _scanner),
        ("language models", lambda: _models(settings)),
    ]
    # Of a broker that is away nothing else can be learnt: each question to it would only wait its time.
    examinations = [*(on_broker if broker.health is Health.WELL else ()), *others]
    return [broker, *(_examined(what, examination) for what, examination in examinations)]


def _examined(what: str, examination: Callable[[], str]) -> Examined:
    try:
        return Examined(what, Health.WELL, examination())
    except RefusedError as error:
        return Examined(what, Health.ILL, str(error))
    except PratiqueError as error:
        return Examined(what, Health.UNKNOWN, str(error))
    except Exception as error:  # noqa: BLE001 - it ends as a row, whatever it is; its text may hold content
        return Examined(what, Health.UNKNOWN, f"unexpected {type(error).__qualname__}: a fault of this program")


def _broker(settings: Settings) -> str:
    _admin(settings).topics(())
    return f"{settings.bootstrap} answers"


def _admin(settings: Settings) -> KafkaAdmin:
    return KafkaAdmin(settings.connection, timeout_s=BROKER_SECONDS)


def _topics(settings: Settings) -> str:
    changes = plan(settings)
    if changes:
        raise RefusedError(f"{len(changes)} differences from the catalogue: run `pratique topics plan`, then `apply`")
    return "the cluster agrees with the catalogue"


def _lag(settings: Settings, app: Topology) -> str:
    admin = _admin(settings)
    behind = sum(_behind(admin, app.group, spec.name) for spec in app.sources)
    return f"{behind} records behind"


def _behind(admin: KafkaAdmin, group: str, topic: str) -> int:
    existing = admin.topics((topic,)).get(topic)
    if existing is None:
        raise RefusedError(f"topic {topic} does not exist: run `pratique topics apply`")
    committed = admin.committed(group, topic, existing.partitions)
    ends = admin.bounds(topic, existing.partitions)
    missing = [number for number in ends if number not in committed]
    if missing:
        raise RefusedError(f"no committed offset for partitions {missing} of {topic}: run `pratique topics apply`")
    return sum(ends[number][1] - committed[number] for number in ends)


def _policy(settings: Settings) -> str:
    with _store(settings) as store:
        status = store.status()
        if status.freshness is not Freshness.CURRENT:
            raise RefusedError(f"repository is {status.freshness.value}: {status.detail}")
        return "; ".join([f"version {status.version}", *warnings(store.expiries())])


def _models(settings: Settings) -> str:
    with _store(settings) as store:
        store.policy_ids()  # raises where nothing can be read: then nobody knows
        try:
            return ", ".join(verify_models(published(store))) or "policy names none"
        except ConfigurationError as error:
            raise RefusedError(str(error)) from None


@contextmanager
def _store(settings: Settings) -> Iterator[TufPolicyStore]:
    with tempfile.TemporaryDirectory(prefix="pratique-doctor-") as state:
        store = policy_store(
            settings.required("policy_repository"), settings.path("policy_root"), Path(state), refresh_ms=0
        )
        store.refresh()
        yield store


def _keys(settings: Settings) -> str:
    """Judge the keys that are here: each host has those of its own apps, and no other."""
    directory = Path(settings.keys) if settings.keys else None
    source = key_source(directory)
    found = [f"{len(source.signers(KeyRole.GATE))} gate"] if source.has(KeyRole.GATE) else []
    found.extend(f"{len(source.mac_signers(role))} {role.value}" for role in MacRole if source.has(role))
    if not found and (directory is None or not directory.is_dir() or not any(directory.iterdir())):
        raise ConfigurationError(
            "no key is here: expected the key directory of this host's apps in PRATIQUE_KEYS "
            "(docs/guide/security-engineer.md), or their environment variables"
        )
    return ", ".join(found) or "none of an app that signs"


def _redis(settings: Settings) -> str:
    if not settings.redis_url:
        return "PRATIQUE_REDIS_URL is not set: there is no ledger's view here, and no index of verdicts"
    keys, refused = Path(settings.keys) if settings.keys else None, list[ConfigurationError]()
    for identity in _READERS:
        try:
            client = connect(settings.redis_url, identity, keys, os.environ)
        except ConfigurationError as error:
            refused.append(error)
            continue
        try:
            return _view(client, identity)
        finally:
            client.close()
    raise refused[0]


def _view(client: Redis, identity: RedisIdentity) -> str:
    policies = eviction_policies(client, identity)
    if policies != {"noeviction"}:
        raise RefusedError(
            f"Redis may evict the ledger's view (maxmemory-policy {', '.join(sorted(policies))}): set it to noeviction"
        )
    pointer = ViewMaintenance(client).pointer()
    if pointer is None:
        raise RefusedError("Redis has no ledger's view: start a ledger app, or run `pratique ledger rebuild`")
    return f"noeviction; view {pointer.namespace}, key generation {pointer.generation}"


def _scanner() -> str:
    scanner = installed_scanner()
    return f"{scanner.version} ({scanner.sha256[:12]})"

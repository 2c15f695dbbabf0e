"""``doctor``: one look at everything an app needs, with the next step where something is wrong.

The contract: every examination ends as a row, whatever goes wrong in it; it changes nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from pratique.contract.trust import KeyRole, MacRole
from pratique.errors import ConfigurationError, PratiqueError, RefusedError
from streams.adapters.kafka_admin import KafkaAdmin
from streams.adapters.tuf_store import TufPolicyStore
from streams.application.ports.policy import Freshness
from topologies.apps import APPS, Topology
from topologies.bootstrap.language_models import published, verify_models
from topologies.bootstrap.policy import installed_scanner, key_source, policy_store, warnings
from topologies.bootstrap.topics import plan
from topologies.settings import Settings


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
    examinations: list[tuple[str, Callable[[], str]]] = [
        ("topics", lambda: _topics(settings)),
        *((f"lag of {app.name}", lambda app=app: _lag(settings, app)) for app in APPS),
        ("policy", lambda: _policy(settings)),
        ("keys", lambda: _keys(settings)),
        ("scanner", _scanner),
        ("language models", lambda: _models(settings)),
    ]
    return [_examined(what, examination) for what, examination in examinations]


def _examined(what: str, examination: Callable[[], str]) -> Examined:
    try:
        return Examined(what, Health.WELL, examination())
    except RefusedError as error:
        return Examined(what, Health.ILL, str(error))
    except PratiqueError as error:
        return Examined(what, Health.UNKNOWN, str(error))


def _topics(settings: Settings) -> str:
    changes = plan(settings)
    if changes:
        raise RefusedError(f"{len(changes)} differences from the catalogue: run `pratique topics plan`, then `apply`")
    return "the cluster agrees with the catalogue"


def _lag(settings: Settings, app: Topology) -> str:
    admin = KafkaAdmin(settings.connection)
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
    source = key_source(Path(settings.keys) if settings.keys else None)
    found = [f"{len(source.signers(KeyRole.GATE))} gate"]
    found.extend(f"{len(source.mac_signers(role))} {role.value}" for role in MacRole)
    return ", ".join(found)


def _scanner() -> str:
    scanner = installed_scanner()
    return f"{scanner.version} ({scanner.sha256[:12]})"

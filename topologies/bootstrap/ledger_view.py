"""The ledger's view, wired: look-ups for the scan app, the applier for the ledger app, rebuild and verification.

The contract: each part gets the one Redis identity it needs, and no other. ``rebuild`` fills a namespace of its own
from the audit, changes the pointer in one step, and drops the old one after a grace: look-ups are served throughout.
What another rebuild or a rotation made of the pointer meanwhile is not undone.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from redis import Redis

from pratique.contract.topics import QUARANTINE_AUDIT, QUARANTINE_LEDGER
from pratique.errors import ConfigurationError, PratiqueError, RefusedError, UnavailableError
from streams.adapters.beside import Beside
from streams.adapters.fingerprint_keys import FingerprintKeyFiles
from streams.adapters.ledger_applier import LedgerApplier, applying
from streams.adapters.ledger_check import Difference, LedgerCheck
from streams.adapters.ledger_log import LedgerLog
from streams.adapters.ledger_rebuild import ViewRebuild, number_of
from streams.adapters.prometheus import PrometheusMetrics
from streams.adapters.redis_connect import RedisIdentity, connect
from streams.adapters.redis_keys import Pointer
from streams.adapters.redis_ledger import PointerMovedError, RedisLedger, ViewMaintenance
from streams.adapters.redis_view import RedisQuarantineView
from streams.adapters.system_clock import SystemClock
from streams.application.ports.metrics import Metrics
from topologies.bootstrap.ledger_filling import fill_together
from topologies.settings import Settings

SECOND_LOOK_SECONDS: Final = 1.0
FLIP_TRIES: Final = 5
"""How often a rebuild looks again at what look-ups read, where that was changed since it looked."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild came to.

    Attributes:
        namespace: The new namespace.
        generation: The key generation.
        dropped: Keys of earlier namespaces that were dropped: the old view's, and what unfinished rebuilds left.
    """

    namespace: str
    generation: str
    dropped: int


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison came to.

    Attributes:
        entries: How many entries the audit has.
        differences: What differs.
    """

    entries: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Generations:
    """Where the fingerprint key stands.

    Attributes:
        current: The generation that is current.
        following: The one that entries are being carried over to; empty where none is.
    """

    current: str
    following: str


def generations(settings: Settings) -> Generations:
    """Return where the fingerprint key stands: as the view says, or the key source where no view does.

    Raises:
        ConfigurationError: Neither says.
    """
    if settings.redis_url:
        client = _client(settings, RedisIdentity.LOOKUP)
        try:
            pointer = RedisLedger(client, client).pointer()
        except UnavailableError:
            pass  # it is away, or was never built: whoever puts something in must not have to wait for it
        else:
            return Generations(pointer.generation, pointer.following)
    return Generations(fingerprint_keys(settings).current().generation, "")


def fingerprint_keys(settings: Settings) -> FingerprintKeyFiles:
    """Return the generations of the fingerprint key that are here."""
    return FingerprintKeyFiles(_keys(settings), os.environ)


def quarantine_view(settings: Settings) -> RedisQuarantineView:
    """Return the view that look-ups ask, under the identity that can only read.

    Raises:
        ConfigurationError: There is no address or password of Redis here.
    """
    client = _client(settings, RedisIdentity.LOOKUP)
    return RedisQuarantineView(client, max_staleness_ms=settings.ledger_staleness_ms)


def make_applier(settings: Settings, metrics: Metrics, closing: threading.Event) -> Beside:
    """Return what keeps the view up to date; not started yet.

    Raises:
        ConfigurationError: There is no address or password of Redis here.
    """
    view = RedisLedger(_client(settings, RedisIdentity.LEDGER), _client(settings, RedisIdentity.LEDGER_GLOBAL))
    log = LedgerLog(settings.connection, closing.is_set)
    applier = LedgerApplier(log, view, QUARANTINE_AUDIT, metrics=metrics)
    return applying(applier, closing, metrics)


def is_applied(settings: Settings, partition: int, offset: int) -> bool:
    """Return whether the view that look-ups read has applied an audit entry.

    Raises:
        ConfigurationError: There is no address or password of Redis here.
        LedgerViewIncompleteError: There is no view.
        UnavailableError: Redis does not answer.
    """
    client = _client(settings, RedisIdentity.LOOKUP)
    view = RedisLedger(client, client)
    applied = view.applied(view.pointer().namespace, partition)
    return applied is not None and applied > offset


def rebuild(settings: Settings, progress: Callable[[int, int], None], *, grace_s: float) -> Rebuilt:
    """Build the view anew and have look-ups read it; entries of retired key generations are left out.

    The current key generation stays what it is; where nothing says which that is, the key source is asked.

    Args:
        settings: Where the broker and Redis are.
        progress: Told how many partitions are done, of how many.
        grace_s: How long the old view stays after the change, for look-ups under way.

    Raises:
        ConfigurationError: An address, a password or the fingerprint key is missing, or that one is retired.
        RefusedError: The audit holds what can't be applied, or a rebuild that began later had look-ups read its view.
        UnavailableError: Redis or the broker does not answer.
    """
    client = _client(settings, RedisIdentity.MAINTENANCE)
    maintenance = ViewMaintenance(client)
    maintenance.load_functions()
    log = LedgerLog(settings.connection)
    try:
        metrics = PrometheusMetrics({"app": "rebuild"})
        building = ViewRebuild(log, maintenance, RedisLedger(client, client), QUARANTINE_AUDIT, metrics)
        before = maintenance.pointer()
        retired = building.retired()
        _generations(settings, before, retired)
        namespace = _next_namespace(before)
        try:
            building.fill(namespace, progress, without=retired, beside=partial(fill_together, settings))
            before, pointer = _point(settings, maintenance, building, namespace)
        except PratiqueError as error:
            _check_overtaken(maintenance, namespace, error)
            raise
    finally:
        log.close()
    if before is not None:
        time.sleep(grace_s)
    return Rebuilt(namespace, pointer.generation, building.drop_leftovers(namespace))


def compare(settings: Settings) -> Compared:
    """Compare topic, audit and view, under an identity that can only read; what differs twice is told.

    Raises:
        ConfigurationError: An address or password is missing.
        LedgerViewIncompleteError: There is no view.
        LedgerBrokenError: A topic holds what is no record of it.
        UnavailableError: Redis or the broker does not answer.
    """
    log = LedgerLog(settings.connection)
    try:
        check = LedgerCheck(log, _client(settings, RedisIdentity.VERIFY), QUARANTINE_LEDGER, QUARANTINE_AUDIT)
        found = list(check.differences())
        if found:
            time.sleep(SECOND_LOOK_SECONDS)
            again = set(check.differences())
            found = [difference for difference in found if difference in again]
        return Compared(check.entries, tuple(found))
    finally:
        log.close()


def _point(
    settings: Settings, maintenance: ViewMaintenance, building: ViewRebuild, namespace: str
) -> tuple[Pointer | None, Pointer]:
    """Have look-ups read a namespace, under the generations that a rotation has come to; return before and after."""
    for left in reversed(range(FLIP_TRIES)):
        before = maintenance.pointer()
        generation, following = _generations(settings, before, building.retired())
        pointer = Pointer(namespace, building.partition_count, generation, following)
        try:
            maintenance.flip(pointer, before=before)
        except PointerMovedError:
            if not left:
                raise
        else:
            return before, pointer
    raise AssertionError("the last try returns, or raises")


def _check_overtaken(maintenance: ViewMaintenance, namespace: str, error: PratiqueError) -> None:
    """Drop what was built, and say why, where look-ups read a younger rebuild's view: what failed stems from that.

    Raises:
        RefusedError: They do.
    """
    pointer = maintenance.pointer()
    if pointer is None or number_of(pointer.namespace) <= int(namespace):
        return
    maintenance.drop(goes=namespace.__eq__)
    raise RefusedError(
        f"another rebuild began after this one and ended before it: look-ups read its view, {pointer.namespace}. This "
        f"one's, {namespace}, was dropped; there is nothing to do (`pratique ledger verify` compares)"
    ) from error


def _next_namespace(before: Pointer | None) -> str:
    """Return a namespace's name: a number above that of the one before it, whatever clock that was made by."""
    last = 0 if before is None else number_of(before.namespace)
    return str(max(SystemClock().wall_ms(), last + 1))


def _generations(settings: Settings, before: Pointer | None, retired: frozenset[str]) -> tuple[str, str]:
    if before is not None and before.generation not in retired:
        return before.generation, before.following
    current = fingerprint_keys(settings).current().generation
    if current in retired:
        raise ConfigurationError(f"key generation {current} is retired: name the one that took its place as current")
    return current, ""


def _client(settings: Settings, identity: RedisIdentity) -> Redis:
    return connect(settings.required("redis_url"), identity, _keys(settings), os.environ)


def _keys(settings: Settings) -> Path | None:
    return Path(settings.keys) if settings.keys else None

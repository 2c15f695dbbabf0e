"""The ledger's writer, wired.

The contract: everything that is outside is made here, once, and closed here. Making it may wait for nothing: whoever
calls tries again while the broker or policy is away.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from streams.adapters.ledger_writer import LedgerTopics, LedgerWriter, WriterTimes
from streams.adapters.policy_refresh import PolicyRefresh
from streams.adapters.prometheus import PrometheusMetrics
from streams.adapters.system_clock import SystemClock
from streams.application.ledger import LedgerLimits
from streams.application.ports.log import Channel
from streams.application.ruling import LastKnownRules
from streams.application.trusting import LastKnownTrust
from topologies.apps import Topology
from topologies.bootstrap.ledger_view import make_applier
from topologies.bootstrap.lineage import start_follower
from topologies.bootstrap.policy_store import app_policy_store
from topologies.settings import Settings


@dataclass(frozen=True, slots=True)
class RunningLedger:
    """A writer with everything it holds.

    Attributes:
        writer: The writer.
        metrics: Its metrics.
        close: Ends everything it holds.
    """

    writer: LedgerWriter
    metrics: PrometheusMetrics
    close: Callable[[], None]


def limits_of(settings: Settings) -> LedgerLimits:
    """Return what a ledger takes."""
    return LedgerLimits(
        settings.ledger_entries_per_tenant,
        settings.skew_ms,
        accepts_lost_reviews=settings.ledger_lost_reviews == "accept",
    )


def make_ledger(
    topology: Topology,
    settings: Settings,
    instance: str,
    *,
    is_stopping: Callable[[], bool],
    on_ready: Callable[[], None] = lambda: None,
) -> RunningLedger:
    """Return a topology's writer.

    Args:
        topology: What runs.
        settings: Where it runs.
        instance: Name of this process, unlike that of any other that runs.
        is_stopping: Whether the process was told to end.
        on_ready: Called when the first assignment is loaded.

    Raises:
        ConfigurationError: A setting is missing or wrong.
        RefusedError: The ledger's topics do not agree.
        UnavailableError: The broker does not answer, or no policy was ever loaded.
    """
    with ExitStack() as closing:
        clock = SystemClock()
        metrics = PrometheusMetrics({"app": topology.name})
        store = app_policy_store(settings, topology.name)
        trust = LastKnownTrust(store)
        trust()
        refresh = PolicyRefresh(store, clock=clock, interval_ms=settings.policy_refresh_ms, metrics=metrics)
        closing.callback(refresh.close)
        bound = {channel: spec.name for channel, spec in topology.writes}
        writer = LedgerWriter(
            settings.connection,
            LedgerTopics(
                commands=topology.reads.name,
                ledger=bound[Channel.LEDGER],
                audit=bound[Channel.AUDIT],
                review=bound[Channel.REVIEW],
                dead_letter=bound[Channel.DEAD_LETTER],
            ),
            topology.group,
            f"pratique.{instance}",
            times=WriterTimes(settings.session_timeout_ms),
            limits=limits_of(settings),
            trust=trust,
            rules=LastKnownRules(store.newest, lambda: store.status().version),
            now_ms=clock.wall_ms,
            metrics=metrics,
            is_stopping=is_stopping,
            on_ready=on_ready,
        )
        closing.callback(writer.close)
        refresh.start()
        if settings.redis_url:
            applier = make_applier(settings, metrics, threading.Event())
            closing.callback(applier.close)
            applier.start()
            start_follower(settings, metrics, closing)
        return RunningLedger(writer, metrics, closing.pop_all().close)

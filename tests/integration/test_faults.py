"""Processes are killed, frozen, replaced and restarted under a stream of requests: nothing is lost or contradicted.

The stream is of mixed right answers, and every one of them must come, exactly; EVIDENCE_TIMEOUT is never among them, so
it counts as lost. Every verdict record of a request must be the same, byte for byte.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import pytest
from confluent_kafka import ConsumerGroupState
from confluent_kafka.admin import AdminClient

from tests.integration.asking import Stream
from tests.integration.platform import GATE_APPS
from tests.integration.raw import until
from topologies.apps import APPS

if TYPE_CHECKING:
    from pratique.client import Gate
    from tests.integration.kafka_container import KafkaContainer
    from tests.integration.platform import Platform

pytestmark = pytest.mark.containers

REQUESTS: Final = 500
EARLY: Final = 100
"""How many answers have come when something happens."""

LATE: Final = 300

GROUPS: Final = {topology.name: topology.group for topology in APPS}


@pytest.mark.parametrize("app", GATE_APPS)
def test_kill_9_loses_nothing(platform: Platform, gate: Gate, app: str) -> None:
    stream = Stream(platform, gate, REQUESTS)

    def kill_and_restart() -> None:
        platform.kill(app)
        platform.launch(app)

    stream.run({EARLY: kill_and_restart})
    stream.check()


@pytest.mark.parametrize("app", GATE_APPS)
def test_two_owners_contradict_nothing(platform: Platform, gate: Gate, app: str) -> None:
    """One process is frozen past its session; another takes over; the first goes on where it stood."""
    second = f"{app}-2"
    platform.launch(app, second)
    platform.await_ready(second)
    await_members(platform, app, 2)
    stream = Stream(platform, gate, REQUESTS)

    def freeze() -> None:
        platform.freeze(app)
        await_members(platform, app, 1)

    stream.run({EARLY: freeze, LATE: lambda: platform.thaw(app)})
    await_members(platform, app, 2)
    stream.check()


def await_members(platform: Platform, app: str, count: int) -> None:
    """Return when an app's consumer group has so many members, and all of them their partitions."""
    admin = AdminClient({"bootstrap.servers": platform.bootstrap})
    group = GROUPS[app]

    def settled() -> bool:
        described = admin.describe_consumer_groups([group])[group].result()
        return described.state == ConsumerGroupState.STABLE and len(described.members) == count

    until(settled, f"group {group} has {count} members")


def test_sigterm_drains_and_commits(platform: Platform, gate: Gate) -> None:
    stream = Stream(platform, gate, REQUESTS)
    statuses: dict[str, int] = {}

    def replace(app: str) -> None:
        statuses[app] = platform.terminate(app)
        platform.launch(app)

    moments = range(EARLY // 2, REQUESTS, EARLY)[: len(GATE_APPS)]
    stream.run({moment: partial(replace, app) for moment, app in zip(moments, GATE_APPS, strict=True)})
    stream.check()
    assert statuses == dict.fromkeys(GATE_APPS, 0)


def test_app_starts_where_it_was_ended(platform: Platform, gate: Gate) -> None:
    """What SIGTERM committed is all there was: nothing is read again, so nothing is stated twice."""
    stream = Stream(platform, gate, EARLY)
    stream.run()
    stream.check()
    for app in GATE_APPS:
        assert platform.terminate(app) == 0
    for topology in APPS:
        if topology.name in GATE_APPS:
            ends = platform.log.ends(*(topic.name for topic in topology.sources))
            assert platform.committed(topology) == ends, topology.name


def test_broker_restart_is_waited_out(platform: Platform, gate: Gate, kafka: KafkaContainer) -> None:
    stream = Stream(platform, gate, REQUESTS)
    stream.run({EARLY: kafka.restart})
    stream.check()
    assert not platform.restarts, "apps ride out the restart of a broker by themselves"


def test_broker_kill_is_waited_out(platform: Platform, gate: Gate, kafka: KafkaContainer) -> None:
    stream = Stream(platform, gate, REQUESTS)

    def crash() -> None:
        kafka.kill_broker()
        kafka.start_broker()

    stream.run({EARLY: crash})
    stream.check()


def test_storm(platform: Platform, gate: Gate) -> None:
    """Everything at once, within bounds: of two processes each, some are killed or frozen, and others take over."""
    for app in GATE_APPS:
        platform.launch(app, f"{app}-2")
    stream = Stream(platform, gate, 2 * REQUESTS, in_flight=160)

    def crash(*names: str) -> None:
        for name in names:
            platform.kill(name)
            platform.launch(name.removesuffix("-2"), name)

    def freeze(*names: str) -> None:
        for name in names:
            platform.freeze(name)

    def thaw(*names: str) -> None:
        for name in names:
            platform.thaw(name)

    stream.run(
        {
            50: lambda: crash("intake", "verdict-2"),
            200: lambda: freeze("verdict", "scan-2"),
            350: lambda: crash("consistency", "intake-2"),
            500: lambda: thaw("verdict", "scan-2"),
            650: lambda: crash("verdict", "scan"),
            750: lambda: freeze("consistency-2", "intake"),
            850: lambda: thaw("consistency-2", "intake"),
        }
    )
    stream.check()

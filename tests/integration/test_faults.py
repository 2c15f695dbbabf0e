"""Processes are killed, frozen, replaced and restarted under a stream of requests: nothing is lost or contradicted.

The stream is of mixed right answers, and every one of them must come, exactly; EVIDENCE_TIMEOUT is never among them, so
it counts as lost. Every verdict record of a request must be the same, byte for byte.
"""

from __future__ import annotations

import time
import uuid
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil
import pytest
from confluent_kafka import ConsumerGroupState
from confluent_kafka.admin import AdminClient

from tests.integration.asking import IN_FLIGHT, Stream, clean
from tests.integration.platform import GATE_APPS
from tests.integration.raw import WAIT_S, until
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
AT_ONCE: Final = 5
BURST: Final = 250
FEW: Final = 20
TRIES: Final = 4
"""How often policy was asked for in vain; a commit falls between any two of the later ones."""

IMPATIENT_MS: Final = 30_000
"""A deadline that is worth waiting for, and that a takeover does not use up."""

GROUPS: Final = {topology.name: topology.group for topology in APPS}


@pytest.mark.parametrize("app", GATE_APPS)
def test_kill_9_loses_nothing(platform: Platform, gate: Gate, app: str) -> None:
    """Twice, the first time in a burst: then there is most in hand that is neither done nor committed."""
    stream = Stream(platform, gate, REQUESTS, in_flight=BURST)
    orphans: list[psutil.Process] = []

    def kill_and_restart() -> None:
        orphans.extend(platform.process(app).children())
        platform.kill(app)
        platform.launch(app)

    stream.run({AT_ONCE: kill_and_restart, LATE: kill_and_restart})
    stream.check()
    _, left = psutil.wait_procs(orphans, timeout=WAIT_S)
    assert not left, "scan workers outlive the app that was killed"


@pytest.mark.parametrize("app", ["intake", "consistency", "scan"])
@pytest.mark.parametrize("ending", ["killed", "served"])
def test_batch_that_waits_for_policy_is_not_lost(
    platform: Platform, gate: Gate, tmp_path: Path, app: str, ending: str
) -> None:
    """A process that finds no policy holds its batch, and its offsets, until there is one, or until it is killed."""
    assert platform.terminate(app) == 0
    repository = tmp_path / "repository"
    platform.launch(app, PRATIQUE_POLICY_REPOSITORY=str(repository), PRATIQUE_POLICY_STATE=str(tmp_path / "state"))
    platform.await_ready(app)
    asked = [clean(gate, uuid.uuid4().hex) for _ in range(FEW)]
    pending = [gate.publish(question.request) for question in asked]
    try:
        until(lambda: platform.metric(app, "waits_total") >= TRIES, f"{app} has a batch in hand and waits")
        assert not any(item.waiter.future.done() for item in pending)
        if ending == "killed":
            platform.kill(app)
            platform.launch(app)
        else:
            repository.symlink_to(platform.policy / "repository")
        for question, item in zip(asked, pending, strict=True):
            question.check(item.waiter.future.result(WAIT_S))
    finally:
        platform.discard(app)  # what it was told of the repository is true of this test alone


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


def test_owner_that_wakes_after_the_deadline_contradicts_nothing(platform: Platform) -> None:
    """Its open joins were decided by another meanwhile; for itself, their time has run out."""
    policy_id = f"impatient-{uuid.uuid4().hex[:8]}"
    platform.publish(policy_id, deadline_ms=IMPATIENT_MS)
    platform.launch("verdict", "verdict-2")
    platform.await_ready("verdict-2")
    await_members(platform, "verdict", 2)
    with platform.gate(policy_id=policy_id) as gate:
        stream = Stream(platform, gate, IN_FLIGHT)
        stream.run({IN_FLIGHT // 4: lambda: platform.freeze("verdict")})
        over = time.monotonic() + IMPATIENT_MS / 1000
        until(lambda: time.monotonic() > over, "the deadline of every request has passed")
        platform.thaw("verdict")
        await_members(platform, "verdict", 2)
        later = Stream(platform, gate, IN_FLIGHT)
        later.run()
        later.check()
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
    # Not so the ledger: a writer whose session ended meanwhile was fenced, and ends for that.
    assert not platform.restarts.keys() & set(GATE_APPS), "they ride out the restart of a broker by themselves"


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

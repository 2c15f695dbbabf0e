"""``topics plan`` and ``apply`` on a real broker: they make it so, once, and destroy nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from pratique.errors import RefusedError
from streams.adapters.kafka_admin import KafkaAdmin
from tests.integration.kafka_container import KafkaContainer, kafka_image
from tests.integration.raw import create_topic
from topologies.apps import APPS, Topology
from topologies.bootstrap.topics import ChangeKind, apply, plan, require_start_offsets
from topologies.catalog import COMPACTION_REQUESTED, EVIDENCE, TOPICS, WORK
from topologies.settings import Settings

if TYPE_CHECKING:
    from topologies.catalog import TopicSpec

pytestmark = pytest.mark.containers

WAIT_S = 120.0
PARTITIONS = 3


@pytest.fixture(scope="module")
def broker() -> Iterator[KafkaContainer]:
    """A broker of this module's own: the catalogue's names are the same for everyone."""
    with KafkaContainer(kafka_image()) as container:
        yield container


@pytest.fixture
def settings(broker: KafkaContainer) -> Iterator[Settings]:
    """A cluster without topics or groups."""
    yield Settings(bootstrap=broker.bootstrap, partitions=PARTITIONS)
    client = AdminClient(connection(broker))
    groups = client.list_consumer_groups().result(WAIT_S).valid
    if groups:
        for future in client.delete_consumer_groups([group.group_id for group in groups]).values():
            future.result(WAIT_S)
    present = [name for name in client.list_topics(timeout=WAIT_S).topics if not name.startswith("__")]
    if present:
        for future in client.delete_topics(present, operation_timeout=WAIT_S).values():
            future.result(WAIT_S)
    wait_until(lambda: set(client.list_topics(timeout=WAIT_S).topics) <= {"__consumer_offsets"})


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until the broker's metadata shows what its controller has done already."""
    until = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < until


def connection(broker: KafkaContainer) -> dict[str, Any]:
    return {"bootstrap.servers": broker.bootstrap}


def create(settings: Settings, spec: TopicSpec, partitions: int = PARTITIONS, **changes: str) -> None:
    """Create a topic by hand, some of its configuration changed."""
    configuration = {**spec.configuration, **{name.replace("_", "."): value for name, value in changes.items()}}
    create_topic(settings.bootstrap, spec.name, partitions, configuration)
    KafkaAdmin(settings.connection).bounds(spec.name, partitions)


def kinds(changes: list[Any]) -> set[tuple[ChangeKind, str]]:
    return {(change.kind, change.topic) for change in changes}


def configuration(settings: Settings, spec: TopicSpec) -> dict[str, str]:
    return dict(KafkaAdmin(settings.connection).topics((spec.name,))[spec.name].configuration)


def test_apply_makes_an_empty_cluster_agree_once(settings: Settings) -> None:
    assert kinds(plan(settings)) == {(ChangeKind.CREATE, spec.name) for spec in TOPICS}
    done = apply(settings)
    starts = {(ChangeKind.START, spec.name) for app in APPS for spec in app.sources}
    assert kinds(done) == {(ChangeKind.CREATE, spec.name) for spec in TOPICS} | starts
    assert plan(settings) == apply(settings) == []
    for spec in TOPICS:
        found = configuration(settings, spec)
        assert {name: found[name] for name in spec.configuration} == dict(spec.configuration)


def test_plan_changes_nothing(settings: Settings) -> None:
    plan(settings)
    assert KafkaAdmin(settings.connection).topics(tuple(spec.name for spec in TOPICS)) == {}


def test_configuration_that_differs_is_mended(settings: Settings) -> None:
    create(settings, WORK, max_message_bytes="1000", retention_ms="1000")
    create(settings, EVIDENCE, message_timestamp_type="CreateTime")
    done = kinds(apply(settings))
    assert {(ChangeKind.CONFIGURE, WORK.name), (ChangeKind.CONFIGURE, EVIDENCE.name)} <= done
    for spec in (WORK, EVIDENCE):
        found = configuration(settings, spec)
        assert {name: found[name] for name in spec.configuration} == dict(spec.configuration)


@pytest.mark.parametrize("kept_ms", ["-1", str(EVIDENCE.retention_ms + 1)])
def test_what_is_kept_longer_stays_unless_it_is_content(settings: Settings, kept_ms: str) -> None:
    create(settings, EVIDENCE, retention_ms=kept_ms)
    create(settings, COMPACTION_REQUESTED, retention_ms="-1")
    done = kinds(apply(settings))
    assert (ChangeKind.CONFIGURE, EVIDENCE.name) not in done
    assert configuration(settings, EVIDENCE)["retention.ms"] == kept_ms
    assert configuration(settings, COMPACTION_REQUESTED)["retention.ms"] == str(COMPACTION_REQUESTED.retention_ms)


@pytest.mark.parametrize("wrong", ["partitions", "cleanup"])
def test_what_would_destroy_is_refused_and_nothing_is_changed(settings: Settings, wrong: str) -> None:
    if wrong == "partitions":
        create(settings, EVIDENCE, PARTITIONS + 1)
    else:
        create(settings, EVIDENCE, cleanup_policy="compact")
    assert (ChangeKind.REFUSE, EVIDENCE.name) in kinds(plan(settings))
    with pytest.raises(RefusedError, match=EVIDENCE.name):
        apply(settings)
    assert set(KafkaAdmin(settings.connection).topics(tuple(spec.name for spec in TOPICS))) == {EVIDENCE.name}


def test_other_partition_counts_are_the_operators(settings: Settings) -> None:
    create(settings, WORK, PARTITIONS + 2)
    apply(settings)
    assert KafkaAdmin(settings.connection).topics((WORK.name,))[WORK.name].partitions == PARTITIONS + 2
    assert plan(settings) == []


def test_start_offsets_are_at_the_first_record_and_never_moved(settings: Settings) -> None:
    create(settings, WORK, 1)
    producer = Producer({"bootstrap.servers": settings.bootstrap})
    for _ in range(4):
        producer.produce(WORK.name, b"work", partition=0)
    producer.flush(WAIT_S)
    apply(settings)
    admin = KafkaAdmin(settings.connection)
    readers = [app.group for app in APPS if WORK in app.sources]
    assert [admin.committed(group, WORK.name, 1) for group in readers] == [{0: 0}] * len(readers)
    admin.commit(readers[0], WORK.name, {0: 3})
    assert plan(settings) == apply(settings) == []
    assert admin.committed(readers[0], WORK.name, 1) == {0: 3}


@pytest.mark.parametrize("app", APPS, ids=lambda app: app.name)
def test_app_without_a_place_to_begin_does_not_start(settings: Settings, app: Topology) -> None:
    with pytest.raises(RefusedError, match="topics apply"):
        require_start_offsets(settings, app)
    for spec in app.sources:
        create(settings, spec)
    with pytest.raises(RefusedError, match="no committed offset"):
        require_start_offsets(settings, app)
    apply(settings)
    require_start_offsets(settings, app)


def test_app_does_not_start_on_evidence_that_its_writers_date(settings: Settings) -> None:
    create(settings, EVIDENCE, message_timestamp_type="CreateTime")
    verdict = next(app for app in APPS if EVIDENCE in app.sources)
    with pytest.raises(RefusedError, match="LogAppendTime"):
        require_start_offsets(settings, verdict)

"""The client's transport on a real broker: the port's cases, and what only a broker can show."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from pratique import kafka as kafka_module
from pratique.errors import KafkaUnavailableError, TooLargeError
from pratique.kafka import KafkaTransport
from tests.contracts.transport import WAIT_S, Bench, TransportCases, take
from tests.integration.raw import create_topic, until

if TYPE_CHECKING:
    from tests.integration.kafka_container import KafkaContainer

pytestmark = pytest.mark.containers


class TestKafkaTransport(TransportCases):
    @pytest.fixture
    def bench(self, kafka: KafkaContainer) -> Iterator[Bench]:
        run = uuid.uuid4().hex
        topics = (f"accepted-{run}", f"quarantined-{run}")
        create(kafka, *topics)
        transport = KafkaTransport(kafka.bootstrap, delivery_timeout_s=WAIT_S)
        yield Bench(transport, topics, f"missing-{run}")
        transport.close()


def create(broker: KafkaContainer, *topics: str, partitions: int = 3) -> None:
    for topic in topics:
        create_topic(broker.bootstrap, topic, partitions)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    until(lambda: all(led(admin, topic, partitions) for topic in topics), "every new partition has a leader")


def led(admin: AdminClient, topic: str, partitions: int) -> bool:
    known = admin.list_topics(topic, WAIT_S).topics[topic].partitions
    return len(known) == partitions and all(item.leader >= 0 for item in known.values())


def test_partitions_that_are_added_later_are_read_from_their_beginning(
    kafka: KafkaContainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_module, "NEW_PARTITIONS_EVERY_S", 0.2)
    topic = f"grows-{uuid.uuid4().hex}"
    create(kafka, topic, partitions=1)
    transport = KafkaTransport(kafka.bootstrap)
    subscription = transport.subscribe((topic,))
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.create_partitions([NewPartitions(topic, 6)])[topic].result(WAIT_S)
    until(lambda: led(admin, topic, 6), "every new partition has a leader")
    values = [f"value {index}".encode() for index in range(60)]
    fresh = KafkaTransport(kafka.bootstrap)  # knows all six partitions from the start
    for future in [fresh.publish(topic, value, value, ()) for value in values]:
        future.result(WAIT_S)
    assert sorted(item.value or b"" for item in take(subscription, 60)) == sorted(values)
    subscription.close()
    transport.close()
    fresh.close()


def test_broker_away_and_back_loses_nothing(kafka: KafkaContainer) -> None:
    topic = f"comes-back-{uuid.uuid4().hex}"
    create(kafka, topic)
    transport = KafkaTransport(kafka.bootstrap, delivery_timeout_s=120)
    subscription = transport.subscribe((topic,))
    kafka.stop_broker()
    try:
        sent = transport.publish(topic, b"k", b"sent while away", ())
        assert subscription.poll(0.5) == []
    finally:
        kafka.start_broker()
    sent.result(WAIT_S)
    assert [item.value for item in take(subscription, 1)] == [b"sent while away"]
    subscription.close()
    transport.close()


def test_record_that_is_not_acknowledged_in_time_is_unavailable(kafka: KafkaContainer) -> None:
    topic = f"frozen-{uuid.uuid4().hex}"
    create(kafka, topic)
    transport = KafkaTransport(kafka.bootstrap, delivery_timeout_s=1.0)
    kafka.pause()
    try:
        with pytest.raises(KafkaUnavailableError):
            transport.publish(topic, b"k", b"v", ()).result(WAIT_S)
        with pytest.raises(KafkaUnavailableError):
            transport.subscribe((topic,))
    finally:
        kafka.unpause()
    transport.close()


def test_record_that_the_broker_never_takes_is_too_large(kafka: KafkaContainer) -> None:
    topic = f"small-{uuid.uuid4().hex}"
    create_topic(kafka.bootstrap, topic, configuration={"max.message.bytes": "1000"})
    transport = KafkaTransport(kafka.bootstrap)
    with pytest.raises(TooLargeError):
        transport.publish(topic, b"k", b"v" * 2000, ()).result(WAIT_S)
    with pytest.raises(TooLargeError):
        transport.publish(topic, b"k", b"v" * (5 * 1024 * 1024), ()).result(WAIT_S)
    transport.close()

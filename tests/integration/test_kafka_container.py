"""The container that all other integration tests stand on."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.integration.raw import create_topic

if TYPE_CHECKING:
    from tests.integration.kafka_container import KafkaContainer

pytestmark = pytest.mark.containers


def test_records_outlive_a_restart_and_a_kill(kafka: KafkaContainer) -> None:
    topic = fresh_topic(kafka.bootstrap)

    publish(kafka.bootstrap, topic, b"first")
    kafka.restart()
    publish(kafka.bootstrap, topic, b"second")
    kafka.kill_broker()
    kafka.start_broker()

    assert read(kafka.bootstrap, topic, 2) == [b"first", b"second"]


def test_a_paused_broker_serves_what_was_sent_meanwhile(kafka: KafkaContainer) -> None:
    topic = fresh_topic(kafka.bootstrap)
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "acks": "all"})

    kafka.pause()
    try:
        producer.produce(topic, b"sent to a frozen broker")
        assert producer.flush(0.5) == 1
    finally:
        kafka.unpause()

    assert producer.flush(30) == 0
    assert read(kafka.bootstrap, topic, 1) == [b"sent to a frozen broker"]


def test_topics_are_not_made_by_producing_to_them(kafka: KafkaContainer) -> None:
    topic = f"misspelt-{uuid.uuid4()}"
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "message.timeout.ms": 2000})
    failures: list[object] = []
    producer.produce(topic, b"lost", on_delivery=lambda error, _message: failures.append(error))
    producer.flush(10)

    assert [error is None for error in failures] == [False]  # KafkaError breaks when compared with None
    assert topic not in AdminClient({"bootstrap.servers": kafka.bootstrap}).list_topics(timeout=10).topics


def fresh_topic(bootstrap: str) -> str:
    topic = f"smoke-{uuid.uuid4()}"
    create_topic(bootstrap, topic)
    return topic


def publish(bootstrap: str, topic: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    producer.produce(topic, value)
    assert producer.flush(30) == 0


def read(bootstrap: str, topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "smoke", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        messages = consumer.consume(count, timeout=30)
        return [message.value() for message in messages if message.error() is None]
    finally:
        consumer.close()

"""A coordinator that is not there yet is waited for; any other failure is told at once. The rest is tested on Kafka."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from pratique.errors import UnavailableError
from streams.adapters import kafka_admin
from streams.adapters.kafka_admin import KafkaAdmin


class FakeConsumer:
    """Fails with the given codes, then answers."""

    failures: list[int]

    def __init__(self, _: object) -> None: ...

    def committed(self, asked: list[TopicPartition], _: float) -> list[TopicPartition]:
        if self.failures:
            raise KafkaException(KafkaError(self.failures.pop(0)))
        return [TopicPartition(item.topic, item.partition, 7 if item.partition else -1001) for item in asked]

    def get_watermark_offsets(self, place: TopicPartition, _: float) -> tuple[int, int]:
        if self.failures:
            raise KafkaException(KafkaError(self.failures.pop(0)))
        return place.partition, 10 + place.partition

    def close(self) -> None: ...


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> KafkaAdmin:
    monkeypatch.setattr(kafka_admin, "Consumer", FakeConsumer)
    monkeypatch.setattr(kafka_admin, "AdminClient", lambda _: None)
    monkeypatch.setattr(kafka_admin, "RETRY_SECONDS", 0.0)
    return KafkaAdmin({})


def test_a_coordinator_under_election_is_asked_again(admin: KafkaAdmin) -> None:
    FakeConsumer.failures = [
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    ]
    assert admin.committed("group", "topic", 2) == {1: 7}


def test_another_failure_is_told_at_once(admin: KafkaAdmin) -> None:
    FakeConsumer.failures = [KafkaError.GROUP_AUTHORIZATION_FAILED]
    with pytest.raises(UnavailableError, match="GROUP_AUTHORIZATION_FAILED"):
        admin.committed("group", "topic", 2)


def test_a_coordinator_that_never_comes_is_told(admin: KafkaAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_admin, "TIMEOUT_SECONDS", 0.0)
    FakeConsumer.failures = [KafkaError.NOT_COORDINATOR] * 1_000_000
    with pytest.raises(UnavailableError, match="NOT_COORDINATOR"):
        admin.committed("group", "topic", 2)


def test_topic_whose_leaders_are_not_there_yet_is_asked_again(admin: KafkaAdmin) -> None:
    FakeConsumer.failures = [
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
    ]
    assert admin.bounds("topic", 2) == {0: (0, 10), 1: (1, 11)}


def test_bounds_that_may_not_be_read_are_told_at_once(admin: KafkaAdmin) -> None:
    FakeConsumer.failures = [KafkaError.TOPIC_AUTHORIZATION_FAILED]
    with pytest.raises(UnavailableError, match="TOPIC_AUTHORIZATION_FAILED"):
        admin.bounds("topic", 2)

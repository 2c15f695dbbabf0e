"""A coordinator that is not there yet is waited for; any other failure is told at once. The rest is tested on Kafka."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.cimpl import NewTopic

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
    monkeypatch.setattr(admin, "_timeout_s", 0.0)
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


class FakeAdminClient:
    """Fails a creation with the given codes, then confirms it; a topic is there once one attempt got through."""

    failures: list[int]

    def __init__(self, _: object) -> None: ...

    def create_topics(self, topics: list[NewTopic], request_timeout: float) -> dict[str, Future[None]]:
        assert request_timeout > 0
        answer: Future[None] = Future()
        if self.failures:
            answer.set_exception(KafkaException(KafkaError(self.failures.pop(0))))
        else:
            answer.set_result(None)
        return {topics[0].topic: answer}

    def list_topics(self, name: str, timeout: float) -> SimpleNamespace:
        assert timeout > 0
        return SimpleNamespace(topics={name: SimpleNamespace(error=None, partitions={0: None})})


@pytest.fixture
def creating(monkeypatch: pytest.MonkeyPatch) -> KafkaAdmin:
    monkeypatch.setattr(kafka_admin, "AdminClient", FakeAdminClient)
    monkeypatch.setattr(kafka_admin, "RETRY_SECONDS", 0.0)
    return KafkaAdmin({})


@pytest.mark.parametrize(
    "failures",
    [
        [],
        [KafkaError._TIMED_OUT],
        [KafkaError._TRANSPORT, KafkaError._TIMED_OUT],
        [KafkaError._TIMED_OUT, KafkaError.TOPIC_ALREADY_EXISTS],  # the first did it; its answer was lost
    ],
)
def test_creation_without_an_answer_is_asked_again(creating: KafkaAdmin, failures: list[int]) -> None:
    FakeAdminClient.failures = list(failures)
    creating.create("topic", 1, 1, {})
    assert FakeAdminClient.failures == []


@pytest.mark.parametrize("failure", [KafkaError.TOPIC_ALREADY_EXISTS, KafkaError.TOPIC_AUTHORIZATION_FAILED])
def test_creation_that_is_refused_is_told_at_once(creating: KafkaAdmin, failure: int) -> None:
    FakeAdminClient.failures = [failure, KafkaError._TIMED_OUT]
    with pytest.raises(UnavailableError, match=KafkaError(failure).name()):
        creating.create("topic", 1, 1, {})
    assert FakeAdminClient.failures == [KafkaError._TIMED_OUT]
    FakeAdminClient.failures = []


def test_creation_that_is_never_answered_is_told(creating: KafkaAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(creating, "_timeout_s", 0.0)
    FakeAdminClient.failures = [KafkaError._TIMED_OUT] * 1_000
    with pytest.raises(UnavailableError, match="_TIMED_OUT"):
        creating.create("topic", 1, 1, {})

"""Topics and group offsets, as an administrator sees them.

The contract: reads say what the cluster has now; writes do one thing and raise ``UnavailableError`` when the cluster
does not confirm it. A group whose coordinator is just being elected or loaded, as on a broker that has just started, is
asked again for as long as any answer may take. What should be there is not known here: see
``topologies.bootstrap.topics``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined] # re-exported without saying so
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from pratique.errors import UnavailableError
from pratique.kafka_clients import new_client, unanswered

TIMEOUT_SECONDS: Final = 30.0
ATTEMPT_SECONDS: Final = 10.0
"""How long one connection may take to get one answer."""

RETRY_SECONDS: Final = 0.2

_PASSING: Final = frozenset(
    {
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001 - the client's own codes are named so
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001 - the same
    }
)
"""What is answered while a group's coordinator is elected or loaded, and for a topic that was made a moment ago."""

_UNANSWERED: Final = frozenset(
    {
        KafkaError._TIMED_OUT,  # noqa: SLF001 - the client's own codes are named so
        KafkaError._TRANSPORT,  # noqa: SLF001 - the same
    }
)
"""What the client says of a request that got no answer."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ExistingTopic:
    """A topic as the cluster has it.

    Attributes:
        partitions: Its partition count.
        configuration: Its effective configuration.
    """

    partitions: int
    configuration: Mapping[str, str]


class KafkaAdmin:
    """An administrator's connection.

    Args:
        configuration: librdkafka properties of the connection.
        timeout_s: How long an answer may take, in seconds.

    Raises:
        ConfigurationError: librdkafka refuses them.
    """

    def __init__(self, configuration: Mapping[str, str], *, timeout_s: float = TIMEOUT_SECONDS) -> None:
        self._timeout_s = timeout_s
        self._attempt_s = min(ATTEMPT_SECONDS, timeout_s)
        self._configuration: dict[str, str | int | float | bool] = dict(configuration)
        self._client = new_client(AdminClient, self._configuration)

    def topics(self, names: tuple[str, ...]) -> dict[str, ExistingTopic]:
        """Return those of the named topics that exist.

        Raises:
            UnavailableError: The cluster does not answer.
        """
        try:
            listed = self._asked(lambda client: client.list_topics(timeout=self._attempt_s)).topics
            present = [name for name in names if name in listed and listed[name].error is None]
            resources = [ConfigResource(ResourceType.TOPIC, name) for name in present]
            described = self._asked(lambda client: _described(client, resources, self._attempt_s))
            found = {}
            for resource, entries in described.items():
                configuration = {name: str(entry.value) for name, entry in entries.items() if entry.value is not None}
                found[resource.name] = ExistingTopic(len(listed[resource.name].partitions), configuration)
        except KafkaException as error:
            raise self._unavailable("topics", error) from error
        return found

    def create(self, name: str, partitions: int, replication: int, configuration: Mapping[str, str]) -> None:
        """Create a topic; return once the brokers tell clients of it.

        Raises:
            UnavailableError: The cluster did not.
        """
        new = NewTopic(name, partitions, replication, config=dict(configuration))
        try:
            self._create(new)
            self._settled(lambda: self._told(name))
        except KafkaException as error:
            raise self._unavailable(f"creation of {name}", error) from error

    def _create(self, new: NewTopic) -> None:
        attempts = 0

        def request(client: AdminClient) -> None:
            nonlocal attempts
            attempts += 1
            try:
                _outcomes(client.create_topics([new], request_timeout=self._attempt_s))
            except KafkaException as error:
                # The answer to an attempt before this one may have been lost, but not what it did.
                if attempts == 1 or error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise

        self._asked(request)

    def _told(self, name: str) -> None:
        found = self._asked(lambda client: client.list_topics(name, timeout=self._attempt_s)).topics[name]
        if found.error is not None or not found.partitions:
            raise KafkaException(found.error or KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))

    def configure(self, name: str, configuration: Mapping[str, str]) -> None:
        """Change some of a topic's configuration.

        Raises:
            UnavailableError: The cluster did not.
        """
        entries = [
            ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in configuration.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=entries)
        try:
            self._asked(
                lambda client: _outcomes(client.incremental_alter_configs([resource], request_timeout=self._attempt_s))
            )
        except KafkaException as error:
            raise self._unavailable(f"configuration of {name}", error) from error

    def committed(self, group: str, topic: str, partitions: int) -> dict[int, int]:
        """Return a group's committed offsets by partition; partitions without one are left out.

        Raises:
            UnavailableError: The cluster does not answer.
        """
        asked = [TopicPartition(topic, number) for number in range(partitions)]
        consumer = self._consumer(group)
        try:
            answers = self._settled(lambda: consumer.committed(asked, self._timeout_s))
        except KafkaException as error:
            raise self._unavailable(f"committed offsets of {group}", error) from error
        finally:
            consumer.close()
        return {int(item.partition): int(item.offset) for item in answers if item.offset >= 0}

    def bounds(self, topic: str, partitions: int) -> dict[int, tuple[int, int]]:
        """Return first and end offset of every partition.

        Raises:
            UnavailableError: The cluster does not answer.
        """
        consumer = self._consumer("pratique.none")

        def ends(place: TopicPartition) -> tuple[int, int]:
            return self._settled(lambda: consumer.get_watermark_offsets(place, self._timeout_s))

        try:
            return {number: ends(TopicPartition(topic, number)) for number in range(partitions)}
        except KafkaException as error:
            raise self._unavailable(f"offsets of {topic}", error) from error
        finally:
            consumer.close()

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Commit offsets for a group that has no members.

        Raises:
            UnavailableError: The cluster did not take them.
        """
        places = [TopicPartition(topic, number, offset) for number, offset in offsets.items()]
        try:
            self._settled(lambda: self._commit(ConsumerGroupTopicPartitions(group, places)))
        except KafkaException as error:
            raise self._unavailable(f"offsets of {group}", error) from error

    def _commit(self, request: ConsumerGroupTopicPartitions) -> None:
        answers = self._asked(
            lambda client: _outcomes(client.alter_consumer_group_offsets([request], request_timeout=self._attempt_s))
        )
        for answer in answers:
            for place in answer.topic_partitions:
                if place.error is not None:
                    raise KafkaException(place.error)

    def _unavailable(self, what: str, error: KafkaException) -> UnavailableError:
        return UnavailableError(unanswered(self._configuration, what, error))

    def _consumer(self, group: str) -> Consumer:
        return new_client(Consumer, {"group.id": group, "enable.auto.commit": False, **self._configuration})

    def _asked(self, call: Callable[[AdminClient], _T]) -> _T:
        """Return what a request comes to; where a connection gets no answer, ask over a fresh one.

        A connection that is made while no broker counts as alive (a controller's election, a broker that was frozen for
        longer than its session) is told so, and asks again only after minutes.

        Raises:
            KafkaException: No connection got an answer in time, or the answer is a refusal.
        """
        until = time.monotonic() + self._timeout_s
        while True:
            try:
                return call(self._client)
            except KafkaException as error:
                if error.args[0].code() not in _UNANSWERED or time.monotonic() > until:
                    raise
            time.sleep(RETRY_SECONDS)
            self._client = new_client(AdminClient, self._configuration)

    def _settled(self, call: Callable[[], _T]) -> _T:
        """Return what a call comes to once its coordinator or leader is there.

        Raises:
            KafkaException: It fails for another reason, or there is none in time.
        """
        until = time.monotonic() + self._timeout_s
        while True:
            try:
                return call()
            except KafkaException as error:
                if error.args[0].code() not in _PASSING or time.monotonic() > until:
                    raise
            time.sleep(RETRY_SECONDS)


def _described(
    client: AdminClient, resources: list[ConfigResource], timeout_s: float
) -> dict[ConfigResource, Mapping[str, ConfigEntry]]:
    if not resources:
        return {}
    asked = client.describe_configs(resources, request_timeout=timeout_s)
    return {resource: future.result() for resource, future in asked.items()}


def _outcomes(asked: Mapping[Any, Future[_T]]) -> list[_T]:
    """Return what every part of a request came to; the client bounds the time itself."""
    return [future.result() for future in asked.values()]

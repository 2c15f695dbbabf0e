"""Topics and group offsets, as an administrator sees them.

The contract: reads say what the cluster has now; writes do one thing and raise ``UnavailableError`` when the cluster
does not confirm it. A group whose coordinator is just being elected or loaded, as on a broker that has just started, is
asked again for as long as any answer may take. What should be there is not known here: see
``topologies.bootstrap.topics``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

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

TIMEOUT_SECONDS: Final = 30.0
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
    """

    def __init__(self, configuration: Mapping[str, str]) -> None:
        self._configuration: dict[str, str | int | float | bool] = dict(configuration)
        self._client = AdminClient(self._configuration)

    def topics(self, names: tuple[str, ...]) -> dict[str, ExistingTopic]:
        """Return those of the named topics that exist.

        Raises:
            UnavailableError: The cluster does not answer.
        """
        try:
            listed = self._client.list_topics(timeout=TIMEOUT_SECONDS).topics
            present = [name for name in names if name in listed and listed[name].error is None]
            resources = [ConfigResource(ResourceType.TOPIC, name) for name in present]
            described = self._client.describe_configs(resources) if resources else {}
            found = {}
            for resource, future in described.items():
                entries: Mapping[str, ConfigEntry] = future.result(TIMEOUT_SECONDS)
                configuration = {name: str(entry.value) for name, entry in entries.items() if entry.value is not None}
                found[resource.name] = ExistingTopic(len(listed[resource.name].partitions), configuration)
        except KafkaException as error:
            raise _unavailable("topics", error) from error
        return found

    def create(self, name: str, partitions: int, replication: int, configuration: Mapping[str, str]) -> None:
        """Create a topic; return once the brokers tell clients of it.

        Raises:
            UnavailableError: The cluster did not.
        """
        new = NewTopic(name, partitions, replication, config=dict(configuration))
        try:
            self._client.create_topics([new], operation_timeout=TIMEOUT_SECONDS)[name].result(TIMEOUT_SECONDS)
            _settled(lambda: self._told(name))
        except KafkaException as error:
            raise _unavailable(f"creation of {name}", error) from error

    def _told(self, name: str) -> None:
        found = self._client.list_topics(name, timeout=TIMEOUT_SECONDS).topics[name]
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
            for future in self._client.incremental_alter_configs([resource]).values():
                future.result(TIMEOUT_SECONDS)
        except KafkaException as error:
            raise _unavailable(f"configuration of {name}", error) from error

    def committed(self, group: str, topic: str, partitions: int) -> dict[int, int]:
        """Return a group's committed offsets by partition; partitions without one are left out.

        Raises:
            UnavailableError: The cluster does not answer.
        """
        asked = [TopicPartition(topic, number) for number in range(partitions)]
        consumer = Consumer({"group.id": group, "enable.auto.commit": False, **self._configuration})
        try:
            answers = _settled(lambda: consumer.committed(asked, TIMEOUT_SECONDS))
        except KafkaException as error:
            raise _unavailable(f"committed offsets of {group}", error) from error
        finally:
            consumer.close()
        return {int(item.partition): int(item.offset) for item in answers if item.offset >= 0}

    def bounds(self, topic: str, partitions: int) -> dict[int, tuple[int, int]]:
        """Return first and end offset of every partition.

        Raises:
            UnavailableError: The cluster does not answer.
        """
        consumer = Consumer({"group.id": "pratique.none", "enable.auto.commit": False, **self._configuration})
        try:
            return {
                place.partition: _settled(lambda place=place: consumer.get_watermark_offsets(place, TIMEOUT_SECONDS))  # type: ignore[misc]
                for place in (TopicPartition(topic, number) for number in range(partitions))
            }
        except KafkaException as error:
            raise _unavailable(f"offsets of {topic}", error) from error
        finally:
            consumer.close()

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Commit offsets for a group that has no members.

        Raises:
            UnavailableError: The cluster did not take them.
        """
        places = [TopicPartition(topic, number, offset) for number, offset in offsets.items()]
        try:
            _settled(lambda: self._commit(ConsumerGroupTopicPartitions(group, places)))
        except KafkaException as error:
            raise _unavailable(f"offsets of {group}", error) from error

    def _commit(self, request: ConsumerGroupTopicPartitions) -> None:
        for future in self._client.alter_consumer_group_offsets([request]).values():
            for place in future.result(TIMEOUT_SECONDS).topic_partitions:
                if place.error is not None:
                    raise KafkaException(place.error)


def _settled(call: Callable[[], _T]) -> _T:
    """Return what a call comes to once its coordinator or leader is there.

    Raises:
        KafkaException: It fails for another reason, or there is none in time.
    """
    until = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            return call()
        except KafkaException as error:
            if error.args[0].code() not in _PASSING or time.monotonic() > until:
                raise
        time.sleep(RETRY_SECONDS)


def _unavailable(what: str, error: KafkaException) -> UnavailableError:
    return UnavailableError(f"the cluster did not answer for {what}: {error.args[0].name()}")

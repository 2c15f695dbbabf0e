"""A broker within this process: librdkafka's own mock, which other processes can reach as well.

The contract: topics come into being when they are asked about, with ``PARTITIONS`` partitions each. It has no
transactions to read around, no compaction and no authority: what depends on those is for ``tests.integration``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from confluent_kafka import Producer

PARTITIONS: Final = 4
"""Partitions of a topic, as the library has it."""

WAIT_S: Final = 20.0


class MockKafka:
    """One broker, for as long as this object is there.

    Attributes:
        bootstrap: ``127.0.0.1:port``.
    """

    def __init__(self) -> None:
        self._held = Producer({"test.mock.num.brokers": 1, "log_level": 0})
        (broker,) = self._held.list_topics(timeout=WAIT_S).brokers.values()
        self.bootstrap = f"{broker.host}:{broker.port}"

    def write(self, records: Iterable[tuple[str, int, bytes | None, bytes | None]]) -> None:
        """Append records: topic, partition, key and value of each."""
        producer = Producer({"bootstrap.servers": self.bootstrap})
        for topic, partition, key, value in records:
            producer.produce(topic, value, key, partition=partition)
        assert producer.flush(WAIT_S) == 0

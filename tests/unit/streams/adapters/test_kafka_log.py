"""A connection that got no answer is asked nothing more; the rest of a log is tested on Kafka."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from pratique.errors import UnavailableError
from streams.adapters import kafka_log
from streams.adapters.kafka_log import KafkaLog

QUESTIONS: dict[str, Callable[[KafkaLog], object]] = {
    "end": lambda log: log.end_offset(0),
    "committed": lambda log: log.committed_offset(0),
    "history": lambda log: list(log.history(0, 0, 1)),
    "record": lambda log: log.record_at(0, 0),
}


class Forgetful:
    """A client; the first one met a broker as it started, and knows of no partition for as long as it lives."""

    made: ClassVar[list[Forgetful]] = []

    def __init__(self, _: object) -> None:
        self.is_closed = False
        self.made.append(self)

    def _told(self) -> None:
        assert not self.is_closed
        if self is self.made[0]:
            raise KafkaException(KafkaError(KafkaError._UNKNOWN_PARTITION))

    def get_watermark_offsets(self, _: TopicPartition, __: float, **___: object) -> tuple[int, int]:
        self._told()
        return 0, 0

    def committed(self, asked: list[TopicPartition], _: float) -> list[TopicPartition]:
        self._told()
        return asked

    def assign(self, _: object) -> None: ...

    def unassign(self) -> None: ...

    def position(self, asked: list[TopicPartition]) -> list[TopicPartition]:
        return [TopicPartition(item.topic, item.partition, 1) for item in asked]

    def consume(self, _: int, __: float) -> list[object]:
        return []

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_the_next_question_goes_over_a_fresh_connection(
    monkeypatch: pytest.MonkeyPatch, ask: Callable[[KafkaLog], object]
) -> None:
    monkeypatch.setattr(Forgetful, "made", [])
    monkeypatch.setattr(kafka_log, "Consumer", Forgetful)
    with KafkaLog({}, "topic", "group") as log:
        with pytest.raises(UnavailableError, match="_UNKNOWN_PARTITION"):
            ask(log)
        assert log.end_offset(0) == 0
        assert [made.is_closed for made in Forgetful.made] == [True, False]
    assert all(made.is_closed for made in Forgetful.made)

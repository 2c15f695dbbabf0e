"""What a writer takes over is whole, or it takes nothing over: read from a mock of Kafka, which deletes no record."""

from __future__ import annotations

import pytest

from pratique.contract.topics import (
    DEAD_LETTER,
    QUARANTINE_AUDIT,
    QUARANTINE_COMMANDS,
    QUARANTINE_LEDGER,
    QUARANTINE_REVIEW,
)
from streams.adapters.ledger_writer import LedgerTopics, LedgerWriter, WriterTimes
from streams.adapters.prometheus import PrometheusMetrics
from streams.application.ledger import LedgerLimits
from streams.errors import LedgerBrokenError
from tests.contracts.kafka_mock import MockKafka
from tests.unit.streams.application.test_ledger import TRUST

TOPICS = LedgerTopics(QUARANTINE_COMMANDS, QUARANTINE_LEDGER, QUARANTINE_AUDIT, QUARANTINE_REVIEW, DEAD_LETTER)


WHOLE = (QUARANTINE_LEDGER, QUARANTINE_REVIEW)
MINE, OTHER = 0, 1


@pytest.mark.parametrize("topic", WHOLE)
def test_a_topic_whose_beginning_was_deleted_is_not_taken_over(topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = MockKafka()
    kafka.write((name, OTHER, b"", b"") for name in (QUARANTINE_COMMANDS, *WHOLE, QUARANTINE_AUDIT))  # so they exist
    writer = LedgerWriter(
        {"bootstrap.servers": kafka.bootstrap},
        TOPICS,
        "group",
        "writer",
        times=WriterTimes(6_000),
        limits=LedgerLimits(100, 0),
        trust=lambda: TRUST,
        metrics=PrometheusMetrics({"app": "test"}),
        is_stopping=lambda: False,
    )
    stated = writer._log.bounds
    assert len(writer._load(MINE)) == 0
    monkeypatch.setattr(writer._log, "bounds", lambda name, at: (3, 7) if name == topic else stated(name, at))
    with pytest.raises(LedgerBrokenError, match="begins at offset 3: its beginning was deleted"):
        writer._load(MINE)
    writer.close()

"""Requests read back from their topic: strangers' records are counted and never judged."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Self

import pytest

from pratique.contract import avro
from pratique.contract.records import CompactionRequested
from pratique.contract.signing import Ed25519Signer
from pratique.contract.topics import COMPACTION_REQUESTED
from streams.adapters.kafka_log import ReadRecord
from tests.fakes.evidence import NOW_MS, OTHER_PUBLISHER, PUBLISHER, TRUST
from tests.unit.streams.application.compactions import request
from topologies.bootstrap import request_log
from topologies.settings import Settings

REQUEST = request()


def record(signer: Ed25519Signer, value: bytes, offset: int, topic: str = COMPACTION_REQUESTED) -> ReadRecord:
    headers = tuple(signer.sign(topic, value).headers)
    return ReadRecord(COMPACTION_REQUESTED, 0, offset, NOW_MS, None, value, headers)


VALUE = avro.encode(REQUEST)
RECORDS = (
    record(PUBLISHER, VALUE, 0),
    record(OTHER_PUBLISHER, VALUE, 1),
    record(PUBLISHER, VALUE, 2, "another.topic"),
    record(PUBLISHER, b"no request", 3),
    ReadRecord(COMPACTION_REQUESTED, 0, 4, NOW_MS, None, VALUE, ()),
    ReadRecord(COMPACTION_REQUESTED, 0, 5, NOW_MS, None, None, ()),
    record(PUBLISHER, VALUE, 6),
)


class Log:
    """A topic of one partition."""

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def partition_count(self) -> int:
        return 1

    def end_offset(self, partition: int) -> int:
        assert partition == 0
        return len(RECORDS)

    def history(self, partition: int, start: int, end: int) -> Iterator[ReadRecord]:
        assert partition == 0
        return iter(RECORDS[start:end])


@pytest.fixture(autouse=True)
def _cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_log, "KafkaLog", Log)
    monkeypatch.setattr(request_log, "app_policy_store", lambda *_: SimpleNamespace(trust=lambda: TRUST))


def read(newest: int) -> list[tuple[CompactionRequested, int] | None]:
    return list(request_log.recorded_requests(Settings.read({}), newest))


def test_only_what_a_publisher_of_the_tenant_signed_for_this_topic_is_a_request() -> None:
    assert read(100) == [(REQUEST, len(VALUE)), None, None, None, None, None, (REQUEST, len(VALUE))]


def test_the_newest_are_read() -> None:
    assert read(2) == [None, (REQUEST, len(VALUE))]

"""The index of verdicts: what the gate signed, under its own name, and nothing else that Redis may hold."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from pratique.contract import avro
from pratique.contract.records import Origin, Provenance, Verdict, VerdictOutcome
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED
from pratique.errors import UnavailableError
from streams.adapters.kafka_log import ReadRecord
from streams.adapters.redis_verdicts import (
    FIELDS,
    POSITIONS,
    UNASKED_SECONDS,
    RedisVerdictIndex,
    RedisVerdictWriter,
    entry_key,
)
from streams.adapters.verdict_follower import VerdictFollower, published_verdict
from streams.domain.compaction.lineage import MAX_REASONS, Ancestor
from tests.fakes.evidence import GATE, NOW_MS, PUBLISHER, TENANT, TRUST
from tests.fakes.steps import FakeMetrics
from tests.vectors.contract_samples import VERDICT

KEPT_MS = 1000
OUTPUT = "a" * 64
SUMMARY, NARRATIVE = "d" * 64, "e" * 64
ACCEPTED = replace(
    VERDICT,
    verdict_id="1" * 64,
    origin=Origin.COMPACTION,
    outcome=VerdictOutcome.ACCEPTED,
    tenant_id=TENANT,
    compacted_output_sha256=OUTPUT,
    accepted_text_sha256s=(SUMMARY, NARRATIVE),
    trust=Provenance.TRUSTED,
    decided_at=NOW_MS,
)


class FakeRedis:
    """Hashes in memory, and what their time to live was set to; ``away`` makes it raise."""

    def __init__(self) -> None:
        self.hashes: dict[str, dict[str, str]] = {}
        self.lives: dict[str, int] = {}
        self.away = False
        self.asked = 0

    def hmget(self, key: str, fields: list[str]) -> list[str | None]:
        self.answer()
        return [self.hashes.get(key, {}).get(name) for name in fields]

    def hgetall(self, key: str) -> dict[str, str]:
        self.answer()
        return self.hashes.get(key, {})

    def hset(self, key: str, name: str | None = None, value: str = "", mapping: dict[str, str] | None = None) -> None:
        self.answer()
        self.hashes.setdefault(key, {}).update(mapping or {str(name): value})

    def pexpire(self, key: str, life: int) -> None:
        self.lives[key] = life

    def pipeline(self, *, transaction: bool) -> FakePipeline:
        assert not transaction
        return FakePipeline(self)

    def answer(self) -> None:
        self.asked += 1
        if self.away:
            raise RedisConnectionError


class FakePipeline:
    """Commands that are sent together."""

    def __init__(self, redis: FakeRedis) -> None:
        self.redis = redis
        self.commands: list[Callable[[], Any]] = []

    def hmget(self, key: str, fields: list[str]) -> None:
        self.commands.append(lambda: [self.redis.hashes.get(key, {}).get(name) for name in fields])

    def hset(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - as the client's
        self.commands.append(lambda: self.redis.hset(*given, **named))

    def pexpire(self, key: str, life: int) -> None:
        self.commands.append(lambda: self.redis.pexpire(key, life))

    def execute(self) -> list[Any]:
        self.redis.answer()
        return [command() for command in self.commands]


class FakeLog:
    """One partition's records."""

    def __init__(self, records: list[ReadRecord]) -> None:
        self.records = records

    def partition_count(self) -> int:
        return 1

    def end_offset(self, _: int) -> int:
        return len(self.records)

    def offset_at(self, _: int, at_ms: int) -> int | None:
        return next((record.offset for record in self.records if record.timestamp >= at_ms), None)

    def history(self, _: int, start: int, end: int) -> Iterator[ReadRecord]:
        yield from self.records[start:end]


def record(verdict: Verdict, offset: int = 0, topic: str = COMPACTION_ACCEPTED, signer: Any = GATE) -> ReadRecord:  # noqa: ANN401 - any signer
    value = avro.encode(verdict)
    return ReadRecord(topic, 0, offset, NOW_MS, b"key", value, tuple(signer.sign(topic, value).headers))


class Index:
    """Both sides of one index, and a clock."""

    def __init__(self) -> None:
        self.redis = FakeRedis()
        self.seconds = 0.0
        client: Any = self.redis
        self.writer = RedisVerdictWriter(client, KEPT_MS)
        self.reader = RedisVerdictIndex(client, lambda: TRUST, FakeMetrics(), lambda: self.seconds)

    def follow(self, *records: ReadRecord, topic: str = COMPACTION_ACCEPTED) -> int:
        log: Any = FakeLog(list(records))
        return VerdictFollower({topic: log}, self.writer, KEPT_MS, lambda: NOW_MS).catch_up()

    def ancestor(self, name: str = ACCEPTED.verdict_id, tenant_id: str = TENANT) -> Ancestor | None:
        return self.reader.look_up(tenant_id, [name]).get(name)


def test_a_verdict_is_found_by_id_and_by_what_it_accepted() -> None:
    index = Index()
    assert index.follow(record(ACCEPTED)) == 1
    accepted = frozenset({OUTPUT, SUMMARY, NARRATIVE})
    assert index.ancestor() == Ancestor(accepted=True, trust=Provenance.TRUSTED, accepted_sha256s=accepted)
    assert index.ancestor(OUTPUT) == index.ancestor()
    assert index.ancestor("2" * 64) is None
    assert index.ancestor(tenant_id="tenant-b") is None
    assert set(index.redis.lives.values()) == {KEPT_MS}


def test_texts_are_recognised_as_what_a_verdict_accepted() -> None:
    index = Index()
    index.follow(record(ACCEPTED))
    names = ["0" * 64, SUMMARY, NARRATIVE, OUTPUT, SUMMARY]
    assert index.reader.recognise(TENANT, names) == {SUMMARY, NARRATIVE, OUTPUT}
    assert index.reader.recognise("tenant-b", names) == set()
    assert index.reader.recognise(TENANT, []) == set()
    index.redis.hashes[entry_key(TENANT, "0" * 64)] = {"verdict_id": ACCEPTED.verdict_id}  # it accepted no such text
    assert index.reader.recognise(TENANT, names) == {SUMMARY, NARRATIVE, OUTPUT}


def test_one_text_more_than_is_looked_up_is_recognised_all_the_same() -> None:
    index = Index()
    texts = tuple(f"{number:064}" for number in range(MAX_REASONS + 1))
    index.follow(record(replace(ACCEPTED, accepted_text_sha256s=texts)))
    assert index.reader.recognise(TENANT, texts) == set(texts)


def test_texts_of_a_quarantined_output_are_not_recognised() -> None:
    index = Index()
    refused = replace(ACCEPTED, outcome=VerdictOutcome.QUARANTINED)
    index.follow(record(refused, topic=COMPACTION_QUARANTINED), topic=COMPACTION_QUARANTINED)
    assert index.reader.recognise(TENANT, [SUMMARY, OUTPUT]) == set()


def test_a_quarantine_is_known_as_one_and_not_by_its_output() -> None:
    index = Index()
    refused = replace(ACCEPTED, outcome=VerdictOutcome.QUARANTINED)
    index.follow(record(refused, topic=COMPACTION_QUARANTINED), topic=COMPACTION_QUARANTINED)
    assert index.ancestor() == Ancestor(accepted=False, trust=Provenance.TRUSTED)
    assert index.ancestor(OUTPUT) is None


def test_redis_is_believed_nothing() -> None:
    index = Index()
    index.follow(record(ACCEPTED))
    key, other = entry_key(TENANT, ACCEPTED.verdict_id), "3" * 64
    entry = dict(index.redis.hashes[key])
    forged = avro.encode(replace(ACCEPTED, verdict_id=other))
    by_publisher = PUBLISHER.sign(COMPACTION_ACCEPTED, forged)
    packed = base64.b64encode(zlib.compress(forged)).decode()
    for stated in (
        entry,  # another verdict's
        {**entry, "value": base64.b64encode(forged).decode()},
        {**entry, "value": packed},
        {
            **entry,
            "value": packed,
            "key_id": by_publisher.key_id,
            "signature": base64.b64encode(by_publisher.signature).decode(),
        },
        {**entry, "value": "no base64"},
        {**entry, "topic": COMPACTION_QUARANTINED},
        {name: entry[name] for name in FIELDS[:2]},
        {"verdict_id": ACCEPTED.verdict_id},  # an accepted output that it did not accept
    ):
        index.redis.hashes[entry_key(TENANT, other)] = stated
        assert index.ancestor(other) is None
    index.redis.hashes[entry_key("tenant-b", ACCEPTED.verdict_id)] = entry
    assert index.ancestor(tenant_id="tenant-b") is None
    assert index.ancestor() is not None


def test_a_recalls_verdict_is_no_ancestor() -> None:
    index = Index()
    recalled = replace(ACCEPTED, origin=Origin.RECALL)
    assert index.follow(record(recalled)) == 0
    assert published_verdict(record(recalled)) is None


def test_what_is_no_verdict_is_passed_over() -> None:
    index = Index()
    unsigned = replace(record(ACCEPTED), headers=())
    assert index.follow(replace(unsigned, value=b"nothing"), unsigned, record(ACCEPTED, offset=2)) == 1
    assert index.redis.hashes[POSITIONS] == {f"{COMPACTION_ACCEPTED}/0": "3"}


def test_an_index_that_was_lost_is_filled_again_by_itself() -> None:
    index = Index()
    assert index.follow(record(ACCEPTED)) == 1
    assert index.follow(record(ACCEPTED)) == 0  # it says where it stands
    index.redis.hashes.clear()
    assert index.ancestor() is None
    assert index.follow(record(ACCEPTED)) == 1
    assert index.ancestor() is not None
    index.redis.hashes[POSITIONS] = {f"{COMPACTION_ACCEPTED}/0": "9"}  # of topics that are no more
    assert index.follow(record(ACCEPTED)) == 1


def test_verdicts_that_would_not_be_kept_are_not_read() -> None:
    index = Index()
    old = replace(record(ACCEPTED), timestamp=NOW_MS - KEPT_MS - 1)
    assert index.follow(old) == 0
    assert index.redis.hashes[POSITIONS] == {f"{COMPACTION_ACCEPTED}/0": "1"}


def test_redis_away_costs_one_wait_and_then_none_for_a_while() -> None:
    index = Index()
    index.follow(record(ACCEPTED))
    index.redis.away, index.redis.asked = True, 0
    for _ in range(5):
        assert index.reader.recognise(TENANT, [SUMMARY]) is None
        assert index.reader.recognise(TENANT, []) == set()
        assert index.ancestor() is None
    assert index.redis.asked == 1
    with pytest.raises(UnavailableError):
        index.writer.positions()
    index.redis.away = False
    index.seconds = UNASKED_SECONDS
    assert index.ancestor() is not None


def test_how_far_was_read_is_told_apart_by_the_schema_of_verdicts() -> None:
    """A release that does not know a schema passes its verdicts over; the next one has to read again."""
    assert avro.fingerprints()["Verdict"] in POSITIONS

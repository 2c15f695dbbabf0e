"""Records that nobody can serve, at the head of a partition: put aside byte for byte, and the next are served.

Each poison lies before a request that passes through the same partition of every topic on its way.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import pytest
from confluent_kafka import Producer

from pratique.contract.avro import decode, encode
from pratique.contract.canonical import bytes_sha256
from pratique.contract.records import Evidence, JoinKey, MemoryFinding, Origin, Verdict, Work
from pratique.contract.topics import COMPACTION_REQUESTED, DEAD_LETTER, EVIDENCE, WORK
from pratique.contract.trust import KeyRole
from tests.integration.asking import VERDICT_TOPICS, Question, clean, send, verdicts_since
from tests.integration.forging import join_key
from tests.integration.platform import TENANT
from tests.integration.raw import WAIT_S, Headers, Raw, until

if TYPE_CHECKING:
    from pratique.client import Gate
    from tests.integration.platform import Platform

pytestmark = pytest.mark.containers

READERS: Final = {COMPACTION_REQUESTED: 1, WORK: 2, EVIDENCE: 1}
"""How many apps read each topic, and so come upon a poison."""

TOPICS: Final = tuple(READERS)
UNSIGNED: Final = {COMPACTION_REQUESTED: b"SIGNATURE_INVALID"}
"""What unsigned poison comes to where it is not SCHEMA_INVALID: a request that no publisher signed is not decoded."""

SOURCES: Final = (("x-source", b"\x00\xff"), ("x-source", b"again"))
HEADERS: Final = (*SOURCES, ("pratique-key-id", b"stranger"))
PREFIX: Final = "pratique-dead-letter-"
CODE: Final = PREFIX + "code"

Poison = Callable[[], bytes | None]


def wrong_record() -> bytes:
    """Return a record of the published language that belongs on none of the topics."""
    key = JoinKey("tenant-a", Origin.RECALL, "request", "a" * 64, "b" * 64, "c" * 64)
    return encode(MemoryFinding(key, "f" * 64, "{}"))


def unknown_schema() -> bytes:
    """Return what a later release may write: a fingerprint that this one does not know."""
    return b"\xc3\x01" + os.urandom(8) + os.urandom(100)


def cut_off() -> bytes:
    """Return the beginning of a record that would be one."""
    return wrong_record()[:-3]


POISONS: Final[Mapping[str, Poison]] = {
    "garbage": lambda: os.urandom(200),
    "nothing at all": lambda: b"",
    "a tombstone": lambda: None,
    "a record of another kind": wrong_record,
    "a schema of a later release": unknown_schema,
    "a record cut off": cut_off,
}
CODECS: Final = ("gzip", "snappy", "lz4", "zstd")


@pytest.fixture
def question(gate: Gate) -> Question:
    """A request that must be served all the same."""
    return clean(gate, uuid.uuid4().hex)


def serve_behind(
    platform: Platform,
    gate: Gate,
    question: Question,
    topic: str,
    poison: bytes | None,
    *,
    headers: Headers = HEADERS,
    codec: str = "none",
) -> Raw:
    """Append poison where the request will pass, send the request, and return the dead letter."""
    since = platform.log.ends(DEAD_LETTER)
    partition = platform.log.partition_of(topic, join_key(question).message_key)
    key = uuid.uuid4().bytes
    place = platform.log.publish(topic, poison, key=key, headers=headers, partition=partition, compression=codec)
    question.check(gate.ask(question.request, wait_s=WAIT_S))
    found: list[Raw] = []

    def buried() -> bool:
        found[:] = [letter for letter in platform.log.records(DEAD_LETTER, since=since) if letter.key == key]
        return len(found) == READERS[topic]

    until(buried, f"the dead letter of {topic}{place}, one for each app that reads it")
    for letter in found:
        assert [letter.header(PREFIX + name) for name in ("topic", "partition", "offset")] == [
            text.encode("ascii") for text in (topic, *map(str, place))
        ]
    assert len({(letter.value, letter.header(CODE)) for letter in found}) == 1
    platform.tend()
    assert not platform.restarts
    return found[0]


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("name", POISONS)
def test_poison_is_put_aside(platform: Platform, gate: Gate, question: Question, topic: str, name: str) -> None:
    """A request is decoded only where a publisher has signed it: this one has."""
    value = POISONS[name]()
    headers: tuple[tuple[str, bytes], ...] = HEADERS
    if topic == COMPACTION_REQUESTED:
        signature = platform.key(KeyRole.PUBLISHER, TENANT).sign(topic, value or b"")
        headers = (*SOURCES, *signature.headers)
    letter = serve_behind(platform, gate, question, topic, value, headers=headers)
    assert letter.value == value
    assert letter.headers[: len(headers)] == headers
    assert letter.header(CODE) == b"SCHEMA_INVALID"


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("codec", CODECS)
def test_compressed_poison_is_put_aside(
    platform: Platform, gate: Gate, question: Question, topic: str, codec: str
) -> None:
    value = b"poison " * 100
    letter = serve_behind(platform, gate, question, topic, value, codec=codec)
    assert letter.value == value
    assert letter.headers[: len(HEADERS)] == HEADERS
    assert letter.header(CODE) == UNSIGNED.get(topic, b"SCHEMA_INVALID")


@pytest.mark.parametrize("topic", TOPICS)
def test_record_larger_than_any_bound_is_put_aside_without_its_value(
    platform: Platform, gate: Gate, question: Question, topic: str
) -> None:
    """Compression takes it past the broker's bound; its dead letter would have none."""
    value = bytes(24 * 1024 * 1024)
    letter = serve_behind(platform, gate, question, topic, value, codec="zstd")
    assert letter.value is None
    assert letter.header(PREFIX + "omitted") == b"headers value"
    assert letter.header(PREFIX + "value-sha256") == bytes_sha256(value).encode()


@pytest.mark.parametrize("codec", CODECS)
def test_compressed_request_is_served(platform: Platform, question: Question, codec: str) -> None:
    since = platform.log.ends(*VERDICT_TOPICS)
    send(platform, question, compression=codec)
    until(lambda: question.sha256 in verdicts_since(platform, since), f"a verdict on a request compressed by {codec}")
    (record, *_) = verdicts_since(platform, since)[question.sha256]
    question.check(decode(record.value, Verdict))


def test_work_that_is_nobodys_is_stated_about_and_ignored(platform: Platform, gate: Gate, question: Question) -> None:
    """Whoever can write to gate.work can have workers work; a request that nobody opened has no verdict for it."""
    since = platform.log.ends(EVIDENCE, WORK, *VERDICT_TOPICS)
    question.check(gate.ask(question.request, wait_s=WAIT_S))
    (sent,) = [
        decode(record.value, Work)
        for record in platform.log.records(WORK, since=since)
        if decode(record.value, Work).request == question.value
    ]
    stranger = clean(gate, uuid.uuid4().hex)
    forged = Work(sent.origin, sent.policy_set_sha256, sent.policy_set_map, sent.opened_at, stranger.value)
    platform.log.publish(WORK, encode(forged), key=join_key(stranger).message_key)

    def stated() -> bool:
        evidence = [decode(record.value, Evidence) for record in platform.log.records(EVIDENCE, since=since)]
        return sum(item.join_key.request_sha256 == stranger.sha256 for item in evidence) == 2

    until(stated, "both workers have stated their receipts")
    second = clean(gate, uuid.uuid4().hex)
    second.check(gate.ask(second.request, wait_s=WAIT_S))
    assert stranger.sha256 not in verdicts_since(platform, since)


@pytest.mark.parametrize("topic", TOPICS)
def test_transaction_that_is_left_open_holds_nobody_up(
    platform: Platform, gate: Gate, question: Question, topic: str
) -> None:
    """Its records are read like any other: nothing here is believed for being committed."""
    partition = platform.log.partition_of(topic, join_key(question).message_key)
    stranger = Producer(
        {
            "bootstrap.servers": platform.bootstrap,
            "transactional.id": uuid.uuid4().hex,
            "transaction.timeout.ms": int(2 * WAIT_S * 1000),
        }
    )
    stranger.init_transactions(WAIT_S)
    stranger.begin_transaction()
    stranger.produce(topic, b"left open", b"stranger", partition)
    stranger.flush(WAIT_S)
    try:
        question.check(gate.ask(question.request, wait_s=WAIT_S))
        assert platform.terminate("verdict") == 0
        platform.launch("verdict")
        platform.await_ready("verdict")
        later = clean(gate, uuid.uuid4().hex)
        later.check(gate.ask(later.request, wait_s=WAIT_S / 2))
    finally:
        stranger.abort_transaction(WAIT_S)

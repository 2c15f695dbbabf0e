"""The witness sees what is in the topics, and believes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.stack.observer import CODE_HEADER, TOPICS, Observer
from pratique.contract.avro import encode
from pratique.contract.canonical import bytes_sha256
from pratique.contract.ledger_records import AuditEntry
from pratique.contract.topics import COMPACTION_ACCEPTED, DEAD_LETTER, QUARANTINE_AUDIT, QUARANTINE_COMMANDS
from streams.wire.dead_letter import PREFIX
from tests.fakes.kafka import FakeKafka, FakeTransport

if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT_S = 5.0


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.create(*TOPICS)
    return kafka


@pytest.fixture
def observer(kafka: FakeKafka) -> Iterator[Observer]:
    with Observer(FakeTransport(kafka)) as observer:
        yield observer


def test_a_dead_letter_is_known_by_the_digest_of_its_bytes(kafka: FakeKafka, observer: Observer) -> None:
    digest = bytes_sha256(b"bytes")
    assert observer.dead_letter(digest) is None
    kafka.append(DEAD_LETTER, b"k", b"bytes", [(CODE_HEADER, b"SIGNER_NOT_AUTHORISED")])
    assert observer.wait_for(lambda: observer.dead_letter(digest) is not None, timeout_s=WAIT_S)
    assert observer.dead_letter(digest) == "SIGNER_NOT_AUTHORISED"
    assert observer.verdicts(digest) == ()


def test_the_code_is_in_the_header_that_the_apps_write() -> None:
    assert f"{PREFIX}code" == CODE_HEADER


def test_what_is_no_verdict_is_passed_over(kafka: FakeKafka, observer: Observer) -> None:
    kafka.append(COMPACTION_ACCEPTED, b"k", b"no verdict", [])
    kafka.append(DEAD_LETTER, b"k", b"later", [(CODE_HEADER, b"TOO_LARGE")])
    assert observer.wait_for(lambda: observer.dead_letter(bytes_sha256(b"later")) is not None, timeout_s=WAIT_S)
    assert observer.verdicts(bytes_sha256(b"no verdict")) == ()


def test_a_command_is_known_by_its_key_and_what_became_of_it_by_its_bytes(kafka: FakeKafka, observer: Observer) -> None:
    entry = AuditEntry(
        accepted=False,
        reason_code="SIGNER_NOT_AUTHORISED",
        record_json=None,
        command_sha256=bytes_sha256(b"command"),
        key_id="k1",
        command_partition=0,
        command_offset=7,
        command_json=None,
        heads_count=0,
        heads_sum="0" * 64,
    )
    kafka.append(QUARANTINE_COMMANDS, b"place", b"command", [])
    kafka.append(QUARANTINE_AUDIT, b"place", encode(entry), [])
    assert observer.wait_for(lambda: bool(observer.audited(b"command")), timeout_s=WAIT_S)
    assert observer.audited(b"command") == (entry,)
    assert observer.wait_for(lambda: bool(observer.commands(b"place")), timeout_s=WAIT_S)
    assert observer.commands(b"place") == (b"command",)
    assert observer.audited(b"another") == ()


def test_a_wait_ends_when_woken(observer: Observer) -> None:
    asked: list[bool] = []

    def condition() -> bool:
        asked.append(True)
        if len(asked) == 1:
            observer.wake()
        return len(asked) > 1

    assert not observer.wait_for(lambda: False, timeout_s=0.01)
    assert observer.wait_for(condition, timeout_s=0.01)

"""What is bounded, at its bound: the size of a request, the start of an app, the time of a record."""

from __future__ import annotations

import subprocess
import sys
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient

from infra.stack.paths import ROOT
from pratique.contract.avro import decode
from pratique.contract.records import Evidence, Verdict, VerdictOutcome
from pratique.contract.topics import DEAD_LETTER, EVIDENCE, MAX_ENVELOPE_BYTES, MAX_REQUEST_BYTES
from pratique.errors import TooLargeError
from streams.adapters.kafka_admin import KafkaAdmin
from streams.wire.dead_letter import PREFIX
from tests.integration.asking import KEEPS, VERDICT_TOPICS, Question, clean, send, verdicts_since
from tests.integration.platform import OTHER_TENANT
from tests.integration.raw import WAIT_S, KafkaRefusedError, until
from topologies.apps import SCAN

if TYPE_CHECKING:
    from pratique.client import Gate
    from tests.integration.platform import Platform

pytestmark = pytest.mark.containers

LOG_APPEND_TIME = 2
"""librdkafka's RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME."""


def sized(gate: Gate, size: int) -> Question:
    """Return a question whose request has exactly so many bytes; its summary preserves everything."""
    task_id = f"task-{uuid.uuid4().hex}"
    padding = size - 10_000
    while True:
        messages = [{"message_id": "m1", "role": "tool", "content": "x" * padding}]
        request = gate.request(messages, gate.draft(messages, KEEPS, task_id=task_id), task_id=task_id)
        question = Question(request, VerdictOutcome.ACCEPTED, frozenset())
        if len(question.value) == size:
            return question
        padding += size - len(question.value)


@pytest.mark.parametrize("size", [MAX_REQUEST_BYTES - 1, MAX_REQUEST_BYTES])
def test_request_up_to_the_limit_is_judged(gate: Gate, size: int) -> None:
    question = sized(gate, size)
    question.check(gate.ask(question.request, wait_s=WAIT_S))


def test_request_over_the_limit_is_refused_by_the_client(gate: Gate) -> None:
    with pytest.raises(TooLargeError):
        gate.publish(sized(gate, MAX_REQUEST_BYTES + 1).request)


def test_request_over_the_limit_is_quarantined(platform: Platform, gate: Gate) -> None:
    question = replace(
        sized(gate, MAX_REQUEST_BYTES + 1), outcome=VerdictOutcome.QUARANTINED, codes=frozenset({"TOO_LARGE"})
    )
    since = platform.log.ends(*VERDICT_TOPICS)
    send(platform, question)
    until(lambda: question.sha256 in verdicts_since(platform, since), "a verdict on a request that is too large")
    (record,) = verdicts_since(platform, since)[question.sha256]
    question.check(decode(record.value, Verdict))


def test_request_far_over_the_limit_is_a_dead_letter(platform: Platform, gate: Gate) -> None:
    """Compressed, it gets past the broker; nobody here decodes so much to find out whose it is."""
    question = sized(gate, 2 * MAX_REQUEST_BYTES)
    since = platform.log.ends(DEAD_LETTER, *VERDICT_TOPICS)
    digest = question.sha256.encode("ascii")
    send(platform, question, compression="zstd")

    def buried() -> bool:
        letters = platform.log.records(DEAD_LETTER, since=since)
        return (f"{PREFIX}value-sha256", digest) in [header for letter in letters for header in letter.headers]

    until(buried, "the dead letter of a request that is far too large")
    assert question.sha256 not in verdicts_since(platform, since)
    platform.tend()
    assert not platform.restarts


def test_request_beyond_the_topics_bound_is_refused_by_the_broker(platform: Platform, gate: Gate) -> None:
    with pytest.raises(KafkaRefusedError, match="MSG_SIZE_TOO_LARGE"):
        send(platform, sized(gate, MAX_REQUEST_BYTES + MAX_ENVELOPE_BYTES))


def test_tenant_beyond_its_quota_is_refused_and_another_is_served(platform: Platform, gate: Gate) -> None:
    platform.relaunch("intake", PRATIQUE_QUOTA_BURST="2", PRATIQUE_QUOTA_PER_SECOND="0.001")
    try:
        asked = [clean(gate, uuid.uuid4().hex) for _ in range(5)]
        pending = [gate.publish(question.request) for question in asked]
        verdicts = [item.waiter.future.result(WAIT_S) for item in pending]
        with platform.gate(OTHER_TENANT) as other:
            question = clean(other, uuid.uuid4().hex)
            question.check(other.ask(question.request, wait_s=WAIT_S))
    finally:
        platform.discard("intake")
    answers = sorted((verdict.outcome.value, [reason.code for reason in verdict.reasons]) for verdict in verdicts)
    assert answers == [("ACCEPTED", [])] * 2 + [("QUARANTINED", ["QUOTA_EXCEEDED"])] * 3


def test_evidence_carries_the_brokers_time(platform: Platform, gate: Gate) -> None:
    """What a writer says about time is overwritten: decided_at and the horizon go by the log."""
    since = platform.log.ends(EVIDENCE)
    question = clean(gate, uuid.uuid4().hex)
    verdict = gate.ask(question.request, wait_s=WAIT_S)
    question.check(verdict)
    records = platform.log.records(EVIDENCE, since=since)
    assert {record.timestamp_type for record in records} == {LOG_APPEND_TIME}
    mine = [
        record.timestamp
        for record in records
        if decode(record.value, Evidence).join_key.request_sha256 == question.sha256
    ]
    assert verdict is not None
    assert verdict.decided_at == mine[2]  # the record that completed it: OPENED, two receipts, DECIDED


def test_app_without_committed_offsets_refuses_to_start(platform: Platform) -> None:
    assert platform.terminate("scan") == 0
    kept = platform.committed(SCAN)
    admin = AdminClient({"bootstrap.servers": platform.bootstrap})  # held: a client that is collected answers nobody
    admin.delete_consumer_groups([SCAN.group])[SCAN.group].result(WAIT_S)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "topologies", "run", "scan"],
            check=False,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=platform.environment,
            timeout=WAIT_S,
        )
    finally:
        offsets = {partition: offset for (_, partition), offset in kept.items()}
        KafkaAdmin({"bootstrap.servers": platform.bootstrap}).commit(SCAN.group, SCAN.reads.name, offsets)
    assert done.returncode == 1
    assert "no committed offset" in done.stderr
    assert "topics apply" in done.stderr

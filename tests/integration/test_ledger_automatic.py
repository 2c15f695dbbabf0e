"""Automatic entries on real Kafka: taken once, over takeovers and kills, and taken out when their time is over."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pratique.contract.avro import decode
from pratique.contract.ledger_records import ReviewEntry
from streams.domain.quarantine.automatic import AutomaticAddition, sign_addition
from streams.domain.quarantine.record import Action, parse_record
from tests.integration.kafka_container import KafkaContainer
from tests.integration.ledgers import Ledger
from tests.integration.raw import until
from tests.unit.streams.domain.quarantine.automatics import AT_ONCE, addition
from tests.unit.streams.domain.quarantine.builders import signer

pytestmark = pytest.mark.containers

COUNT = 3


@pytest.fixture
def ledger(kafka: KafkaContainer, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(kafka.bootstrap, tmp_path, automatic=True, batch_records=2) as made:
        yield made


def additions(ledger: Ledger) -> list[AutomaticAddition]:
    return [addition(f"{number:064x}", decided_at=ledger.now_ms) for number in range(COUNT)]


def send(ledger: Ledger, made: list[AutomaticAddition]) -> None:
    ledger.send_envelopes((item, sign_addition(item, signer("gate"))) for item in made)


def actions(ledger: Ledger) -> list[tuple[int, Action]]:
    records = [parse_record(entry.record_json) for entry in ledger.heads().values()]
    return sorted(((record.revision, record.action) for record in records), key=str)


def states(ledger: Ledger) -> list[str]:
    newest = {record.key: record.value for record in ledger.records("review")}
    return sorted(decode(value, ReviewEntry).state for value in newest.values() if value is not None)


@pytest.mark.parametrize("step", ["check/write", "write/send_offsets", "send_offsets/commit", "commit/next"])
def test_a_killed_writer_s_successor_takes_each_addition_once(ledger: Ledger, step: str) -> None:
    made = additions(ledger)
    send(ledger, made + made)
    killed = ledger.write((step, 2), signal.SIGKILL)
    killed.await_interrupted()
    assert ledger.serve() == 0

    assert actions(ledger) == [(1, Action.ADD)] * COUNT
    assert states(ledger) == ["EFFECTIVE"] * COUNT
    assert len(ledger.audit()) == COUNT


def test_what_no_curator_confirmed_is_taken_out_by_whoever_holds_it_then(ledger: Ledger) -> None:
    send(ledger, additions(ledger))
    assert ledger.serve() == 0
    confirmed = ledger.command(Action.ADD, 1, fingerprint="0" * 64)
    ledger.send([confirmed])
    assert ledger.serve() == 0
    ledger.ahead_ms = AT_ONCE.expires_after_ms + 1_000
    successor = ledger.write()
    until(lambda: "EXPIRED" in states(ledger), "their time is over")
    until(lambda: (2, Action.REMOVE) in actions(ledger), "they are taken out")
    until(lambda: len(ledger.audit()) == 2 * COUNT, "all of it is recorded")
    assert successor.terminate() == 0

    assert states(ledger) == ["CONFIRMED", "EXPIRED", "EXPIRED"]
    assert actions(ledger) == [(2, Action.ADD), (2, Action.REMOVE), (2, Action.REMOVE)]
    third = ledger.write()
    third.await_ready()  # topic, reviews and audit agree, or it would not be
    assert third.terminate() == 0


def test_review_topic_made_anew_is_refused_until_an_operator_accepts_the_loss(ledger: Ledger) -> None:
    send(ledger, additions(ledger))
    assert ledger.serve() == 0
    ledger.make_anew("review")

    refused = ledger.write()
    assert refused.status() == 1
    assert "review partition" in refused.log.read_text("utf-8")

    ledger.send([ledger.command(Action.ADD, 1, fingerprint="0" * 64)])
    before = len(ledger.audit())
    ledger.accepts_lost_reviews = True
    assert ledger.serve() == 0
    lost = (False, "LEDGER_REVIEWS_LOST")
    said = [(entry.accepted, entry.reason_code) for entry in ledger.audit()][before:]
    assert said == [lost, (True, None)], "the audit says so before it says anything else"

    ledger.accepts_lost_reviews = False
    successor = ledger.write()
    successor.await_ready()
    assert successor.terminate() == 0
    assert actions(ledger) == [(1, Action.ADD)] * (COUNT - 1) + [(2, Action.ADD)]

"""Settings that no client can be made of are told by their names; a complaint that comes over and over is told once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from pratique.errors import ConfigurationError, KafkaUnavailableError, UnavailableError
from pratique.kafka import KafkaTransport
from pratique.kafka_clients import LOG, SELDOM_S, new_client, unanswered
from streams.adapters.kafka_admin import KafkaAdmin
from streams.adapters.kafka_log import KafkaLog
from streams.adapters.kafka_outbox import KafkaOutbox
from streams.adapters.ledger_log import LedgerLog

NOWHERE = {"bootstrap.servers": "127.0.0.1:1"}
TOLD = "d29yZA"
"""A value that no message may show."""

REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "unknown": ({"foo.bar": TOLD}, "PRATIQUE_KAFKA_FOO_BAR): librdkafka knows no such property"),
    "nameless": ({"": TOLD}, "PRATIQUE_KAFKA_): librdkafka knows no such property"),
    "callback": ({"error.cb": TOLD}, "PRATIQUE_KAFKA_ERROR_CB"),
    "logger": ({"logger": TOLD}, "PRATIQUE_KAFKA_LOGGER"),
    "topics": ({"default.topic.config": TOLD}, "PRATIQUE_KAFKA_DEFAULT_TOPIC_CONFIG"),
    "no number": ({"socket.timeout.ms": TOLD}, "PRATIQUE_KAFKA_SOCKET_TIMEOUT_MS"),
    "out of range": ({"socket.timeout.ms": "-73915"}, "PRATIQUE_KAFKA_SOCKET_TIMEOUT_MS): the value is out of"),
    "no such word": ({"security.protocol": TOLD}, "PRATIQUE_KAFKA_SECURITY_PROTOCOL"),
    "no group": ({"group.id": ""}, "PRATIQUE_KAFKA_GROUP_ID"),
    "no authority's file": (
        {"security.protocol": "SSL", "ssl.ca.location": f"/nowhere/{TOLD}"},
        "PRATIQUE_KAFKA_SSL_CA_LOCATION): the file that it names can't be read",
    ),
    "no key's file": (
        {"security.protocol": "SSL", "ssl.key.location": f"/nowhere/{TOLD}"},
        "PRATIQUE_KAFKA_SSL_KEY_LOCATION): the file that it names can't be read",
    ),
    "no password": (
        {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.username": TOLD},
        "PRATIQUE_KAFKA_SASL_PASSWORD): must be set",
    ),
    "no mechanism": ({"security.protocol": "SASL_PLAINTEXT", "sasl.password": TOLD}, "PRATIQUE_KAFKA_SASL_MECHANISM"),
    "no plugin": ({"plugin.library.paths": f"/nowhere/{TOLD}"}, "PRATIQUE_KAFKA_"),
    "no UTF-8": ({"client.id": f"{TOLD}\udcff"}, "PRATIQUE_KAFKA_CLIENT_ID"),
}
USERS: dict[str, Callable[[Mapping[str, str]], object]] = {
    "administrator": KafkaAdmin,
    "log": lambda given: KafkaLog(given, "topic", "group"),
    "outbox": lambda given: KafkaOutbox(given, {}),
    "ledger's log": LedgerLog,
    "client's consumer": lambda given: KafkaTransport("127.0.0.1:1", given).subscribe(["topic"]),
    "client's producer": lambda given: KafkaTransport("127.0.0.1:1", given).publish("topic", b"k", b"v", []),
}


@pytest.mark.parametrize("kind", [AdminClient, Consumer, Producer])
@pytest.mark.parametrize(("settings", "said"), REFUSED.values(), ids=REFUSED)
def test_what_a_client_refuses_is_told_by_name_and_not_by_value(
    kind: Callable[[dict[str, Any]], object], settings: dict[str, str], said: str
) -> None:
    given = {**NOWHERE, "group.id": "group", **settings} if kind is Consumer else {**NOWHERE, **settings}
    with pytest.raises(ConfigurationError) as refused:
        new_client(kind, given)
    message = str(refused.value)
    assert said in message
    assert TOLD not in message
    assert "73915" not in message


@pytest.mark.parametrize("use", USERS.values(), ids=USERS)
def test_whoever_uses_kafka_tells_so(use: Callable[[Mapping[str, str]], object]) -> None:
    with pytest.raises(ConfigurationError, match="PRATIQUE_KAFKA_FOO_BAR"):
        use({**NOWHERE, "foo.bar": "1"})


def test_a_client_that_there_are_no_resources_for_is_no_fault_of_settings() -> None:
    def kind(_: dict[str, Any]) -> object:
        raise KafkaException(KafkaError(KafkaError._CRIT_SYS_RESOURCE))

    with pytest.raises(KafkaUnavailableError, match="_CRIT_SYS_RESOURCE"):
        new_client(kind, NOWHERE)


def test_a_complaint_is_logged_once_in_a_while(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("pratique.kafka_clients.time.monotonic", lambda: now)
    with caplog.at_level(logging.INFO, LOG.name):
        for _ in range(100):
            LOG.error("%s [%s] %s", "TEST-FAIL", "rdkafka#consumer-1", "Connection refused")
            LOG.error("%s [%s] %s", "TEST-ERROR", "rdkafka#consumer-2", "all brokers are down")
            LOG.info("%s", "TEST-FAIL")
        assert sorted(record.levelno for record in caplog.records) == [logging.INFO] * 100 + [logging.ERROR] * 2
        caplog.clear()
        now += SELDOM_S
        LOG.error("%s [%s] %s", "TEST-FAIL", "rdkafka#consumer-9", "Connection refused")
        assert len(caplog.records) == 1


def test_clients_log_there(tmp_path: Path) -> None:
    made: list[dict[str, Any]] = []
    new_client(made.append, {"ssl.ca.location": str(tmp_path)})
    assert made == [{"ssl.ca.location": str(tmp_path), "logger": LOG}]


@pytest.mark.parametrize(
    "code", [KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._RESOLVE, KafkaError._ALL_BROKERS_DOWN]
)
def test_where_nobody_answered_the_address_and_the_next_step_are_told(code: int) -> None:
    told = unanswered(NOWHERE, "topics", KafkaException(KafkaError(code)))
    assert told.startswith("no broker at 127.0.0.1:1 (PRATIQUE_BOOTSTRAP) answered for topics")
    assert "is it running" in told


def test_a_refusal_is_told_by_its_name() -> None:
    told = unanswered(NOWHERE, "topics", KafkaException(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)))
    assert told == "the cluster did not answer for topics: TOPIC_AUTHORIZATION_FAILED"


@pytest.mark.parametrize(
    ("place", "ask"),
    [
        ("kafka_log", lambda: KafkaLog(NOWHERE, "topic", "group").partition_count()),
        ("ledger_log", lambda: LedgerLog(NOWHERE).partition_count("topic")),
    ],
)
def test_whoever_is_not_answered_names_the_address(
    place: str, ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"streams.adapters.{place}.TIMEOUT_SECONDS", 0.2)
    with pytest.raises(UnavailableError, match="PRATIQUE_BOOTSTRAP"):
        ask()

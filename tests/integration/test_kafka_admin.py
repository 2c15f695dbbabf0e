"""The administrator's connection against a broker that falls silent."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import AdminClient

from streams.adapters import kafka_admin
from streams.adapters.kafka_admin import KafkaAdmin

if TYPE_CHECKING:
    from tests.integration.kafka_container import KafkaContainer

pytestmark = pytest.mark.containers


def test_what_one_connection_gets_no_answer_to_is_asked_over_another(
    kafka: KafkaContainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[dict[str, Any]] = []

    def connect(configuration: dict[str, Any]) -> AdminClient:
        connections.append(configuration)
        if len(connections) == 2:
            kafka.unpause()
        return AdminClient(configuration)

    monkeypatch.setattr(kafka_admin, "AdminClient", connect)
    monkeypatch.setattr(kafka_admin, "ATTEMPT_SECONDS", 1.0)
    topic = f"after-silence-{uuid.uuid4().hex}"
    admin = KafkaAdmin({"bootstrap.servers": kafka.bootstrap})
    kafka.pause()
    admin.create(topic, 2, 1, {"retention.ms": "86400000"})
    assert len(connections) >= 2
    found = admin.topics((topic,))[topic]
    assert (found.partitions, found.configuration["retention.ms"]) == (2, "86400000")

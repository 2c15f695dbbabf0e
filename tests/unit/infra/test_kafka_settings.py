from __future__ import annotations

import yaml

from infra.stack.kafka_settings import broker_settings, container_environment, variable
from infra.stack.paths import ROOT
from pratique.contract.topics import MAX_ENVELOPE_BYTES, MAX_REQUEST_BYTES


def test_compose_runs_the_official_image_with_the_settings_of_the_embedded_broker() -> None:
    compose = yaml.safe_load((ROOT / "infra" / "compose.yaml").read_text("utf-8"))

    assert compose["services"]["kafka"]["environment"] == container_environment("127.0.0.1:9092")
    assert compose["services"]["kafka"]["ports"] == ["127.0.0.1:9092:9092"]


def test_the_largest_request_fits_with_its_envelope_and_kafkas_overhead() -> None:
    overhead = 64 * 1024
    settings = broker_settings()

    assert int(settings["message.max.bytes"]) == MAX_REQUEST_BYTES + MAX_ENVELOPE_BYTES + overhead
    assert settings["replica.fetch.max.bytes"] == settings["message.max.bytes"]


def test_variables_follow_the_official_images_spelling() -> None:
    assert variable("log.cleaner.dedupe.buffer.size") == "KAFKA_LOG_CLEANER_DEDUPE_BUFFER_SIZE"
    assert variable("a_b-c.d") == "KAFKA_A__B___C_D"

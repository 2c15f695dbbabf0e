"""The embedded broker and the stack around it, as `make up` and the benchmarks use them (needs Java and the jars)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psutil
import pytest

from infra.stack.broker import EmbeddedBroker
from infra.stack.stack import Stack, recorded_facts, registry_of, stack_file_of, stop_recorded
from pratique.errors import ConfigurationError, UnavailableError
from tests.integration.test_kafka_container import fresh_topic, publish, read

if TYPE_CHECKING:
    from pathlib import Path


def test_the_embedded_broker_keeps_address_and_records_over_a_kill(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "data", log_dir=tmp_path / "logs") as broker:
        address = broker.bootstrap
        topic = fresh_topic(address)
        publish(address, topic, b"before the power cut")
        with pytest.raises(ConfigurationError, match="already running"):
            broker.start()

        broker.kill()
        with pytest.raises(UnavailableError, match="not running"):
            _ = broker.pid
        assert broker.start() == address
        publish(address, topic, b"after it")

        assert read(address, topic, 2) == [b"before the power cut", b"after it"]
        pid = broker.pid
    assert not psutil.pid_exists(pid)


def test_a_port_that_is_taken_is_reported_with_where_to_look(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "first", log_dir=tmp_path / "first-logs") as first:
        second = EmbeddedBroker(tmp_path / "second", log_dir=tmp_path / "second-logs", ports=first.ports)
        with pytest.raises(UnavailableError, match=r"broker\.log and broker\.out in .*second-logs"):
            second.start()
        assert first.is_running
        assert not second.is_running


def test_a_stack_left_running_is_found_and_ended_by_its_files(tmp_path: Path) -> None:
    stack = Stack(tmp_path, apps=())
    facts = stack.start()
    try:
        assert recorded_facts(tmp_path) == facts == json.loads(stack_file_of(tmp_path).read_text("utf-8"))
        assert json.loads(stack.run_cli("topics", "plan", "--json")) == []
        pid = stack.broker.pid
    finally:
        ended = stop_recorded(tmp_path)

    assert ended == ["broker"]
    assert not stack.broker.is_running
    assert not psutil.pid_exists(pid)
    assert recorded_facts(tmp_path) is None
    assert not registry_of(tmp_path).exists()

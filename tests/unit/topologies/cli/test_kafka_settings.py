"""Settings of Kafka that nothing can be done with are wrong usage, whichever command meets them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from topologies.__main__ import main

COMMANDS = (
    "topics plan",
    "topics apply",
    "run intake",
    "run ledger",
    "dead-letter list",
    "dead-letter show 0 0",
    "dead-letter replay 0 0",
    "ledger verify --stack nowhere.json",
    "quarantine list --stack nowhere.json",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_property_that_librdkafka_does_not_know_is_wrong_usage(command: str) -> None:
    found = CliRunner().invoke(main, command.split(), env={"PRATIQUE_KAFKA_FOO_BAR": "d29yZA"})
    assert (found.exit_code, found.stdout) == (2, ""), found.exception
    assert "PRATIQUE_KAFKA_FOO_BAR" in found.stderr
    assert "d29yZA" not in found.stderr


def test_doctor_says_so_row_by_row() -> None:
    found = CliRunner().invoke(main, ["doctor", "--json"], env={"PRATIQUE_KAFKA_FOO_BAR": "d29yZA"})
    assert found.exit_code in {1, 3}, found.exception
    rows = {row["what"]: row for row in json.loads(found.stdout)}
    assert "PRATIQUE_KAFKA_FOO_BAR" in rows["broker"]["detail"]
    assert rows["broker"]["health"] == "unknown"
    assert "scanner" in rows

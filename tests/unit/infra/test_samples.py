"""The samples are attributed, and their parts belong together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.stack import samples
from tests.samples.generate import SPECIFICATIONS

README_ROWS = [
    line for line in (samples.SAMPLES / "README.md").read_text("utf-8").splitlines() if line.startswith("| `")
]


def file_of(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((samples.SAMPLES / "conversations" / f"{name}.json").read_text("utf-8"))
    return value


def test_every_specification_has_its_conversation_and_its_summary() -> None:
    names = {item.name for item in SPECIFICATIONS}
    assert names == set(samples.names())
    assert names == {path.stem for path in (samples.SAMPLES / "summaries").iterdir()}


@pytest.mark.parametrize("name", samples.names())
def test_the_readme_says_where_a_conversation_is_from(name: str) -> None:
    (row,) = [line for line in README_ROWS if line.startswith(f"| `{name}` ")]
    value = file_of(name)
    repository, _, path = value["source"].partition(":")
    assert value["row"] in row
    assert value["licence"] in row
    assert value["left_out"] in row
    same_as_above = "| the same |" in row
    assert same_as_above or (f"github.com/{repository})" in row and f"`{path}`" in row)
    if value["planted"] is not None:
        assert value["planted"]["row"] in row


def test_the_planted_instruction_is_in_a_tools_output_alone() -> None:
    planted = samples.conversation("planted-approval")
    assert planted.planted
    assert [message.role.value for message in planted.messages if planted.planted in message.content] == ["tool"]


def test_samples_are_of_some_hundred_to_some_ten_thousand_characters() -> None:
    sizes = sorted(samples.conversation(name).characters for name in samples.names())
    assert sizes[0] > 1_000
    assert 30_000 < sizes[-1] < 60_000

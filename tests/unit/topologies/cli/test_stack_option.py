"""Where commands find the stack: the environment, then what ``make up`` left, which may be damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from topologies.__main__ import main
from topologies.cli.stack_options import stack_settings

COMMANDS = (
    "ledger show --tenant=tenant-a --fingerprint=" + "e" * 64,
    "ledger verify",
    "ledger rebuild",
    "ledger keys status",
    "ledger keys left",
    "quarantine list",
    "submit",
    "verdict get x",
    "recall verify x",
    "dead-letter list",
    "dead-letter show 0 0",
    "dead-letter replay 0 0",
    "topics plan",
    "topics apply",
    "doctor",
)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"bootstrap": "\\ud800"}'])
def test_a_file_that_is_damaged_is_wrong_usage_and_says_what_to_do(
    command: str, content: bytes, tmp_path: Path
) -> None:
    stack = tmp_path / "stack.json"
    stack.write_bytes(content)
    found = CliRunner().invoke(main, [*command.split(), "--stack", str(stack)])
    assert (found.exit_code, found.stdout) == (2, ""), found.exception
    assert f"{stack} is damaged" in found.stderr
    assert "make down, then make up" in found.stderr


def test_the_environment_goes_before_the_file_and_neither_has_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = tmp_path / "stack.json"
    stack.write_text(json.dumps({"bootstrap": "file:1", "keys": "/file", "redis_url": None, "metrics": {}}))
    monkeypatch.setenv("PRATIQUE_KEYS", "/environment")
    found = stack_settings(stack)
    assert (found.bootstrap, found.keys, found.redis_url) == ("file:1", "/environment", "")
    assert stack_settings(tmp_path / "none.json").keys == "/environment"


@pytest.mark.parametrize("command", ["verdict get x", "recall verify x"])
def test_a_setting_that_neither_says_is_named_and_what_to_do(command: str, tmp_path: Path) -> None:
    found = CliRunner().invoke(main, [*command.split(), "--stack", str(tmp_path / "none.json")])
    assert (found.exit_code, "PRATIQUE_POLICY_REPOSITORY" in found.stderr) == (2, True)
    assert "--stack" in found.stderr
    assert "operator.md" in found.stderr


@pytest.mark.parametrize("command", ["verdict get x", "recall verify x"])
def test_what_the_file_says_is_gone_by(command: str, tmp_path: Path) -> None:
    """A state folder that can't be made is told after the repository and its root were found."""
    (tmp_path / "file").write_text("")
    (tmp_path / "root.json").write_text("{}")
    facts = {"policy_repository": tmp_path, "policy_root": tmp_path / "root.json", "policy_state": tmp_path / "file"}
    stack = tmp_path / "stack.json"
    stack.write_text(json.dumps({name: str(place) for name, place in facts.items()}))
    found = CliRunner().invoke(main, [*command.split(), "--stack", str(stack)])
    assert (found.exit_code, "PRATIQUE_POLICY_STATE can't be" in found.stderr) == (2, True), found.stderr

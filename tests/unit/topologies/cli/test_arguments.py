"""What can't be an argument is wrong usage: a script that asks the ledger reads exit 1 as "not quarantined"."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

from streams.domain.quarantine.command import MAX_REASON_CHARACTERS
from topologies.__main__ import main
from topologies.cli.arguments import MAX_CONTENT_BYTES

WHY = {"--incident": "INC-1", "--reason": "seen by two"}
NAMED = "e" * 64
ABOUT = {"--tenant": "tenant-a", "--fingerprint": NAMED}
COMMANDS: dict[str, tuple[str, ...]] = {
    "ledger show": ("--tenant", "--fingerprint"),
    "ledger add": ("--tenant", "--fingerprint", "--incident", "--reason", "--actor", "--policy-id"),
    "ledger remove": ("--tenant", "--fingerprint", "--incident", "--reason", "--authentication-event"),
    "ledger keys retire 2026-1": ("--actor", "--reason"),
    "quarantine list": ("--tenant",),
    f"quarantine confirm {NAMED}": ("--tenant", "--incident", "--reason", "--actor"),
    f"quarantine release {NAMED}": ("--tenant", "--incident", "--reason", "--actor"),
}
IDS = ("a/b", "", "..", "-x", "x" * 129, "caf\u00e9", "a\n")
WRONG = {
    "--fingerprint": ("zz", "", "e" * 63, "E" * 64, "e" * 64 + "\n"),
    "--reason": ("", " \t", "x" * (MAX_REASON_CHARACTERS + 1), "\udcff", "a\x00b"),
}
NAMES = [(command, name) for command, names in COMMANDS.items() for name in names]
CASES = [(command, name, value) for command, name in NAMES for value in WRONG.get(name, IDS)]


def given(command: str, **changed: str) -> list[str]:
    """Return a command with every option it needs, some of them changed."""
    needed = {name: value for name, value in {**ABOUT, **WHY}.items() if name in COMMANDS.get(command, ())}
    stated = {**needed, **{f"--{name}": value for name, value in changed.items()}}
    return [*command.split(), *(f"{name}={value}" for name, value in stated.items())]


@pytest.mark.parametrize(("command", "name", "value"), CASES)
def test_an_option_that_is_none_is_wrong_usage(command: str, name: str, value: str) -> None:
    found = CliRunner().invoke(main, given(command, **{name.removeprefix("--"): value}))
    assert (found.exit_code, name in found.stderr) == (2, True), (found.exception, found.stderr)


@pytest.mark.parametrize("start", ["", "eeeeeee", "zzzzzzzz", "E" * 8, "e" * 65])
def test_no_beginning_of_a_fingerprint_names_no_entry(start: str) -> None:
    command = ["quarantine", "confirm", "--tenant=tenant-a", "--reason=x", "--", start]
    found = CliRunner().invoke(main, command)
    assert (found.exit_code, "hexadecimal digits" in found.stderr) == (2, True)


CONTENTS = {"UTF-8": b"d29yZA \xff", "empty": b"", "bytes": b"x" * (MAX_CONTENT_BYTES + 1)}
READERS = {
    "show": ["ledger", "show", "--tenant=tenant-a"],
    "add": ["ledger", "add", "--tenant=tenant-a", "--incident=INC-1", "--reason=x"],
    "remove": ["ledger", "remove", "--tenant=tenant-a", "--incident=INC-1", "--reason=x"],
}


@pytest.mark.parametrize(("reader", "word"), [*product(READERS, CONTENTS)])
def test_a_file_that_holds_no_content_is_wrong_usage(reader: str, word: str, tmp_path: Path) -> None:
    file = tmp_path / "content"
    file.write_bytes(CONTENTS[word])
    found = CliRunner().invoke(main, [*READERS[reader], str(file)])
    assert (found.exit_code, found.stdout) == (2, ""), found.exception
    assert word in found.stderr
    assert "d29yZA" not in found.stderr

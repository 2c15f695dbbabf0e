"""What commands read: a closed standard input is wrong usage, whichever command reads it."""

from __future__ import annotations

import importlib
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from pratique.errors import ConfigurationError
from tests.fakes.policy import DEMO_SOURCE
from topologies.__main__ import main
from topologies.cli.inputs import opened_input

scan_module = importlib.import_module("topologies.cli.scan")

SOURCE = str(DEMO_SOURCE)


@pytest.mark.parametrize(
    "arguments",
    [
        ["scan", "--jsonl", "--workers", "1"],
        ["scan", "-", "--workers", "1"],
        ["submit"],
        ["policy", "diff", SOURCE, SOURCE, "-"],
        ["policy", "explain", "-", "--source", SOURCE],
        ["policy", "prompt", "--request", "-", "--source", SOURCE],
        ["policy", "test", "-", "--source", SOURCE],
        ["ledger", "add", "--tenant", "tenant-a", "-"],
        ["quarantine", "release", "--content", "-"],
        ["ledger", "keys", "fill", "-"],
        ["ledger", "remove", "--tenant", "tenant-a", "-"],
    ],
    ids=" ".join,
)
def test_a_closed_standard_input_is_wrong_usage(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(scan_module, "Scanner", lambda *_, **__: Closed())
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert (ended.value.code, "standard input is closed" in capsys.readouterr().err) == (2, True)


class Closed:
    """A scanner that is never asked."""

    async def start(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    with ExitStack() as opened, pytest.raises(ConfigurationError, match="can't be read"):
        opened_input(tmp_path / "none", opened)

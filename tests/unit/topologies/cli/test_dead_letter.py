"""What ``pratique dead-letter show`` writes content to: a new file that nobody else may read, from the first moment."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streams.adapters.kafka_log import ReadRecord
from topologies.bootstrap.dead_letters import DeadLetter
from topologies.cli import dead_letter as command

CONTENT = b"d29yZA"


@pytest.fixture(autouse=True)
def letter(monkeypatch: pytest.MonkeyPatch) -> None:
    record = ReadRecord("gate.dead-letter", 3, 7, 1, b"k", CONTENT, ())
    monkeypatch.setattr(command, "dead_letter_at", lambda *_: DeadLetter(3, 7, {"code": "TOO_LARGE"}, record))


def show(file: Path) -> Result:
    return CliRunner().invoke(command.dead_letter, ["show", "3", "7", "--content-to", str(file), "--json"])


def test_a_file_is_made_that_only_its_owner_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    real: Callable[..., int] = os.open

    def opened(*args: object, **kwargs: object) -> int:
        descriptor = real(*args, **kwargs)
        if args[0] == tmp_path / "content":
            modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return descriptor

    monkeypatch.setattr(os, "open", opened)
    before = os.umask(0)
    try:
        found = show(tmp_path / "content")
    finally:
        os.umask(before)
    assert (found.exit_code, (tmp_path / "content").read_bytes(), modes) == (0, CONTENT, [0o600])
    assert CONTENT.decode() not in found.output


@pytest.mark.parametrize("kind", ["file", "link", "link to nothing", "no folder"])
def test_what_is_there_is_neither_overwritten_nor_followed(kind: str, tmp_path: Path) -> None:
    other, place = tmp_path / "other", tmp_path / "content"
    if kind != "link to nothing":
        other.write_text("mine")
    if kind == "file":
        place.write_text("mine")
    elif kind == "no folder":
        place = other / "content"
    else:
        place.symlink_to(other)
    found = show(place)
    assert (found.exit_code, found.stdout) == (2, ""), found.exception
    assert f"pratique: file {place} can't be written" in found.stderr
    assert other.exists() == (kind != "link to nothing")
    assert not other.exists() or other.read_text() == "mine"

"""What ``pratique ledger keys`` reads, shows and ends with."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest
from click.testing import CliRunner, Result

from topologies.bootstrap.ledger_generations import Carried, Filled, GenerationState
from topologies.cli import ledger_keys as command
from topologies.cli.arguments import MAX_CONTENT_BYTES


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command.keys, list(arguments))


@dataclass
class Filling:
    """What ``fill`` was given, and how many entries it leaves."""

    texts: list[str]
    left: int = 0

    def fill(self, _: object, texts: Iterable[str], **__: Any) -> Filled:  # noqa: ANN401 - why, who and how long
        self.texts.extend(texts)
        return Filled({Carried.CARRIED: len(self.texts)}, self.left)

    @classmethod
    def of(cls, monkeypatch: pytest.MonkeyPatch) -> Self:
        made = cls([])
        monkeypatch.setattr(command, "fill", made.fill)
        return made


@pytest.fixture
def filling(monkeypatch: pytest.MonkeyPatch) -> Filling:
    return Filling.of(monkeypatch)


WHY = ("--incident", "ROT-1", "--reason", "yearly")


def test_a_file_is_a_text_or_each_line_is_one(filling: Filling, tmp_path: Path) -> None:
    file = tmp_path / "texts"
    file.write_text('"one\\ntwo"\n"three"', "utf-8")
    assert run("fill", str(file), *WHY).exit_code == 0
    assert filling.texts == ['"one\\ntwo"\n"three"']
    filling.texts.clear()
    assert run("fill", str(file), "--lines", *WHY).exit_code == 0
    assert filling.texts == ["one\ntwo", "three"]


def test_what_is_left_ends_with_1(filling: Filling, tmp_path: Path) -> None:
    filling.left = 2
    file = tmp_path / "text"
    file.write_text("text", "utf-8")
    told = run("fill", str(file), *WHY, "--json")
    assert (told.exit_code, json.loads(told.stdout)["left"]) == (1, 2)


@pytest.mark.parametrize(
    "content", [b"\xff", b'{"a": 1}', b"nonsense", b'"\xff"', b'"\\ud800"', b"[" * 100_000, b'"\\u0000"']
)
def test_a_line_that_is_no_text_is_refused_without_its_content(
    filling: Filling, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "texts"
    file.write_bytes(b'"first"\n' + content)
    told = run("fill", str(file), "--lines", *WHY)
    assert (told.exit_code, filling.texts) == (2, ["first"])
    assert "JSON text" in told.stderr
    assert content.decode("latin-1") not in told.stderr


@pytest.mark.parametrize("lines", [[], ["--lines"]])
def test_content_has_a_bound(filling: Filling, tmp_path: Path, lines: list[str]) -> None:
    file = tmp_path / "text"
    file.write_bytes(b'"' + b"x" * (MAX_CONTENT_BYTES - 2) + b'"')
    assert run("fill", str(file), *lines, *WHY).exit_code == 0
    filling.texts.clear()
    file.write_bytes(b'"' + b"x" * (MAX_CONTENT_BYTES - 1) + b'"')
    told = run("fill", str(file), *lines, *WHY)
    assert (told.exit_code, filling.texts) == (2, [])
    assert str(MAX_CONTENT_BYTES) in told.stderr


def test_of_a_line_that_is_too_long_no_more_is_read_than_shows_it() -> None:
    class Endless(io.BytesIO):
        asked: list[int | None]

        def readline(self, size: int | None = -1, /) -> bytes:
            self.asked = [size]
            assert size is not None
            return b"x" * size

    file = Endless()
    assert len(next(command._lines(file))) == MAX_CONTENT_BYTES + 1
    assert file.asked == [MAX_CONTENT_BYTES + 1]


@pytest.mark.parametrize(
    ("state", "quarantined", "is_here", "exit_code"),
    [
        ("current", 0, True, 0),
        ("current", 0, False, 1),
        ("old", 1, False, 1),
        ("old", 0, False, 0),
        ("old", 1, True, 0),
    ],
)
def test_a_key_that_look_ups_need_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, state: str, quarantined: int, *, is_here: bool, exit_code: int
) -> None:
    stated = GenerationState("2026-1", state, is_here, 1, quarantined, 0)
    monkeypatch.setattr(command, "status", lambda *_: [stated])
    told = run("status", "--json")
    needed = ["2026-1"] if exit_code else []
    assert (told.exit_code, json.loads(told.stdout)["missing_keys"]) == (exit_code, needed)
    assert run("status").exit_code == exit_code

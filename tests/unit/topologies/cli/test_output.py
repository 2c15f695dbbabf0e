"""Tables show strangers' ids as they are, whole, and obey nothing in them."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import click
import pytest
from click.testing import CliRunner

from pratique.errors import RefusedError
from topologies.__main__ import main
from topologies.cli.output import print_json, print_table, shown, speaks


def test_a_cell_is_no_markup_and_writes_nothing_but_letters(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    print_table("[/x] :a:", ("what",), [["[/y]"], ["\x1b[2J"], ["a\nb\u202e"], ["[red]z[/red]"]])
    said = capsys.readouterr().out
    for text in ("[/x] :a:", "[/y]", "\\x1b[2J", "a\\nb\\u202e", "[red]z[/red]"):
        assert text in said
    assert "\x1b[2J" not in said


def test_nothing_is_cut_in_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    print_table("narrow", ("what", "value"), [["fingerprint", "e" * 64]])
    said = capsys.readouterr().out
    assert said.count("e") - "fingerprint".count("e") - "value".count("e") == 64
    assert "\u2026" not in said


def test_what_is_printable_is_shown_as_it_is() -> None:
    assert shown("caf\u00e9 \u6f22") == "caf\u00e9 \u6f22"


def test_an_error_writes_nothing_but_letters(capsys: pytest.CaptureFixture[str]) -> None:
    @speaks
    def refused() -> None:
        raise RefusedError("no \x1b[2J")

    with pytest.raises(SystemExit) as ended:
        refused()
    assert (ended.value.code, capsys.readouterr().err) == (1, "pratique: no \\x1b[2J\n")


TEXT = "d29yZA"
"""What an error's text may quote, and nobody may print."""


@pytest.mark.parametrize(
    "error",
    [
        ValueError(TEXT),
        OSError(5, TEXT),
        RecursionError(TEXT),
        KeyError(TEXT),
        UnicodeEncodeError("utf-8", TEXT, 0, 1, TEXT),
        RuntimeError(TEXT),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_an_error_that_nobody_expected_is_no_answer_and_says_only_what_it_is(
    error: Exception, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRATIQUE_LOG_LEVEL", level)

    @click.command()
    @speaks
    def broken() -> None:
        raise error

    found = CliRunner().invoke(broken)
    assert (found.exit_code, found.stdout) == (3, "")
    assert f"unexpected {type(error).__name__}" in found.stderr
    assert TEXT not in found.stderr
    assert isinstance(error, OSError) == ("(EIO)" in found.stderr)
    assert ("test_output.py" in found.stderr) == (level == "DEBUG")
    assert level == "DEBUG" or found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"), [(click.UsageError("no"), 2), (click.Abort(), 1), (click.exceptions.Exit(7), 7)]
)
def test_what_click_raises_stays_its_own(error: Exception, code: int) -> None:
    @click.command()
    @speaks
    def told() -> None:
        raise error

    assert CliRunner().invoke(told).exit_code == code


def test_a_reader_that_went_away_gets_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # set back afterwards

    @speaks
    def told() -> None:
        raise BrokenPipeError

    with pytest.raises(SystemExit) as ended:
        told()
    assert ended.value.code == 3


class Gone(io.StringIO):
    """A standard output that nobody reads."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def write(self, _text: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_went_away_from_a_table_gets_no_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = (tmp_path / "out").open("wb")
    monkeypatch.setattr(sys, "stdout", Gone(file.fileno()))

    @speaks
    def told() -> None:
        print_table("table", ("what",), [["that"]])

    with file, pytest.raises(SystemExit) as ended:
        told()
    assert ended.value.code == 3


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_an_encoding_lacks_is_shown_as_its_escape(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding))

    @speaks
    def told() -> None:
        print_json({"text": "caf\u00e9 \u6f22 \U0001f600"})
        print_table("\u6f22", ("what",), [["\u6f22"]])

    told()
    sys.stdout.flush()
    text = written.getvalue().decode(encoding)
    document, end = json.JSONDecoder().raw_decode(text)
    assert document == {"text": "caf\u00e9 \u6f22 \U0001f600"}
    assert ("\u6f22" if encoding == "utf-8" else "\\u6f22") in text[end:]


def commands(group: click.Group, *before: str) -> Iterator[tuple[str, click.Command]]:
    """Yield every command there is, by what it is called by."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, *before, name)
        else:
            yield " ".join((*before, name)), found


def test_every_command_that_prints_a_result_has_json() -> None:
    without = {
        name
        for name, found in commands(cast("click.Group", main))
        if not any("--json" in parameter.opts for parameter in found.params)
    }
    assert without == {"run"}


def test_no_command_ends_as_the_answer_no_by_an_error_that_nobody_expected() -> None:
    @speaks
    def told() -> None:
        pass

    unspoken = {
        name
        for name, found in commands(cast("click.Group", main))
        if getattr(found.callback, "__code__", None) is not told.__code__
    }
    assert unspoken == set()

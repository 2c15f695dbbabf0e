"""Tables show strangers' ids as they are, whole, and obey nothing in them."""

from __future__ import annotations

import pytest

from pratique.errors import RefusedError
from topologies.cli.output import print_table, shown, speaks


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

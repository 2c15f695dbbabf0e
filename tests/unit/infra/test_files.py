"""No file of code is longer than one can hold in mind."""

from __future__ import annotations

from typing import Final

from infra.stack.paths import ROOT

FOLDERS: Final = ("infra", "sdk", "streams", "tests", "topologies")
MOST_LINES: Final = 500


def test_no_file_is_too_long() -> None:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    lengths = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8").count("\n") for path in files}
    assert lengths
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}

"""A result is there whole, or what was there before is."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from pratique.errors import ConfigurationError
from topologies.cli.result_file import result_file


def write(path: Path, text: str = "new") -> None:
    with result_file(path) as file:
        file.write(text)


def test_it_is_there_once_all_went_well(tmp_path: Path) -> None:
    with result_file(tmp_path / "a") as file:
        file.write("caf\u00e9")
        assert not (tmp_path / "a").exists()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", "caf\u00e9".encode())]


@pytest.mark.parametrize("old", ["old", None])
def test_what_was_there_stands_where_the_work_fails(tmp_path: Path, old: str | None) -> None:
    path = tmp_path / "a"
    if old is not None:
        path.write_text(old)
    with pytest.raises(UnicodeEncodeError):
        write(path, "\ud800")
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ([] if old is None else [old])


def test_a_file_keeps_its_mode_and_a_link_its_place(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "link").symlink_to("a")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_new_file_has_the_mode_of_any_other(tmp_path: Path) -> None:
    write(tmp_path / "a")
    (tmp_path / "b").write_text("other")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_pipe_is_written_and_stays_one(tmp_path: Path) -> None:
    path, got = tmp_path / "pipe", list[str]()
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_text()))
    reader.start()
    write(path)
    reader.join()
    assert (got, path.is_fifo()) == (["new"], True)


def test_a_descriptor_of_a_pipe_is_written() -> None:
    reading, writing = os.pipe()
    write(Path(f"/dev/fd/{writing}"))
    os.close(writing)
    with open(reading, encoding="utf-8") as got:  # noqa: PTH123 - a descriptor
        assert got.read() == "new"


def test_a_descriptor_of_a_file_is_written_and_stays_the_file(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w") as file:
        before = (tmp_path / "a").stat().st_ino
        write(Path(f"/dev/fd/{file.fileno()}"))
    assert ((tmp_path / "a").read_text(), (tmp_path / "a").stat().st_ino) == ("new", before)


@pytest.mark.parametrize("place", ["none/file", "."])
def test_what_cannot_be_written_is_wrong_usage(tmp_path: Path, place: str) -> None:
    with pytest.raises(ConfigurationError, match="can't be written"):
        write(tmp_path / place)

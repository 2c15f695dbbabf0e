"""Each process has a folder of its own for policy, and finds the one of an earlier run again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pratique.errors import ConfigurationError
from topologies.bootstrap.policy_store import claimed_folder

HOLD = """
import sys
from pathlib import Path
from topologies.bootstrap.policy_store import claimed_folder
print(claimed_folder(Path(sys.argv[1]), "intake").name, flush=True)
sys.stdin.read()
"""


def other(root: Path) -> subprocess.Popen[str]:
    """Start a process that claims a folder and holds it until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_processes_never_share_and_a_later_one_finds_what_an_earlier_left(tmp_path: Path) -> None:
    with other(tmp_path) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "intake-0\n"
        (tmp_path / "intake-0" / "trusted").write_text("metadata", encoding="utf-8")
        assert claimed_folder(tmp_path, "intake").name == "intake-1"
        with other(tmp_path) as third:
            assert third.stdout is not None
            assert third.stdout.readline() == "intake-2\n"
            third.kill()
        first.kill()
    with other(tmp_path) as again:
        assert again.stdout is not None
        assert again.stdout.readline() == "intake-0\n"
        again.communicate()
    assert (tmp_path / "intake-0" / "trusted").read_text(encoding="utf-8") == "metadata"


def test_process_that_asks_again_has_the_same_folder(tmp_path: Path) -> None:
    assert claimed_folder(tmp_path, "scan") == claimed_folder(tmp_path, "scan") == tmp_path / "scan-0"
    assert claimed_folder(tmp_path, "verdict") == tmp_path / "verdict-0"
    assert (tmp_path / "scan-0").stat().st_mode & 0o077 == 0


def test_folder_that_cannot_be_made_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="PRATIQUE_POLICY_STATE"):
        claimed_folder(tmp_path / "file", "scan")

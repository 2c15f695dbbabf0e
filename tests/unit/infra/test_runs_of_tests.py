"""A run of tests that is told to end leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from infra.stack.paths import ROOT

RUN = """
import os, pathlib, signal, pytest

@pytest.fixture
def app():
    yield
    pathlib.Path({ended!r}).write_text("ended")

def test_it(app):
    os.kill(os.getpid(), {number})
    signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_told_to_end_ends_its_fixtures(tmp_path: Path, number: signal.Signals) -> None:
    ended, test = tmp_path / "ended", tmp_path / "test_it.py"
    test.write_text(RUN.format(ended=str(ended), number=int(number)))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
    ]
    run = subprocess.run([*command, str(test)], cwd=ROOT, capture_output=True, check=False)
    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert ended.read_text() == "ended"

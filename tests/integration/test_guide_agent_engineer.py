"""The agent engineer's guide and the client's quick start work when they are pasted, against the real gate."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from infra.stack.paths import ROOT

if TYPE_CHECKING:
    from tests.integration.platform import Platform

pytestmark = pytest.mark.containers

GUIDE = ROOT / "docs" / "guide" / "agent-engineer.md"
QUICK_START = ROOT / "sdk" / "README.md"


def blocks(page: Path, language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"{page.name} has no {language} to paste"
    return found


@pytest.fixture
def desk(platform: Platform, bare_desk: Path) -> Path:
    """A directory in which the stack is up, and a ``pratique`` to run."""
    (bare_desk / ".pratique" / "stack.json").write_text(json.dumps(platform.facts), encoding="utf-8")
    return bare_desk


@pytest.fixture
def bare_desk(tmp_path: Path) -> Path:
    """A directory without a stack, and a ``pratique`` to run."""
    (tmp_path / ".pratique").mkdir()
    command = tmp_path / "bin" / "pratique"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m topologies "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return tmp_path


def run(desk: Path, *command: str) -> str:
    """Run a command as somebody at that desk would, and return what it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRATIQUE_")}
    environment |= {
        "PATH": f"{desk / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'sdk'}",
        "XDG_CACHE_HOME": str(desk / "cache"),
    }
    done = subprocess.run(command, cwd=desk, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_guides_python_works_block_after_block(desk: Path) -> None:
    printed = run(desk, sys.executable, "-W", "error", "-c", "\n".join(blocks(GUIDE, "python")))
    assert "[UNTRUSTED COMPACTED CONTEXT DATA]" in printed
    assert "CLAUSE_UNPARSED" in printed
    assert printed.splitlines()[-1] == "{}"


def test_the_guides_commands_work(desk: Path) -> None:
    (block,) = blocks(GUIDE, "sh")
    verdict = json.loads(run(desk, "bash", "-euo", "pipefail", "-c", block))
    assert verdict["request_id"] == "request-1"
    assert verdict["outcome"] == "QUARANTINED"


def test_the_quick_start_works(desk: Path) -> None:
    compaction, recall = blocks(QUICK_START, "python")[:2]
    given = (
        'messages = [{"message_id": "m1", "role": "user", "content": "Hello."}]\n'
        'summary = "Do not expose secrets. Use approved tools only. "\n'
        'summary += "Ask the user before files outside the workspace are deleted or changed."\n'
        'loaded = [{"entry_id": "e1", "memory_version": "v1", "content": "The user likes tea."}]\n'
        'expected = [("e1", "v1")]\n'
    )
    asked = f"{given}{compaction}{recall}\nprint(answer.accepted, len(context), [item.content for item in memories])"
    assert run(desk, sys.executable, "-W", "error", "-c", asked) == "True 2 ['The user likes tea.']\n"
    assert len([line for line in compaction.splitlines() if line]) == 5

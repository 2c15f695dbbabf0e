"""The security engineer's guide works when its commands are pasted."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide" / "security-engineer.md"


def test_the_guides_commands_work_one_after_the_other(tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 5
    shutil.copytree(ROOT / "infra" / "policy", tmp_path / "infra" / "policy")
    command = tmp_path / "bin" / "pratique"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m topologies "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'sdk'}",
    }
    for block in blocks:
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ran.returncode == 0, f"{block}\n{ran.stdout}\n{ran.stderr}"
    envelope = json.loads((tmp_path / ".pratique" / "task-1.json").read_text(encoding="utf-8"))
    assert envelope["payloadType"] == "application/vnd.pratique.commitments.v1+json"

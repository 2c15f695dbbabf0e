"""What the stack makes anew at each start is its own: nothing that a guide has its reader make is among it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from infra.stack.paths import ROOT
from infra.stack.stack import Stack, stack_file_of

if TYPE_CHECKING:
    from pathlib import Path

GUIDES = ROOT / "docs" / "guide"


def made_by_readers(page: str) -> list[str]:
    """Return what a guide's commands name within ``.pratique``, the folders that it lies in too."""
    blocks = re.findall(r"```(?:sh|python)\n(.*?)```", (GUIDES / page).read_text("utf-8"), re.DOTALL)
    named = sorted({name.rstrip("/.") for block in blocks for name in re.findall(r"\.pratique/([\w./-]+)", block)})
    assert named, f"{page} names nothing in .pratique"
    return named


@pytest.mark.parametrize("page", ["security-engineer.md", "agent-engineer.md"])
def test_what_a_guide_has_its_reader_make_outlives_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    kept = [tmp_path / name for name in made_by_readers(page)]
    kept += [tmp_path / "policy" / name for name in ("root.json", "keys/mac/gate/key", "tuf-keys/root/key")]
    for path in kept:
        path.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr("infra.stack.stack.ensure_broker_jars", lambda: None)
    monkeypatch.setattr(Stack, "_start_broker_and_policy", lambda _: None)
    stack = Stack(tmp_path, apps=())
    leftover = stack.policy / "keys" / "of-the-last-start"
    leftover.mkdir(parents=True)
    try:
        stack.start()
        assert stack_file_of(tmp_path).exists()
        assert [path for path in kept if not path.exists()] == []
        assert not leftover.exists()
    finally:
        stack.stop()

"""The operator's guide: its commands about recalls and the ledger work when they are pasted, on a running platform."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from infra.stack.paths import ROOT
from tests.integration.test_guide_agent_engineer import desk, run

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["desk"]

pytestmark = pytest.mark.containers

GUIDE = ROOT / "docs" / "guide" / "operator.md"
SECTION = "## Recalls and the ledger\n"


def test_the_commands_about_recalls_and_the_ledger_work(desk: Path) -> None:
    section = GUIDE.read_text(encoding="utf-8").partition(SECTION)[2].partition("\n## ")[0]
    (block,) = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    said = run(desk, "bash", "-euo", "pipefail", "-c", block)
    assert "topic, audit and view agree" in said
    assert "look-ups read" in said

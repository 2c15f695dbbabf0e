"""The first page shows what the client's page shows, which is tested against a gate."""

from __future__ import annotations

import re
from pathlib import Path

from infra.stack.paths import ROOT


def first_python(page: Path) -> str:
    found = re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found.group(1)


def test_what_an_agent_writes_is_the_clients_quick_start() -> None:
    assert first_python(ROOT / "README.md") == first_python(ROOT / "sdk" / "README.md")


def test_every_page_is_named() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md") if "adr" not in path.parts]
    assert len(pages) > 10
    assert [page for page in pages if f"({page})" not in readme] == []

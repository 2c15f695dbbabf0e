from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.checks.dead_links import anchors, dead_links

if TYPE_CHECKING:
    from pathlib import Path


def problems(root: Path, text: str) -> list[str]:
    page = root / "docs" / "page.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(text, "utf-8")
    (root / "README.md").write_text("# Title\n\n## What it's for\n\n```sh\n# not a heading\n```\n", "utf-8")
    (root / "Makefile").write_text("PY := python\ncheck: setup\n\t$(PY)\n", "utf-8")
    return list(dead_links(root, [page]))


@pytest.mark.parametrize(
    "text",
    [
        "[up](../README.md)",
        "[there](../README.md#what-its-for)",
        "# Here\n[here](#here)",
        '[titled](../README.md "a title")',
        "[folder](../docs)",
        "[elsewhere](https://example.org/none) and [mail](mailto:a@example.org)",
        "[ref]\n\n[ref]: ../README.md",
        "`[code](nowhere.md)` and\n\n```\n[code](nowhere.md)\n```\n",
        "run `make check`; prose may say make sure",
    ],
)
def test_what_leads_somewhere_is_accepted(tmp_path: Path, text: str) -> None:
    assert problems(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a](gone.md)", "docs/page.md: gone.md: no such file"),
        ("![a](gone.png)", "docs/page.md: gone.png: no such file"),
        ("[a](../README.md#gone)", "docs/page.md: ../README.md#gone: no such heading"),
        ("[a](../README.md#not-a-heading)", "docs/page.md: ../README.md#not-a-heading: no such heading"),
        ("[a](#gone)", "docs/page.md: #gone: no such heading"),
        ("[a](../../outside.md)", "docs/page.md: ../../outside.md: leaves the repository"),
        ("[ref]\n\n[ref]: gone.md", "docs/page.md: gone.md: no such file"),
        ("run `make gone`", "docs/page.md: make gone: no such target in the Makefile"),
        ("```sh\nmake gone\n```\n", "docs/page.md: make gone: no such target in the Makefile"),
    ],
)
def test_what_leads_nowhere_is_named(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(tmp_path, text) == [problem]


def test_a_heading_that_comes_twice_is_counted() -> None:
    assert anchors("# A `b` [c](d.md)\n## Same\n## Same\n") == {"a-b-c", "same", "same-1"}

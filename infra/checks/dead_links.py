"""``python -m infra.checks.dead_links``: every relative link of the Markdown files leads somewhere.

The contract: a link to a file of the repository exists (and is inside it), its ``#anchor`` is a heading of that file,
and every ``make <target>`` that a page names is a target of the Makefile. Exit 0 when all hold, 1 with one line each.

It opens no network connection: links with a scheme are not checked. Links inside code are not links.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE: Final = re.compile(r"^(`{3,}|~{3,}).*?^\1`*~*\s*$", re.DOTALL | re.MULTILINE)
_CODE: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_INLINE: Final = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_REFERENCE: Final = re.compile(r"^\s{0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s+\"[^\"]*\")?\s*$", re.MULTILINE)
_SCHEME: Final = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HEADING: Final = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_HEADING_LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_COMMAND: Final = re.compile(r"\bmake ([a-z][a-z0-9-]*)\b")
_TARGET: Final = re.compile(r"^([a-z][a-z0-9-]*)\s*:(?!=)", re.MULTILINE)


def dead_links(root: Path, pages: list[Path]) -> Iterator[str]:
    """Yield one line for each link or make target that leads nowhere.

    Args:
        root: The repository; links must not leave it.
        pages: Markdown files below it.
    """
    targets = _make_targets(root)
    for page in pages:
        text = page.read_text("utf-8")
        name = page.relative_to(root)
        for link in _links(text):
            problem = _problem(root, page, link)
            if problem:
                yield f"{name}: {link}: {problem}"
        for target in sorted(set(_COMMAND.findall("\n".join(_code(text)))) - targets):
            yield f"{name}: make {target}: no such target in the Makefile"


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as the common renderers make them (lower case, hyphens, counted)."""
    seen: dict[str, int] = {}
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCE.sub("", text)):
        plain = _HEADING_LINK.sub(r"\1", heading).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def main() -> int:
    """Check the pages that git tracks, or would; return the exit status."""
    root = Path(__file__).resolve().parents[2]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    pages = [page for name in listed.stdout.split("\0") if name and (page := root / name).exists()]
    problems = list(dead_links(root, pages))
    for problem in problems:
        sys.stdout.write(problem + "\n")
    sys.stdout.write(f"{len(pages)} pages, {len(problems)} dead links\n")
    return 1 if problems or not pages else 0


def _links(text: str) -> Iterator[str]:
    prose = _CODE.sub("", _FENCE.sub("", text))
    for pattern in (_INLINE, _REFERENCE):
        yield from pattern.findall(prose)


def _code(text: str) -> Iterator[str]:
    for pattern in (_FENCE, _CODE):
        yield from (match.group(0) for match in pattern.finditer(text))
        text = pattern.sub("", text)


def _problem(root: Path, page: Path, link: str) -> str | None:
    if _SCHEME.match(link):
        return None
    name, _, anchor = unquote(link).partition("#")
    target = (page.parent / name).resolve() if name else page
    if not target.is_relative_to(root):
        return "leaves the repository"
    if not target.exists():
        return "no such file"
    if anchor and target.suffix == ".md" and anchor not in anchors(target.read_text("utf-8")):
        return "no such heading"
    return None


def _make_targets(root: Path) -> set[str]:
    makefile = root / "Makefile"
    return set(_TARGET.findall(makefile.read_text("utf-8"))) if makefile.exists() else set()


if __name__ == "__main__":
    sys.exit(main())

"""Texts with carets under stretches of them, for a terminal.

The contract: what a summary holds is shown, never obeyed: a character that is not printable appears as its escape, so
that no text can move the cursor or hide itself. Rows break at a width, and carets stay under their letters, also under
letters two cells wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click
from rich.cells import cell_len

from topologies.cli.output import shown

WIDTH: Final = 100
"""Cells in a row of shown text."""

INDENT: Final = "  "


def marked_text(
    text: str, stretch: tuple[int, int], mark: tuple[int, int] | None, label: str, colour: str
) -> Iterator[str]:
    """Yield rows: a stretch of a text, and carets with a label under the part of it that is marked.

    Args:
        text: The whole text.
        stretch: Which part is shown; white space around it is left out.
        mark: Which part is marked; null for none, and the label stands alone.
        label: What is said of it.
        colour: Colour of carets and label.
    """
    start, end = _trimmed(text, *stretch)
    rows = list(_rows(text, start, end))
    under = [_carets(text, row, mark) if mark else "" for row in rows]
    last = max((place for place, carets in enumerate(under) if carets), default=len(rows) - 1)
    for place, (row, carets) in enumerate(zip(rows, under, strict=True)):
        yield INDENT + "".join(shown(text[at]) for at in range(*row))
        note = f"{carets} {label}" if place == last and carets else label if place == last else carets
        if note:
            yield INDENT + click.style(note, fg=colour)


def _rows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begun, cells = start, 0
    for at in range(start, end):
        if text[at] == "\n":
            yield begun, at
            begun, cells = at + 1, 0
            continue
        width = cell_len(shown(text[at]))
        if cells + width > WIDTH:
            yield begun, at
            begun, cells = at, 0
        cells += width
    yield begun, end


def _carets(text: str, row: tuple[int, int], mark: tuple[int, int]) -> str:
    first, last = max(row[0], mark[0]), min(row[1], mark[1])
    if first >= last:
        return ""
    return " " * _cells(text, row[0], first) + "^" * max(1, _cells(text, first, last))


def _cells(text: str, start: int, end: int) -> int:
    return sum(cell_len(shown(text[at])) for at in range(start, end))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in " \t\r\n":
        start += 1
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    return start, end

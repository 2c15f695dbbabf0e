"""Unicode compatibility normalisation (NFKC) of text that strangers wrote, in time that no text can blow up.

The contract: ``nfkc(text)`` is ``unicodedata.normalize("NFKC", text)``. The standard library orders combining marks by
insertion, which is quadratic in the length of a run of marks and holds the interpreter's lock: a quarter of a megabyte
of them stops a process for half a minute. Here a long run is put in order first, by a sort, so that nothing is left to
insert.

Results depend on the interpreter's Unicode version for characters that it does not know yet.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

LONGEST_RUN: Final = 32
"""Combining marks in a row that are left to the standard library; no script that people write has as many."""

_PLANES_WITH_MARKS: Final = range(0x300, 0x20000)
"""Every combining mark there is lies in the first two planes."""


def nfkc(text: str) -> str:
    """Return a text in NFKC."""
    if len(text) > LONGEST_RUN and not text.isascii() and _long_run().search(text) is not None:
        text = _ordered(text)
    return unicodedata.normalize("NFKC", text)


@cache
def _long_run() -> re.Pattern[str]:
    marks = "".join(letter for letter in map(chr, _PLANES_WITH_MARKS) if _begins_with_mark(letter))
    return re.compile(f"[{re.escape(marks)}]{{{LONGEST_RUN + 1}}}")


def _begins_with_mark(letter: str) -> bool:
    if unicodedata.combining(letter):
        return True
    # A few letters are no mark themselves and are made of nothing else.
    decomposed = unicodedata.decomposition(letter)
    return bool(decomposed) and bool(unicodedata.combining(unicodedata.normalize("NFKD", letter)[0]))


def _ordered(text: str) -> str:
    """Return a canonically equivalent text, decomposed, whose marks are in canonical order."""
    decomposed = "".join(unicodedata.normalize("NFKD", letter) for letter in text)
    ordered: list[str] = []
    run: list[str] = []
    for letter in decomposed:
        if unicodedata.combining(letter):
            run.append(letter)
            continue
        if run:
            ordered += sorted(run, key=unicodedata.combining)
            run.clear()
        ordered.append(letter)
    return "".join(ordered + sorted(run, key=unicodedata.combining))

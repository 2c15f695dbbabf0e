"""Unicode compatibility normalisation (NFKC) of text that strangers wrote, in time that no text can blow up.

The contract: ``nfkc(text)`` is ``unicodedata.normalize("NFKC", text)``. The standard library orders combining marks by
insertion, which is quadratic in the length of a run of marks and holds the interpreter's lock: a quarter of a megabyte
of them stops a process for half a minute. Here a long run is put in order first, by a sort, so that nothing is left to
insert. What stands between letters that are whole phrases is normalised by
itself.

Results depend on the interpreter's Unicode version for characters that it does not know yet.
"""

from __future__ import annotations

import unicodedata
from typing import Final

LONGEST_RUN: Final = 32
"""Combining marks in a row that are left to the standard library; no script that people write has as many."""

_PHRASES: Final = {letter: unicodedata.normalize("NFKC", letter) for letter in "\ufdfa\ufdfb"}
"""Letters that stand for eight letters and more: the standard library takes long over them."""
_FIRST_MARK: Final = "\u0300"


def nfkc(text: str) -> str:
    """Return a text in NFKC."""
    if text.isascii():
        return text
    for phrase, letters in _PHRASES.items():
        if phrase in text:
            first, *others = text.split(phrase)
            return nfkc(first) + "".join(
                letters + nfkc(item) if _stands_apart(item) else nfkc(letters + item) for item in others
            )
    return unicodedata.normalize("NFKC", _with_runs_in_order(text))


def _stands_apart(text: str) -> bool:
    """Whether no phrase before a text joins it: nothing but marks join their last letters."""
    return not text or not _is_mark(text[0])


def _with_runs_in_order(text: str) -> str:
    """Return a canonically equivalent text whose long runs of marks are in canonical order.

    A run that is too long holds one of every so many letters: the others need not be looked at.
    """
    sample = text[LONGEST_RUN :: LONGEST_RUN + 1]
    marks = {letter for letter in set(sample) if _is_mark(letter)}
    if not marks:
        return text
    pieces: list[str] = []
    done = 0
    for number, letter in enumerate(sample):
        place = LONGEST_RUN + number * (LONGEST_RUN + 1)
        if letter not in marks or place < done:
            continue
        start, end = _run_around(text, place)
        if end - start > LONGEST_RUN:
            pieces += [text[done:start], _ordered(text[start:end])]
            done = end
    return "".join([*pieces, text[done:]])


def _run_around(text: str, place: int) -> tuple[int, int]:
    start = end = place
    while start > 0 and _is_mark(text[start - 1]):
        start -= 1
    while end < len(text) and _is_mark(text[end]):
        end += 1
    return start, end


def _is_mark(letter: str) -> bool:
    if letter < _FIRST_MARK:
        return False
    if unicodedata.combining(letter):
        return True
    # A few letters are no mark themselves and are made of nothing else.
    decomposed = unicodedata.decomposition(letter)
    return bool(decomposed) and bool(unicodedata.combining(unicodedata.normalize("NFKD", letter)[0]))


def _ordered(run: str) -> str:
    decomposed = "".join(unicodedata.normalize("NFKD", letter) for letter in run)
    return "".join(sorted(decomposed, key=unicodedata.combining))

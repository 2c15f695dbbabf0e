"""Whether a stretch of text occurs in another, in time that no pair of texts can blow up.

The contract: ``occurs(words, text)`` is ``words in text``; ``occurring(stretches, texts)`` is those stretches that are
in one of the texts. Python's own search compares a short stretch at every place of a short text anew: two texts of one
letter cost the product of their lengths. RE2 reads a text once, whatever it is looked through for.

All stretches are looked for in one pass, those longer than ``PIECE_BYTES`` piece by piece. One whose pieces all occur
is then looked for by itself: Python's search of a stretch that long is linear in all but short texts. ``re2.Set`` finds
nothing where its automaton has no room. So a piece that is certainly there stands guard: where not even that is found,
nothing of the answer is believed, and every stretch is looked for by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import re2

PIECE_BYTES: Final = 128
"""Longest piece; an automaton's state may be as large as a piece is long."""
GROUP_BYTES: Final = 8 * 1024
"""Most bytes of pieces in one automaton: it has no more states than those."""
FEW_STEPS: Final = 256 * 1024
"""Most comparisons that cost no more than making an automaton does."""

_MAX_MEMORY_BYTES: Final = 32 * 1024 * 1024
_BETWEEN: Final = b"\xff"
"""Stands between texts, and in none: UTF-8 has no such byte."""
_GUARD: Final = b"\xfe"
"""Stands after the last, likewise."""


def occurs(words: str, text: str) -> bool:
    """Whether a stretch occurs in a text."""
    if len(words) * (len(text) - len(words)) <= FEW_STEPS:
        return words in text
    return words in occurring((words,), (text,))


def occurring(stretches: Iterable[str], texts: Sequence[str]) -> frozenset[str]:
    """Return the stretches that occur in one of some texts.

    Args:
        stretches: What is looked for, none of it empty.
        texts: What it is looked for in.
    """
    wanted = {words: _bytes(words) for words in stretches}
    if not wanted or not texts:
        return frozenset()
    joined = _BETWEEN.join(map(_bytes, texts))
    pieces = {piece for encoded in wanted.values() for piece in _pieces(encoded)}
    there = _there(sorted(pieces), joined)
    if there is None:
        return frozenset(words for words, encoded in wanted.items() if encoded in joined)
    maybe = {words: encoded for words, encoded in wanted.items() if there.issuperset(_pieces(encoded))}
    return frozenset(words for words, encoded in maybe.items() if len(encoded) <= PIECE_BYTES or encoded in joined)


def _pieces(encoded: bytes) -> Iterator[bytes]:
    return (encoded[start : start + PIECE_BYTES] for start in range(0, len(encoded), PIECE_BYTES))


def _there(pieces: Sequence[bytes], joined: bytes) -> set[bytes] | None:
    """Return the pieces that occur; null where that can't be said."""
    guarded = joined + _GUARD
    found: set[bytes] = set()
    for group in _groups(pieces):
        looked_for = re2.Set.SearchSet(_options())
        for piece in (*group, _GUARD):
            looked_for.Add(re2.escape(piece))
        try:
            looked_for.Compile()
        except re2.error:
            return None
        places = looked_for.Match(guarded) or ()
        if len(group) not in places:
            return None
        found.update(group[place] for place in places if place < len(group))
    return found


def _groups(pieces: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    group: list[bytes] = []
    size = 0
    for piece in pieces:
        if size + len(piece) > GROUP_BYTES:
            yield group
            group, size = [], 0
        group.append(piece)
        size += len(piece)
    yield group


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _options() -> Any:  # noqa: ANN401 - re2 comes without types
    options = re2.Options()
    options.max_mem = _MAX_MEMORY_BYTES
    options.encoding = re2.Options.Encoding.LATIN1  # bytes as they are
    options.log_errors = False
    options.never_capture = True
    return options

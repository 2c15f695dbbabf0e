r"""What tells a terminal how to show text, such as colours: it has no width, and stands in what was copied from one.

The contract: ``shown`` returns the edits that leave what a terminal shows: without control sequences (CSI), strings for
the terminal (OSC and its like, as the address of a hyperlink) and character sets, and without the escape character
where it begins nothing. What is written for it in source text, as ``\e[0m``, is taken for it where it is a colour, and
so is what is left of one without the character, ``[32m``, in a text that takes colours back. Escapes of JSON and the
like are undone before, where all of them are. Everything is linear in the text: no class of a repetition holds what
begins a sequence.
"""

from __future__ import annotations

import re
from typing import Final

from streams.domain.scanning.views.clearing import UNHIDDEN
from streams.domain.scanning.views.model import Edit
from streams.domain.scanning.views.stretches import Change, stretched

ESCAPE: Final = "\x1b"

_COLOUR: Final = r"[0-9;:]{0,32}[mK]"
_OF_TERMINALS: Final = rf"""
    \x1b\[[0-?]*[\ -/]*(?:[@-~]|\Z)                  # control sequences; one may be cut off
    | \x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)      # strings, to their end
    | \x1b[()*+][0-9A-Z] | \x1b[=>78]                # character sets, modes
    | \x1b                                           # nothing else: the letter behind it stays
    | \x9b{_COLOUR}                                  # the same as one character
    | (?:\\e|\\0?33|\^\[|\u241b)\[{_COLOUR}          # as source text and pagers write it
"""
_LEFT_OVER: Final = r"(?<!1[bB])(?<!1[bB]\})\[[0-9]{1,3}(?:[;:][0-9]{1,3}){0,8}m(?:\[K)?|\[m\[K"
_SEQUENCE: Final = re.compile(_OF_TERMINALS, re.VERBOSE)
_SEQUENCE_OR_LEFT_OVER: Final = re.compile(f"{_OF_TERMINALS}|{_LEFT_OVER}", re.VERBOSE)
_RESETS: Final = ("[0m", "[m[K")
_BEGINNINGS: Final = (ESCAPE, "\x9b", "\\e[", "33[", "^[[", "\u241b[", *_RESETS)
_WRITTEN: Final = re.compile(
    r"(?:\\(?:u001b|u\{1b\}|x1b|0?33|e)|\^\[|\u241b)\[[0-9;:]{0,32}(?:[A-Za-z]|\Z)", re.IGNORECASE
)
_COLOUR_ALONE: Final = re.compile(r"\[[0-9;:]{1,32}m?")


def shown(text: str) -> list[Edit]:
    """Return what leaves what a terminal shows of a text, in order; a text without sequences costs a few looks."""
    if not any(beginning in text for beginning in _BEGINNINGS):
        return []
    left_over = any(reset in text for reset in _RESETS)
    sequences = (_SEQUENCE_OR_LEFT_OVER if left_over else _SEQUENCE).finditer(text)
    return list(stretched(text, [Change(*found.span(), "", UNHIDDEN) for found in sequences], 0, len(text)))


def has_only_colours(text: str) -> bool:
    """Say whether every sequence in a text that begins with an escape is a colour, or clears a line."""
    return text.count(ESCAPE) == len(_COLOURS.findall(text))


_COLOURS: Final = re.compile(rf"\x1b\[{_COLOUR}")


def without_sequences(value: str) -> str:
    """Return a value without a terminal's sequences, also where it is a string's escape that writes one.

    Args:
        value: The value as it stands in the text, perhaps cut off in a sequence.
    """
    if ESCAPE not in value and "[" not in value:
        return value
    said = _WRITTEN.sub("", _SEQUENCE.sub("", value))
    return "" if _COLOUR_ALONE.fullmatch(said) else said

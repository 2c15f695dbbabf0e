"""Bytes written as pairs of hexadecimal digits: fingerprints, keys, dumps, names in storage networks.

The contract: six such pairs are the address of a network card, unless more of them stand before or behind, on the same
line or the next; eight are an IPv6 address in form, and none in fact.
"""

from __future__ import annotations

import re
from typing import Final

_BEFORE: Final = 24
_BEHIND: Final = 24
_MORE_BEFORE: Final = re.compile(r"(?:[0-9A-Fa-f:][:.-]|[0-9A-Fa-f]{2}:[ \t]*\r?\n[ \t]*)\Z")
_MORE_BEHIND: Final = re.compile(r"[:.-](?:[0-9A-Fa-f:]|[ \t]*\r?\n[ \t]*[0-9A-Fa-f]{2}(?::|\b))")
_PAIRS: Final = re.compile(r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){7}")
_NOBODY: Final = re.compile(r"(?i)(?:(?:00[-:.]?){6}|(?:ff[-:.]?){6}|01[-:.]?00[-:.]?5e.*|33[-:.]?33[-:.]?.*)")


def is_bytes(value: str) -> bool:
    """Say whether what reads as an IPv6 address is eight bytes: no address has groups of two digits alone."""
    return _PAIRS.fullmatch(value) is not None


def is_dump(text: str, start: int, end: int) -> bool:
    """Say whether six pairs are cut out of a longer row, or the address of no card: none, all, or several."""
    return (
        _MORE_BEFORE.search(text, max(0, start - _BEFORE), start) is not None
        or _MORE_BEHIND.match(text, end, end + _BEHIND) is not None
        or _NOBODY.fullmatch(text, start, end) is not None
    )

"""Is a value called a digest, and as long as one? Such a value says what something is, and opens nothing.

The contract: ``is_digest`` looks at the place of a match in its text, and at a bounded stretch around it. Both have to
hold: a name of a digest directly before ("sha256=", "md5: ", "fingerprint is "), and as many hexadecimal digits, or
characters of base64, as such digests have. A digest of a password is none: passwords are found from it.
"""

from __future__ import annotations

from typing import Final

import re2

_BEFORE: Final = 96
_AFTER: Final = 132
_LONGEST: Final = 128
"""SHA-512 in hexadecimal digits."""

_CALLED: Final = re2.compile(
    rb"""(?i)(?:^|[^A-Za-z0-9_])(?:(?:hmac-)?sha-?(?:1|2|3|224|256|384|512)|md5|blake2[bs]?|blake3|h1|digest|checksum"""
    rb"""|thumbprint|fingerprint)(?:["'\]]{0,2}\s{0,2}(?:=|:|is|was)\s{0,2}["'`]?|-)"""
    rb"""((?:sha[0-9]{1,3}[:=-])?)([A-Za-z0-9+/_-]{22,128})"""
)
_IN_HEXADECIMAL: Final = frozenset({32, 40, 56, 64, 96, 128})
_IN_BASE64: Final = frozenset({22, 27, 38, 43, 64, 86})
_HEXADECIMAL: Final = frozenset(b"0123456789abcdefABCDEF")


def is_digest(text: bytes, start: int, end: int) -> bool:
    """Whether a stretch of a UTF-8 text lies within a value that is called a digest and is as long as one.

    Args:
        text: The text.
        start: Where the stretch begins, in bytes.
        end: Where it ends.
    """
    if end - start > _LONGEST:
        return False
    first = max(0, start - _BEFORE)
    window = text[first : end + _AFTER]
    for found in _CALLED.finditer(window):
        begin, stop = first + found.start(2), first + found.end(2)
        if begin <= start and end <= stop + 2:  # two signs may fill base64 up
            value = found.group(2)
            of_password = b"pass" in window[: found.start(2)].lower()
            return not of_password and _has_length(value)
    return False


def _has_length(value: bytes) -> bool:
    return len(value) in (_IN_HEXADECIMAL if _HEXADECIMAL.issuperset(value) else _IN_BASE64)

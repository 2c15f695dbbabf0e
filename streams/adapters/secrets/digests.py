"""Is a value called a digest, and as long as one? Such a value says what something is, and opens nothing.

The contract: ``is_digest`` looks at the place of a match in its text, and at a bounded stretch around it. Both have to
hold: a name of a digest directly before ("sha256=", "md5: ", "fingerprint is "), and as many hexadecimal digits, or
characters of base64, as such digests have. A digest of a password is none: passwords are found from it. Nor is what has
a word for a secret right before an algorithm's name ("api_key sha256=", "hmac-sha256: "): that is how keys for the
algorithm are written. Keys that are shown or that find a record, and files, have digests. So has what stands in a list
of checksums, with a file's name behind it, whatever that name and the one on the line before are.
"""

from __future__ import annotations

import re
from typing import Final

import re2

from streams.adapters.secrets.values import KEYS_OF_RECORDS, says_secret, words_of

_BEFORE: Final = 96
_AFTER: Final = 132
_LONGEST: Final = 128
"""SHA-512 in hexadecimal digits."""

_CALLED: Final = re2.compile(
    rb"""(?i)(?:^|[^A-Za-z0-9_])(sha-?(?:1|2|3|224|256|384|512)|md5|blake2[bs]?|blake3|digest"""
    rb"""|(h1|checksum|thumbprint|fingerprint))(?:["'\]]{0,2}\s{0,2}(?:=|:|is|was)\s{0,2}["'`]?|-)"""
    rb"""(?:sha[0-9]{1,3}[:=-])?([A-Za-z0-9+/_-]{22,128})"""
)
_LISTED: Final = re2.compile(rb"\\?([0-9A-Fa-f]{32,128})(?:  | \*)[^\s]")
_LINE: Final = 512
"""Bytes of a line of a list of checksums before its digest ends, at most."""
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
    if _HEXADECIMAL.issuperset(text[start:end]) and _is_listed(text, start, end):
        return True
    first = max(0, start - _BEFORE)
    window = text[first : end + _AFTER]
    for found in _CALLED.finditer(window):
        begin, stop = first + found.start(3), first + found.end(3)
        if begin <= start and end <= stop + 2:  # two signs may fill base64 up
            value = found.group(3)
            of_password = b"pass" in window[: found.start(3)].lower()
            is_keyed = found.group(2) is None and _ends_with_secret(_before(text, first + found.start(1)))
            return not (of_password or is_keyed) and _has_length(value)
    return False


def _is_listed(text: bytes, start: int, end: int) -> bool:
    """Whether hexadecimal digits stand in a line of a list of checksums."""
    begin = text.rfind(b"\n", max(0, start - _LINE), start) + 1
    stop = text.find(b"\n", end, end + _AFTER)
    line = text[max(begin, start - _LINE) : end + _AFTER if stop < 0 else stop]
    found = _LISTED.match(line)
    if found is None:
        return False
    first = max(begin, start - _LINE)
    return first + found.start(1) <= start and end <= first + found.end(1) and _has_length(found.group(1))


def _has_length(value: bytes) -> bool:
    return len(value) in (_IN_HEXADECIMAL if _HEXADECIMAL.issuperset(value) else _IN_BASE64)


def _before(text: bytes, place: int) -> bytes:
    return text[max(0, place - _BEFORE) : place]


def _ends_with_secret(before: bytes) -> bool:
    """Whether a text ends with a word for what opens something, on the line on which it ends."""
    text = _LINK.sub(rb"", before).decode("utf-8", "ignore")
    found = _LAST.search(text)
    if found is None:
        return False
    words = words_of(found.group("name"))
    if not words or not says_secret(words[-1]):
        return False
    is_file = found.group("sign") in {".", "/", "\\"} and len(words) == 1
    return not is_file and (len(words) == 1 or words[-2] not in _SHOWN)


_LINK: Final = re2.compile(rb"""(?i)[ \t"'`:=(\[{>*-]+(?:(?:is|was)[ \t"'`:=-]+)?\z""")
_LAST: Final = re.compile(r"(?P<sign>^|[^\w-])(?P<name>[\w-]{1,96}(?: [\w-]{1,96})?)\Z")
_SHOWN: Final = KEYS_OF_RECORDS | {
    *("public", "pub", "host", "ssh", "gpg", "pgp", "rsa", "dsa", "ecdsa", "ed25519", "primary", "object", "registry"),
}
"""Before "key": what is shown to everybody, or finds something."""

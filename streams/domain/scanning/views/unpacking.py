"""What bytes say: text in UTF-8 or UTF-16, or either inside gzip or zlib.

The contract: bytes that are no text are none; of some that are text in part, the longer stretches are read. Unpacking
spends the field's allowance and stops where that ends, so that a bomb costs no more than the bound and is refused.

It opens no archives (zip, tar, xz): those hold files, and nobody reads them from a field without unpacking them first.
"""

from __future__ import annotations

import codecs
import re
import zlib
from typing import Final

from streams.domain.scanning.decoding import SHORTEST_LETTERS, Decoded
from streams.domain.scanning.views.budget import Budget

_GZIP: Final = b"\x1f\x8b\x08"
_ZLIB: Final = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_ANY_HEADER: Final = 32 + zlib.MAX_WBITS
_STEP: Final = 64 * 1024
_MOST_PACKED: Final = 3
"""Times that packed bytes are unpacked again."""

_MARKED: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_READABLE: Final = 0.9
_STRETCH: Final = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]{24,}")
"""What is read of bytes that are no text as a whole: too long to stand in other data by chance."""

_UNREADABLE: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")


def said_by(raw: bytes, budget: Budget) -> Decoded | None:
    """Return what bytes say; none where that is nothing.

    Args:
        raw: Any bytes.
        budget: Is spent by what is unpacked.

    Raises:
        TooLargeError: They unpack to more than is left.
    """
    packed = 0
    while packed < _MOST_PACKED and raw.startswith((_GZIP, *_ZLIB)):
        unpacked = _unpacked(raw, budget)
        if unpacked is None:
            break
        raw = unpacked
        packed += 1
    found = _text(raw)
    return found._replace(inner=("gzip",) * packed) if found and packed else found


def _unpacked(raw: bytes, budget: Budget) -> bytes | None:
    """Return unpacked bytes; a stream that breaks off says what it said until then."""
    engine = zlib.decompressobj(_ANY_HEADER)
    out = bytearray()
    rest = raw
    try:
        while rest and not engine.eof:
            part = engine.decompress(rest, _STEP)
            budget.spend(len(part))
            out += part
            rest = engine.unconsumed_tail
            if not part and not rest:
                break
    except zlib.error:
        pass
    return bytes(out) or None


def _text(raw: bytes) -> Decoded | None:
    for mark, encoding in _MARKED:
        if raw.startswith(mark):
            return _judged(raw[len(mark) :].decode(encoding, "replace"))
    # Read as UTF-16, zeros that are added to a text would make another one of it; left out, they change nothing.
    if raw.count(0) * 3 >= len(raw):
        plain = raw.replace(b"\0", b"")
        text = plain.decode("utf-8", "replace")
        return _judged(plain.decode("latin-1") if "\ufffd" in text else text)
    return _judged(raw.decode("utf-8", "replace"))


def _judged(text: str) -> Decoded | None:
    if len(text) < SHORTEST_LETTERS:
        return None
    unreadable = len(_UNREADABLE.findall(text))
    if "\ufffd" not in text and unreadable <= (1 - _READABLE) * len(text):
        return Decoded(text) if any(map(str.isalnum, text)) else None
    stretches = " ".join(_STRETCH.findall(text))
    return Decoded(stretches, whole=False) if any(map(str.isalnum, stretches)) else None

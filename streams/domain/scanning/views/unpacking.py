"""What bytes say: text in UTF-8 or UTF-16, or either in compressed form.

The contract: bytes that are no text are none; of some that are text in part, the longer stretches are read. Unpacking
spends the field's allowance and stops where that ends, so that a bomb costs no more than the bound and is refused.

It opens no archives (zip, tar): those hold files, and nobody reads them from a field without unpacking them first.
"""

from __future__ import annotations

import bz2
import codecs
import lzma
import re
import zlib
from collections.abc import Callable
from typing import Final, Protocol

from streams.domain.scanning.decoding import SHORTEST_LETTERS, Decoded
from streams.domain.scanning.views.budget import Budget

_LZMA_MEMORY_BYTES: Final = 16 * 1024 * 1024
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
    inner: list[str] = []
    while len(inner) < _MOST_PACKED and raw.startswith(_BEGINNINGS):
        form = next(form for form in _FORMS if raw.startswith(form[1]))
        unpacked = _unpacked(raw, form[2](), budget)
        if not unpacked:
            break
        raw = unpacked
        inner.append(form[0])
    found = _text(raw)
    return found._replace(inner=tuple(inner)) if found and inner else found


class _Engine(Protocol):
    """Unpacks bytes step by step."""

    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Zlib:
    """The engine of gzip and zlib with the others' manners: it keeps what it has not unpacked yet."""

    def __init__(self) -> None:
        self._engine = zlib.decompressobj(32 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._engine.eof

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._engine.decompress(self._engine.unconsumed_tail + data, max_length)


def _xz() -> _Engine:
    return lzma.LZMADecompressor(lzma.FORMAT_AUTO, _LZMA_MEMORY_BYTES)


_FORMS: Final[tuple[tuple[str, tuple[bytes, ...], Callable[[], _Engine]], ...]] = (
    ("gzip", (b"\x1f\x8b\x08", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"), _Zlib),
    ("bzip2", (b"BZh",), bz2.BZ2Decompressor),
    ("xz", (b"\xfd7zXZ\x00",), _xz),
)


_BEGINNINGS: Final = tuple(beginning for form in _FORMS for beginning in form[1])


def _unpacked(raw: bytes, engine: _Engine, budget: Budget) -> bytes:
    """Return unpacked bytes; a stream that breaks off says what it said until then.

    Raises:
        TooLargeError: There are more than is left.
    """
    out = bytearray()
    try:
        part = engine.decompress(raw, _STEP)
        while part:
            budget.unpack(len(part))
            out += part
            part = b"" if engine.eof else engine.decompress(b"", _STEP)
    except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError):
        pass
    return bytes(out)


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
    if "\ufffd" not in text and len(_UNREADABLE.findall(text)) <= (1 - _READABLE) * len(text):
        return Decoded(text) if any(map(str.isalnum, text)) else None
    stretches = " ".join(_STRETCH.findall(text))
    return Decoded(stretches, whole=False) if any(map(str.isalnum, stretches)) else None

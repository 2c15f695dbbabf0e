"""Fetched batches that no producer can make unreadable.

The contract: once ``install`` was called, every aiokafka consumer of this process reads past two things that otherwise
stop it, again after every start, at the same record:

- a header whose name is not UTF-8, which brokers accept and aiokafka raises for: what is no UTF-8 is escaped;
- a compressed batch that unpacks to more than ``MAX_UNPACKED_BYTES`` (ten kilobytes can hold gigabytes): it is read as
  one record without key and value at the batch's last offset, so that it becomes a dead letter.

Whatever else a broker accepts is read as aiokafka reads it. Records are the topic's; nothing is judged here.
"""

from __future__ import annotations

import logging
import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import cramjam
from aiokafka.consumer import fetcher
from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import DefaultRecordBatch, _DefaultRecordBatchPy
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.record.util import decode_varint_py

from pratique.errors import ConfigurationError

LOG: Final = logging.getLogger(__name__)

MAX_UNPACKED_BYTES: Final = 64 * 1024 * 1024
"""Most that a batch may unpack to: ten times what a producer here ever puts into one."""

_SLOT: Final = "MemoryRecords"
_MAGIC: Final = 2
_MAGIC_AT: Final = 16
_LENGTH_AT: Final = slice(8, 12)
_BATCH_OVERHEAD: Final = 12
_ATTRIBUTES_AT: Final = 22
_CODEC_BITS: Final = 0x07
_HEADER_BYTES: Final = 61
_UNPACK: Final = {1: (cramjam.gzip, 1032), 3: (cramjam.lz4, 255), 4: (cramjam.zstd, 1 << 62)}
"""Codecs that can hide much in little, by their number in a batch, and how much a byte can hold at most.

Snappy is not among them: 21 bytes. A batch too small to hold too much is left to aiokafka, packed as it is.
"""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What stands for a batch that was not unpacked; fields as aiokafka's records have them."""

    offset: int
    timestamp: int
    timestamp_type: int
    key: None = None
    value: None = None
    headers: tuple[tuple[str, bytes], ...] = ()
    checksum: None = None


def install() -> None:
    """Let every aiokafka consumer of this process read so.

    Raises:
        ConfigurationError: The installed aiokafka has no such place to do it.
    """
    if getattr(fetcher, _SLOT, None) not in {MemoryRecords, TolerantRecords}:
        raise ConfigurationError("aiokafka reads its batches elsewhere than it did; install from run.lock")
    setattr(fetcher, _SLOT, TolerantRecords)


class TolerantRecords:
    """The batches of one fetch of one partition, in place of ``MemoryRecords``.

    Args:
        fetched: The bytes as fetched; the last batch may be cut off.
    """

    def __init__(self, fetched: bytes) -> None:
        self._inner = MemoryRecords(fetched)
        self._fetched = memoryview(fetched)
        self._position = 0

    def size_in_bytes(self) -> int:
        """Return the size of what was fetched."""
        return int(self._inner.size_in_bytes())

    def has_next(self) -> bool:
        """Say whether there is another whole batch."""
        return bool(self._inner.has_next())

    def next_batch(self) -> Any:  # noqa: ANN401 - a batch of aiokafka's, or one that reads like it
        """Return the next batch."""
        batch: Any = self._inner.next_batch()
        start = self._position
        size = _BATCH_OVERHEAD + int.from_bytes(self._fetched[start:][_LENGTH_AT], "big")
        self._position = start + size
        raw = self._fetched[start : start + size]
        return _Batch(batch, raw) if raw[_MAGIC_AT] == _MAGIC and not batch.is_control_batch else batch


class _Batch:
    """A batch that can be read whatever a producer put into it."""

    def __init__(self, batch: Any, raw: memoryview) -> None:  # noqa: ANN401 - aiokafka's batch
        self._batch = batch
        self._raw = raw

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever aiokafka asks its batch for
        return getattr(self._batch, name)

    def __iter__(self) -> Iterator[Any]:
        unpacked = self._unpacked()
        if unpacked is None:
            LOG.warning("a batch before offset %d unpacks to more than is read", self._batch.next_offset)
            return iter([self._unreadable()])
        try:
            return iter(list(DefaultRecordBatch(unpacked)))
        except (UnicodeDecodeError, CorruptRecordException):  # the second where aiokafka runs without its extensions
            return iter(list(_EscapingBatch(unpacked)))

    def _unpacked(self) -> bytes | None:
        """Return the batch, unpacked if it could hold too much; none where it does."""
        codec, most = _UNPACK.get(self._raw[_ATTRIBUTES_AT] & _CODEC_BITS, (None, 0))
        if codec is None or (len(self._raw) - _HEADER_BYTES) * most <= MAX_UNPACKED_BYTES:
            return bytes(self._raw)
        header = bytearray(self._raw[:_HEADER_BYTES])
        header[_ATTRIBUTES_AT] &= ~_CODEC_BITS & 0xFF
        with mmap.mmap(-1, MAX_UNPACKED_BYTES) as room:  # of which only what is written to is ever taken
            try:
                size = codec.decompress_into(bytes(self._raw[_HEADER_BYTES:]), room)
            except cramjam.DecompressionError:
                return None
            return bytes(header) + room[:size]

    def _unreadable(self) -> Unreadable:
        batch = self._batch
        return Unreadable(batch.next_offset - 1, batch.max_timestamp, batch.timestamp_type)


class _EscapingBatch(_DefaultRecordBatchPy):  # type: ignore[misc] # final to say that nobody should; see install
    """A batch that is read in Python, for the names that are no UTF-8."""

    def _maybe_uncompress(self) -> None:
        super()._maybe_uncompress()
        self._buffer: bytearray = _Escaping(self._buffer)

    def _read_msg(self, *_: Any) -> Any:  # noqa: ANN401 - aiokafka's record
        return super()._read_msg(decode_varint_py)


class _Escaping(bytearray):
    """Bytes whose text never fails."""

    def __getitem__(self, at: Any) -> Any:  # noqa: ANN401 - an index or a slice
        found = super().__getitem__(at)
        return _Escaping(found) if isinstance(at, slice) else found

    def decode(self, *_: Any) -> str:  # noqa: ANN401 - whatever encoding was meant, UTF-8 is what Kafka has
        return super().decode("utf-8", "backslashreplace")

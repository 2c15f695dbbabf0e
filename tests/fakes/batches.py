"""Record batches as brokers store them, made byte by byte: what only a hostile client sends."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

import cramjam
from aiokafka.record.util import calc_crc32c_py, encode_varint_py

NOW_MS: Final = 1_790_000_000_000
CODECS: Final[dict[str, tuple[int, Any]]] = {
    "none": (0, None),
    "gzip": (1, cramjam.gzip),
    "snappy": (2, cramjam.snappy),
    "lz4": (3, cramjam.lz4),
    "zstd": (4, cramjam.zstd),
}

Record = tuple[bytes | None, bytes | None, Sequence[tuple[bytes, bytes | None]]]


def batch(*records: Record, codec: str = "none", base_offset: int = 0, attributes: int = 0) -> bytes:
    """Return a batch of key, value and headers; names of headers are bytes here, as they are on the wire."""
    number, packer = CODECS[codec]
    payload = b"".join(_record(index, record) for index, record in enumerate(records))
    if packer is not None:
        payload = bytes(packer.compress_raw(payload) if codec == "snappy" else packer.compress(payload))
    last = len(records) - 1
    rest = struct.pack(">hiqqqhii", number | attributes, last, NOW_MS, NOW_MS, -1, -1, -1, len(records)) + payload
    head = struct.pack(">ibI", 0, 2, calc_crc32c_py(rest))
    return struct.pack(">qi", base_offset, len(head) + len(rest)) + head + rest


def _varint(value: int) -> bytes:
    written = bytearray()
    encode_varint_py(value, written.append)
    return bytes(written)


def _bytes(value: bytes | None) -> bytes:
    return _varint(-1) if value is None else _varint(len(value)) + value


def _record(index: int, record: Record) -> bytes:
    key, value, headers = record
    body = b"\x00" + _varint(0) + _varint(index) + _bytes(key) + _bytes(value) + _varint(len(headers))
    body += b"".join(_varint(len(name)) + name + _bytes(item) for name, item in headers)
    return _varint(len(body)) + body

"""What a producer may put into a batch is read, or stands as something unreadable; nothing stops the consumer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from aiokafka.consumer import fetcher
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.structs import TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from pratique.errors import ConfigurationError
from streams.adapters import tolerant_records
from streams.adapters.tolerant_records import TolerantRecords, Unreadable
from tests.fakes.batches import CODECS, NOW_MS, Record, batch

GOOD: Record = (b"key", b"value", [(b"name", b"header"), (b"name", None)])
POISON: Record = (b"key", b"poison", [(b"\xff\xfe\x80", b"header"), (b"ok", None)])
PLACE = TopicPartition("topic", 0)


def fetched_by(records: Any, start: int = 0) -> list[Any]:  # noqa: ANN401 - aiokafka's, or ours
    """Read as aiokafka's fetcher does."""
    reader = fetcher.PartitionRecords(
        PLACE,
        records,
        aborted_transactions=[],
        fetch_offset=start,
        key_deserializer=None,
        value_deserializer=None,
        check_crcs=True,
        isolation_level=0,
    )
    found = list(reader)
    assert reader.next_fetch_offset >= start
    return found


def read(fetched: bytes, *, start: int = 0) -> list[Any]:
    return fetched_by(TolerantRecords(fetched), start)


def plain(records: list[Any]) -> list[tuple[Any, ...]]:
    return [(item.offset, item.timestamp, item.key, item.value, item.headers) for item in records]


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    fetcher.MemoryRecords = MemoryRecords


@pytest.mark.parametrize("codec", CODECS)
def test_ordinary_batches_are_read_as_aiokafka_reads_them(codec: str) -> None:
    fetched = batch(GOOD, (None, None, []), codec=codec) + batch(GOOD, codec=codec, base_offset=2)
    assert plain(read(fetched)) == plain(fetched_by(MemoryRecords(fetched)))
    assert len(read(fetched)) == 3


@pytest.mark.parametrize("codec", CODECS)
def test_header_name_that_is_not_utf8_is_escaped_and_its_neighbours_are_read(codec: str) -> None:
    fetched = batch(GOOD, POISON, GOOD, codec=codec) + batch(GOOD, base_offset=3, codec=codec)
    assert plain(read(fetched)) == [
        (0, NOW_MS, b"key", b"value", (("name", b"header"), ("name", None))),
        (1, NOW_MS, b"key", b"poison", ((r"\xff\xfe\x80", b"header"), ("ok", None))),
        (2, NOW_MS, b"key", b"value", (("name", b"header"), ("name", None))),
        (3, NOW_MS, b"key", b"value", (("name", b"header"), ("name", None))),
    ]


def test_aiokafka_itself_does_not_read_past_such_a_name() -> None:
    """Once it does, this module can go."""
    with pytest.raises(UnicodeDecodeError):
        fetched_by(MemoryRecords(batch(POISON)))


@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
def test_batch_that_unpacks_to_too_much_is_one_unreadable_record_at_its_end(
    codec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tolerant_records, "MAX_UNPACKED_BYTES", 1 << 20)
    bomb = batch(GOOD, (b"key", bytes(2 << 20), []), codec=codec)
    assert len(bomb) < 10_000
    assert plain(read(bomb + batch(GOOD, base_offset=2))) == [
        (1, NOW_MS, None, None, ()),
        (2, NOW_MS, b"key", b"value", (("name", b"header"), ("name", None))),
    ]


@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
def test_bound_on_what_a_byte_can_hold_is_never_exceeded(codec: str) -> None:
    """Batches that are left to aiokafka packed are chosen by it."""
    size = 8 << 20
    packed = len(batch((None, bytes(size), []), codec=codec)) - 61
    _, most = tolerant_records._UNPACK[CODECS[codec][0]]
    assert size <= packed * most


@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
def test_batch_that_unpacks_to_just_enough_is_read(codec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    value = bytes(100_000)
    size = len(batch((None, value, []))) - 61
    monkeypatch.setattr(tolerant_records, "MAX_UNPACKED_BYTES", size)
    assert [item.value for item in read(batch((None, value, []), codec=codec))] == [value]
    monkeypatch.setattr(tolerant_records, "MAX_UNPACKED_BYTES", size - 1)
    assert [item.value for item in read(batch((None, value, []), codec=codec))] == [None]


def test_batch_that_is_cut_off_waits_for_the_next_fetch() -> None:
    fetched = batch(GOOD) + batch(GOOD, base_offset=1)
    assert [item.offset for item in read(fetched[:-1])] == [0]
    assert not TolerantRecords(fetched[:10]).has_next()
    assert TolerantRecords(fetched[:10]).size_in_bytes() == 10


def test_records_before_the_position_are_left_out() -> None:
    assert [item.offset for item in read(batch(GOOD, POISON, GOOD), start=1)] == [1, 2]


def test_changed_bytes_are_still_noticed() -> None:
    fetched = bytearray(batch(GOOD))
    fetched[-1] ^= 1
    with pytest.raises(Exception, match="CRC"):
        read(bytes(fetched))


def test_control_batch_is_passed_over() -> None:
    control = batch((b"\x00\x00\x00\x01", b"\x00\x00\x00\x00\x00\x00", []), attributes=0x30)
    assert [item.offset for item in read(control + batch(GOOD, base_offset=1))] == [1]


@given(st.binary(max_size=8), st.binary(max_size=8))
def test_any_header_name_is_text_without_surrogates(name: bytes, value: bytes) -> None:
    (record,) = read(batch((None, b"v", [(name, value)])))
    ((text, item),) = record.headers
    assert item == value
    assert text.encode("utf-8").decode("utf-8") == text
    try:
        assert text == name.decode("utf-8")
    except UnicodeDecodeError:
        assert "\\x" in text


def test_installed_once_and_again() -> None:
    tolerant_records.install()
    tolerant_records.install()
    assert fetcher.MemoryRecords is TolerantRecords


def test_another_aiokafka_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetcher, "MemoryRecords", object)
    with pytest.raises(ConfigurationError):
        tolerant_records.install()


def test_unreadable_record_has_what_a_record_has() -> None:
    record = Unreadable(7, NOW_MS, 1)
    assert (record.offset, record.key, record.value, record.headers, record.checksum) == (7, None, None, (), None)

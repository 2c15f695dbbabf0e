"""A dead letter is the record as it was, and always fits its topic."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.canonical import bytes_sha256
from pratique.contract.reasons import ReasonCode
from pratique.contract.topics import MAX_REQUEST_BYTES
from streams.application.ports.log import Channel, Output
from streams.wire.dead_letter import MAX_KEPT_BYTES, PREFIX, dead_letter
from tests.fakes.steps import NOW_MS, Record
from topologies.catalog import COMPACTION_REQUESTED, DEAD_LETTER, EVIDENCE, WORK

BASE = Record("compaction.requested", b"value", (), b"key", 3, 41)
NAMES = st.text(st.characters(codec="utf-8"), max_size=20)


def letter(record: Record, *, attempt: int = 1) -> Output:
    return dead_letter(record, ReasonCode.SCHEMA_INVALID, now_ms=NOW_MS, attempt=attempt)


def ours(output: Output) -> dict[str, str]:
    return {name.removeprefix(PREFIX): value.decode() for name, value in output.headers if name.startswith(PREFIX)}


def theirs(output: Output) -> list[tuple[str, bytes]]:
    return [header for header in output.headers if not header[0].startswith(PREFIX)]


def test_it_says_where_from_why_and_since_when() -> None:
    output = letter(BASE, attempt=2)
    assert (output.channel, output.key, output.value, output.partition) == (
        Channel.DEAD_LETTER,
        b"key",
        b"value",
        None,
    )
    assert ours(output) == {
        "topic": "compaction.requested",
        "partition": "3",
        "offset": "41",
        "code": "SCHEMA_INVALID",
        "attempt": "2",
        "first-seen": str(NOW_MS),
    }


@given(
    value=st.none() | st.binary(max_size=50),
    key=st.none() | st.binary(max_size=20),
    headers=st.lists(st.tuples(NAMES, st.none() | st.binary(max_size=20)), max_size=5),
)
def test_value_key_and_headers_are_the_originals(
    value: bytes | None, key: bytes | None, headers: list[tuple[str, bytes]]
) -> None:
    output = letter(replace(BASE, value=value, key=key, headers=tuple(headers)))
    assert (output.value, output.key) == (value, key)
    kept = [(name, item) for name, item in headers if not name.startswith(PREFIX)]
    assert theirs(output) == [(name.replace("\0", "\u2400"), item) for name, item in kept]
    assert len(ours(output)) == 6


def test_header_that_would_speak_for_us_is_dropped() -> None:
    hostile = ((f"{PREFIX}code", b"REQUEST_EXPIRED"), (f"{PREFIX}anything", b""), ("pratique-key-id", b"k"))
    output = letter(replace(BASE, headers=hostile))
    assert ours(output)["code"] == "SCHEMA_INVALID"
    assert "anything" not in ours(output)
    assert theirs(output) == [("pratique-key-id", b"k")]


def test_headers_may_be_none_at_all() -> None:
    assert theirs(letter(replace(BASE, headers=None))) == []  # type: ignore[arg-type] # as some clients say it


def size(output: Output) -> int:
    """What a record takes in its batch: lengths and names included, generously."""
    headers = sum(len(name.encode()) + len(value or b"") + 10 for name, value in output.headers)
    return len(output.key or b"") + len(output.value or b"") + headers + 100


def bomb(total: int) -> tuple[tuple[str, bytes], ...]:
    return tuple(("h", b"x" * 1000) for _ in range(total // 1000))


@pytest.mark.parametrize(
    "record",
    [
        replace(BASE, value=b"x" * MAX_REQUEST_BYTES, headers=bomb(32_000)),
        replace(BASE, value=b"x" * MAX_REQUEST_BYTES, headers=bomb(100_000)),
        replace(BASE, value=b"x" * 90_000_000),
        replace(BASE, value=b"", headers=bomb(5_000_000)),
        replace(BASE, value=b"", headers=(("h", b""),) * 1_000_000),
        replace(BASE, value=None, key=b"k" * 5_000_000),
        replace(BASE, value=b"x" * 5_000_000, key=b"k" * 5_000_000, headers=bomb(5_000_000)),
        replace(BASE, headers=(("n" * 5_000_000, b""),)),
    ],
    ids=["fits", "headers", "value", "many headers", "tiny headers", "key", "everything", "name"],
)
def test_it_always_fits_its_topic(record: Record) -> None:
    output = letter(record)
    assert size(output) <= DEAD_LETTER.max_message_bytes
    assert ours(output)["code"] == "SCHEMA_INVALID"


def test_headers_go_first_then_value_then_key() -> None:
    whole = replace(BASE, value=b"x" * (MAX_KEPT_BYTES - 3), headers=())
    assert "omitted" not in ours(letter(whole))
    output = letter(replace(whole, headers=(("h", b"v"),)))
    assert (ours(output)["omitted"], theirs(output), output.value) == ("headers", [], whole.value)
    output = letter(replace(whole, value=b"x" * (MAX_KEPT_BYTES - 2)))
    assert (output.value, output.key) == (None, b"key")
    assert ours(output) | {"first-seen": ""} == {
        "topic": "compaction.requested",
        "partition": "3",
        "offset": "41",
        "code": "SCHEMA_INVALID",
        "attempt": "1",
        "first-seen": "",
        "value-bytes": str(MAX_KEPT_BYTES - 2),
        "value-sha256": bytes_sha256(b"x" * (MAX_KEPT_BYTES - 2)),
        "omitted": "headers value",
    }
    output = letter(replace(whole, key=b"k" * (MAX_KEPT_BYTES + 1)))
    assert (output.value, output.key, ours(output)["omitted"]) == (None, None, "headers value key")


@pytest.mark.parametrize("spec", [COMPACTION_REQUESTED, WORK, EVIDENCE], ids=lambda spec: spec.name)
def test_whatever_fits_a_topic_uncompressed_is_kept_with_its_value(spec: object) -> None:
    limit = spec.max_message_bytes  # type: ignore[attr-defined] # a TopicSpec
    output = letter(replace(BASE, value=b"x" * min(limit - 100, MAX_KEPT_BYTES - 10), headers=()))
    assert output.value is not None


def test_nul_in_a_name_does_not_make_it_another_name() -> None:
    output = letter(replace(BASE, headers=(("pratique-key-id\0x", b"k"),)))
    assert theirs(output) == [("pratique-key-id\u2400x", b"k")]

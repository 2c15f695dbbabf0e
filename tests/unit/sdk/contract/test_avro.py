"""Single-object encoding: what is read is exactly one record of this release, and anything else is refused."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import types
from collections.abc import Mapping
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

import fastavro
import pytest
from fastavro.schema import fingerprint, to_parsing_canonical_form
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pratique.contract import avro
from pratique.contract.avro import (
    HEADER_BYTES,
    MARKER,
    RECORD_CLASSES,
    decode,
    decode_part,
    encode,
    fingerprints,
    schema_directory,
)
from pratique.contract.ledger_records import AuditedChange, AuditEntry
from pratique.contract.records import (
    CompactionRequested,
    CompactionSubject,
    Evidence,
    Role,
    SourceMessage,
    Verdict,
    Work,
)
from pratique.contract.topics import MAX_ENVELOPE_BYTES, MAX_REQUEST_BYTES
from pratique.errors import MalformedError, TooLargeError
from tests.vectors.contract_samples import COMPACTION, RECORDS, VERDICT

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
LONG = st.integers(-(2**63), 2**63 - 1)


def values_of(hint: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a type hint
    """Values of a record field's type."""
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint)
        make: Any = hint
        return st.builds(make, **{item.name: values_of(hints[item.name]) for item in dataclasses.fields(hint)})
    if get_origin(hint) is types.UnionType:
        return st.none() | values_of(next(item for item in get_args(hint) if item is not type(None)))
    if get_origin(hint) is tuple:
        return st.lists(values_of(get_args(hint)[0]), max_size=3).map(tuple)
    if get_origin(hint) is Mapping:
        return st.dictionaries(TEXT, TEXT, max_size=3)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    leaves: dict[Any, st.SearchStrategy[Any]] = {
        str: TEXT,
        int: LONG,
        bool: st.booleans(),
        bytes: st.binary(max_size=20),
    }
    return leaves[hint]


ANY_RECORD = st.sampled_from(RECORD_CLASSES).flatmap(values_of)


@given(ANY_RECORD)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_every_record_reads_back_as_it_was_written(record: object) -> None:
    value = encode(record)
    assert decode(value, type(record)) == record
    assert encode(decode(value, type(record))) == value


@given(ANY_RECORD, ANY_RECORD)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_equal_bytes_are_equal_records(one: object, other: object) -> None:
    assert (encode(one) == encode(other)) == (one == other)


@given(values_of(CompactionRequested))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_part_is_what_the_record_says(record: CompactionRequested) -> None:
    part = decode_part(encode(record), CompactionRequested, CompactionSubject)
    assert part == CompactionSubject(record.tenant_id, record.compaction_request_id, record.candidate_json)


@given(values_of(AuditEntry))
def test_part_of_a_record_that_is_read_whole_is_what_it_says(record: AuditEntry) -> None:
    part = decode_part(encode(record), AuditEntry, AuditedChange)
    assert part == AuditedChange(record.accepted, record.reason_code, record.record_json, record.command_json)


@pytest.mark.parametrize(("record", "part"), [(COMPACTION, CompactionSubject), (RECORDS["AuditEntry"], AuditedChange)])
def test_part_of_what_is_no_such_record_is_refused(record: object, part: type[Any]) -> None:
    value = encode(record)
    harmed = [None, b"", b"poison", encode(VERDICT), value + b"\x00", *(value[:size] for size in range(len(value)))]
    for item in harmed:
        with pytest.raises(MalformedError):
            decode_part(item, type(record), part)


def test_part_of_a_record_past_its_bounds_is_refused() -> None:
    value = encode(COMPACTION)
    with pytest.raises(MalformedError, match="NUL"):
        decode_part(value.replace(b"request-1", b"request\x001"), CompactionRequested, CompactionSubject)
    with pytest.raises(TooLargeError):
        decode_part(value, CompactionRequested, CompactionSubject, max_bytes=len(value) - 1)


@given(st.binary(max_size=60))
def test_part_of_any_body_is_read_or_refused(body: bytes) -> None:
    value = encode(COMPACTION)[:HEADER_BYTES] + body
    with contextlib.suppress(MalformedError):
        assert isinstance(decode_part(value, CompactionRequested, CompactionSubject), CompactionSubject)


@pytest.mark.parametrize("record_class", RECORD_CLASSES)
def test_class_and_schema_have_the_same_fields_in_the_same_order(record_class: type[Any]) -> None:
    source = json.loads((schema_directory() / f"{record_class.__name__}.avsc").read_text())
    assert [item.name for item in dataclasses.fields(record_class)] == [item["name"] for item in source["fields"]]
    assert source["namespace"] == avro.NAMESPACE


def test_every_schema_file_has_a_record_class() -> None:
    assert {path.stem for path in schema_directory().glob("*.avsc")} == {item.__name__ for item in RECORD_CLASSES}


def test_fingerprint_is_that_of_the_avro_specification() -> None:
    # Avro 1.12 specification, "Schema Fingerprints": CRC-64-AVRO, whose empty value is 0xc15d213aa4d7a795. The value
    # for "null" is that of Avro's own test data (share/test/data/schema-tests.txt: 7195948357588979594).
    assert int.from_bytes(bytes.fromhex(fingerprint('"null"', "CRC-64-AVRO")), "little") == 7195948357588979594
    assert crc_64_avro(b'"null"') == 7195948357588979594
    assert crc_64_avro(b"") == 0xC15D213AA4D7A795
    for name, written in fingerprints().items():
        source = json.loads((schema_directory() / f"{name}.avsc").read_text())
        assert bytes.fromhex(written) == crc_64_avro(to_parsing_canonical_form(source).encode()).to_bytes(8, "little")


def crc_64_avro(data: bytes) -> int:
    """The specification's algorithm, written down here so that the library is not its own judge."""
    empty = 0xC15D213AA4D7A795
    value = empty
    for byte in data:
        part = (value ^ byte) & 0xFF
        for _ in range(8):
            part = (part >> 1) ^ (empty & -(part & 1))
        value = (value >> 8) ^ part
    return value


def test_fingerprints_differ() -> None:
    assert len(set(fingerprints().values())) == len(RECORD_CLASSES)


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_null_is_refused() -> None:
    with pytest.raises(MalformedError, match="null"):
        decode(None, Verdict)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\xc3",
        MARKER,
        MARKER + b"\x00" * 8,
        b"\x00\x00\x00\x00\x01rest",
        b"\xc3\x02" + encode(VERDICT)[2:],
        bytes(reversed(encode(VERDICT))),
        MARKER + bytes(reversed(encode(VERDICT)[2:HEADER_BYTES])) + encode(VERDICT)[HEADER_BYTES:],
        b'{"verdict_id":""}',
    ],
)
def test_unknown_schema_is_refused(value: bytes) -> None:
    with pytest.raises(MalformedError, match="fingerprint"):
        decode(value, Verdict)


@pytest.mark.parametrize("name", RECORDS)
def test_record_of_another_class_is_refused(name: str) -> None:
    record = RECORDS[name]
    other = Work if not isinstance(record, Work) else Verdict
    with pytest.raises(MalformedError, match=f"a {other.__name__} was expected"):
        decode(encode(record), other)


@pytest.mark.parametrize("name", RECORDS)
def test_trailing_bytes_are_refused(name: str) -> None:
    value = encode(RECORDS[name])
    for extra in (b"\x00", value, b"x" * 100):
        with pytest.raises(MalformedError, match="followed by"):
            decode(value + extra, type(RECORDS[name]))


@pytest.mark.parametrize("name", RECORDS)
def test_truncation_at_every_byte_is_refused(name: str) -> None:
    value = encode(RECORDS[name])
    for length in range(len(value)):
        with pytest.raises(MalformedError):
            decode(value[:length], type(RECORDS[name]))


@given(st.sampled_from(RECORD_CLASSES), st.binary(max_size=400))
def test_any_body_is_read_or_refused(record_class: type[Any], body: bytes) -> None:
    header = MARKER + bytes.fromhex(fingerprints()[record_class.__name__])
    try:
        record = decode(header + body, record_class)
    except MalformedError:
        return
    assert decode(encode(record), record_class) == record


@given(st.sampled_from(sorted(RECORDS)), st.data())
def test_any_change_of_a_byte_is_read_or_refused(name: str, data: st.DataObject) -> None:
    value = bytearray(encode(RECORDS[name]))
    for _ in range(data.draw(st.integers(1, 4))):
        value[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.integers(0, 255))
    try:
        decode(bytes(value), type(RECORDS[name]))
    except MalformedError:
        return


def long(value: int) -> bytes:
    """Avro's variable-length zig-zag coding."""
    unsigned = ((value << 1) ^ (value >> 63)) & (2**64 - 1)
    parts = bytearray()
    while unsigned > 0x7F:
        parts.append(unsigned & 0x7F | 0x80)
        unsigned >>= 7
    return bytes([*parts, unsigned])


def text(value: bytes) -> bytes:
    return long(len(value)) + value


REQUEST_HEADER = MARKER + bytes.fromhex(fingerprints()["CompactionRequested"])
UP_TO_MESSAGES = text(b"t") + text(b"k") + text(b"r") + long(5) + text(b"p")
MESSAGE = text(b"m") + long(0) + text(b"c") + long(1)
UP_TO_COMMITMENTS = UP_TO_MESSAGES + long(1) + MESSAGE + long(0) + text(b"{}") + long(0) + long(0)
REST = long(0) + long(0)

BODIES = {
    "length below zero": long(-5) + b"abc",
    "length of a terabyte": long(2**40) + b"abc",
    "length of 2**62": long(2**62) + b"abc",
    "array of 2**40": UP_TO_MESSAGES + long(2**40) + MESSAGE,
    "array of -2**63": UP_TO_MESSAGES + long(-(2**63)) + long(3) + MESSAGE,
    "number that never ends": b"\xff" * 1_000_000,
    "number of eleven bytes": b"\x80" * 10 + b"\x01",
    "unknown role": UP_TO_MESSAGES + long(1) + text(b"m") + long(7) + text(b"c") + long(1) + long(0),
    "unknown branch": UP_TO_COMMITMENTS + long(2) + REST,
    "text that is not UTF-8": text(b"\xff") + UP_TO_COMMITMENTS[2:] + long(0) + REST,
    "text with a surrogate": text(b"\xed\xa0\x80") + UP_TO_COMMITMENTS[2:] + long(0) + REST,
    "NUL in a text": text(b"t\x00") + UP_TO_COMMITMENTS[2:] + long(0) + REST,
    "NUL in an id of a list": UP_TO_COMMITMENTS[:-1] + long(1) + text(b"\x00") + long(0) + long(0) + REST,
    "NUL in a map's key": UP_TO_COMMITMENTS + long(0) + long(0) + long(1) + text(b"\x00") + text(b"") + long(0),
    "NUL in a map's value": UP_TO_COMMITMENTS + long(0) + long(0) + long(1) + text(b"") + text(b"\x00") + long(0),
}


def test_the_body_that_the_hostile_ones_are_made_from_is_read() -> None:
    record = decode(REQUEST_HEADER + UP_TO_COMMITMENTS + long(0) + REST, CompactionRequested)
    assert record == CompactionRequested(
        "t", "k", "r", 5, "p", (SourceMessage("m", Role.USER, "c"),), "{}", (), (), None, (), {}
    )


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_hostile_body_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedError):
        decode(REQUEST_HEADER + body, CompactionRequested)


def test_blocks_with_sizes_are_read_as_other_writers_make_them() -> None:
    block = long(-1) + long(len(MESSAGE)) + MESSAGE + long(0)
    body = UP_TO_MESSAGES + block + text(b"{}") + long(0) + long(0) + long(0) + REST
    assert decode(REQUEST_HEADER + body, CompactionRequested).source_messages == (SourceMessage("m", Role.USER, "c"),)


def test_refusals_never_quote_what_was_read() -> None:
    marker = "hunter2hunter2"
    value = encode(dataclasses.replace(COMPACTION, tenant_id=marker))
    for broken in (value[:-1], value + b"x", value.replace(marker.encode(), b"hunter2hunter\xff")):
        with pytest.raises(MalformedError) as raised:
            decode(broken, CompactionRequested)
        assert "hunter2" not in str(raised.value)
        assert raised.value.__suppress_context__ or raised.value.__context__ is None


@pytest.mark.parametrize("bound", [MAX_REQUEST_BYTES, MAX_REQUEST_BYTES + MAX_ENVELOPE_BYTES])
def test_size_at_the_bound_is_read_and_one_more_is_not(bound: int) -> None:
    rest = len(encode(dataclasses.replace(COMPACTION, candidate_json="x" * (bound - 4096)))) - (bound - 4096)
    for size, fits in ((bound - 1, True), (bound, True), (bound + 1, False)):
        value = encode(dataclasses.replace(COMPACTION, candidate_json="x" * (size - rest)))
        assert len(value) == size
        if fits:
            assert len(decode(value, CompactionRequested, max_bytes=bound).candidate_json) == size - rest
        else:
            with pytest.raises(TooLargeError):
                decode(value, CompactionRequested, max_bytes=bound)


# -- what is not written -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"tenant_id": None},
        {"tenant_id": 5},
        {"tenant_id": b"bytes"},
        {"tenant_id": "nul\x00"},
        {"tenant_id": "lone \ud800"},
        {"requested_at": "now"},
        {"requested_at": 2**63},
        {"requested_at": None},
        {"source_messages": None},
        {"source_messages": ("m1",)},
        {"source_messages": (SourceMessage("m", "user", "c"),)},  # type: ignore[arg-type] # what a caller may get wrong
        {"expected_invariant_ids": ("a", None)},
        {"expected_invariant_ids": ("a", "b\x00")},
        {"commitments": "text"},
        {"trace_context": {"a": 1}},
        {"trace_context": {"a": "\x00"}},
        {"trace_context": None},
    ],
)
def test_field_that_does_not_fit_is_not_written(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        encode(dataclasses.replace(COMPACTION, **changes))


def test_maps_are_written_in_the_order_of_their_keys() -> None:
    one = dataclasses.replace(VERDICT, versions={"a": "1", "b": "2", "\U00010000": "3", "\ufffd": "4"})
    other = dataclasses.replace(VERDICT, versions=dict(reversed(list(one.versions.items()))))
    assert encode(one) == encode(other)


def test_lists_in_a_union_may_have_any_length() -> None:
    # fastavro takes a tuple in a union for the name of a branch and its value.
    evidence = RECORDS["Evidence OPENED"]
    assert isinstance(evidence, Evidence)
    assert evidence.opened is not None
    for kept in (None, (), ("m1",), ("m1", "m2"), ("m1", "m2", "m3")):
        changed = dataclasses.replace(evidence, opened=dataclasses.replace(evidence.opened, keep_message_ids=kept))
        assert decode(encode(changed), Evidence) == changed


@pytest.mark.parametrize("name", RECORDS)
def test_a_plain_avro_reader_reads_what_is_written(name: str) -> None:
    record = RECORDS[name]
    source = json.loads((schema_directory() / f"{type(record).__name__}.avsc").read_text())
    buffer = io.BytesIO(encode(record)[HEADER_BYTES:])
    plain = fastavro.schemaless_reader(buffer, fastavro.parse_schema(source), None)
    assert isinstance(plain, dict)
    assert set(plain) == {item.name for item in dataclasses.fields(record)}  # type: ignore[arg-type] # every sample is a record
    assert buffer.read() == b""

"""Records to bytes and back: Avro single-object encoding (``C3 01``, CRC-64-AVRO fingerprint, body).

The contract: ``encode`` writes the newest schema of the record's class. ``decode`` reads that and every schema that was
ever released, so that an upgrade leaves nothing unread: what an earlier writer did not know has the schema's default.
An unknown fingerprint (a later release's, say), a truncated body, trailing bytes, text that is not UTF-8 or holds NUL,
and a size over the bound are refused with a reason. Decoding never executes, recurses or allocates beyond what the
bytes hold.

Confluent's wire format (a schema registry) is not read here yet.
"""

from __future__ import annotations

import io
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from importlib import resources
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

import fastavro
from fastavro.schema import fingerprint, to_parsing_canonical_form

from pratique.contract import ledger_records, records
from pratique.contract.topics import MAX_ENVELOPE_BYTES, MAX_REQUEST_BYTES
from pratique.errors import ConfigurationError, MalformedError, TooLargeError

MARKER: Final = b"\xc3\x01"
"""Avro specification, "Single-object encoding"."""

NAMESPACE: Final = "pratique.v1"

HEADER_BYTES: Final = len(MARKER) + 8

RECORD_CLASSES: Final[tuple[type[Any], ...]] = (
    records.CompactionRequested,
    records.MemoryRecalled,
    records.Work,
    records.Evidence,
    records.Verdict,
    records.MemoryFinding,
    ledger_records.LedgerEntry,
    ledger_records.AuditEntry,
    ledger_records.ReviewEntry,
)

RecordT = TypeVar("RecordT")
Converter = Callable[[Any], Any]


def schema_directory() -> Path:
    """Return the folder of the ``.avsc`` files: inside the installed wheel, or at the root of a checkout.

    Raises:
        ConfigurationError: Neither is there; the installation is damaged.
    """
    packaged = Path(str(resources.files("pratique"))) / "schemas"
    checkout = Path(__file__).resolve().parents[3] / "schemas" / "avro"
    for candidate in (packaged, checkout):
        if (candidate / "Verdict.avsc").is_file():
            return candidate
    raise ConfigurationError("no schema files beside the package; reinstall `pratique`")


def released_schemas() -> Path:
    """Return the folder of all released schemas: ``<Record>.v<number>.avsc``, none ever changed or removed."""
    return schema_directory() / "released"


class _Codec:
    """Encoder and decoder of one record class."""

    def __init__(self, record_class: type[Any]) -> None:
        source = json.loads((schema_directory() / f"{record_class.__name__}.avsc").read_text(encoding="utf-8"))
        self.record_class = record_class
        self.header = MARKER + bytes.fromhex(_fingerprint(source))
        # Times stay integers: logical types would turn them into datetimes and back.
        self.schema = fastavro.parse_schema(_without_logical_types(source))
        self.to_plain = _to_plain(record_class)
        self.from_plain = _from_plain(record_class)

    def writers(self) -> dict[bytes, _Written]:
        """Return every schema in which a record of the class may have been written, by its header."""
        released = (
            json.loads(path.read_text(encoding="utf-8"))
            for path in released_schemas().glob(f"{self.record_class.__name__}.v*.avsc")
        )
        earlier = {
            MARKER + bytes.fromhex(_fingerprint(source)): _Written(
                self, fastavro.parse_schema(_without_logical_types(source)), self.schema
            )
            for source in released
        }
        return {**earlier, self.header: _Written(self, self.schema, None)}


@dataclass(frozen=True, slots=True)
class _Written:
    """A schema that a record may have been written in.

    Attributes:
        codec: Of the record's class.
        schema: The writer's.
        today: What to read it as; null where it is that already.
    """

    codec: _Codec
    schema: Any
    today: Any


@cache
def _codecs() -> tuple[dict[type[Any], _Codec], dict[bytes, _Written]]:
    codecs = [_Codec(record_class) for record_class in RECORD_CLASSES]
    written = {header: found for item in codecs for header, found in item.writers().items()}
    return {item.record_class: item for item in codecs}, written


def encode(record: object) -> bytes:
    """Return a record in single-object encoding.

    Raises:
        MalformedError: A field's value does not fit the schema, or a text holds NUL or a lone surrogate.
    """
    codec = _codecs()[0][type(record)]
    buffer = io.BytesIO()
    buffer.write(codec.header)
    try:
        fastavro.schemaless_writer(buffer, codec.schema, codec.to_plain(record))
    except MalformedError:
        raise
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise MalformedError(f"a field of {codec.record_class.__name__} does not fit its schema") from None
    return buffer.getvalue()


def decode(
    value: bytes | None, record_class: type[RecordT], *, max_bytes: int = MAX_REQUEST_BYTES + MAX_ENVELOPE_BYTES
) -> RecordT:
    """Read one record of the given class.

    Args:
        value: The record's value as consumed; null for a tombstone, which no record class has.
        record_class: What is expected on this topic.
        max_bytes: Largest accepted size of the value.

    Raises:
        TooLargeError: The value is larger than ``max_bytes``.
        MalformedError: The value is not exactly one record of that class in a schema of this release or an earlier one.
    """
    return typing.cast("RecordT", _read(value, record_class, max_bytes, None))


def decode_part(
    value: bytes | None,
    record_class: type[Any],
    part_class: type[RecordT],
    *,
    max_bytes: int = MAX_REQUEST_BYTES + MAX_ENVELOPE_BYTES,
) -> RecordT:
    """Read some fields of one record: of what is left out no more than its form is looked at, or its length alone.

    For bytes that were decoded in full by who handed them on, and whose digest binds what is said of them.

    Args:
        value: As of ``decode``.
        record_class: What is expected on this topic.
        part_class: A dataclass of fields that the record has, of the same types.
        max_bytes: Largest accepted size of the value.

    Raises:
        TooLargeError: As of ``decode``.
        MalformedError: As of ``decode``, as far as the fields that are read say.
    """
    part: Callable[[Any, Any], _Part] = _part
    return typing.cast("RecordT", _read(value, record_class, max_bytes, part(record_class, part_class)))


class _Part:
    """Decoder of some fields of a record class."""

    def __init__(self, codec: _Codec, part_class: type[Any]) -> None:
        whole: Any = codec.schema
        wanted = {item.name for item in fields(part_class)}
        chosen = [item for item in whole["fields"] if item["name"] in wanted]
        left_out = [item["type"] for item in whole["fields"] if item["name"] not in wanted]
        # Skipping has a price for each field: where nothing that is left out holds records, reading it costs less.
        self.schema = (
            fastavro.parse_schema({"type": "record", "name": whole["name"], "fields": chosen})
            if any(isinstance(kind, dict) and isinstance(kind.get("items"), dict) for kind in left_out)
            else None
        )
        self.from_plain = _from_plain(part_class)


@cache
def _part(record_class: type[Any], part_class: type[Any]) -> _Part:
    return _Part(_codecs()[0][record_class], part_class)


def _read(value: bytes | None, record_class: type[Any], max_bytes: int, part: _Part | None) -> Any:  # noqa: ANN401
    name = record_class.__name__
    if value is None:
        raise MalformedError(f"value is null, a {name} was expected")
    if len(value) > max_bytes:
        raise TooLargeError(f"{name} has {len(value)} bytes, {max_bytes} are allowed")
    written = _codecs()[1].get(value[:HEADER_BYTES])
    if written is None:
        raise MalformedError(f"value starts with no schema fingerprint that this release knows, a {name} was expected")
    codec = written.codec
    if codec.record_class is not record_class:
        raise MalformedError(f"value is a {codec.record_class.__name__}, a {name} was expected")
    buffer = io.BytesIO(value)
    buffer.seek(HEADER_BYTES)
    wanted, from_plain = written.today, codec.from_plain
    if part is not None:
        wanted, from_plain = part.schema or wanted, part.from_plain
    try:
        record = from_plain(fastavro.schemaless_reader(buffer, written.schema, wanted))
    except MalformedError:
        raise
    except (ValueError, EOFError, IndexError, OverflowError, MemoryError, TypeError, KeyError):
        # fastavro's own messages may quote what it read.
        raise MalformedError(f"bytes are not a {name}") from None
    if buffer.tell() != len(value):
        raise MalformedError(f"{name} is followed by {len(value) - buffer.tell()} more bytes")
    return record


def fingerprints() -> dict[str, str]:
    """Return each record's CRC-64-AVRO fingerprint as it stands on the wire (8 bytes, little endian, hexadecimal)."""
    return {item.record_class.__name__: item.header[len(MARKER) :].hex() for item in _codecs()[0].values()}


def _fingerprint(source: Any) -> str:  # noqa: ANN401 - a schema is any JSON
    return str(fingerprint(to_parsing_canonical_form(source), "CRC-64-AVRO"))


def _without_logical_types(schema: Any) -> Any:  # noqa: ANN401 - a schema is any JSON
    if isinstance(schema, dict):
        return {key: _without_logical_types(item) for key, item in schema.items() if key != "logicalType"}
    if isinstance(schema, list):
        return [_without_logical_types(item) for item in schema]
    return schema


def _identity(value: Any) -> Any:  # noqa: ANN401 - converters are untyped inside this module
    return value


def _text(value: str) -> str:
    if "\x00" in value:
        raise MalformedError("text holds NUL; remove it")
    return value


def _texts(values: Sequence[str]) -> list[str]:
    _text("".join(values))  # at once: 4 MiB hold four million empty texts
    return list(values)  # a tuple in a union would be taken for fastavro's (branch, value) notation


def _text_map(values: Mapping[str, str]) -> Mapping[str, str]:
    return {_text(key): _text(item) for key, item in values.items()}


def _sorted_text_map(values: Mapping[str, str]) -> Mapping[str, str]:
    return {_text(key): _text(values[key]) for key in sorted(values)}  # equal records are equal bytes


def _to_plain(hint: Any) -> Converter:  # noqa: ANN401 - a type hint
    """Return the function that turns a value of the hinted type into what fastavro writes."""
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        members = [(item.name, _to_plain(hints[item.name])) for item in fields(hint)]
        return lambda value: {name: convert(getattr(value, name)) for name, convert in members}
    inner = _optional(hint)
    if inner is not None:
        return _to_plain_or_null(inner)
    if get_origin(hint) is tuple:
        convert = _to_plain(get_args(hint)[0])
        return _texts if convert is _text else lambda value: [convert(item) for item in value]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return lambda value: value.value
    return _WRITTEN.get(hint, _identity)


def _to_plain_or_null(inner: Any) -> Converter:  # noqa: ANN401 - a type hint
    convert = _to_plain(inner)
    # Naming the branch spares fastavro from trying each, field by field; a list has no name to give.
    is_record = isinstance(inner, type) and is_dataclass(inner)
    branch = f"{NAMESPACE}.{inner.__name__}" if is_record else _BRANCH.get(inner)
    if branch is None:
        return lambda value: None if value is None else convert(value)
    return lambda value: None if value is None else (branch, convert(value))


def _from_plain(hint: Any) -> Converter:  # noqa: ANN401 - a type hint
    """Return the function that turns what fastavro read into a value of the hinted type."""
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        names = [item.name for item in fields(hint)]
        converters = [_from_plain(hints[name]) for name in names]
        values = itemgetter(*names) if len(names) > 1 else lambda value: (value[names[0]],)
        make = typing.cast("Callable[..., Any]", hint)
        return lambda value: make(*[convert(item) for convert, item in zip(converters, values(value), strict=True)])
    inner = _optional(hint)
    if inner is not None:
        convert = _from_plain(inner)
        return lambda value: None if value is None else convert(value)
    if get_origin(hint) is tuple:
        convert = _from_plain(get_args(hint)[0])
        if convert is _text:
            return lambda value: tuple(_texts(value))
        return lambda value: tuple([convert(item) for item in value])
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {item.value: item for item in hint}.__getitem__
    return _READ.get(hint, _identity)


_BRANCH: Final[dict[Any, str]] = {str: "string", bytes: "bytes", int: "long"}
"""Avro's name of the branch of a nullable primitive, named for the same reason as a record's."""

_READ: Final[dict[Any, Converter]] = {str: _text, Mapping[str, str]: _text_map}
_WRITTEN: Final[dict[Any, Converter]] = {str: _text, Mapping[str, str]: _sorted_text_map}


def _optional(hint: Any) -> Any:  # noqa: ANN401 - a type hint
    if get_origin(hint) in {types.UnionType, typing.Union}:
        return next(item for item in get_args(hint) if item is not type(None))
    return None

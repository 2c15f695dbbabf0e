"""Schemas are BACKWARD_TRANSITIVE: today's reader reads what every released writer wrote, and means the same by it.

``schemas/avro/released`` holds the schemas as they were released, one file a version; none is ever changed or removed.
"""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pytest
from fastavro.schema import fingerprint, to_parsing_canonical_form
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pratique.contract import avro, records
from pratique.contract.avro import RECORD_CLASSES, released_schemas, schema_directory
from pratique.errors import MalformedError

RELEASES = sorted(released_schemas().glob("*.avsc"))
CLASSES = {item.__name__: item for item in RECORD_CLASSES}
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


def source_of(path: Path) -> Any:  # noqa: ANN401 - a schema is any JSON
    return json.loads(path.read_text(encoding="utf-8"))


def plain(schema: Any) -> Any:  # noqa: ANN401 - a schema is any JSON
    """Drop logical types, as the codec does."""
    if isinstance(schema, dict):
        return {key: plain(item) for key, item in schema.items() if key != "logicalType"}
    return [plain(item) for item in schema] if isinstance(schema, list) else schema


def values_of(schema: Any, named: dict[str, Any]) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a schema is any JSON
    """Values that a writer of a schema may write."""
    if isinstance(schema, list):
        return st.one_of([values_of(branch, named) for branch in schema])
    if isinstance(schema, str) and schema in named:
        return values_of(named[schema], named)
    kind = schema if isinstance(schema, str) else schema["type"]
    if kind in {"record", "enum"}:
        named[schema["name"]] = schema
    makers: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
        "null": st.none,
        "boolean": st.booleans,
        "long": lambda: st.integers(-(2**63), 2**63 - 1),
        "int": lambda: st.integers(-(2**31), 2**31 - 1),
        "string": lambda: TEXT,
        "bytes": lambda: st.binary(max_size=8),
        "enum": lambda: st.sampled_from(schema["symbols"]),
        "array": lambda: st.lists(values_of(schema["items"], named), max_size=2),
        "map": lambda: st.dictionaries(TEXT, values_of(schema["values"], named), max_size=2),
        "record": lambda: st.fixed_dictionaries(
            {field["name"]: values_of(field["type"], named) for field in schema["fields"]}
        ),
    }
    return makers[kind]() if kind in makers else values_of(kind, named)


def read_as_today(released: Any, today: Any, value: Any) -> Any:  # noqa: ANN401 - schemas and data are any JSON
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, fastavro.parse_schema(copy.deepcopy(released)), value)
    buffer.seek(0)
    return fastavro.schemaless_reader(
        buffer, fastavro.parse_schema(copy.deepcopy(released)), fastavro.parse_schema(copy.deepcopy(today))
    )


def keeps(old: Any, new: Any) -> bool:  # noqa: ANN401 - data is any JSON
    """Whether everything that was written is still there; what was added since may stand beside it."""
    if isinstance(old, dict) and isinstance(new, dict):
        return all(key in new and keeps(item, new[key]) for key, item in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(keeps, old, new))
    return bool(old == new)


def test_every_record_has_a_release_and_every_release_a_record() -> None:
    assert {path.name.split(".")[0] for path in RELEASES} == {item.__name__ for item in RECORD_CLASSES}


def test_todays_schemas_are_released() -> None:
    texts = {path.read_text(encoding="utf-8") for path in RELEASES}
    for path in schema_directory().glob("*.avsc"):
        assert path.read_text(encoding="utf-8") in texts, "python -m tests.vectors.generate_contract --release"


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.stem)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=40)
@given(data=st.data())
def test_today_reads_what_a_release_wrote(path: Path, data: st.DataObject) -> None:
    released = plain(source_of(path))
    today = plain(source_of(schema_directory() / f"{path.name.split('.')[0]}.avsc"))
    value = data.draw(values_of(released, {}))
    assert keeps(value, read_as_today(released, today, value))


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.stem)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=10)
@given(data=st.data())
def test_decoder_reads_what_a_release_wrote(path: Path, data: st.DataObject) -> None:
    """The same through ``decode``: written again today, the record is what the written one is read as."""
    source = source_of(path)
    released = plain(source)
    record_class = CLASSES[path.name.split(".")[0]]
    today = plain(source_of(schema_directory() / f"{record_class.__name__}.avsc"))
    value = data.draw(values_of(released, {}))
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, fastavro.parse_schema(copy.deepcopy(released)), value)
    record = avro.decode(header_of(source) + buffer.getvalue(), record_class)
    again = io.BytesIO(avro.encode(record)[avro.HEADER_BYTES :])
    read = fastavro.schemaless_reader(again, fastavro.parse_schema(copy.deepcopy(today)), None)
    assert read == read_as_today(released, today, value)


def header_of(source: Any) -> bytes:  # noqa: ANN401 - a schema is any JSON
    return avro.MARKER + bytes.fromhex(str(fingerprint(to_parsing_canonical_form(source), "CRC-64-AVRO")))


def test_record_of_a_later_release_is_refused() -> None:
    later = source_of(schema_directory() / "Verdict.avsc")
    later["fields"].append({"name": "added", "type": ["null", "string"], "default": None})
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, fastavro.parse_schema(plain(later)), {**_verdict(), "added": None})
    with pytest.raises(MalformedError, match="fingerprint"):
        avro.decode(header_of(later) + buffer.getvalue(), records.Verdict)


BREAKING: dict[str, Callable[[Any], None]] = {
    "a field without a default": lambda schema: schema["fields"].append({"name": "added", "type": "string"}),
    "another type": lambda schema: schema["fields"][0].update(type="long"),
    "another name": lambda schema: schema["fields"][0].update(name="renamed"),
    "another record": lambda schema: schema.update(name="Renamed"),
    "a symbol less": lambda schema: schema["fields"][1]["type"].update(symbols=["COMPACTION"]),
    "a branch less": lambda schema: schema["fields"][7].update(type="string"),
}


@pytest.mark.parametrize("change", BREAKING.values(), ids=BREAKING.keys())
def test_the_check_would_notice(change: Callable[[Any], None]) -> None:
    released = plain(source_of(schema_directory() / "Verdict.avsc"))
    assert released["fields"][1]["name"] == "origin"
    assert released["fields"][7]["name"] == "policy_sha256"
    today = copy.deepcopy(released)
    change(today)
    value = _verdict()
    with pytest.raises((fastavro.read.SchemaResolutionError, AssertionError)):
        assert keeps(value, read_as_today(released, today, value))


def test_an_added_field_with_a_default_is_compatible() -> None:
    released = plain(source_of(schema_directory() / "Verdict.avsc"))
    today = copy.deepcopy(released)
    today["fields"].append({"name": "added", "type": ["null", "string"], "default": None})
    value = _verdict()
    assert read_as_today(released, today, value) == value | {"added": None}


def _verdict() -> dict[str, Any]:
    texts = dict.fromkeys(("verdict_id", "tenant_id", "task_id", "request_id", "policy_id"), "x")
    nulls = dict.fromkeys(
        (
            "policy_sha256",
            "policy_set_sha256",
            "rendered_policy_sha256",
            "invariant_manifest_sha256",
            "commitment_snapshot_sha256",
            "source_population_sha256",
            "compacted_output_sha256",
            "event_json",
            "event_sha256",
            "entries",
            "fallback",
            "ledger_view",
        )
    )
    return {
        **texts,
        **nulls,
        "origin": "RECALL",
        "outcome": "QUARANTINED",
        "request_sha256": "y",
        "subject_sha256": "z",
        "trust": "UNTRUSTED",
        "assurance": "",
        "checks": [],
        "reasons": [],
        "decided_at": 1,
        "valid_until": 2,
        "versions": {},
        "accepted_text_sha256s": [],
    }

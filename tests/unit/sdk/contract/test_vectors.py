"""The committed vectors and generated pages are what their generators make today."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from pratique.contract.avro import decode, encode
from pratique.contract.canonical import canonical_json, parse_json
from pratique.contract.signing import Signature, verify_ed25519, verify_mac
from tests.vectors import generate_contract, generate_reference
from tests.vectors.contract_samples import RECORDS
from tests.vectors.generate_contract import VECTORS, ed25519_key, mac_key

VECTOR: dict[str, Any] = json.loads(VECTORS.read_text(encoding="utf-8"))


def test_regeneration_is_byte_identical() -> None:
    assert generate_contract.render() == VECTORS.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", generate_reference.PAGES)
def test_generated_page_is_current(page: str) -> None:
    written = (generate_reference.REFERENCE / page).read_text(encoding="utf-8")
    assert generate_reference.PAGES[page]() == written, "run python -m tests.vectors.generate_reference"


@pytest.mark.parametrize("name", RECORDS)
def test_committed_bytes_are_read_as_the_record(name: str) -> None:
    value = bytes.fromhex(VECTOR["records"][name])
    assert decode(value, type(RECORDS[name])) == RECORDS[name]
    assert encode(RECORDS[name]) == value


@pytest.mark.parametrize("row", VECTOR["canonical_json"], ids=lambda row: row["what"])
def test_committed_canonical_json(row: dict[str, str]) -> None:
    assert canonical_json(json.loads(row["ascii"])) == row["canonical"]
    assert canonical_json(parse_json(row["canonical"])) == row["canonical"]


@pytest.mark.parametrize("row", VECTOR["signatures"], ids=lambda row: row["record"])
def test_committed_signature_verifies(row: dict[str, str]) -> None:
    value = bytes.fromhex(VECTOR["records"][row["record"]])
    signature = Signature(row["key_id"], base64.b64decode(row["signature"]))
    if row["algorithm"] == "ed25519":
        key = ed25519_key(row["key_id"]).public_key()
        assert base64.b64encode(key.public_bytes_raw()).decode() == row["public"]
        verify_ed25519(key, signature, row["topic"], value)
    else:
        verify_mac(mac_key(row["key_id"]), signature, row["topic"], value)


def test_every_record_class_has_a_vector() -> None:
    assert {name.split()[0] for name in VECTOR["records"]} == {path.stem for path in _schema_files()}


def _schema_files() -> list[Path]:
    from pratique.contract.avro import schema_directory  # noqa: PLC0415 - used by one test

    return sorted(schema_directory().glob("*.avsc"))

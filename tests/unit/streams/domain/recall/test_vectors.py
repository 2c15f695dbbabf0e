"""The recall vectors: what the code states today is what was released. Digests are computed here without its code."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest

from tests.vectors.generate_recall import FIXTURES, VECTORS, fixtures, vectors

RECORDED: Any = json.loads(VECTORS.read_text(encoding="utf-8"))


def compact(value: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def test_regeneration_is_identical() -> None:
    assert vectors() == VECTORS.read_text(encoding="utf-8")
    assert fixtures() == FIXTURES.read_text(encoding="utf-8")


@pytest.mark.parametrize("row", RECORDED["fingerprints"], ids=lambda row: ascii(row["text"]))
def test_fingerprints_are_hmacs_of_what_is_fingerprinted(row: Any) -> None:  # noqa: ANN401 - any JSON
    secret = bytes.fromhex(RECORDED["secret_hex"])
    assert row["fingerprint"] == hmac.digest(secret, row["fingerprinted"].encode(), "sha256").hex()


@pytest.mark.parametrize("row", RECORDED["findings"], ids=lambda row: row["what"])
def test_findings_are_ascii_sorted_and_named_by_their_digest(row: Any) -> None:  # noqa: ANN401 - any JSON
    finding = json.loads(row["finding_json"])
    assert compact(finding) == row["finding_json"]
    assert row["finding_json"].isascii()
    assert finding["content_sha256"] == sha256(row["content"])
    assert len(finding) == (12 if "error_class" in row else 18)
    finding.pop("observed_at", None)
    assert row["finding_id"] == sha256(compact(finding))


@pytest.mark.parametrize("row", RECORDED["roll_ups"], ids=lambda row: row["what"])
def test_populations_are_digested_sorted_and_escaped(row: Any) -> None:  # noqa: ANN401 - any JSON
    digest = sha256(json.dumps(sorted(row["expected"]), separators=(",", ":")))
    assert row["population_sha256"] == digest
    if row["what"] in {"clean", "finding"}:
        assert row["roll_up"]["population_sha256"] == digest

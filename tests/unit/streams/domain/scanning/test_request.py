"""Requests and receipts bind what they are about, and bounds are exact."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from pratique.contract.canonical import JsonValue, canonical_bytes
from pratique.errors import MalformedError, TooLargeError
from streams.domain.scanning.manifest import DetectorManifest, ScannerManifest, read_manifest
from streams.domain.scanning.population import FIELD_ROOTS, scan_population
from streams.domain.scanning.request import (
    Decision,
    ScanReceipt,
    check_binding,
    check_policy,
    check_scanner,
    error_receipt,
    scan_request,
)
from streams.errors import DetectorError, PolicyError
from tests.unit.streams.domain.scanning.builders import CONTEXT, POLICY_SHA256, SCANNER, policy

POPULATION = scan_population(CONTEXT)
REQUEST = scan_request(policy(), POPULATION)
RECEIPT = replace(error_receipt(REQUEST), decision=Decision.CLEAN)


def digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()


def test_the_request_is_the_seed_s() -> None:
    fields = [{"path": field.path, "value": field.value} for field in POPULATION.fields]
    expected = {
        "schema_version": "aidefend.compaction-secret-scan-request.v1",
        "policy_version": "2026-11-01",
        "policy_sha256": POLICY_SHA256,
        "scanner_version": "scripted/1",
        "scanner_sha256": SCANNER.scanner_sha256,
        "language_profiles": ["en"],
        "entity_types": ["EMAIL_ADDRESS"],
        "scanned_population_sha256": POPULATION.sha256,
        "scanned_field_count": 6,
        "fields": fields,
    }
    assert REQUEST.body == expected
    assert REQUEST.sha256 == digest(expected)


def test_the_receipt_s_digest_is_over_its_body() -> None:
    body: dict[str, JsonValue] = {
        "schema_version": "pratique.scan-receipt.v1",
        "request_sha256": REQUEST.sha256,
        "policy_sha256": POLICY_SHA256,
        "scanner_sha256": SCANNER.scanner_sha256,
        "scanned_population_sha256": POPULATION.sha256,
        "scanned_field_count": 6,
        "decision": "CLEAN",
        "finding_count": 0,
    }
    assert RECEIPT.body() == body
    assert RECEIPT.receipt_sha256 == digest(body)
    assert ScanReceipt.of(body) == RECEIPT


def test_a_receipt_of_this_request_is_bound_to_it() -> None:
    check_binding(RECEIPT, REQUEST)


@pytest.mark.parametrize(
    "difference",
    [
        {"request_sha256": "0" * 64},
        {"policy_sha256": "0" * 64},
        {"scanner_sha256": "0" * 64},
        {"scanned_population_sha256": "0" * 64},
        {"scanned_field_count": 5},
    ],
)
def test_any_other_receipt_is_not(difference: dict[str, Any]) -> None:
    with pytest.raises(MalformedError) as caught:
        check_binding(replace(RECEIPT, **difference), REQUEST)
    assert caught.value.code == "RECEIPT_BINDING_DIFFERS"


@pytest.mark.parametrize(
    "difference",
    [
        {"schema_version": "pratique.scan-receipt.v2"},
        {"request_sha256": "0" * 63},
        {"policy_sha256": None},
        {"scanned_field_count": -1},
        {"scanned_field_count": True},
        {"finding_count": "0"},
        {"decision": "PASS"},
        {"value": "what was found"},
    ],
)
def test_a_body_of_another_form_is_no_receipt(difference: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        ScanReceipt.of({**RECEIPT.body(), **difference})


@pytest.mark.parametrize("key", sorted(RECEIPT.body()))
def test_a_body_that_lacks_a_key_is_no_receipt(key: str) -> None:
    body = RECEIPT.body()
    del body[key]
    with pytest.raises(MalformedError):
        ScanReceipt.of(body)


def test_a_policy_in_order_is_accepted() -> None:
    check_policy(policy(), policy_sha256=POLICY_SHA256)


@pytest.mark.parametrize(
    "fields",
    [
        {"policy_sha256": "f" * 64},
        {"policy_version": ""},
        {"scanner_version": ""},
        {"scanner_sha256": "6" * 63},
        {"language_profiles": ()},
        {"entity_types": ()},
        {"field_roots": FIELD_ROOTS[:3]},
        {"field_roots": tuple(reversed(FIELD_ROOTS))},
        {"field_roots": (*FIELD_ROOTS, "preserved_constraint_claims")},
        {"max_total_bytes": 0},
        {"max_total_bytes": True},
        {"timeout_ms": 0},
        {"timeout_ms": True},
    ],
)
def test_a_policy_that_leaves_something_out_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        check_policy(policy(**fields), policy_sha256=POLICY_SHA256)


@pytest.mark.parametrize("fields", [{"scanner_version": "scripted/2"}, {"scanner_sha256": "0" * 64}])
def test_another_scanner_than_the_pinned_one_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(DetectorError):
        check_scanner(policy(**fields), SCANNER)


def test_the_bound_is_over_canonical_bytes_and_exact() -> None:
    size = len(canonical_bytes(POPULATION.population))
    scan_request(policy(max_total_bytes=size), POPULATION)
    with pytest.raises(TooLargeError):
        scan_request(policy(max_total_bytes=size - 1), POPULATION)


@pytest.mark.parametrize(
    "entry",
    [
        DetectorManifest("scripted", "2", "0" * 64, {}),
        DetectorManifest("scripted", "1", "1" * 64, {}),
        DetectorManifest("scripted", "1", "0" * 64, {"threshold": 0.5}),
        DetectorManifest("other", "1", "0" * 64, {}),
    ],
)
def test_the_scanner_s_digest_covers_version_rules_and_settings(entry: DetectorManifest) -> None:
    before = ScannerManifest.of([DetectorManifest("scripted", "1", "0" * 64, {})])
    assert ScannerManifest.of([entry]).scanner_sha256 != before.scanner_sha256


def test_the_scanner_s_digest_covers_how_texts_are_read() -> None:
    before = ScannerManifest.of([DetectorManifest("scripted", "1", "0" * 64, {})])
    other = replace(before, views=before.views + 1)
    assert other.scanner_sha256 != before.scanner_sha256
    assert read_manifest(other.body()) == other
    with pytest.raises(MalformedError):
        read_manifest({**before.body(), "views": "1"})


def test_detectors_have_no_order() -> None:
    entries = [DetectorManifest(name, "1", "0" * 64, {}) for name in ("a", "b")]
    assert ScannerManifest.of(entries) == ScannerManifest.of(entries[::-1])


@pytest.mark.parametrize("names", [[], ["a", "a"]])
def test_no_detector_and_the_same_one_twice_are_no_scanner(names: list[str]) -> None:
    with pytest.raises(MalformedError):
        ScannerManifest.of([DetectorManifest(name, "1", "0" * 64, {}) for name in names])

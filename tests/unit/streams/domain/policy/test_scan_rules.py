"""A scan policy's rules: read strictly, back as they were, and part of what pins a scanner."""

from __future__ import annotations

from typing import Any

import pytest

from pratique.contract.canonical import bytes_sha256
from streams.domain.policy.scan_rules import (
    MAX_ENTRIES,
    NO_RULES,
    AllowEntry,
    Threshold,
    configured_sha256,
    scan_rules,
)
from streams.errors import PolicyError
from tests.vectors.digest_table import DIGESTS

DIGEST = "a" * 64
BY_DIGEST: dict[str, Any] = {
    "id": "test-key",
    "category": "SECRET",
    "value_sha256": DIGEST,
    "reason": "the example of our own documentation",
    "expires_ms": 1_900_000_000_000,
}
BY_PATTERN: dict[str, Any] = {
    "id": "our-addresses",
    "category": "PII",
    "detector": "presidio",
    "type": "EMAIL_ADDRESS",
    "pattern": r"[a-z.]+@example\.org",
    "reason": "role addresses",
    "expires_ms": 1_900_000_000_000,
}
ACTIONS: dict[str, Any] = {"INJECTION": [{"detector": "injection", "minimum_score": 85}]}
BOTH: dict[str, Any] = {"allow": [BY_DIGEST, BY_PATTERN], "actions": ACTIONS}


def test_rules_are_read() -> None:
    rules = scan_rules(BOTH)
    assert rules.thresholds == (Threshold("INJECTION", "injection", 85),)
    reason, expires_ms = BY_DIGEST["reason"], BY_DIGEST["expires_ms"]
    assert rules.allow[0] == AllowEntry("test-key", "SECRET", reason, expires_ms, value_sha256=DIGEST)
    assert (rules.allow[1].detector, rules.allow[1].type) == ("presidio", "EMAIL_ADDRESS")


@pytest.mark.parametrize("document", [BOTH, {"allow": [BY_DIGEST]}, {"actions": ACTIONS}, {}])
def test_rules_come_back_as_they_were(document: dict[str, Any]) -> None:
    assert scan_rules(document).body() == document


def test_other_fields_are_not_looked_at() -> None:
    assert scan_rules({"schema_version": 1, "timeout_ms": None}) == NO_RULES
    assert not NO_RULES


@pytest.mark.parametrize(
    ("entry", "changes"),
    [
        (BY_DIGEST, {"pattern": "x"}),
        (BY_DIGEST, {"value_sha256": ...}),
        (BY_DIGEST, {"value_sha256": "A" * 64}),
        (BY_DIGEST, {"category": "TOO_LARGE"}),
        (BY_DIGEST, {"reason": " "}),
        (BY_DIGEST, {"reason": ...}),
        (BY_DIGEST, {"expires_ms": ...}),
        (BY_DIGEST, {"expires_ms": True}),
        (BY_DIGEST, {"expires_ms": 0}),
        (BY_DIGEST, {"id": "a text"}),
        (BY_DIGEST, {"detector": "what bob said"}),
        (BY_DIGEST, {"note": "x"}),
        (BY_PATTERN, {"pattern": "("}),
        (BY_PATTERN, {"pattern": r"(a)\1"}),
        (BY_PATTERN, {"pattern": "(((a{1,99}){1,99}){1,9})"}),
        (BY_PATTERN, {"pattern": "x" * 513}),
    ],
)
def test_an_entry_that_is_not_of_its_form_is_refused(entry: dict[str, Any], changes: dict[str, Any]) -> None:
    changed = {key: value for key, value in (entry | changes).items() if value is not ...}
    with pytest.raises(PolicyError, match=r"allow\[0\]"):
        scan_rules({"allow": [changed]})


@pytest.mark.parametrize(
    "allow", [[], "all", [BY_DIGEST, BY_DIGEST], [{**BY_DIGEST, "id": f"e{n}"} for n in range(MAX_ENTRIES + 1)], [3]]
)
def test_a_list_that_is_none_is_refused(allow: Any) -> None:  # noqa: ANN401 - JSON
    with pytest.raises(PolicyError):
        scan_rules({"allow": allow})


@pytest.mark.parametrize(
    "actions",
    [
        {},
        [],
        {"SECRET": [{"detector": "kingfisher", "minimum_score": 50}]},
        {"PII": [{"detector": "presidio", "minimum_score": 50}]},
        {"INJECTION": []},
        {"INJECTION": [{"detector": "injection", "minimum_score": 0}]},
        {"INJECTION": [{"detector": "injection", "minimum_score": 101}]},
        {"INJECTION": [{"detector": "injection", "minimum_score": 0.5}]},
        {"INJECTION": [{"detector": "injection"}]},
        {"INJECTION": [{"detector": "injection", "minimum_score": 50}] * 2},
        {**ACTIONS, "SECRET": [{"detector": "kingfisher", "minimum_score": 50}]},
    ],
)
def test_only_what_is_scored_by_degree_can_be_turned_down(actions: Any) -> None:  # noqa: ANN401 - JSON
    with pytest.raises(PolicyError):
        scan_rules({"actions": actions})


def test_the_digest_is_the_published_one() -> None:
    (published,) = (item for item in DIGESTS if item.name == "scanner_sha256 (with rules)")
    assert configured_sha256("7" * 64, scan_rules({"actions": ACTIONS})) == bytes_sha256(published.example)


def test_rules_are_part_of_what_pins_a_scanner() -> None:
    digests = {configured_sha256(DIGEST, scan_rules(document)) for document in (BOTH, {"allow": [BY_DIGEST]}, {})}
    assert len(digests) == 3
    assert configured_sha256(DIGEST, NO_RULES) == DIGEST
    longer = {"allow": [{**BY_DIGEST, "expires_ms": BY_DIGEST["expires_ms"] + 1}]}
    assert configured_sha256(DIGEST, scan_rules(longer)) not in digests

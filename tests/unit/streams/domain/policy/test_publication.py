from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from pratique.contract.canonical import bytes_sha256, canonical_bytes
from streams.domain.policy.publication import author_snapshot, prepare, refuse_older_trust, trust_document
from streams.domain.policy.scan_rules import configured_sha256, scan_rules
from streams.domain.policy.sets import current_path, set_path
from streams.errors import PolicyError
from tests.unit.streams.domain.policy import samples

INVARIANTS: Any = samples.source().invariants


def test_every_digest_is_computed_and_every_target_canonical() -> None:
    publication = prepare(samples.source(), samples.SCANNER)
    for path, content in publication.targets.items():
        assert canonical_bytes(json.loads(content)) == content
        name = path.rpartition("/")[2].removesuffix(".json")
        if len(name) == 64:
            assert bytes_sha256(content) == name
    assert publication.policy_set.invariants.invariant_records[0].record_revision == 7
    assert publication.tenants == ("tenant-a",)


def test_the_pointer_leads_to_the_set() -> None:
    publication = prepare(samples.source(), samples.SCANNER)
    pointer = json.loads(publication.targets[current_path("default")])
    assert set_path(pointer["policy_set_sha256"]) in publication.targets
    assert pointer["policy_set_sha256"] == publication.policy_set.policy_set_sha256


def test_the_same_source_gives_the_same_bytes() -> None:
    assert prepare(samples.source(), samples.SCANNER) == prepare(samples.source(), samples.SCANNER)


def test_the_scanner_is_the_callers_unless_the_source_says_which() -> None:
    scan: Any = samples.source().scan
    stated = {**scan, "scanner_version": "own", "scanner_sha256": "7" * 64}
    assert prepare(samples.source(), samples.SCANNER).policy_set.scan.scanner_sha256 == samples.SCANNER.sha256
    assert prepare(samples.source(scan=stated), samples.SCANNER).policy_set.scan.scanner_sha256 == "7" * 64
    with pytest.raises(PolicyError, match="scanner_sha256"):
        prepare(samples.source(), None)
    with pytest.raises(PolicyError, match="scanner_version"):
        prepare(samples.source(scan={**scan, "scanner_sha256": "7" * 64}), samples.SCANNER)


def test_the_scanner_is_pinned_with_the_documents_own_rules() -> None:
    actions = {"INJECTION": [{"detector": "injection", "minimum_score": 90}]}
    scan: Any = {**samples.source().scan, "actions": actions}  # type: ignore[dict-item]
    published = prepare(samples.source(scan=scan), samples.SCANNER).policy_set.scan
    assert published.rules == scan_rules(scan)
    assert published.scanner_sha256 == configured_sha256(samples.SCANNER.sha256, published.rules)
    assert published.scanner_sha256 != samples.SCANNER.sha256


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"invariants": {"registry_revision": 1, "records": []}}, "records"),
        ({"invariants": {**INVARIANTS, "registry_revision": True}}, "registry_revision"),
        ({"invariants": samples.manifest()}, "policy_sha256|unknown"),
        ({"scan": {**samples.scan()}}, "policy_sha256"),
        ({"scan": []}, "scan"),
        ({"grammar": {}}, "schema_version"),
        ({"recall": {**samples.recall(), "note": ""}}, "note"),
        ({"commitments": {"../x": samples.commitments_source()}}, "tenant id"),
        ({"commitments": {"tenant-a": {"commitment_revision": 0, "records": []}}}, "records"),
        ({"trust": {"schema_version": "pratique.trust.v1"}}, "trust target"),
        ({"compaction": {**samples.compaction(), "standing_commitments": False}}, "standing_commitments"),
        ({"compaction": {**samples.compaction(), "trusted_instruction": "a\ud800"}}, "trusted_instruction"),
    ],
)
def test_a_source_that_workers_would_refuse_is_not_published(change: dict[str, Any], named: str) -> None:
    with pytest.raises(PolicyError, match=named):
        prepare(samples.source(**change), samples.SCANNER)


def test_a_source_states_no_digests() -> None:
    source = samples.commitments_source()
    source["records"][0]["record_sha256"] = "0" * 64
    with pytest.raises(PolicyError, match="record_sha256 is unknown"):
        author_snapshot(source, samples.POLICY_SHA256)


def test_a_snapshot_is_the_seeds_under_its_policy() -> None:
    assert author_snapshot(samples.commitments_source(), samples.POLICY_SHA256) == author_snapshot(
        samples.commitments_source(), samples.POLICY_SHA256
    )
    assert author_snapshot(samples.commitments_source(), "0" * 64).policy_sha256 == "0" * 64


def trust(revision: int) -> bytes:
    key: dict[str, Any] = {
        "key_id": "gate-1",
        "algorithm": "ed25519",
        "public": base64.b64encode(bytes(31) + b"\x01").decode("ascii"),
        "roles": ["gate"],
        "tenants": "*",
        "not_before_ms": 1,
        "expires_ms": 2,
    }
    return trust_document(
        {"schema_version": "pratique.trust.v1", "revision": revision, "keys": [key], "mac_keys": []},
    )


@pytest.mark.parametrize(("published", "offered"), [(2, 1), (9, 8), (10, 9), (3, 3)])
def test_a_trust_target_that_is_not_newer_is_refused(published: int, offered: int) -> None:
    with pytest.raises(
        PolicyError, match=f"revision is {offered},.*{published if published > offered else 'published'}"
    ):
        refuse_older_trust("trust.json", trust(published), trust(offered))


@pytest.mark.parametrize(
    ("path", "published"),
    [
        ("trust.json", trust(1)),
        ("trust.json", b"{}"),
        ("trust.json", b"no reader reads this"),
        ("current/default.json", b"3"),
    ],
)
def test_what_is_newer_or_no_trust_target_is_accepted(path: str, published: bytes) -> None:
    refuse_older_trust(path, published, trust(2))

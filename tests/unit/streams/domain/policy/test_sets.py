from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pratique.contract.canonical import canonical_json, canonical_sha256
from streams.domain.policy.model import PolicySet
from streams.domain.policy.publication import prepare
from streams.domain.policy.sets import (
    DocumentKind,
    SetMap,
    build_policy_set,
    current_path,
    current_pointer,
    read_current_pointer,
    read_set_map,
    read_standing_pointer,
    standing_path,
)
from streams.errors import CommitmentsMissingError, CommitmentsStaleError, PolicyError
from tests.unit.streams.domain.policy import samples

CURRENT = current_pointer("default", "1" * 64)


def documents(**changes: dict[str, Any]) -> dict[DocumentKind, bytes]:
    values = {
        "compaction": samples.compaction(),
        "invariants": samples.manifest(),
        "grammar": samples.grammar(),
        "scan": samples.scan(),
        "recall": samples.recall(),
        **changes,
    }
    return {DocumentKind(kind): samples.as_bytes(value) for kind, value in values.items()}


def set_map(contents: dict[DocumentKind, bytes], tenant_id: str | None = None) -> SetMap:
    digests = {kind: canonical_sha256(json.loads(content)) for kind, content in contents.items()}
    return SetMap("default", digests, tenant_id)


def build(tenant_id: str | None = None, **changes: dict[str, Any]) -> PolicySet:
    contents = documents(**changes)
    return build_policy_set(set_map(contents, tenant_id), contents, version=3)


def test_a_set_is_built_from_its_map_and_documents() -> None:
    built = build()
    assert built.policy_set_sha256 == canonical_sha256(json.loads(built.set_map))
    assert read_set_map(built.set_map, built.policy_set_sha256).text == built.set_map
    assert json.loads(built.grammar) == samples.grammar()


def test_a_map_says_kind_path_and_digest() -> None:
    value = json.loads(build(tenant_id="tenant-a", commitments=samples.snapshot()).set_map)
    digest = canonical_sha256(samples.snapshot())
    assert value["documents"]["commitments"] == {"path": f"tenants/tenant-a/{digest}.json", "sha256": digest}
    assert value["documents"]["compaction"]["path"] == f"compaction/{samples.POLICY_SHA256}.json"


def test_equality_leaves_the_version_out() -> None:
    contents = documents()
    assert build_policy_set(set_map(contents), contents, version=1) == build_policy_set(
        set_map(contents), contents, version=2
    )


def test_the_base_of_an_effective_set_is_the_published_one() -> None:
    base = set_map(documents())
    effective = base.with_standing("tenant-a", "1" * 64)
    assert effective.sha256 != base.sha256
    assert effective.base.sha256 == base.sha256


@pytest.mark.parametrize("kind", ["invariants", "scan", "commitments"])
def test_a_document_of_another_policy_is_refused(kind: str) -> None:
    value = {"invariants": samples.manifest, "scan": samples.scan, "commitments": samples.snapshot}[kind]()
    with pytest.raises(PolicyError, match="policy_sha256"):
        build(tenant_id="tenant-a", **{"commitments": samples.snapshot(), kind: {**value, "policy_sha256": "0" * 64}})


def test_a_compaction_policy_of_another_id_is_refused() -> None:
    contents = documents()
    other = SetMap("other", set_map(contents).documents, None)
    with pytest.raises(PolicyError, match="policy_id"):
        build_policy_set(other, contents, version=1)


def test_a_scan_that_may_last_longer_than_the_deadline_is_refused() -> None:
    with pytest.raises(PolicyError, match="timeout_ms"):
        build(scan={**samples.scan(), "timeout_ms": 30_001})


def test_a_grammar_says_which_schema_it_has() -> None:
    with pytest.raises(PolicyError, match="schema_version"):
        build(grammar={"clauses": []})


def test_standing_commitments_that_policy_does_not_apply_are_refused() -> None:
    compaction = {**samples.compaction(), "standing_commitments": False}
    digest = canonical_sha256(compaction)
    with pytest.raises(PolicyError, match="standing"):
        build(
            tenant_id="tenant-a",
            compaction=compaction,
            invariants={**samples.manifest(), "policy_sha256": digest},
            scan={**samples.scan(), "policy_sha256": digest},
            commitments={**samples.snapshot(), "policy_sha256": digest},
        )


def test_a_missing_document_is_named() -> None:
    contents = documents()
    mapping = set_map(contents)
    del contents[DocumentKind.SCAN]
    with pytest.raises(PolicyError, match="document scan is missing"):
        build_policy_set(mapping, contents, version=1)


def test_bytes_of_another_digest_are_refused() -> None:
    contents = documents()
    mapping = set_map(contents)
    contents[DocumentKind.RECALL] = samples.as_bytes({**samples.recall(), "review_score": 1})
    with pytest.raises(PolicyError, match="recall document: its bytes do not have the digest"):
        build_policy_set(mapping, contents, version=1)


def _path(value: dict[str, Any], kind: str, old: str, new: str) -> None:
    entry = value["documents"][kind]
    entry["path"] = entry["path"].replace(old, new)


EDITS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "path of another kind": lambda value: _path(value, "scan", "scan/", "recall/"),
    "path of another digest": lambda value: _path(value, "scan", value["documents"]["scan"]["sha256"], "0" * 64),
    "path out of the repository": lambda value: _path(value, "scan", "scan/", "../scan/"),
    "tenant that is a pattern": lambda value: _path(value, "commitments", "tenant-a", "*"),
    "tenant with a folder": lambda value: _path(value, "commitments", "tenant-a", "a/b"),
    "document missing": lambda value: value["documents"].pop("grammar"),
    "document unknown": lambda value: value["documents"].update(extra=value["documents"]["scan"]),
    "digest in upper case": lambda value: value["documents"]["scan"].update(sha256="A" * 64),
    "schema of another version": lambda value: value.update(schema_version="pratique.policy-set.v2"),
    "policy id that is a path": lambda value: value.update(policy_id="../x"),
    "field unknown": lambda value: value.update(note=1),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_wrong_map_is_refused_even_under_its_own_digest(edit: str) -> None:
    value = json.loads(build(tenant_id="tenant-a", commitments=samples.snapshot()).set_map)
    EDITS[edit](value)
    with pytest.raises(PolicyError):
        read_set_map(canonical_json(value), canonical_sha256(value))


def test_a_map_that_is_not_canonical_is_refused() -> None:
    built = build()
    with pytest.raises(PolicyError):
        read_set_map(json.dumps(json.loads(built.set_map), indent=1), built.policy_set_sha256)


def test_a_map_with_a_key_twice_is_refused() -> None:
    text = '{"policy_id":"a","policy_id":"b"}'
    with pytest.raises(PolicyError):
        read_set_map(text, "0" * 64)


@pytest.mark.parametrize(
    "value",
    [
        {**CURRENT, "policy_id": "other"},
        {**CURRENT, "policy_set_sha256": "x"},
        {**CURRENT, "schema_version": "v2"},
        {**CURRENT, "extra": 1},
    ],
)
def test_a_pointer_is_for_the_policy_that_was_asked_for(value: dict[str, Any]) -> None:
    assert read_current_pointer(CURRENT, "default") == "1" * 64
    with pytest.raises(PolicyError):
        read_current_pointer(value, "default")


@pytest.mark.parametrize("change", [{"tenant_id": "tenant-b"}, {"policy_id": "other"}, {"snapshot_sha256": ""}])
def test_a_standing_pointer_is_for_the_tenant_that_was_asked_for(change: dict[str, Any]) -> None:
    path = standing_path("tenant-a", "default")
    pointer = json.loads(prepare(samples.source(), samples.SCANNER).targets[path])
    assert read_standing_pointer(pointer, "tenant-a", "default").policy_sha256 == samples.POLICY_SHA256
    with pytest.raises(PolicyError):
        read_standing_pointer({**pointer, **change}, "tenant-a", "default")


@pytest.mark.parametrize("identifier", ["", ".", "..", "a/b", "*", "a\n", "-a", "a" * 129, "ä"])
def test_ids_that_are_no_file_names_make_no_paths(identifier: str) -> None:
    with pytest.raises(PolicyError):
        current_path(identifier)
    with pytest.raises(PolicyError):
        standing_path(identifier, "default")


class TestStanding:
    def test_policy_that_applies_none_wants_the_requests_own(self) -> None:
        compaction = {**samples.compaction(), "standing_commitments": False}
        digest = canonical_sha256(compaction)
        built = build(
            compaction=compaction,
            invariants={**samples.manifest(), "policy_sha256": digest},
            scan={**samples.scan(), "policy_sha256": digest},
        )
        with pytest.raises(CommitmentsMissingError):
            built.standing_for("tenant-a")

    def test_they_are_their_tenants_alone(self) -> None:
        built = build(tenant_id="tenant-a", commitments=samples.snapshot())
        assert built.standing_for("tenant-a").commitment_revision == 6
        with pytest.raises(CommitmentsMissingError):
            built.standing_for("tenant-b")

    def test_stale_ones_are_stale(self) -> None:
        contents = documents()
        built = build_policy_set(set_map(contents), contents, version=1)
        with pytest.raises(CommitmentsStaleError):
            replace(built, standing_stale=True).standing_for("tenant-a")

"""Registers into constraints: each of the seed's checks, and the instruction rendered from policy alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pratique.contract.canonical import canonical_sha256, text_sha256
from pratique.contract.rendering import policy_block_of
from streams.domain.compaction.candidate import ConstraintType
from streams.domain.compaction.constraints import constraint_set, render_trusted_instruction
from streams.domain.policy.documents import manifest_body, snapshot_body
from streams.domain.policy.model import AssuranceProfile, CommitmentSnapshot, CompactionPolicy, InvariantManifest
from streams.errors import CommitmentsStaleError, PolicyError
from tests.unit.streams.domain.compaction.builders import POLICY_SHA256, SECRETS, TOOLS, manifest, snapshot

POLICY = CompactionPolicy(
    policy_id="default",
    policy_version="1",
    summary_min_length=10,
    fallback_message_count=2,
    trusted_instruction="You are the operator's agent.",
    deadline_ms=30_000,
    verdict_valid_ms=60_000,
    max_request_bytes=1_000,
    max_messages=10,
    max_candidate_bytes=1_000,
    standing_commitments=True,
    assurance=AssuranceProfile.BOUNDED,
    policy_sha256=POLICY_SHA256,
)


def resealed(value: InvariantManifest) -> InvariantManifest:
    return replace(value, manifest_sha256=canonical_sha256(manifest_body(value)))


def resealed_snapshot(value: CommitmentSnapshot) -> CommitmentSnapshot:
    return replace(value, snapshot_sha256=canonical_sha256(snapshot_body(value)))


def with_record(**fields: object) -> InvariantManifest:
    value = manifest()
    record = replace(value.invariant_records[0], **fields)  # type: ignore[arg-type]  # names of the record's fields
    return resealed(replace(value, invariant_records=(record,)))


def with_commitment(**fields: object) -> CommitmentSnapshot:
    value = snapshot()
    record = replace(value.commitment_records[0], **fields)  # type: ignore[arg-type]  # names of the record's fields
    return resealed_snapshot(replace(value, commitment_records=(record,)))


def test_invariants_come_first_each_in_its_registers_order() -> None:
    constraints = constraint_set(
        POLICY_SHA256,
        manifest(("S-2", "two", SECRETS), ("S-1", "one", SECRETS)),
        snapshot(("C-2", "two", TOOLS), ("C-1", "one", TOOLS)),
    )
    assert [item.constraint_id for item in constraints.constraints] == ["S-2", "S-1", "C-2", "C-1"]
    assert constraints.ids(ConstraintType.INVARIANT) == ("S-2", "S-1")
    assert constraints.ids(ConstraintType.COMMITMENT) == ("C-2", "C-1")
    assert constraints.constraints[0].canonical_predicate_sha256 == text_sha256(SECRETS)
    assert constraints.rendered_policy_sha256 == text_sha256(constraints.policy_block)


BAD_MANIFESTS: dict[str, Callable[[], InvariantManifest]] = {
    "another policy": lambda: manifest(policy_sha256="e" * 64),
    "empty": lambda: resealed(replace(manifest(), invariant_records=())),
    "revision": lambda: resealed(replace(manifest(), registry_revision=0)),
    "an id twice": lambda: resealed(replace(manifest(), invariant_records=manifest().invariant_records * 2)),
    "no id": lambda: with_record(invariant_id=""),
    "no text": lambda: with_record(canonical_text=""),
    "no predicate": lambda: with_record(canonical_predicate=""),
    "record revision": lambda: with_record(record_revision=0),
    "record digest": lambda: with_record(record_sha256="0" * 64),
    "changed text": lambda: with_record(canonical_text="Secrets may be told."),
    "manifest digest": lambda: replace(manifest(), manifest_sha256="0" * 64),
}

BAD_SNAPSHOTS: dict[str, Callable[[], CommitmentSnapshot]] = {
    "empty": lambda: resealed_snapshot(replace(snapshot(), commitment_records=())),
    "revision": lambda: resealed_snapshot(replace(snapshot(), commitment_revision=0)),
    "an id twice": lambda: resealed_snapshot(replace(snapshot(), commitment_records=snapshot().commitment_records * 2)),
    "no id": lambda: with_commitment(commitment_id=""),
    "no text": lambda: with_commitment(canonical_text=""),
    "no predicate": lambda: with_commitment(canonical_predicate=""),
    "record revision": lambda: with_commitment(record_revision=0),
    "record digest": lambda: with_commitment(record_sha256="0" * 64),
    "snapshot digest": lambda: replace(snapshot(), snapshot_sha256="0" * 64),
}


@pytest.mark.parametrize("name", BAD_MANIFESTS)
def test_a_manifest_that_does_not_hold_is_refused(name: str) -> None:
    with pytest.raises(PolicyError, match="invariant manifest"):
        constraint_set(POLICY_SHA256, BAD_MANIFESTS[name](), snapshot())


@pytest.mark.parametrize("name", BAD_SNAPSHOTS)
def test_a_snapshot_that_does_not_hold_is_refused(name: str) -> None:
    with pytest.raises(PolicyError, match="commitment snapshot"):
        constraint_set(POLICY_SHA256, manifest(), BAD_SNAPSHOTS[name]())


def test_a_snapshot_for_another_policy_is_stale() -> None:
    with pytest.raises(CommitmentsStaleError, match="sign the commitments again"):
        constraint_set(POLICY_SHA256, manifest(), snapshot(policy_sha256="e" * 64))


def test_what_is_remembered_is_not_confused_with_what_differs() -> None:
    assert constraint_set(POLICY_SHA256, manifest(), snapshot()) is constraint_set(
        POLICY_SHA256, manifest(), snapshot()
    )
    with pytest.raises(PolicyError):
        constraint_set(POLICY_SHA256, with_record(record_sha256="0" * 64), snapshot())


def test_the_client_renders_the_same_block_from_the_documents() -> None:
    constraints = constraint_set(POLICY_SHA256, manifest(), snapshot())
    block = policy_block_of(
        policy_sha256=POLICY_SHA256, manifest=manifest_body(manifest()), snapshot=snapshot_body(snapshot())
    )
    assert block == constraints.policy_block


def test_the_trusted_instruction_is_the_policys_text_and_the_block() -> None:
    text = render_trusted_instruction(POLICY, manifest(), snapshot())
    block = constraint_set(POLICY_SHA256, manifest(), snapshot()).policy_block
    assert text == f"You are the operator's agent.\n\n[CANONICAL POLICY]\n{block}"

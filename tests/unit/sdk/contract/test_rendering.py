"""The policy block and the trusted instruction, from plain documents."""

from __future__ import annotations

from typing import Any

import pytest

from pratique.contract.canonical import canonical_sha256, parse_json, text_sha256
from pratique.contract.rendering import policy_block_of, rendered_policy_sha256, trusted_instruction
from pratique.errors import MalformedError


def document(id_field: str, **fields: object) -> dict[str, Any]:
    record = {
        id_field: "ID-1",
        "canonical_text": "Text.",
        "canonical_predicate": "deny(x)",
        "record_revision": 1,
        "record_sha256": "b" * 64,
    }
    return {"records": [{**record, **fields}]}


def test_block_lists_invariants_then_commitments() -> None:
    manifest, snapshot = document("invariant_id"), document("commitment_id")
    block = policy_block_of(policy_sha256="a" * 64, manifest=manifest, snapshot=snapshot)
    entry = {
        "constraint_id": "ID-1",
        "canonical_text": "Text.",
        "canonical_predicate": "deny(x)",
        "canonical_record_sha256": "b" * 64,
        "canonical_predicate_sha256": text_sha256("deny(x)"),
    }
    assert parse_json(block) == {
        "schema_version": "aidefend.rehydrated-policy-block.v3",
        "policy_sha256": "a" * 64,
        "invariant_manifest_sha256": canonical_sha256(manifest),
        "commitment_snapshot_sha256": canonical_sha256(snapshot),
        "constraints": [{"constraint_type": "INVARIANT", **entry}, {"constraint_type": "COMMITMENT", **entry}],
    }
    assert rendered_policy_sha256(block) == text_sha256(block)


@pytest.mark.parametrize("bad", [{}, {"records": "x"}, {"records": None}, {"records": ["x"]}, {"records": [{}]}])
def test_a_document_without_records_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        policy_block_of(policy_sha256="a" * 64, manifest=bad, snapshot=document("commitment_id"))


@pytest.mark.parametrize("field", ["canonical_text", "canonical_predicate", "record_sha256", "invariant_id"])
def test_a_record_without_a_text_is_refused(field: str) -> None:
    bad = document("invariant_id", **{field: 1})
    with pytest.raises(MalformedError, match=field):
        policy_block_of(policy_sha256="a" * 64, manifest=bad, snapshot=document("commitment_id"))


@pytest.mark.parametrize(("instruction", "block"), [("", "{}"), (" \n", "{}"), ("Be good.", "")])
def test_an_empty_instruction_is_refused(instruction: str, block: str) -> None:
    with pytest.raises(MalformedError, match="empty"):
        trusted_instruction(instruction, block)

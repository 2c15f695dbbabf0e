"""Every digest's vector is what the code that computes it gives; the table's preimages are written out by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.avro import encode
from pratique.contract.canonical import bytes_sha256, canonical_json, canonical_sha256, parse_json, text_sha256
from pratique.contract.digests import (
    compaction_join_key,
    compaction_subject_sha256,
    finding_id,
    message_record,
    message_sha256,
    recall_join_key,
    recall_population_sha256,
    recall_subject_sha256,
    request_sha256,
    source_population_sha256,
)
from pratique.contract.narrative import narrative_sha256
from pratique.contract.records import MemoryEntry, Origin, Provenance, Role, SourceMessage
from pratique.contract.rendering import policy_block_of, rendered_policy_sha256
from streams.domain.compaction.candidate import ClaimStatus as Status
from streams.domain.compaction.candidate import (
    CompactedContext,
    ConstraintType,
    PreservedConstraintClaim,
    scanned_population_sha256,
)
from streams.domain.compaction.verification import ConstraintVerificationResult
from streams.domain.policy.documents import commitment_body, commitment_snapshot, invariant_body, invariant_manifest
from streams.domain.policy.model import CommitmentRecord, InvariantRecord
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord
from streams.domain.recall.fingerprint import fingerprint
from tests.vectors.contract_samples import CANDIDATE_JSON, COMPACTION, MESSAGES, RECALL
from tests.vectors.digest_table import DIGESTS, Digest, Form

ROWS = {row.name: row for row in DIGESTS}


def example(name: str) -> Any:  # noqa: ANN401 - any JSON
    return parse_json(ROWS[name].example)


def _constraint_digests(name: str, id_field: str) -> str:
    made: dict[str, Callable[..., Any]] = {"invariant_id": InvariantRecord, "commitment_id": CommitmentRecord}
    body: dict[str, Callable[..., Any]] = {"invariant_id": invariant_body, "commitment_id": commitment_body}
    value = example(name)
    fields = ("canonical_text", "canonical_predicate", "record_revision")
    record = made[id_field](value[id_field], *(value[field] for field in fields), "0" * 64)
    return canonical_sha256(body[id_field](record))


def _claim() -> PreservedConstraintClaim:
    value = example("claim_population_sha256")[0]
    return PreservedConstraintClaim(
        ConstraintType(value["constraint_type"]),
        value["constraint_id"],
        value["canonical_record_sha256"],
        value["canonical_predicate_sha256"],
        value["preserved_predicate"],
        Status(value["status"]),
    )


def _result() -> ConstraintVerificationResult:
    value = example("result_population_sha256")[0]
    return ConstraintVerificationResult(
        ConstraintType(value["constraint_type"]),
        value["constraint_id"],
        value["canonical_record_sha256"],
        value["canonical_predicate_sha256"],
        Status(value["claim_status"]),
        Status(value["verification_status"]),
        value["bounded_rule_id"],
        value["evidence_sha256"],
    )


def _scanned() -> str:
    value = example("scanned_population_sha256")
    context = CompactedContext(
        value["summary_text"],
        tuple(value["retained_safety_invariant_ids"]),
        tuple(value["retained_policy_commitment_ids"]),
        tuple(value["source_message_sha256s"]),
        (),
    )
    return scanned_population_sha256(context)


def _block() -> str:
    return rendered_policy_sha256(
        policy_block_of(
            policy_sha256=example("rendered_policy_sha256")["policy_sha256"],
            manifest=example("invariant_manifest_sha256"),
            snapshot=example("commitment_snapshot_sha256"),
        )
    )


def _record() -> QuarantineRecord:
    value = example("event_id")
    return QuarantineRecord(
        LedgerKey.of(Scope(value["scope"]), value["tenant_id"], value["fingerprint_hmac_sha256"]),
        value["revision"],
        Action(value["action"]),
        value["incident_id"],
        value["actor_id"],
        value["authentication_event_id"],
        value["policy_version"],
        value["detector_version"],
    )


COMPUTED: dict[str, Callable[[], str]] = {
    "source_message_sha256s[i]": lambda: message_sha256(MESSAGES[0]),
    "source_population_sha256": lambda: source_population_sha256([message_sha256(item) for item in MESSAGES]),
    "source_population_sha256 (recall)": lambda: recall_population_sha256(
        [("tenant-a", "recall-1", "entry-ü", "v1"), ("tenant-a", "recall-1", "entry-1", "v3")]
    ),
    "subject_sha256": lambda: compaction_subject_sha256(CANDIDATE_JSON),
    "subject_sha256 (recall)": lambda: recall_subject_sha256(
        [("entry-2", "v1", text_sha256("Ünïcode")), ("entry-1", "v3", text_sha256("plain"))]
    ),
    "request_sha256": lambda: request_sha256(ROWS["request_sha256"].example),
    "compacted_output_sha256": lambda: canonical_sha256(parse_json(CANDIDATE_JSON)),
    "compacted_summary_sha256": lambda: canonical_sha256("Das Deployment läuft."),
    "narrative_sha256": lambda: narrative_sha256("Das Deployment läuft."),
    "canonical_predicate_sha256": lambda: text_sha256("deny(secret_disclosure)"),
    "record_sha256 (invariant)": lambda: _constraint_digests("record_sha256 (invariant)", "invariant_id"),
    "record_sha256 (commitment)": lambda: _constraint_digests("record_sha256 (commitment)", "commitment_id"),
    "invariant_manifest_sha256": lambda: invariant_manifest(example("invariant_manifest_sha256")).manifest_sha256,
    "commitment_snapshot_sha256": lambda: commitment_snapshot(example("commitment_snapshot_sha256")).snapshot_sha256,
    "rendered_policy_sha256": _block,
    "claim_population_sha256": lambda: canonical_sha256([_claim().body()]),
    "result_population_sha256": lambda: canonical_sha256([_result().body()]),
    "scanned_population_sha256": _scanned,
    "content_sha256": lambda: text_sha256("Ünïcode"),
    "fingerprint_hmac_sha256": lambda: fingerprint("  \uff35\u0308NI\u0308code  \ufb01\nSTRASSE", b"k" * 32),
    "finding_id": lambda: finding_id({**example("finding_id"), "observed_at": "2026-01-01T00:00:00+00:00"}),
    "event_id": lambda: _record().event_id,
}
"""Rows whose code exists by itself; the others are over documents, which ``test_preimage_is_in_its_form`` covers."""


@pytest.mark.parametrize("name", COMPUTED)
def test_vector_is_what_the_code_gives(name: str) -> None:
    assert COMPUTED[name]() == ROWS[name].value


def test_names_are_distinct() -> None:
    assert len(ROWS) == len(DIGESTS)


@pytest.mark.parametrize("row", DIGESTS, ids=lambda row: row.name)
def test_preimage_is_in_its_form(row: Digest) -> None:
    if row.form is Form.CANONICAL:
        assert canonical_json(parse_json(row.example)).encode() == row.example
        assert canonical_sha256(parse_json(row.example)) == row.value
    elif row.form is Form.ASCII:
        assert json.dumps(parse_json(row.example), separators=(",", ":")).encode() == row.example
        assert row.example.isascii()
    elif row.form is Form.TEXT:
        assert row.key is not None or text_sha256(row.example.decode()) == row.value
    else:
        assert bytes_sha256(row.example) == row.value


def test_forms_that_are_easily_mixed_up_differ() -> None:
    summary = "Das Deployment läuft."
    assert canonical_sha256(summary) != text_sha256(summary)
    keys = [("tenant-a", "recall-1", "entry-ü", "v1")]
    assert recall_population_sha256(keys) != canonical_sha256([list(key) for key in keys])


def test_message_record_is_the_seeds_three_fields() -> None:
    assert message_record(MESSAGES[1]) == {"message_id": "m2", "role": "tool", "content": '{"status":"ok"}'}


@given(
    st.tuples(
        st.text("ab1", min_size=1), st.sampled_from(Role), st.text("xy", min_size=1), st.sampled_from(Provenance)
    ),
    st.tuples(
        st.text("ab1", min_size=1), st.sampled_from(Role), st.text("xy", min_size=1), st.sampled_from(Provenance)
    ),
)
def test_messages_have_equal_digests_if_id_role_and_content_are_equal(
    one: tuple[str, Role, str, Provenance], other: tuple[str, Role, str, Provenance]
) -> None:
    same = one[:3] == other[:3]
    assert (message_sha256(SourceMessage(*one)) == message_sha256(SourceMessage(*other))) == same


def test_order_and_number_of_messages_matter() -> None:
    one, other = (message_sha256(item) for item in MESSAGES)
    lists = [[], [one], [other], [one, other], [other, one], [one, one]]
    assert len({source_population_sha256(item) for item in lists}) == len(lists)


@given(st.permutations([("t", "r", "a", "1"), ("t", "r", "a", "2"), ("t", "r", "B", "1"), ("t", "r", "é", "1")]))
def test_order_of_a_recall_does_not_matter(keys: list[tuple[str, str, str, str]]) -> None:
    assert recall_population_sha256(keys) == recall_population_sha256(sorted(keys))
    contents = [(entry, version, text_sha256(entry)) for _, _, entry, version in keys]
    assert recall_subject_sha256(contents) == recall_subject_sha256(sorted(contents))


def test_join_key_of_a_compaction() -> None:
    value = encode(COMPACTION)
    key = compaction_join_key(COMPACTION, value, "1" * 64)
    assert (key.tenant_id, key.origin, key.request_id) == ("tenant-a", Origin.COMPACTION, "request-1")
    assert key.source_population_sha256 == "1" * 64
    assert key.subject_sha256 == text_sha256(CANDIDATE_JSON)
    assert key.request_sha256 == bytes_sha256(value)
    assert key.message_key == b"1" * 64
    assert compaction_join_key(COMPACTION, value, None).message_key == bytes_sha256(value).encode()


def test_join_key_of_a_recall_takes_population_from_the_manifest_and_subject_from_the_contents() -> None:
    value = encode(RECALL)
    key = recall_join_key(RECALL, value)
    assert (key.origin, key.request_id) == (Origin.RECALL, "recall-1")
    altered = replace(
        RECALL, entries=(RECALL.entries[0], MemoryEntry("tenant-a", "recall-1", "entry-1", "v3", "other content"))
    )
    other = recall_join_key(altered, encode(altered))
    assert other.source_population_sha256 == key.source_population_sha256
    assert other.subject_sha256 != key.subject_sha256
    fewer = replace(RECALL, expected_entries=RECALL.expected_entries[:1])
    assert recall_join_key(fewer, encode(fewer)).source_population_sha256 != key.source_population_sha256

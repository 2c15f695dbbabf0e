"""Requests and verdicts as plain JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pratique.contract.canonical import JsonValue, canonical_json, parse_json
from pratique.contract.records import (
    CompactionRequested,
    ExpectedEntry,
    MemoryEntry,
    MemoryRecalled,
    Provenance,
    Role,
    SourceMessage,
)
from pratique.errors import MalformedError
from pratique.jsonform import is_recall, recall_from_json, request_from_json, verdict_to_json
from tests.vectors.contract_samples import VERDICT

LINE: dict[str, JsonValue] = {
    "kind": "compaction",
    "tenant_id": "acme",
    "task_id": "t1",
    "compaction_request_id": "r1",
    "requested_at": 5,
    "policy_id": "default",
    "source_messages": [
        {"message_id": "m1", "role": "user", "content": "Hi.", "provenance": "TRUSTED"},
        {"message_id": "m2", "role": "tool", "content": "{}"},
    ],
    "candidate_json": "{}",
    "expected_invariant_ids": ["a"],
    "expected_commitment_ids": [],
    "commitments": {"payloadType": "x", "payload": "", "signatures": []},
    "lineage": ["v1"],
    "trace_context": {"traceparent": "00"},
}


def test_every_field_is_read() -> None:
    assert request_from_json(LINE, defaults={}) == CompactionRequested(
        "acme",
        "t1",
        "r1",
        5,
        "default",
        (
            SourceMessage("m1", Role.USER, "Hi.", Provenance.TRUSTED),
            SourceMessage("m2", Role.TOOL, "{}", Provenance.UNTRUSTED),
        ),
        "{}",
        ("a",),
        (),
        b'{"payload":"","payloadType":"x","signatures":[]}',
        ("v1",),
        {"traceparent": "00"},
    )


def test_defaults_stand_for_what_is_left_out() -> None:
    line = {key: value for key, value in LINE.items() if key not in {"requested_at", "policy_id", "commitments"}}
    request = request_from_json(line, defaults={"requested_at": 7, "policy_id": "strict"})
    assert (request.requested_at, request.policy_id, request.commitments) == (7, "strict", None)


@pytest.mark.parametrize("name", sorted(LINE.keys() - {"kind", "commitments", "lineage", "trace_context"}))
def test_field_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(MalformedError, match=name):
        request_from_json({key: value for key, value in LINE.items() if key != name}, defaults={})


@pytest.mark.parametrize("name", sorted(LINE.keys() - {"kind"}))
@pytest.mark.parametrize("value", [7.5, True, {"a": 1}, [1]])
def test_field_of_another_type_is_named(name: str, value: JsonValue) -> None:
    if name == "commitments" and isinstance(value, dict):
        return
    with pytest.raises(MalformedError):
        request_from_json({**LINE, name: value}, defaults={})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ([], "no JSON object"),
        ("text", "no JSON object"),
        ({}, "kind"),
        ({"kind": "other"}, "kind"),
        ({"kind": "recall"}, "recall"),
        ({**LINE, "hunter2": 1}, "does not have"),
        ({**LINE, "source_messages": [{"message_id": "m", "role": "system", "content": "x"}]}, "role"),
        ({**LINE, "source_messages": [{"message_id": "m", "role": "user", "content": "x", "more": 1}]}, "message"),
        ({**LINE, "source_messages": ["m"]}, "message"),
    ],
)
def test_what_is_no_request_is_refused(line: Any, message: str) -> None:  # noqa: ANN401 - any JSON
    with pytest.raises(MalformedError, match=message) as raised:
        request_from_json(line, defaults={})
    assert "hunter2" not in str(raised.value)


def test_what_the_gate_judges_is_not_refused_here() -> None:
    line = {**LINE, "tenant_id": "", "source_messages": [{"message_id": "", "role": "user", "content": ""}] * 2}
    assert len(request_from_json(line, defaults={}).source_messages) == 2


def test_verdict_is_its_fields() -> None:
    value = verdict_to_json(VERDICT)
    assert parse_json(canonical_json(value)) == json.loads(json.dumps(value))
    assert value["outcome"] == "QUARANTINED"
    assert value["origin"] == "COMPACTION"
    assert value["reasons"] == [
        {"code": "SECRET", "path": "candidate.summary_text", "detector": "kingfisher", "severity": "HIGH"}
    ]
    assert value["fallback"] == {"keep_message_ids": ["m1", "m2"]}
    assert value["commitment_snapshot_sha256"] is None
    assert value["versions"] == {"verifier": "1"}
    assert value["decided_at"] == VERDICT.decided_at


RECALL: dict[str, JsonValue] = {
    "kind": "recall",
    "tenant_id": "acme",
    "task_id": "t1",
    "recall_request_id": "r1",
    "requested_at": 5,
    "policy_id": "default",
    "entries": [
        {"entry_id": "e1", "memory_version": "v1", "content": "Tea.", "provenance": "TRUSTED"},
        {
            "entry_id": "e2",
            "memory_version": "v1",
            "content": "",
            "tenant_id": "globex",
            "recall_request_id": "theirs",
        },
    ],
    "expected_entries": [{"entry_id": "e1", "memory_version": "v1"}],
    "trace_context": {"traceparent": "00"},
}


def test_every_field_of_a_recall_is_read() -> None:
    assert is_recall(RECALL)
    assert not is_recall(LINE)
    assert recall_from_json(RECALL, defaults={}) == MemoryRecalled(
        "acme",
        "t1",
        "r1",
        5,
        "default",
        (
            MemoryEntry("acme", "r1", "e1", "v1", "Tea.", Provenance.TRUSTED),
            MemoryEntry("globex", "theirs", "e2", "v1", ""),
        ),
        (ExpectedEntry("e1", "v1"),),
        {"traceparent": "00"},
    )


@pytest.mark.parametrize("name", sorted(RECALL.keys() - {"kind", "trace_context"}))
def test_field_of_a_recall_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(MalformedError, match=name):
        recall_from_json({key: value for key, value in RECALL.items() if key != name}, defaults={})


@pytest.mark.parametrize("name", sorted(RECALL.keys() - {"kind"}))
@pytest.mark.parametrize("value", [7.5, True, {"a": 1}, [1], None])
def test_field_of_a_recall_of_another_type_is_refused(name: str, value: JsonValue) -> None:
    with pytest.raises(MalformedError):
        recall_from_json({**RECALL, name: value}, defaults={})


@pytest.mark.parametrize(
    "line",
    [
        [],
        LINE,
        {**RECALL, "hunter2": 1},
        {**RECALL, "entries": [{"entry_id": "e1", "memory_version": "v1", "content": "x", "hunter2": 1}]},
        {**RECALL, "entries": [{"entry_id": "e1", "memory_version": "v1"}]},
        {**RECALL, "entries": [{"entry_id": "e1", "memory_version": "v1", "content": "x", "provenance": "SURE"}]},
        {**RECALL, "expected_entries": [{"entry_id": "e1"}]},
        {**RECALL, "expected_entries": [["e1", "v1"]]},
    ],
)
def test_what_is_no_recall_is_refused(line: Any) -> None:  # noqa: ANN401 - any JSON
    with pytest.raises(MalformedError) as raised:
        recall_from_json(line, defaults={})
    assert "hunter2" not in str(raised.value)

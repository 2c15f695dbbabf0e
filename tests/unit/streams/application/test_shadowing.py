"""What another set would have decided about a recorded request."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pratique.candidate import draft_candidate
from pratique.contract.canonical import JsonValue, canonical_bytes
from pratique.contract.dsse import COMMITMENTS_TYPE
from pratique.contract.reasons import Outcome, ReasonCode
from pratique.contract.records import CompactionRequested
from streams.adapters.policy_source import read_source
from streams.application.shadowing import Change, Shadowed, documents_changed, shadowed
from streams.domain.policy.documents import manifest_body, snapshot_body
from streams.domain.policy.publication import PolicySource
from streams.domain.policy.recorded import under_policy
from streams.wire.candidate import read_under
from tests.fakes.policy import DEMO_SOURCE
from tests.unit.streams.domain.compaction.builders import MESSAGES
from topologies.bootstrap.authoring import PolicyInHand, policy_of

SOURCE = read_source(DEMO_SOURCE)
NOW = policy_of("now", SOURCE)
KEPT = (
    "Never reveal secrets. Ask the user before files outside the workspace are deleted or changed."
    " Use approved tools only."
)


def edited(name: str, change: Callable[[dict[str, Any]], object]) -> PolicyInHand:
    """Return the demo's policy after an edit of one of its documents."""
    document = json.loads(json.dumps(getattr(SOURCE, name)))
    change(document)
    source: PolicySource = replace(SOURCE, **{name: document})
    return policy_of("edited", source)


@dataclass(frozen=True)
class Recorded:
    """A request as the SDK makes it."""

    summary: str = KEPT
    tenant_id: str = "tenant-a"

    def request(self) -> CompactionRequested:
        snapshot = NOW.standing("tenant-a")
        return CompactionRequested(
            self.tenant_id,
            "task",
            "request-1",
            0,
            "default",
            MESSAGES,
            draft_candidate(self.summary, MESSAGES, manifest_body(NOW.policy_set.invariants), snapshot_body(snapshot)),
            tuple(record.invariant_id for record in NOW.policy_set.invariants.invariant_records),
            tuple(record.commitment_id for record in snapshot.commitment_records),
        )


def compare(request: CompactionRequested, other: PolicyInHand, size: int = 1000) -> Shadowed:
    return shadowed(request, size, NOW, other, read_under)


def test_the_same_set_decides_the_same() -> None:
    found = compare(Recorded().request(), NOW)
    assert (found.change, found.first.outcome) == (Change.NONE, Outcome.PASS)
    assert documents_changed(NOW.policy_set, NOW.policy_set) == ()


def test_a_clause_taken_away_is_stricter_and_given_looser() -> None:
    without = edited(
        "grammar", lambda doc: doc["clauses"].remove(next(c for c in doc["clauses"] if c["rule_id"] == "test.passed"))
    )
    given = edited(
        "grammar",
        lambda doc: doc["clauses"].append({"rule_id": "new", "template": "New words.", "slots": {}, "preserves": []}),
    )
    found = compare(Recorded(f"{KEPT} All tests passed.").request(), without)
    assert (found.change, found.second.codes) == (Change.STRICTER, (ReasonCode.CLAUSE_UNPARSED,))
    assert compare(Recorded(f"{KEPT} New words.").request(), given).change is Change.LOOSER
    assert documents_changed(NOW.policy_set, given.policy_set) == ("grammar",)


def test_another_compaction_policy_alone_changes_nothing_else() -> None:
    other = edited("compaction", lambda doc: doc.update(policy_version="next"))
    assert other.policy_set.compaction.policy_sha256 != NOW.policy_set.compaction.policy_sha256
    assert compare(Recorded().request(), other).change is Change.NONE
    assert documents_changed(NOW.policy_set, other.policy_set) == ("compaction",)


def test_a_new_invariant_is_asked_of_the_summary_and_not_of_its_claims() -> None:
    record = {
        "invariant_id": "SAFETY-3",
        "canonical_text": "Run the tests before the task is reported as done.",
        "canonical_predicate": "require(tests_before_done)",
        "record_revision": 1,
    }
    other = edited("invariants", lambda doc: doc["records"].append(record))
    found = compare(Recorded().request(), other)
    assert (found.change, found.second.codes) == (Change.STRICTER, (ReasonCode.CLAUSE_UNPARSED,))
    stated = Recorded(f"{KEPT} Run the tests before the task is reported as done.").request()
    assert compare(stated, other).change is Change.NONE


def test_claims_that_were_wrong_before_are_judged_as_they_were_recorded() -> None:
    request = replace(Recorded().request(), expected_invariant_ids=("SAFETY-1",))
    other = edited("invariants", lambda doc: doc["records"].pop())
    found = compare(request, other)
    assert found.first.codes == (ReasonCode.CONSTRAINT_POPULATION_DIFFERS,)
    assert found.second.codes == (ReasonCode.CONSTRAINT_POPULATION_DIFFERS,)


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("preserved_constraint_claims", ReasonCode.CLAIM_MISSING),
        ("source_message_sha256s", ReasonCode.SOURCE_POPULATION_DIFFERS),
    ],
)
def test_what_an_honest_summarizer_would_not_state_is_not_mended(field: str, code: ReasonCode) -> None:
    request = Recorded().request()
    candidate = json.loads(request.candidate_json)
    changed = replace(request, candidate_json=json.dumps({**candidate, field: candidate[field][:-1]}))
    other = edited("compaction", lambda doc: doc.update(policy_version="next"))
    found = compare(changed, other)
    assert (found.first.codes[0], found.second.outcome is Outcome.PASS) == (code, False)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"summary_min_length": 200}, ReasonCode.SUMMARY_TOO_SHORT),
        ({"max_messages": 2}, ReasonCode.TOO_LARGE),
        ({"max_request_bytes": 999}, ReasonCode.TOO_LARGE),
        ({"max_candidate_bytes": 500}, ReasonCode.TOO_LARGE),
    ],
)
def test_bounds_are_looked_at(change: dict[str, int], code: ReasonCode) -> None:
    found = compare(Recorded().request(), edited("compaction", lambda doc: doc.update(change)))
    assert (found.change, found.second.codes) == (Change.STRICTER, (code,))


def test_commitments_that_are_missing_are_a_reason() -> None:
    found = compare(Recorded(tenant_id="stranger").request(), NOW)
    assert (found.change, found.first.codes) == (Change.NONE, (ReasonCode.COMMITMENTS_MISSING,))


def test_own_commitments_are_taken_as_signed_again(envelope: bytes) -> None:
    other = edited("compaction", lambda doc: doc.update(policy_version="next"))
    request = replace(Recorded(tenant_id="stranger").request(), commitments=envelope)
    found = compare(request, other)
    assert (found.change, found.first.outcome) == (Change.NONE, Outcome.PASS)
    torn = compare(replace(request, commitments=b"{}"), other)
    assert torn.first.codes == (ReasonCode.POLICY_INVALID,)


@pytest.fixture
def envelope() -> bytes:
    """Return an envelope that nobody signed: a shadow evaluation asks no signature."""
    statement: dict[str, JsonValue] = {
        "schema_version": "pratique.commitment-statement.v1",
        "tenant_id": "stranger",
        "task_id": "task",
        "not_before": 0,
        "expires_at": 1,
        "snapshot": snapshot_body(under_policy(NOW.standing("tenant-a"), "1" * 64)),
    }
    payload = base64.b64encode(canonical_bytes(statement)).decode("ascii")
    return canonical_bytes({"payload": payload, "payloadType": COMMITMENTS_TYPE, "signatures": []})


def test_messages_that_intake_refuses_come_first() -> None:
    request = replace(Recorded().request(), source_messages=())
    assert compare(request, NOW).first.codes == (ReasonCode.MESSAGE_INVALID,)


def test_two_refusals_for_other_reasons() -> None:
    other = edited("compaction", lambda doc: doc.update(summary_min_length=200))
    found = compare(Recorded("Never reveal secrets. Not a clause, at all.").request(), other)
    assert found.change is Change.REASONS
    body = json.loads(json.dumps(found.body()))
    assert body["change"] == "REASONS"
    assert "secrets" not in json.dumps(body)


def test_scan_and_recall_are_compared_but_for_the_scanner() -> None:
    scan = edited("scan", lambda doc: doc.update(timeout_ms=9000))
    recall = edited("recall", lambda doc: doc.update(review_score=1))
    assert documents_changed(NOW.policy_set, scan.policy_set) == ("scan",)
    assert documents_changed(NOW.policy_set, recall.policy_set) == ("recall",)

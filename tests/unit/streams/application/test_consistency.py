"""The use case puts request and policy set together as the check wants them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pratique.contract.canonical import canonical_json, canonical_sha256
from pratique.contract.reasons import Outcome
from pratique.contract.records import CompactionRequested
from streams.application.consistency import check_compaction
from streams.domain.compaction.candidate import CandidateRefused
from streams.domain.policy.model import AssuranceProfile, CompactionPolicy, PolicySet, RecallPolicy, ScanPolicy
from tests.unit.streams.domain.compaction.builders import CLEAN, MESSAGES, POLICY_SHA256, SMALL_GRAMMAR, Case

CASE = Case()


def policy_set(**compaction: Any) -> PolicySet:  # noqa: ANN401 - fields of the policy
    fields: dict[str, Any] = {
        "policy_id": "default",
        "policy_version": "1",
        "summary_min_length": 10,
        "fallback_message_count": 2,
        "trusted_instruction": "Be careful.",
        "deadline_ms": 30_000,
        "verdict_valid_ms": 60_000,
        "max_request_bytes": 100_000,
        "max_messages": 10,
        "max_candidate_bytes": 100_000,
        "standing_commitments": True,
        "assurance": AssuranceProfile.BOUNDED,
        "policy_sha256": POLICY_SHA256,
    }
    grammar = dict(SMALL_GRAMMAR)
    return PolicySet(
        policy_set_sha256="5" * 64,
        set_map="{}",
        policy_id="default",
        version=1,
        compaction=CompactionPolicy(**{**fields, **compaction}),
        invariants=CASE.manifest,
        grammar=canonical_json(grammar).encode(),
        grammar_sha256=canonical_sha256(grammar),
        scan=ScanPolicy("1", POLICY_SHA256, "1", "6" * 64, ("en",), ("EMAIL_ADDRESS",), ("summary_text",), 1, 1),
        recall=RecallPolicy("1", "1", 10, 20, 30, 1_000, partial_admission=False, policy_sha256="7" * 64),
    )


def request(summary: str = CLEAN) -> CompactionRequested:
    return CompactionRequested(
        tenant_id="acme",
        task_id="task-1",
        compaction_request_id="request-1",
        requested_at=1,
        policy_id="default",
        source_messages=MESSAGES,
        candidate_json=json.dumps(CASE.candidate(summary)),
        expected_invariant_ids=("SAFETY-1",),
        expected_commitment_ids=("COMMIT-1",),
    )


def check(asked: CompactionRequested, pinned: PolicySet, **keywords: Any) -> Any:  # noqa: ANN401 - passed on
    candidate = CASE.read(json.loads(asked.candidate_json))
    return check_compaction(asked, candidate, pinned, CASE.snapshot, CASE.grammar, **keywords)


def test_a_clean_request_passes_with_the_check_s_receipt() -> None:
    result = check(request(), policy_set())
    assert result == CASE.check()
    assert result.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("pinned", "code"),
    [
        (policy_set(summary_min_length=len(CLEAN) + 1), "SUMMARY_TOO_SHORT"),
        (policy_set(policy_sha256="8" * 64), "POLICY_INVALID"),
    ],
)
def test_the_pinned_policy_decides(pinned: PolicySet, code: str) -> None:
    assert check(request(), pinned).reasons[0].code.value == code


def test_digests_of_the_caller_are_those_compared() -> None:
    assert check(request(), policy_set(), source_sha256s=()).reasons[0].code.value == "SOURCE_POPULATION_DIFFERS"


def test_a_refused_candidate_is_refused_with_its_reasons() -> None:
    refused = CASE.read({})
    assert isinstance(refused, CandidateRefused)
    result = check_compaction(request(), refused, policy_set(), CASE.snapshot, CASE.grammar)
    assert result.reasons == refused.reasons
    assert result.outcome is Outcome.FAIL

"""The consistency use case: a compaction request under its pinned policy set -> what the consistency worker states.

The contract: a pure function of request, candidate, policy set, snapshot and grammar. Compiling the grammar and
parsing the candidate are the caller's (``compile_grammar``, ``streams.wire.candidate.read_candidate``): the first is
kept from request to request, the second is shared with the scan worker.
"""

from __future__ import annotations

from pratique.contract.records import CompactionRequested
from streams.domain.compaction.candidate import Candidate, CandidateRefused
from streams.domain.compaction.consistency import ConsistencyQuestion, ConsistencyResult, check_consistency
from streams.domain.compaction.grammar import Grammar
from streams.domain.compaction.verifier import ClauseVerifier
from streams.domain.policy.model import CommitmentSnapshot, PolicySet


def check_compaction(
    request: CompactionRequested,
    candidate: Candidate | CandidateRefused,
    policy_set: PolicySet,
    snapshot: CommitmentSnapshot,
    grammar: Grammar,
    *,
    source_sha256s: tuple[str, ...] | None = None,
) -> ConsistencyResult:
    """Check a compaction's consistency.

    Args:
        request: The request, well formed (intake has seen to that).
        candidate: Its candidate as parsed, or the reasons why it is none.
        policy_set: The pinned set.
        snapshot: The task's verified commitments.
        grammar: The compiled grammar; one that is not the set's gives VERIFIER_EVIDENCE_DIFFERS.
        source_sha256s: Digests of the source messages in order, where the caller has taken them already.
    """
    question = ConsistencyQuestion(
        tenant_id=request.tenant_id,
        task_id=request.task_id,
        source_messages=request.source_messages,
        expected_invariant_ids=request.expected_invariant_ids,
        expected_commitment_ids=request.expected_commitment_ids,
        policy_sha256=policy_set.compaction.policy_sha256,
        summary_min_length=policy_set.compaction.summary_min_length,
        manifest=policy_set.invariants,
        snapshot=snapshot,
        grammar_sha256=policy_set.grammar_sha256,
        source_sha256s=source_sha256s,
    )
    return check_consistency(question, candidate, ClauseVerifier(grammar))

"""The consistency of a recall: who the memories are, and whether one negates what policy holds.

The contract: a pure function of request, policy set and grammar. Identities are reconciled with the loader's manifest
(AID-D-001.005 G001), and the signed grammar's conflict rules are applied to the complete normalised text of every
entry and to each of its lines and sentences, as they are to narratives; a rule counts where one of its predicates is an
invariant's of the set, or one of the tenant's standing commitments'. A memory need be no clause of the grammar: it is
data, and free text.

PASS means that the recall is exactly what was expected and no rule matches; not that a memory is true.
"""

from __future__ import annotations

from typing import Final

from pratique.contract.canonical import canonical_json, canonical_sha256, text_sha256
from pratique.contract.digests import recall_population_sha256
from pratique.contract.reasons import FindingStatus, Outcome, Reason, ReasonCode
from pratique.contract.records import MemoryEntry, MemoryRecalled, Receipt, StatedReason
from pratique.errors import MalformedError
from streams.application.recall_admission import expected_keys
from streams.domain.compaction.grammar import VERIFIER_VERSION, Grammar, verifier_artifact_sha256
from streams.domain.compaction.refusal import GRAMMAR_DETECTOR
from streams.domain.compaction.text import free_views
from streams.domain.policy.model import PolicySet, RecallPolicy
from streams.domain.recall.bounding import bounded
from streams.domain.recall.finding import check_entry, failure_code, key_of
from streams.domain.recall.population import population_reasons
from streams.domain.recall.statements import MAX_RULE_IDS, CheckedEntry, ConsistencyStatement

RECALL: Final = "recall"
"""Who states that an entry could not be looked at, whichever worker says it."""


def check_consistency_of_recall(request: MemoryRecalled, policy_set: PolicySet, grammar: Grammar) -> Receipt:
    """Check a recall.

    Args:
        request: The request, well formed (intake has seen to that).
        policy_set: The pinned set.
        grammar: The compiled grammar of the set.

    Raises:
        ValueError: The grammar is another.
    """
    if grammar.grammar_sha256 != policy_set.grammar_sha256:
        raise ValueError("grammar is not the pinned one")
    predicates = _predicates_in_force(policy_set, request.tenant_id)
    entries = tuple(_checked(entry, policy_set.recall, grammar, predicates) for entry in request.entries)
    expected = expected_keys(request)
    statement = ConsistencyStatement(
        policy_sha256=policy_set.recall.policy_sha256,
        partial_admission=policy_set.recall.partial_admission,
        population_sha256=recall_population_sha256(expected),
        invariant_manifest_sha256=policy_set.invariants.manifest_sha256,
        grammar_sha256=grammar.grammar_sha256,
        verifier_artifact_sha256=verifier_artifact_sha256(grammar.grammar_sha256),
        entries=entries,
    )
    reasons = bounded(
        [
            *population_reasons(expected, [entry.key for entry in entries]),
            *(
                Reason.of(ReasonCode(code), f"entries[{place}].content", _detector(code))
                for place, entry in enumerate(entries)
                for code in entry.codes
            ),
        ]
    )
    body = statement.body()
    return Receipt(
        outcome=(reasons[0].meaning.outcome if reasons else Outcome.PASS).value,
        finding_status=(reasons[0].meaning.finding_status if reasons else FindingStatus.NO_FINDING).value,
        reasons=tuple(map(StatedReason.of, reasons)),
        body_json=canonical_json(body),
        receipt_sha256=canonical_sha256(body),
        compacted_output_sha256=None,
        scan_population_sha256=statement.population_sha256,
        scan_field_count=len(entries),
        versions={
            "verifier": VERIFIER_VERSION,
            "verifier_artifact_sha256": statement.verifier_artifact_sha256,
        },
    )


def _predicates_in_force(policy_set: PolicySet, tenant_id: str) -> frozenset[str]:
    predicates = {record.canonical_predicate for record in policy_set.invariants.invariant_records}
    if policy_set.standing is not None and policy_set.standing_tenant_id == tenant_id:
        predicates.update(record.canonical_predicate for record in policy_set.standing.commitment_records)
    return frozenset(predicates)


def _checked(entry: MemoryEntry, policy: RecallPolicy, grammar: Grammar, predicates: frozenset[str]) -> CheckedEntry:
    key, content_sha256 = key_of(entry), text_sha256(entry.content)
    try:
        check_entry(entry, policy)
    except MalformedError as error:
        return CheckedEntry(key, content_sha256, (failure_code(error).value,), ())
    views = tuple(view.encode("utf-8") for view in free_views(entry.content))
    rules = [rule.rule_id for rule in grammar.conflicts.matching(views) if rule.predicates & predicates]
    codes = (ReasonCode.PREDICATE_CONFLICT.value,) if rules else ()
    return CheckedEntry(key, content_sha256, codes, tuple(rules[:MAX_RULE_IDS]))


def _detector(code: str) -> str:
    return GRAMMAR_DETECTOR if code == ReasonCode.PREDICATE_CONFLICT.value else RECALL

"""The compaction consistency check: every comparison of AID-I-004.008 G001 and G002, in the seed's order.

The contract. ``check_consistency`` goes through these steps and stops at the first that fails, whose reasons, outcome
and finding status are the seed's:

1. the summary is at least as long as policy says (SUMMARY_TOO_SHORT);
2. the candidate names the source messages' digests, in order (SOURCE_POPULATION_DIFFERS);
3. the invariant manifest, then the commitment snapshot, are for this policy and sound (POLICY_INVALID,
   COMMITMENTS_STALE);
4. expected and retained ids are the registers', in order (CONSTRAINT_POPULATION_DIFFERS);
5. each constraint has exactly one claim (CLAIM_DUPLICATED, CLAIM_EXTRA, CLAIM_MISSING), with the register's digests
   and predicate (CLAIM_DIGEST_DIFFERS), and the summarizer reports no conflict (CLAIM_CONFLICT) and no lack of
   support (CLAIM_UNSUPPORTED);
6. the verifier's evidence covers exactly this, by the pinned artifact, and says what its results say
   (VERIFIER_EVIDENCE_DIFFERS): every binding is derived again here;
7. the results are all PRESERVED and the evidence is deterministic (PREDICATE_CONFLICT, CLAUSE_DUPLICATED,
   CLAUSE_UNPARSED, ASSURANCE_PROBABILISTIC);
8. beyond the seed: no clause claims a person's word untraced (AUTHORITY_UNTRACED), and a narrative, where there is one,
   conflicts with nothing and claims nothing untraced (``streams.domain.compaction.narrative``).

The receipt is the seed's without a narrative, and our own with one.

The candidate's form is checked where it is parsed (``streams.wire.candidate``), identities and messages at intake.
The seed's append and readback of evidence is the evidence topic's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Protocol

from pratique.contract import narrative
from pratique.contract.canonical import PlainJson, plain_sha256
from pratique.contract.digests import message_sha256
from pratique.contract.reasons import REASONS, FindingStatus, Outcome, Reason, ReasonCode
from pratique.contract.records import Role, SourceMessage
from streams.domain.compaction.authority.check import AUTHORITY_VERSION, authority_artifact_sha256
from streams.domain.compaction.authority.sentences import Quotable
from streams.domain.compaction.candidate import (
    Candidate,
    CandidateRefused,
    ClaimStatus,
    CompactedContext,
    ConstraintType,
    scanned_field_count,
    scanned_population_sha256,
)
from streams.domain.compaction.claims import Claims, check_ids, reconciled_claims
from streams.domain.compaction.clauses import SummaryParse
from streams.domain.compaction.constraints import CanonicalConstraint, ConstraintSet, constraint_set
from streams.domain.compaction.evidence import verified_body
from streams.domain.compaction.grammar import VERIFIER_VERSION, verifier_artifact_sha256
from streams.domain.compaction.lineage import is_users_word
from streams.domain.compaction.narrative import clause_reasons, narrative_reasons
from streams.domain.compaction.refusal import MAX_PLACES, StepFailed, grammar_reason, reason
from streams.domain.compaction.slots import Sources
from streams.domain.compaction.tools import allowed_tools
from streams.domain.compaction.verification import (
    Assurance,
    ConflictVerification,
)
from streams.domain.compaction.verifier import Question
from streams.domain.policy.model import CommitmentSnapshot, InvariantManifest
from streams.errors import CommitmentsStaleError, PolicyError

RECEIPT_SCHEMA: Final = "aidefend.compaction-consistency-receipt.v3"
SEMANTIC_ASSURANCE: Final = "COMPLETE_DETERMINISTIC_BOUNDED_RULES_NOT_FREE_TEXT_EQUIVALENCE"


class ConflictVerifier(Protocol):
    """What judges a summary. Its statement is evidence to be checked, not an answer to be believed."""

    def verify(self, question: Question) -> ConflictVerification:
        """Judge a summary against every constraint."""

    def parse(self, summary_text: str, sources: Sources) -> SummaryParse:
        """Return what the grammar makes of a summary, to explain a refusal with."""

    def matching(self, text: str) -> tuple[bool, bool]:
        """Return whether a conflict rule, and whether a probabilistic marker, matches a free text."""


@dataclass(frozen=True, slots=True)
class ConsistencyQuestion:
    """Everything one check is made on.

    Attributes:
        tenant_id: Whose request it is.
        task_id: Which task's context it is about.
        source_messages: The messages that were summarised, in order.
        source_sha256s: Their digests, where the caller has them already; taken here otherwise.
        expected_invariant_ids: Ids the platform expects, in order.
        expected_commitment_ids: Ids the platform expects, in order.
        policy_sha256: Digest of the compaction policy document.
        summary_min_length: Shortest accepted summary, in characters.
        manifest: The registered invariants.
        snapshot: The task's commitments.
        grammar_sha256: Digest of the pinned clause grammar.
    """

    tenant_id: str
    task_id: str
    source_messages: tuple[SourceMessage, ...]
    expected_invariant_ids: tuple[str, ...]
    expected_commitment_ids: tuple[str, ...]
    policy_sha256: str
    summary_min_length: int
    manifest: InvariantManifest
    snapshot: CommitmentSnapshot
    grammar_sha256: str
    source_sha256s: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ConsistencyResult:
    """What a check came to.

    Attributes:
        outcome: The seed's outcome.
        finding_status: The seed's finding status.
        reasons: Why it is not PASS, sorted; the first is the primary one. Empty for PASS.
        receipt_body: ``aidefend.compaction-consistency-receipt.v3``; null unless PASS.
        receipt_sha256: Its canonical digest.
        verification_body: ``aidefend.summary-conflict-verification.v3``; null where the check stopped before.
        compacted_output_sha256: Digest of the parsed candidate; null where it did not parse.
        scan_population_sha256: Digest of the population that must be scanned; null where it did not parse.
        scan_field_count: The number of its fields; 0 where it did not parse.
        versions: Names and versions of what judged.
    """

    outcome: Outcome
    finding_status: FindingStatus
    reasons: tuple[Reason, ...]
    receipt_body: Mapping[str, PlainJson] | None = None
    receipt_sha256: str | None = None
    verification_body: Mapping[str, PlainJson] | None = None
    compacted_output_sha256: str | None = None
    scan_population_sha256: str | None = None
    scan_field_count: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)


def check_consistency(
    question: ConsistencyQuestion, candidate: Candidate | CandidateRefused, verifier: ConflictVerifier
) -> ConsistencyResult:
    """Check one candidate.

    Args:
        question: Request and pinned policy.
        candidate: The candidate as parsed, or the reasons why it is none.
        verifier: What judges the summary.
    """
    versions = {
        "verifier": VERIFIER_VERSION,
        "verifier_artifact_sha256": verifier_artifact_sha256(question.grammar_sha256),
    }
    if isinstance(candidate, CandidateRefused):
        meaning = candidate.reasons[0].meaning
        return ConsistencyResult(meaning.outcome, meaning.finding_status, candidate.reasons, versions=versions)
    context = candidate.context
    if context.narrative_text is not None:
        versions |= {"authority": AUTHORITY_VERSION, "authority_artifact_sha256": authority_artifact_sha256()}
    population_sha256 = scanned_population_sha256(context)
    try:
        verification_body, receipt_body = _check(question, candidate, verifier)
    except StepFailed as failed:
        meaning = REASONS[failed.reasons[0].code]
        return ConsistencyResult(
            outcome=meaning.outcome,
            finding_status=meaning.finding_status,
            reasons=failed.reasons,
            verification_body=failed.verification_body,
            compacted_output_sha256=candidate.compacted_output_sha256,
            scan_population_sha256=population_sha256,
            scan_field_count=scanned_field_count(context),
            versions=versions,
        )
    return ConsistencyResult(
        outcome=Outcome.PASS,
        finding_status=FindingStatus.NO_FINDING,
        reasons=(),
        receipt_body=receipt_body,
        receipt_sha256=plain_sha256(receipt_body),
        verification_body=verification_body,
        compacted_output_sha256=candidate.compacted_output_sha256,
        scan_population_sha256=population_sha256,
        scan_field_count=scanned_field_count(context),
        versions=versions,
    )


def _check(
    question: ConsistencyQuestion, candidate: Candidate, verifier: ConflictVerifier
) -> tuple[dict[str, PlainJson], dict[str, PlainJson]]:
    """Go through the steps; return the verification's body and the receipt's."""
    context = candidate.context
    _check_summary_length(question, context)  # 1
    _check_sources(question, context)  # 2
    constraints = _constraints(question)  # 3
    check_ids(  # 4
        context,
        constraints,
        expected_invariant_ids=question.expected_invariant_ids,
        expected_commitment_ids=question.expected_commitment_ids,
    )
    claims = reconciled_claims(context, constraints)  # 5
    sources = sources_of(question.source_messages, constraints.constraints)
    asked = Question(
        summary_text=context.summary_text,
        constraints=constraints.constraints,
        claims=claims.ordered,
        sources=sources,
        rendered_policy_sha256=constraints.rendered_policy_sha256,
        compacted_summary_sha256=candidate.compacted_summary_sha256,
        claim_population_sha256=claims.population_sha256,
    )
    verification = verifier.verify(asked)
    body = verified_body(asked, verification, verifier_artifact_sha256(question.grammar_sha256))  # 6
    if verification.outcome is not Outcome.PASS:  # 7: step 6 has shown that this is what the results come to
        raise StepFailed(_verifier_reasons(verification, claims, verifier.parse(context.summary_text, sources)), body)
    against = [*clause_reasons(context.summary_text, verifier.parse(context.summary_text, sources).clauses, sources)]
    if context.narrative_text is not None:  # 8
        conflicts, markers = verifier.matching(context.narrative_text)
        matched = ((ReasonCode.PREDICATE_CONFLICT, conflicts), (ReasonCode.ASSURANCE_PROBABILISTIC, markers))
        quotable = Quotable.of(question.source_messages)
        against += narrative_reasons(context.narrative_text, context.summary_text, quotable, matched)
    if against:
        raise StepFailed(against, body)
    return body, _receipt(question, candidate, constraints, claims, verification)


def _check_summary_length(question: ConsistencyQuestion, context: CompactedContext) -> None:
    if len(context.summary_text) < question.summary_min_length:
        raise StepFailed([reason(ReasonCode.SUMMARY_TOO_SHORT, "candidate.summary_text")])


def _check_sources(question: ConsistencyQuestion, context: CompactedContext) -> None:
    digests = question.source_sha256s
    if digests is None:
        digests = tuple(message_sha256(message) for message in question.source_messages)
    if context.source_message_sha256s != digests:
        place = _first_difference(context.source_message_sha256s, digests)
        raise StepFailed([reason(ReasonCode.SOURCE_POPULATION_DIFFERS, f"candidate.source_message_sha256s[{place}]")])


def _constraints(question: ConsistencyQuestion) -> ConstraintSet:
    try:
        return constraint_set(question.policy_sha256, question.manifest, question.snapshot)
    except CommitmentsStaleError:
        raise StepFailed([reason(ReasonCode.COMMITMENTS_STALE, "commitments")]) from None
    except PolicyError:
        raise StepFailed([reason(ReasonCode.POLICY_INVALID, "policy")]) from None


def _verifier_reasons(verification: ConflictVerification, claims: Claims, parse: SummaryParse) -> Iterable[Reason]:
    yield from _places(verification, ClaimStatus.CONFLICT, ReasonCode.PREDICATE_CONFLICT, claims)
    if verification.assurance_type is Assurance.PROBABILISTIC:
        yield grammar_reason(ReasonCode.ASSURANCE_PROBABILISTIC, "candidate.summary_text")
    if parse.failed is not None:
        start, end = parse.failed
        code = ReasonCode.CLAUSE_DUPLICATED if parse.duplicate else ReasonCode.CLAUSE_UNPARSED
        yield grammar_reason(code, f"candidate.summary_text[{start}:{end}]")
    elif verification.assurance_type is Assurance.DETERMINISTIC_BOUNDED:
        yield from _places(verification, ClaimStatus.UNSUPPORTED, ReasonCode.CLAUSE_UNPARSED, claims)


def _places(
    verification: ConflictVerification, status: ClaimStatus, code: ReasonCode, claims: Claims
) -> Iterable[Reason]:
    found = (result for result in verification.results if result.verification_status is status)
    return (grammar_reason(code, claims.path(result.key)) for result in islice(found, MAX_PLACES))


def _receipt(
    question: ConsistencyQuestion,
    candidate: Candidate,
    constraints: ConstraintSet,
    claims: Claims,
    verification: ConflictVerification,
) -> dict[str, PlainJson]:
    seeds: dict[str, PlainJson] = {
        "schema_version": RECEIPT_SCHEMA,
        "tenant_id": question.tenant_id,
        "task_id": question.task_id,
        "policy_sha256": question.policy_sha256,
        "invariant_manifest_sha256": constraints.manifest_sha256,
        "commitment_snapshot_sha256": constraints.snapshot_sha256,
        "rendered_canonical_policy_block": constraints.policy_block,
        "rendered_policy_sha256": constraints.rendered_policy_sha256,
        "compacted_output_sha256": candidate.compacted_output_sha256,
        "compacted_summary_sha256": candidate.compacted_summary_sha256,
        "claim_population_sha256": claims.population_sha256,
        "claim_count": len(claims.ordered),
        "result_population_sha256": verification.result_population_sha256,
        "result_count": verification.result_count,
        "conflict_verifier_version": verification.verifier_version,
        "conflict_verifier_artifact_sha256": verification.verifier_artifact_sha256,
        "conflict_verifier_receipt_sha256": verification.receipt_sha256,
        "semantic_assurance": SEMANTIC_ASSURANCE,
    }
    if candidate.context.narrative_text is None:
        return seeds
    return seeds | {
        "schema_version": narrative.RECEIPT_SCHEMA,
        "semantic_assurance": narrative.NARRATIVE_ASSURANCE,
        "narrative_sha256": narrative.narrative_sha256(candidate.context.narrative_text),
        "authority_version": AUTHORITY_VERSION,
        "authority_artifact_sha256": authority_artifact_sha256(),
    }


def sources_of(messages: tuple[SourceMessage, ...], constraints: Iterable[CanonicalConstraint] = ()) -> Sources:
    """Return what slots of a summary of these messages may refer to, under these constraints."""
    commitments = (item for item in constraints if item.constraint_type is ConstraintType.COMMITMENT)
    return Sources(
        frozenset(message.message_id for message in messages),
        {message.message_id: message.content for message in messages if is_users_word(message)},
        allowed_tools(item.canonical_predicate for item in commitments),
        frozenset(message.message_id for message in messages if message.role is Role.TOOL),
    )


def _first_difference(found: tuple[str, ...], expected: tuple[str, ...]) -> int:
    """Return the first place where two sequences differ; they do."""
    for place, (one, other) in enumerate(zip(found, expected, strict=False)):
        if one != other:
            return place
    return min(len(found), len(expected))

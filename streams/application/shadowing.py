"""What another policy set would have decided about requests that were recorded (shadow evaluation).

The contract: ``shadowed`` judges one request twice, by intake's checks of messages and bounds and by
``check_compaction``, and decides nothing. Scans are not made again, nor signatures, quotas and lineage: where only the
scan or recall policy differs, ``documents_changed`` says so, and no request differs.

A recorded candidate names the digests and constraints of the set it was made under. Judged under another as it stands,
everything would differ and nothing be learned. So where ids and claims are exactly what the first set asks for, the
second judges what the SDK would have drafted around the same summary under it; commitments are taken as signed again
for either set. Anything else is judged as it was recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

from pratique.candidate import draft_candidate
from pratique.contract.canonical import JsonValue
from pratique.contract.digests import message_sha256
from pratique.contract.reasons import Outcome, Reason, ReasonCode
from pratique.contract.records import CompactionRequested
from streams.application.admission import message_reasons, oversize_reasons
from streams.application.consistency import check_compaction
from streams.domain.compaction.candidate import Candidate, CandidateRefused
from streams.domain.compaction.claims import check_ids, reconciled_claims
from streams.domain.compaction.constraints import constraint_set
from streams.domain.compaction.grammar import Grammar
from streams.domain.compaction.refusal import StepFailed
from streams.domain.policy.documents import manifest_body, snapshot_body
from streams.domain.policy.model import CommitmentRecord, CommitmentSnapshot, CompactionPolicy, PolicySet
from streams.domain.policy.recorded import under_policy, unverified_commitments
from streams.errors import CommitmentsMissingError, CommitmentsStaleError, PolicyError

ReadCandidate = Callable[[str, CompactionPolicy], Candidate | CandidateRefused]
"""Reads a candidate's text within a bound in bytes (``streams.wire.candidate``)."""


class Held(Protocol):
    """A policy to judge by: a set, its compiled grammar, and its tenants' standing commitments."""

    @property
    def policy_set(self) -> PolicySet:
        """The set."""

    @property
    def grammar(self) -> Grammar:
        """Its grammar."""

    @property
    def standing(self) -> Callable[[str], CommitmentSnapshot]:
        """Returns a tenant's standing commitments."""


class Change(Enum):
    """How a second decision differs from the first."""

    NONE = "NONE"
    """Outcome and reasons are the same."""
    REASONS = "REASONS"
    """Neither lets the summary pass, for other reasons."""
    STRICTER = "STRICTER"
    """The first let it pass, the second does not."""
    LOOSER = "LOOSER"
    """The second lets pass what the first did not."""


@dataclass(frozen=True, slots=True)
class ShadowDecision:
    """What a request came to under a set, scans left out."""

    outcome: Outcome
    codes: tuple[ReasonCode, ...]

    def body(self) -> dict[str, JsonValue]:
        """Return the decision as JSON."""
        return {"outcome": self.outcome.value, "codes": [code.value for code in self.codes]}


@dataclass(frozen=True, slots=True)
class Shadowed:
    """A recorded request under two sets. Nothing in it is content."""

    tenant_id: str
    request_id: str
    first: ShadowDecision
    second: ShadowDecision

    @property
    def change(self) -> Change:
        """How the second differs from the first."""
        if self.first == self.second:
            return Change.NONE
        if self.first.outcome is Outcome.PASS:
            return Change.STRICTER
        return Change.LOOSER if self.second.outcome is Outcome.PASS else Change.REASONS

    def body(self) -> dict[str, JsonValue]:
        """Return the comparison as JSON."""
        return {
            "tenant_id": self.tenant_id,
            "compaction_request_id": self.request_id,
            "change": self.change.value,
            "first": self.first.body(),
            "second": self.second.body(),
        }


def shadowed(request: CompactionRequested, size: int, first: Held, second: Held, read: ReadCandidate) -> Shadowed:
    """Judge a recorded request under two sets.

    Args:
        request: The request.
        size: Its size in bytes, as published.
        first: The policy it is taken to have been made under.
        second: The other policy.
        read: Reads a candidate.
    """
    redrafted = _redrafted(request, first, second, read)
    return Shadowed(
        request.tenant_id,
        request.compaction_request_id,
        _decision(request, size, first, read),
        _decision(redrafted or request, size, second, read),
    )


def documents_changed(first: PolicySet, second: PolicySet) -> tuple[str, ...]:
    """Return the names of the documents in which two sets differ; which scanner is pinned counts for nothing."""
    unpinned = [replace(item.scan, policy_sha256="", scanner_version="", scanner_sha256="") for item in (first, second)]
    pairs = {
        "compaction": (first.compaction, second.compaction),
        "invariants": (first.invariants.invariant_records, second.invariants.invariant_records),
        "grammar": (first.grammar_sha256, second.grammar_sha256),
        "scan": (unpinned[0], unpinned[1]),
        "recall": (first.recall, second.recall),
    }
    return tuple(name for name, (one, other) in pairs.items() if one != other)


def standing_changed(first: Held, second: Held, tenant_ids: Iterable[str]) -> bool:
    """Whether one of some tenants has other standing commitments under one policy than under the other."""
    return any(_standing(first, tenant_id) != _standing(second, tenant_id) for tenant_id in set(tenant_ids))


def _standing(held: Held, tenant_id: str) -> tuple[CommitmentRecord, ...] | ReasonCode:
    try:
        return held.standing(tenant_id).commitment_records
    except (CommitmentsMissingError, CommitmentsStaleError) as error:
        return error.code


def _decision(request: CompactionRequested, size: int, held: Held, read: ReadCandidate) -> ShadowDecision:
    malformed = message_reasons(request)
    if malformed:
        return _refused(sorted(malformed))
    try:
        snapshot = _snapshot(request, held)
    except (CommitmentsMissingError, CommitmentsStaleError, PolicyError) as error:
        return _refused([Reason.of(error.code, "commitments", "intake")])
    policy = held.policy_set.compaction
    oversize = oversize_reasons(request, size, policy)
    if oversize:
        return _refused(oversize)
    candidate = read(request.candidate_json, policy)
    result = check_compaction(request, candidate, held.policy_set, snapshot, held.grammar)
    return ShadowDecision(result.outcome, tuple(dict.fromkeys(reason.code for reason in result.reasons)))


def _refused(reasons: list[Reason]) -> ShadowDecision:
    return ShadowDecision(reasons[0].meaning.outcome, tuple(dict.fromkeys(reason.code for reason in reasons)))


def _snapshot(request: CompactionRequested, held: Held) -> CommitmentSnapshot:
    if request.commitments is None:
        return held.standing(request.tenant_id)
    return under_policy(unverified_commitments(request.commitments), held.policy_set.compaction.policy_sha256)


def _redrafted(
    request: CompactionRequested, first: Held, second: Held, read: ReadCandidate
) -> CompactionRequested | None:
    """Return the request as the SDK would have made it under the second set; null where it was not so made before."""
    candidate = read(request.candidate_json, first.policy_set.compaction)
    if isinstance(candidate, CandidateRefused):
        return None
    context = candidate.context
    try:
        before, after = _snapshot(request, first), _snapshot(request, second)
        constraints = constraint_set(first.policy_set.compaction.policy_sha256, first.policy_set.invariants, before)
        check_ids(
            context,
            constraints,
            expected_invariant_ids=request.expected_invariant_ids,
            expected_commitment_ids=request.expected_commitment_ids,
        )
        reconciled_claims(context, constraints)
    except (StepFailed, CommitmentsMissingError, CommitmentsStaleError, PolicyError):
        return None
    if context.source_message_sha256s != tuple(map(message_sha256, request.source_messages)):
        return None
    manifest = second.policy_set.invariants
    return replace(
        request,
        candidate_json=draft_candidate(
            context.summary_text,
            request.source_messages,
            manifest_body(manifest),
            snapshot_body(after),
            narrative_text=context.narrative_text,
        ),
        expected_invariant_ids=tuple(record.invariant_id for record in manifest.invariant_records),
        expected_commitment_ids=tuple(record.commitment_id for record in after.commitment_records),
    )

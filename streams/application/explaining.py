"""Why a compaction is judged as it is, in words: the parse clause by clause, each constraint, and what to change.

The contract: the outcome and its reasons are those of ``check_compaction``, the statuses those of ``ClauseVerifier``;
nothing is judged here a second way. What is added is where in the summary it is, and what would help.

An explanation holds the summary's own text and the policy's. It is for the operator who hands both in (``pratique
policy explain``), never for logs, errors or evidence. It covers intake's checks of messages and bounds, and the
consistency check. It does not scan, and verifies no signature: the caller says which policy and commitments hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pratique.contract.canonical import JsonValue
from pratique.contract.reasons import FindingStatus, Outcome, Reason
from pratique.contract.records import CompactionRequested
from streams.application.admission import message_reasons, oversize_reasons
from streams.application.consistency import check_compaction
from streams.domain.compaction.authored import AuthoredClause
from streams.domain.compaction.authority.check import Ground, untraced
from streams.domain.compaction.authority.sentences import Quotable
from streams.domain.compaction.candidate import Candidate, CandidateRefused, ClaimStatus, PreservedConstraintClaim
from streams.domain.compaction.clauses import ParsedClause
from streams.domain.compaction.compiler import read_clauses
from streams.domain.compaction.conflicts import PatternRule
from streams.domain.compaction.consistency import sources_of
from streams.domain.compaction.constraints import CanonicalConstraint, constraint_set
from streams.domain.compaction.grammar import Grammar
from streams.domain.compaction.ideographs import is_wide
from streams.domain.compaction.narrative import AUTHORITY_DETECTOR
from streams.domain.compaction.places import match_place
from streams.domain.compaction.reading import ClauseReading, Fault, read_summary
from streams.domain.compaction.slots import Sources
from streams.domain.compaction.text import free_pieces, free_views
from streams.domain.compaction.verifier import (
    RULE_PREDICATE_UNKNOWN,
    RULE_PROBABILISTIC,
    ClauseVerifier,
    Question,
    summary_views,
)
from streams.domain.compaction.wording import described
from streams.domain.policy.model import CommitmentSnapshot, PolicySet

MAX_SENTENCES: Final = 5
"""Most sentences named to choose from."""

MAX_ALIKE: Final = 3
"""Most sentences named as being like one that is no clause."""

MAX_WORDS: Final = 12
"""Most words named that could have stood in a place."""

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ExplainedClause:
    """A stretch of the summary.

    Attributes:
        reading: What it is, or what is wrong with it.
        preserves: Ids of the constraints whose preservation it states.
        change: What to change; null where nothing has to be.
    """

    reading: ClauseReading
    preserves: tuple[str, ...]
    change: str | None


@dataclass(frozen=True, slots=True)
class ExplainedMatch:
    """A conflict rule or a marker that matched.

    Attributes:
        rule_id: The rule.
        conflicts_with: Ids of the constraints that it conflicts with; none for a marker.
        place: Where it first matches; null where that can't be told.
        change: What to change.
    """

    rule_id: str
    conflicts_with: tuple[str, ...]
    place: Place | None
    change: str


@dataclass(frozen=True, slots=True)
class ExplainedFinding:
    """What stands against a narrative.

    Attributes:
        label: The rule that matches, or what the authority check found.
        place: Where in the narrative; null where that can't be told.
        change: What to change.
    """

    label: str
    place: Place | None
    change: str

    def body(self) -> dict[str, JsonValue]:
        """Return the finding as JSON."""
        return {
            "finding": self.label,
            "place": None if self.place is None else list(self.place),
            "change": self.change,
        }


@dataclass(frozen=True, slots=True)
class ExplainedConstraint:
    """A constraint.

    Attributes:
        constraint: The constraint.
        status: What the verifier found.
        rule_id: By which rule.
        sentences: Sentences that state its preservation, to choose from.
        change: What to change; null where it is preserved.
    """

    constraint: CanonicalConstraint
    status: ClaimStatus
    rule_id: str
    sentences: tuple[str, ...]
    change: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a request's consistency comes to, and why.

    Attributes:
        outcome: Outcome of the check.
        finding_status: The same, as the seed words it.
        reasons: Why it is not PASS; the first is the primary one.
        summary: The summary; null where the candidate is none.
        clauses: Its stretches.
        matches: Conflict rules and markers that match.
        constraints: Every constraint; none where policy or candidate can't be judged with.
        narrative: The narrative; null where the candidate has none.
        narrative_findings: What stands against it: conflicts, markers, claims of a person's word, forged markers.
    """

    outcome: Outcome
    finding_status: FindingStatus
    reasons: tuple[Reason, ...]
    summary: str | None = None
    clauses: tuple[ExplainedClause, ...] = ()
    matches: tuple[ExplainedMatch, ...] = ()
    constraints: tuple[ExplainedConstraint, ...] = ()
    narrative: str | None = None
    narrative_findings: tuple[ExplainedFinding, ...] = ()

    def body(self) -> dict[str, JsonValue]:
        """Return the explanation as JSON."""
        body: dict[str, JsonValue] = {
            "outcome": self.outcome.value,
            "finding_status": self.finding_status.value,
            "reasons": [_reason_body(reason) for reason in self.reasons],
            "summary_text": self.summary,
            "clauses": [_clause_body(item, self.summary or "") for item in self.clauses],
            "matches": [
                {
                    "rule_id": match.rule_id,
                    "conflicts_with": list(match.conflicts_with),
                    "place": None if match.place is None else list(match.place),
                    "change": match.change,
                }
                for match in self.matches
            ],
            "constraints": [
                {
                    "constraint_type": item.constraint.constraint_type.value,
                    "constraint_id": item.constraint.constraint_id,
                    "canonical_text": item.constraint.canonical_text,
                    "canonical_predicate": item.constraint.canonical_predicate,
                    "status": item.status.value,
                    "rule_id": item.rule_id,
                    "sentences": list(item.sentences),
                    "change": item.change,
                }
                for item in self.constraints
            ],
        }
        if self.narrative is not None:
            body |= {
                "narrative_text": self.narrative,
                "narrative_findings": [item.body() for item in self.narrative_findings],
            }
        return body


def explain_compaction(
    request: CompactionRequested,
    candidate: Candidate | CandidateRefused,
    policy_set: PolicySet,
    snapshot: CommitmentSnapshot,
    grammar: Grammar,
    *,
    request_bytes: int,
) -> Explanation:
    """Explain what a compaction's consistency comes to.

    Args:
        request: The request.
        candidate: Its candidate as parsed, or the reasons why it is none.
        policy_set: The set it is judged under.
        snapshot: The task's commitments.
        grammar: The set's grammar, compiled.
        request_bytes: The request's size in bytes, as it would be published.

    Raises:
        PolicyError: Manifest or snapshot can't be judged with.
        CommitmentsStaleError: The snapshot is for another compaction policy.
    """
    refused = sorted(message_reasons(request)) or oversize_reasons(request, request_bytes, policy_set.compaction)
    if refused:
        return Explanation(refused[0].meaning.outcome, refused[0].meaning.finding_status, tuple(refused))
    result = check_compaction(request, candidate, policy_set, snapshot, grammar)
    if isinstance(candidate, CandidateRefused):
        return Explanation(result.outcome, result.finding_status, result.reasons)
    summary = candidate.context.summary_text
    constraints = constraint_set(policy_set.compaction.policy_sha256, policy_set.invariants, snapshot).constraints
    clauses = read_clauses(policy_set.grammar)
    sources = sources_of(request.source_messages, constraints)
    readings = read_summary(summary, sources, grammar.parser)
    parsed = [reading.clause for reading in readings if reading.clause is not None]
    matches = _matches(summary, constraints, grammar, _quoted_pieces(summary, parsed), summary_views(summary, parsed))

    def matches_of(text: str) -> tuple[ExplainedMatch, ...]:
        return _matches(text, constraints, grammar, list(free_pieces(text)), free_views(text))

    return Explanation(
        result.outcome,
        result.finding_status,
        result.reasons,
        summary,
        tuple(_explained(reading, summary, constraints, clauses, sorted(sources.message_ids)) for reading in readings),
        matches,
        tuple(_constraints(candidate, sources, constraints, readings, clauses, grammar)),
        candidate.context.narrative_text,
        tuple(_narrative_findings(candidate.context.narrative_text, request, matches_of)),
    )


def _constraints(
    candidate: Candidate,
    sources: Sources,
    constraints: Sequence[CanonicalConstraint],
    readings: Sequence[ClauseReading],
    clauses: Sequence[AuthoredClause],
    grammar: Grammar,
) -> Iterable[ExplainedConstraint]:
    verification = ClauseVerifier(grammar).verify(
        Question(
            summary_text=candidate.context.summary_text,
            constraints=tuple(constraints),
            claims=tuple(map(_claim, constraints)),
            sources=sources,
            rendered_policy_sha256="",
            compacted_summary_sha256=candidate.compacted_summary_sha256,
            claim_population_sha256="",
        )
    )
    stated = {
        predicate for reading in readings if reading.clause is not None for predicate in reading.clause.rule.preserves
    }
    for constraint, found in zip(constraints, verification.results, strict=True):
        predicate = constraint.canonical_predicate
        sentences = tuple(clause.shown() for clause in clauses if predicate in clause.rule.preserves)[:MAX_SENTENCES]
        change = None
        if found.verification_status is ClaimStatus.CONFLICT:
            change = f"take out what rule {found.bounded_rule_id} matches"
        elif found.bounded_rule_id == RULE_PREDICATE_UNKNOWN:
            change = "nothing in the summary helps: the grammar does not know this constraint's predicate"
        elif found.bounded_rule_id == RULE_PROBABILISTIC:
            change = "take out what says that the summary may be inexact"
        elif found.verification_status is ClaimStatus.UNSUPPORTED and predicate in stated:
            change = "it is stated, but counts only once the whole summary is clauses of the grammar"
        elif found.verification_status is ClaimStatus.UNSUPPORTED:
            change = "add one of its sentences"
        yield ExplainedConstraint(constraint, found.verification_status, found.bounded_rule_id, sentences, change)


def _quoted_pieces(summary: str, clauses: Iterable[ParsedClause]) -> list[Place]:
    """Return the places that rules see of a summary: the whole, and the pieces of what its clauses quote."""
    pieces = [(0, len(summary))]
    for clause in clauses:
        for quotation, _ in clause.quotations:
            quoted = clause.values[quotation]
            at = summary.find(quoted, clause.start, clause.end)
            if at >= 0:
                pieces += [(at + start, at + end) for start, end in free_pieces(quoted)]
    return pieces


def _claim(constraint: CanonicalConstraint) -> PreservedConstraintClaim:
    """Return the claim that an honest summarizer makes; the verifier reads none."""
    return PreservedConstraintClaim(
        constraint.constraint_type,
        constraint.constraint_id,
        constraint.canonical_record_sha256,
        constraint.canonical_predicate_sha256,
        constraint.canonical_predicate,
        ClaimStatus.PRESERVED,
    )


def _matches(
    text: str,
    constraints: Sequence[CanonicalConstraint],
    grammar: Grammar,
    pieces: Sequence[Place],
    of_pieces: Sequence[str],
) -> tuple[ExplainedMatch, ...]:
    """Return what matches a text in one of its pieces' views, and where; the first piece is the whole."""
    views = tuple(view.encode("utf-8") for view in of_pieces)

    def explained(rule: PatternRule, change: str) -> ExplainedMatch:
        ids = tuple(item.constraint_id for item in constraints if item.canonical_predicate in rule.predicates)
        found = ((start, match_place(text[start:end], rule)) for start, end in pieces)
        place = next(((start + at[0], start + at[1]) for start, at in found if at is not None), None)
        return ExplainedMatch(rule.rule_id, ids, place, change)

    return (
        *(
            explained(rule, "take it out, or say it so that nothing contradicts the constraint")
            for rule in grammar.conflicts.matching(views)
        ),
        *(
            explained(rule, "take it out: a summary that says it may be inexact is not accepted")
            for rule in grammar.markers.matching(views)
        ),
    )


_GROUNDS: Final[Mapping[Ground, str]] = {
    Ground.CLAIM: (
        "quote the trusted user's own words for it in the same sentence, to the letter, one quotation for each claim;"
        " or leave it out"
    ),
    Ground.MARKER: "take it out: only the gate, a framework or a chat template may write that",
}


def _narrative_findings(
    narrative: str | None,
    request: CompactionRequested,
    matches_of: Callable[[str], tuple[ExplainedMatch, ...]],
) -> Iterable[ExplainedFinding]:
    if narrative is None:
        return
    yield from (ExplainedFinding(match.rule_id, match.place, match.change) for match in matches_of(narrative))
    for item in untraced(narrative, Quotable.of(request.source_messages)):
        label = f"{AUTHORITY_DETECTOR}:{item.ground.value}"
        yield ExplainedFinding(label, (item.start, item.end), _GROUNDS[item.ground])


def _explained(
    reading: ClauseReading,
    summary: str,
    constraints: Iterable[CanonicalConstraint],
    clauses: Sequence[AuthoredClause],
    message_ids: Sequence[str],
) -> ExplainedClause:
    stated = reading.clause.rule.preserves if reading.clause is not None and reading.fault is None else frozenset()
    return ExplainedClause(
        reading,
        tuple(item.constraint_id for item in constraints if item.canonical_predicate in stated),
        _change(reading, summary, clauses, message_ids),
    )


_CHANGES: Final[Mapping[Fault, str]] = {
    Fault.NOT_VERBATIM: "copy the words from the message to the letter, line breaks and punctuation included",
    Fault.NOT_A_TRUSTED_USER: "quote a message with role user and provenance TRUSTED, or leave the clause out",
    Fault.TOO_MANY_QUOTATIONS: "leave quotations out",
    Fault.DUPLICATE: "leave it out: it was there before",
    Fault.NO_FULL_STOP: "end it with a full stop, as a clause of the grammar",
    Fault.QUOTATION_UNREADABLE: (
        "close the quotation with the mark that fits its opening one, and leave white space around it;"
        ' quote words that hold " in \u201c\u201d'
    ),
    Fault.WHITE_SPACE: "write a plain space or line break instead",
}


def _change(
    reading: ClauseReading, summary: str, clauses: Sequence[AuthoredClause], message_ids: Sequence[str]
) -> str | None:
    if reading.fault is None:
        return None
    if reading.fault in _CHANGES:
        return _CHANGES[reading.fault]
    if reading.fault is Fault.MESSAGE_UNKNOWN:
        return f"name a message of the request: {_listed(message_ids)}"
    templates = {clause.rule.rule_id: clause.shown() for clause in clauses}
    near = [templates[rule_id] for rule_id in reading.nearest if rule_id in templates]
    if not near:
        near = _alike(summary[reading.start : reading.end], templates.values())
        return f"no clause begins so. Nearest: {' | '.join(near)}" if near else "leave it out: no clause is like it"
    wanted = [described(slot, message_ids[:MAX_WORDS]) for slot in reading.slots]
    if len(reading.words) == 1:
        wanted.append(f"the word {reading.words[0]}")
    elif reading.words:
        wanted.append(f"one of the words {_listed(reading.words)}")
    hint = f"here may stand {'; or '.join(wanted)}" if wanted else "no clause goes on here"
    return f"{hint}. Near: {' | '.join(near)}"


def _alike(stretch: str, templates: Iterable[str]) -> list[str]:
    """Return the templates that share most words with a stretch, those with fewer other words first."""
    words = set(_words(stretch))
    shares = [(len(words.intersection(_words(template))), len(template), template) for template in templates]
    return [template for shared, _, template in sorted(shares, key=lambda item: (-item[0], item[1])) if shared][
        :MAX_ALIKE
    ]


def _words(text: str) -> list[str]:
    words = [word for word in (item.strip(".,:;!?()") for item in text.casefold().split()) if len(word) > 1]
    pairs = (pair for word in words for pair in map("".join, pairwise(word)) if all(map(is_wide, pair)))
    return [*words, *pairs]  # ideographs stand without white space: two side by side are what a word is elsewhere


def _listed(words: Sequence[str]) -> str:
    more = f", and {len(words) - MAX_WORDS} more" if len(words) > MAX_WORDS else ""
    return ", ".join(words[:MAX_WORDS]) + more


def _reason_body(reason: Reason) -> dict[str, JsonValue]:
    return {
        "code": reason.code.value,
        "path": reason.path,
        "detector": reason.detector,
        "meaning": reason.meaning.meaning,
        "remedy": reason.meaning.remedy,
    }


def _derivation_body(clause: ParsedClause | None) -> dict[str, JsonValue]:
    """Return which of its parts' texts a clause has, where it has parts."""
    if clause is None or clause.derivation is None:
        return {}
    return {"names": list(clause.derivation.names), "choices": list(clause.derivation.choices)}


def _clause_body(item: ExplainedClause, summary: str) -> dict[str, JsonValue]:
    reading = item.reading
    return {
        "start": reading.start,
        "end": reading.end,
        "text": summary[reading.start : reading.end],
        "rule_id": None if reading.clause is None else reading.clause.rule.rule_id,
        "values": [] if reading.clause is None else list(reading.clause.values),
        **_derivation_body(reading.clause),
        "preserves": list(item.preserves),
        "fault": None if reading.fault is None else reading.fault.value,
        "place": list(reading.place),
        "nearest": list(reading.nearest),
        "change": item.change,
    }

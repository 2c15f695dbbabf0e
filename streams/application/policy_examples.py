"""An operator's own examples: summaries, and what each should come to, tried against a policy before it is signed.

The contract: an example is judged by ``check_compaction``, as a request whose summarizer claims what an honest one
claims. It holds where the outcome is the expected one and every expected code is among the reasons. Scans are not
part of it.

The file is one JSON object, ``pratique.policy-examples.v1``:

- ``messages``: the source messages of every example that brings none of its own (``message_id``, ``role``, ``content``,
  ``provenance``, as in a request);
- ``examples``: ``name``, ``summary``, ``expected`` (an outcome), and optionally ``codes``, ``messages``, ``narrative``
  (where policy's profile has one) and ``tenant_id`` (whose standing commitments hold; the caller's otherwise).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pratique.candidate import draft_candidate
from pratique.contract.canonical import JsonValue
from pratique.contract.document import Fields
from pratique.contract.reasons import Outcome, ReasonCode
from pratique.contract.records import CompactionRequested, SourceMessage
from pratique.errors import MalformedError
from pratique.jsonform import request_from_json
from streams.application.admission import message_reasons
from streams.application.consistency import check_compaction
from streams.domain.compaction.candidate import Candidate, CandidateRefused
from streams.domain.compaction.grammar import Grammar
from streams.domain.policy.documents import manifest_body, snapshot_body
from streams.domain.policy.model import CommitmentSnapshot, CompactionPolicy, PolicySet

EXAMPLES_SCHEMA_VERSION: Final = "pratique.policy-examples.v1"

MAX_EXAMPLES: Final = 10_000

_EXAMPLE: Final = ("name", "summary", "expected")
_OPTIONAL: Final = ("codes", "messages", "tenant_id", "narrative")

ReadCandidate = Callable[[str, CompactionPolicy], Candidate | CandidateRefused]
"""Reads a candidate's text as a compaction policy has it (``streams.wire.candidate.read_under``)."""


@dataclass(frozen=True, slots=True)
class Example:
    """A summary, and what it should come to.

    Attributes:
        name: What its author calls it.
        summary: The summary.
        messages: What it is a summary of.
        expected: The outcome it should have.
        codes: Codes that should be among its reasons.
        tenant_id: Whose standing commitments hold; the caller's where null.
        narrative: The narrative beside the summary; null where there is none.
    """

    name: str
    summary: str
    messages: tuple[SourceMessage, ...]
    expected: Outcome
    codes: frozenset[ReasonCode]
    tenant_id: str | None
    narrative: str | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """An example, and what it came to."""

    example: Example
    outcome: Outcome
    codes: tuple[ReasonCode, ...]

    @property
    def holds(self) -> bool:
        """Whether it came to what it should."""
        return self.outcome is self.example.expected and self.example.codes <= set(self.codes)

    def body(self) -> dict[str, JsonValue]:
        """Return the result as JSON; the summary is left out."""
        return {
            "name": self.example.name,
            "holds": self.holds,
            "expected": self.example.expected.value,
            "expected_codes": sorted(code.value for code in self.example.codes),
            "outcome": self.outcome.value,
            "codes": [code.value for code in self.codes],
        }


def read_examples(value: JsonValue) -> tuple[Example, ...]:
    """Read a file of examples.

    Raises:
        MalformedError: It is no ``pratique.policy-examples.v1``; the message names the field, or the example.
    """
    known = ("schema_version", "examples", *_present(value, ("messages",)))
    fields = Fields(value, "examples", known, MalformedError)
    fields.literal("schema_version", EXAMPLES_SCHEMA_VERSION)
    shared = _messages(fields.raw("messages"), "examples") if "messages" in known else ()
    examples = []
    for index, item in enumerate(fields.sequence("examples", minimum=1, maximum=MAX_EXAMPLES)):
        examples.append(_example(item, f"examples[{index}]", shared))
    return tuple(examples)


def try_examples(
    examples: Sequence[Example],
    policy_set: PolicySet,
    grammar: Grammar,
    standing: Callable[[str], CommitmentSnapshot],
    *,
    tenant_id: str,
    read: ReadCandidate,
) -> tuple[Tried, ...]:
    """Judge examples.

    Args:
        examples: The examples.
        policy_set: The policy set.
        grammar: Its grammar, compiled.
        standing: Returns a tenant's standing commitments.
        tenant_id: Tenant of the examples that name none.
        read: Reads a candidate.

    Raises:
        CommitmentsMissingError: A tenant has no standing commitments.
        CommitmentsStaleError: They are for another compaction policy.
    """
    tried = []
    for example in examples:
        snapshot = standing(example.tenant_id or tenant_id)
        request = _request(example, policy_set, snapshot, example.tenant_id or tenant_id)
        malformed = sorted(message_reasons(request))
        if malformed:
            codes = tuple(dict.fromkeys(reason.code for reason in malformed))
            tried.append(Tried(example, malformed[0].meaning.outcome, codes))
            continue
        candidate = read(request.candidate_json, policy_set.compaction)
        result = check_compaction(request, candidate, policy_set, snapshot, grammar)
        tried.append(Tried(example, result.outcome, tuple(dict.fromkeys(reason.code for reason in result.reasons))))
    return tuple(tried)


def _request(
    example: Example, policy_set: PolicySet, snapshot: CommitmentSnapshot, tenant_id: str
) -> CompactionRequested:
    candidate = draft_candidate(
        example.summary,
        example.messages,
        manifest_body(policy_set.invariants),
        snapshot_body(snapshot),
        narrative_text=example.narrative,
    )
    return CompactionRequested(
        tenant_id=tenant_id,
        task_id="example",
        compaction_request_id="example",
        requested_at=0,
        policy_id=policy_set.policy_id,
        source_messages=example.messages,
        candidate_json=candidate,
        expected_invariant_ids=tuple(record.invariant_id for record in policy_set.invariants.invariant_records),
        expected_commitment_ids=tuple(record.commitment_id for record in snapshot.commitment_records),
    )


def _present(value: JsonValue, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if isinstance(value, Mapping) and name in value)


def _example(value: JsonValue, where: str, shared: tuple[SourceMessage, ...]) -> Example:
    present = _present(value, _OPTIONAL)
    fields = Fields(value, where, (*_EXAMPLE, *present), MalformedError)
    codes: frozenset[ReasonCode] = frozenset()
    if "codes" in present:
        codes = frozenset(_code(fields, item) for item in fields.texts("codes", maximum=len(ReasonCode)))
    try:
        expected = Outcome(fields.text("expected"))
    except ValueError:
        raise fields.refusal("expected", f"is none of {', '.join(item.value for item in Outcome)}") from None
    summary = fields.raw("summary")
    if not isinstance(summary, str):
        raise fields.refusal("summary", "is no text")
    return Example(
        name=fields.text("name", max_characters=200),
        summary=summary,
        messages=_messages(fields.raw("messages"), where) if "messages" in present else shared,
        expected=expected,
        codes=codes,
        tenant_id=fields.text("tenant_id") if "tenant_id" in present else None,
        narrative=fields.text("narrative") if "narrative" in present else None,
    )


def _code(fields: Fields, value: str) -> ReasonCode:
    try:
        return ReasonCode(value)
    except ValueError:
        raise fields.refusal("codes", "names a reason code that there is not") from None


def _messages(value: JsonValue, where: str) -> tuple[SourceMessage, ...]:
    """Read messages as a request's are read."""
    request: dict[str, JsonValue] = {"kind": "compaction", "source_messages": value}
    try:
        return request_from_json(request, defaults=_ANY_REQUEST).source_messages
    except MalformedError as error:
        raise MalformedError(f"{where}: messages: {error}") from None


_ANY_REQUEST: Final[Mapping[str, JsonValue]] = {
    "tenant_id": "",
    "task_id": "",
    "compaction_request_id": "",
    "requested_at": 0,
    "policy_id": "",
    "candidate_json": "",
    "expected_invariant_ids": [],
    "expected_commitment_ids": [],
}

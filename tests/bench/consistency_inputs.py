"""What the benchmark of consistency judges: requests of a wanted size, right in every way, under a grammar to match.

The contract: the same arguments give the same request. The grammar is the demo's with a predicate, a preservation
clause and a conflict rule for each of up to ``MOST_PREDICATES`` topics more; where a request has more constraints, they
share predicates. Messages are the sample conversations' text, cut to size; every fourth is a trusted user's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from itertools import count, cycle
from typing import Any, Final

from infra.stack.paths import ROOT
from pratique.contract.canonical import JsonValue, canonical_sha256, text_sha256
from pratique.contract.digests import message_sha256
from pratique.contract.narrative import CANDIDATE_SCHEMA
from pratique.contract.records import Provenance, Role, SourceMessage
from streams.domain.compaction.compiler import compile_grammar
from streams.domain.compaction.consistency import ConsistencyQuestion
from streams.domain.compaction.grammar import Grammar
from streams.domain.policy.documents import commitment_body, invariant_body, manifest_body, snapshot_body
from streams.domain.policy.model import (
    AssuranceProfile,
    CommitmentRecord,
    CommitmentSnapshot,
    InvariantManifest,
    InvariantRecord,
)

MOST_PREDICATES: Final = 200
POLICY_SHA256: Final = "d" * 64
GRAMMAR: Final = ROOT / "infra" / "policy" / "demo" / "grammar.json"
CONVERSATIONS: Final = ROOT / "tests" / "samples" / "conversations"

_VERBS: Final = r"ignore|disregard|forget|override|bypass|waive|suspend|disable|overrule|drop|skip"


@dataclass(frozen=True, slots=True)
class Case:
    """A request to the checker.

    Attributes:
        question: What the candidate is checked against.
        candidate_json: The candidate, as a summarizer writes it.
        request: The request as a JSON value: what the baseline serialises, digests and validates.
        profile: Whose schema the candidate is of.
        grammar: What judges it.
    """

    question: ConsistencyQuestion
    candidate_json: str
    request: dict[str, JsonValue]
    profile: AssuranceProfile
    grammar: Grammar


@dataclass(frozen=True, slots=True)
class Size:
    """How large a request is.

    Attributes:
        constraints: How many invariants and commitments.
        summary: Least characters of the summary, where its clauses of the constraints are not more already.
        messages: How many source messages, of ``message`` characters each.
        narrative: Characters of the narrative; 0 where there is none.
    """

    constraints: int = 50
    summary: int = 4_000
    messages: int = 200
    message: int = 1_000
    narrative: int = 0


@cache
def grammar() -> Grammar:
    """Return the demo's grammar with the topics."""
    document = json.loads(GRAMMAR.read_text(encoding="utf-8"))
    for number in range(MOST_PREDICATES):
        document["predicates"].append(_predicate(number))
        document["clauses"].append(
            {"rule_id": f"keep.t{number}", "template": _kept(number), "slots": {}, "preserves": [_predicate(number)]}
        )
        document["conflicts"].append(
            {
                "rule_id": f"conflict.t{number}",
                "predicates": [_predicate(number)],
                "pattern": rf"\b(?:{_VERBS})\b[^.]*\btopic-{number}\b",
                "hits": [f"Skip topic-{number}."],
                "near_misses": [_kept(number)],
            }
        )
    return compile_grammar(json.dumps(document).encode())


def case(size: Size, *, summary: str | None = None, narrative: str | None = None) -> Case:
    """Return a request; its summary and narrative can be given, and then need not pass."""
    sources = messages(size.messages, size.message)
    invariants = size.constraints // 2
    manifest = _manifest(invariants)
    snapshot = _snapshot(invariants, size.constraints)
    if narrative is None and size.narrative:
        narrative = prose(size.narrative)
    records: list[tuple[str, str, InvariantRecord | CommitmentRecord]] = [
        *(("INVARIANT", item.invariant_id, item) for item in manifest.invariant_records),
        *(("COMMITMENT", item.commitment_id, item) for item in snapshot.commitment_records),
    ]
    candidate: dict[str, JsonValue] = {
        "summary_text": summary_of(size) if summary is None else summary,
        "retained_safety_invariant_ids": [item.invariant_id for item in manifest.invariant_records],
        "retained_policy_commitment_ids": [item.commitment_id for item in snapshot.commitment_records],
        "source_message_sha256s": [message_sha256(item) for item in sources],
        "preserved_constraint_claims": [
            {
                "constraint_type": kind,
                "constraint_id": name,
                "canonical_record_sha256": item.record_sha256,
                "canonical_predicate_sha256": text_sha256(item.canonical_predicate),
                "preserved_predicate": item.canonical_predicate,
                "status": "PRESERVED",
            }
            for kind, name, item in records
        ],
    }
    if narrative is not None:
        candidate |= {"schema_version": CANDIDATE_SCHEMA, "narrative_text": narrative}
    return Case(
        _question(sources, manifest, snapshot),
        json.dumps(candidate),
        _request(sources, manifest, snapshot, candidate),
        AssuranceProfile.BOUNDED if narrative is None else AssuranceProfile.BOUNDED_WITH_UNTRUSTED_NARRATIVE,
        grammar(),
    )


def summary_of(size: Size) -> str:
    """Return a summary that passes: the constraints' clauses, then quotations of users and facts about files."""
    clauses = [_kept(number) for number in range(min(size.constraints, MOST_PREDICATES))]
    users = [item for item in messages(size.messages, size.message) if item.role is Role.USER][:8]
    for item in users:
        words = next((words for words in item.content.split("\n") if 20 < len(words) < 200 and '"' not in words), "")
        if words:
            clauses.append(f'The user said: "{words}" (message {item.message_id}).')
    length = sum(len(clause) + 1 for clause in clauses)
    for number in count(1):
        if length >= size.summary:
            break
        clauses.append(f"Line {number} of src/module_{number % 97}/part.py was changed.")
        length += len(clauses[-1]) + 1
    return " ".join(clauses)


def prose(length: int) -> str:
    """Return a narrative that passes: what agents say of their work."""
    sentences = (
        "The parser reads tabs now, and the tests of the module cover it.",
        "Two files were changed: src/reader.py and tests/test_reader.py.",
        "The first attempt failed because the fixture was missing; a second run passed.",
        "Remaining work is the page of documentation, which lists the options.",
    )
    text = ""
    for sentence in cycle(sentences):
        text += f"{sentence} "
        if len(text) >= length:
            return text.strip()
    raise AssertionError


@cache
def messages(number: int, length: int) -> tuple[SourceMessage, ...]:
    """Return source messages cut from the sample conversations."""
    text = _conversations()
    made = []
    for place in range(number):
        start = place * length % (len(text) - length)
        content = text[start : start + length]
        by_user = place % 4 == 0
        role = Role.USER if by_user else (Role.ASSISTANT, Role.TOOL)[place % 2]
        trust = Provenance.TRUSTED if by_user else Provenance.UNTRUSTED
        made.append(SourceMessage(f"m{place + 1}", role, content, trust))
    return tuple(made)


@cache
def _conversations() -> str:
    files = sorted(CONVERSATIONS.glob("*.json"))
    read = (json.loads(file.read_text(encoding="utf-8"))["messages"] for file in files)
    return "\n".join(message["content"] for conversation in read for message in conversation)


def _predicate(number: int) -> str:
    return f"require(topic_{number})"


def _kept(number: int) -> str:
    return f"Keep topic-{number} in the form that the rules of the project ask for."


def _constraint(number: int) -> tuple[str, str]:
    return f"Keep topic {number} in the form that the rules ask for.", _predicate(number % MOST_PREDICATES)


@cache
def _manifest(number: int) -> InvariantManifest:
    records = []
    for place in range(number):
        record = InvariantRecord(f"SAFETY-{place}", *_constraint(place), 1, "")
        digest = canonical_sha256(invariant_body(record))
        records.append(InvariantRecord(f"SAFETY-{place}", *_constraint(place), 1, digest))
    made = InvariantManifest("", POLICY_SHA256, 1, tuple(records))
    return InvariantManifest(canonical_sha256(manifest_body(made)), POLICY_SHA256, 1, tuple(records))


@cache
def _snapshot(start: int, end: int) -> CommitmentSnapshot:
    records = []
    for place in range(start, end):
        record = CommitmentRecord(f"COMMIT-{place}", *_constraint(place), 1, "")
        digest = canonical_sha256(commitment_body(record))
        records.append(CommitmentRecord(f"COMMIT-{place}", *_constraint(place), 1, digest))
    made = CommitmentSnapshot("", POLICY_SHA256, 1, tuple(records))
    return CommitmentSnapshot(canonical_sha256(snapshot_body(made)), POLICY_SHA256, 1, tuple(records))


def _question(
    sources: tuple[SourceMessage, ...], manifest: InvariantManifest, snapshot: CommitmentSnapshot
) -> ConsistencyQuestion:
    return ConsistencyQuestion(
        tenant_id="tenant-a",
        task_id="task-1",
        source_messages=sources,
        expected_invariant_ids=tuple(item.invariant_id for item in manifest.invariant_records),
        expected_commitment_ids=tuple(item.commitment_id for item in snapshot.commitment_records),
        policy_sha256=POLICY_SHA256,
        summary_min_length=10,
        manifest=manifest,
        snapshot=snapshot,
        grammar_sha256=grammar().grammar_sha256,
    )


def _request(
    sources: tuple[SourceMessage, ...],
    manifest: InvariantManifest,
    snapshot: CommitmentSnapshot,
    candidate: dict[str, Any],
) -> dict[str, JsonValue]:
    return {
        "tenant_id": "tenant-a",
        "task_id": "task-1",
        "compaction_request_id": "request-1",
        "source_messages": [
            {
                "message_id": item.message_id,
                "role": item.role.value,
                "content": item.content,
                "provenance": item.provenance.value,
            }
            for item in sources
        ],
        "invariant_manifest": manifest_body(manifest),
        "commitment_snapshot": snapshot_body(snapshot),
        "candidate": candidate,
    }

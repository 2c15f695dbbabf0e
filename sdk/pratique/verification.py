"""Whether a record on a verdict topic is the verdict on what was sent.

The contract: ``believe`` raises unless every check passes, in this order:

1. the record is a ``Verdict`` on a verdict topic;
2. its signature is by a key that the trust target authorises as gate, for this tenant, when it was decided;
3. the topic is that of its outcome;
4. it speaks of the exact bytes that were sent, of this tenant, task, request, policy and candidate;
5. it speaks of the same source messages; a quarantine may name none, where intake refused before it had any;
6. an acceptance names the candidate's parsed form, a rendered policy, and no reason;
7. its event is the seed's, canonical, and speaks of the same (a recall's 6 and 7: ``pratique.recall_verification``);
   the acceptance of a candidate with a narrative is our own, names the narrative, and has its own assurance;
8. it was decided after the request was made, and its validity has not passed.

4 to 8 are checked again at insertion (``check_answers``, ``check_moment``), since a caller may hand in a verdict and a
request that do not belong together. Whether the task has used it before is checked only there (``pratique.context``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pratique.contract.avro import decode
from pratique.contract.canonical import JsonValue, canonical_json, canonical_sha256, parse_json, text_sha256
from pratique.contract.digests import (
    compaction_subject_sha256,
    message_sha256,
    request_sha256,
    source_population_sha256,
)
from pratique.contract.narrative import ACCEPTANCE_EVENT as NARRATIVE_ACCEPTANCE_EVENT
from pratique.contract.narrative import NARRATIVE_ASSURANCE, narrative_of, narrative_sha256
from pratique.contract.records import CompactionRequested, Origin, Verdict, VerdictOutcome
from pratique.contract.signing import Signature, verify_ed25519
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED
from pratique.contract.trust import KeyRole, TrustTarget
from pratique.errors import MalformedError, VerdictRefusedError
from pratique.transport import Received

VERDICT_TOPICS: Final = {
    VerdictOutcome.ACCEPTED: COMPACTION_ACCEPTED,
    VerdictOutcome.QUARANTINED: COMPACTION_QUARANTINED,
}

ACCEPTANCE_EVENT: Final = "aidefend.context-compaction-acceptance.v1"
FALLBACK_EVENT: Final = "aidefend.context-compaction-fallback.v1"

CLOCK_TOLERANCE_MS: Final = 5 * 60 * 1000
"""How far the clocks of client and broker may differ.

A verdict older than its request by more is refused: the period of a gate key that was withdrawn can't be reached by
dating a forgery back.
"""


@dataclass(frozen=True)
class Expected(ABC):
    """What a verdict on any request must speak of to be the one that is waited for.

    Attributes:
        requested_at: When the request was made, in milliseconds since the epoch.
    """

    origin: Origin
    tenant_id: str
    task_id: str
    request_id: str
    policy_id: str
    request_sha256: str
    subject_sha256: str
    source_population_sha256: str
    requested_at: int

    @property
    def message_keys(self) -> frozenset[bytes]:
        """The Kafka keys that the verdict can come under."""
        return frozenset({self.source_population_sha256.encode("ascii"), self.request_sha256.encode("ascii")})

    @abstractmethod
    def check(self, verdict: Verdict) -> None:
        """Check what is particular to this kind of request.

        Raises:
            VerdictRefusedError: The verdict speaks of something else, or allows what it may not.
        """


@dataclass(frozen=True)
class Expectation(Expected):
    """What a verdict on a compaction must speak of.

    Attributes:
        candidate_json: The candidate as sent; its digest is the subject.
    """

    candidate_json: str

    @classmethod
    def of(cls, request: CompactionRequested, value: bytes) -> Expectation:
        """Return what the verdict on a request must speak of.

        Args:
            request: The request.
            value: The same, as published.

        Raises:
            MalformedError: A text in it holds a lone surrogate.
        """
        return cls(
            origin=Origin.COMPACTION,
            tenant_id=request.tenant_id,
            task_id=request.task_id,
            request_id=request.compaction_request_id,
            policy_id=request.policy_id,
            request_sha256=request_sha256(value),
            subject_sha256=compaction_subject_sha256(request.candidate_json),
            source_population_sha256=source_population_sha256(list(map(message_sha256, request.source_messages))),
            candidate_json=request.candidate_json,
            requested_at=request.requested_at,
        )

    @cached_property
    def _candidate(self) -> tuple[JsonValue] | None:
        """The parsed candidate, alone in a tuple; null where it does not parse."""
        try:
            return (parse_json(self.candidate_json),)
        except MalformedError:
            return None

    @cached_property
    def compacted_output_sha256(self) -> str | None:
        """Canonical digest of the parsed candidate; null where it does not parse."""
        return None if self._candidate is None else canonical_sha256(self._candidate[0])

    @cached_property
    def narrative_text(self) -> str | None:
        """The candidate's narrative; null where it has none."""
        return None if self._candidate is None else narrative_of(self._candidate[0])

    @cached_property
    def text_sha256s(self) -> tuple[str, ...]:
        """Canonical digests of the candidate's summary and narrative; empty where it has none."""
        candidate = None if self._candidate is None else self._candidate[0]
        summary = candidate.get("summary_text") if isinstance(candidate, Mapping) else None
        texts = (summary, self.narrative_text)
        return tuple(canonical_sha256(text) for text in texts if isinstance(text, str))

    def check(self, verdict: Verdict) -> None:
        """Check outcome and event.

        Raises:
            VerdictRefusedError: They speak of something else.
        """
        _check_outcome(verdict, self)
        _check_event(verdict, self)


def read_verdict(received: Received) -> Verdict:
    """Decode a record of a verdict topic.

    Raises:
        MalformedError: It is no verdict.
        VerdictRefusedError: It came on another topic.
    """
    if received.topic not in VERDICT_TOPICS.values():
        raise VerdictRefusedError("record is on no verdict topic", check="topic")
    return decode(received.value, Verdict)


def believe(received: Received, verdict: Verdict, expected: Expected, trust: TrustTarget, now_ms: int) -> None:
    """Check that a record is the verdict that is waited for.

    Args:
        received: The record as consumed.
        verdict: The same, decoded.
        expected: What was sent.
        trust: The trust target at its newest.
        now_ms: Now, in milliseconds since the epoch.

    Raises:
        SignatureInvalidError: The signature is missing or does not verify.
        SignerNotAuthorisedError: The key may not sign verdicts for this tenant, or might not when it was decided.
        VerdictRefusedError: The verdict speaks of something else, or not now.
    """
    signature = Signature.from_headers(received.headers)
    key = trust.authorised_key(signature.key_id, KeyRole.GATE, expected.tenant_id, verdict.decided_at)
    verify_ed25519(key.public_key, signature, received.topic, received.value or b"")
    if received.topic != VERDICT_TOPICS[verdict.outcome]:
        raise VerdictRefusedError("outcome is not that of the topic", check="topic")
    check_answers(verdict, expected)
    check_moment(verdict, expected.requested_at, now_ms)


def check_answers(verdict: Verdict, expected: Expected) -> None:
    """Check that a verdict speaks of what was asked, whoever hands the two in: 4 to 7 of ``believe``.

    Raises:
        VerdictRefusedError: It speaks of something else, or allows what it may not.
    """
    _check_binding(verdict, expected)
    expected.check(verdict)


def check_moment(verdict: Verdict, requested_at: int, now_ms: int) -> None:
    """Check that a verdict was decided after its request, and may still be acted on.

    Raises:
        VerdictRefusedError: It was not, or may not.
    """
    if verdict.decided_at < requested_at - CLOCK_TOLERANCE_MS:
        raise VerdictRefusedError("verdict is older than its request", check="moment")
    if verdict.decided_at > now_ms + CLOCK_TOLERANCE_MS:
        raise VerdictRefusedError("verdict was decided in the future", check="moment")
    if now_ms >= verdict.valid_until:
        raise VerdictRefusedError("verdict may no longer be acted on", check="moment")


def _check_binding(verdict: Verdict, expected: Expected) -> None:
    for name in (
        "origin",
        "tenant_id",
        "task_id",
        "request_id",
        "policy_id",
        "request_sha256",
        "subject_sha256",
    ):
        if getattr(verdict, name) != getattr(expected, name):
            raise VerdictRefusedError(f"{name} is not the request's", check="binding")
    population = verdict.source_population_sha256
    if population != expected.source_population_sha256 and (
        population is not None or verdict.outcome is VerdictOutcome.ACCEPTED
    ):
        raise VerdictRefusedError("source_population_sha256 is not that of the messages", check="binding")


def _check_outcome(verdict: Verdict, expected: Expectation) -> None:
    output = verdict.compacted_output_sha256
    if output is not None and output != expected.compacted_output_sha256:
        raise VerdictRefusedError("compacted_output_sha256 is not the candidate's", check="binding")
    accepted = verdict.outcome is VerdictOutcome.ACCEPTED
    if verdict.accepted_text_sha256s not in {(), expected.text_sha256s if accepted else ()}:
        raise VerdictRefusedError("accepted_text_sha256s are not of the candidate's texts", check="binding")
    if not accepted:
        return
    if output is None or verdict.rendered_policy_sha256 is None:
        raise VerdictRefusedError("acceptance names no output or no rendered policy", check="acceptance")
    if (verdict.assurance == NARRATIVE_ASSURANCE) != (expected.narrative_text is not None):
        raise VerdictRefusedError("acceptance is of another assurance than the candidate's", check="acceptance")
    if verdict.reasons or verdict.fallback is not None:
        raise VerdictRefusedError("acceptance states a reason or a fallback", check="acceptance")


def _check_event(verdict: Verdict, expected: Expectation) -> None:
    accepted = verdict.outcome is VerdictOutcome.ACCEPTED
    event = canonical_event(verdict)
    if event is None:
        if accepted or verdict.fallback is not None:
            raise VerdictRefusedError("verdict has a context and no event", check="event")
        return
    stated: dict[str, JsonValue] = {
        "schema_version": ACCEPTANCE_EVENT if accepted else FALLBACK_EVENT,
        "outcome": "ACCEPTED" if accepted else "FALLBACK",
        "tenant_id": expected.tenant_id,
        "task_id": expected.task_id,
        "policy_sha256": verdict.policy_sha256,
        "source_population_sha256": verdict.source_population_sha256,
    }
    if accepted:
        stated["compacted_output_sha256"] = verdict.compacted_output_sha256
    if accepted and expected.narrative_text is not None:
        stated |= {
            "schema_version": NARRATIVE_ACCEPTANCE_EVENT,
            "narrative_sha256": narrative_sha256(expected.narrative_text),
        }
    if any(event.get(name) != value for name, value in stated.items()):
        raise VerdictRefusedError("event speaks of something else", check="event")


def canonical_event(verdict: Verdict) -> Mapping[str, JsonValue] | None:
    """Return a verdict's event; null where it has none.

    Raises:
        VerdictRefusedError: It is not the canonical JSON of an object, or its digest is another's.
    """
    if verdict.event_json is None:
        return None
    if verdict.event_sha256 != text_sha256(verdict.event_json):
        raise VerdictRefusedError("event_sha256 is not the event's", check="event")
    try:
        event = parse_json(verdict.event_json)
        if isinstance(event, Mapping) and canonical_json(event) == verdict.event_json:
            return event
    except MalformedError:
        pass
    raise VerdictRefusedError("event is not canonical JSON", check="event")

"""Evidence and verdicts as somebody would state them who has a Kafka client, and perhaps one stolen key.

The contract: every forgery is well formed: under the key of the role that may state it, it would be believed. Each
function only builds records; whoever calls it appends them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pratique.contract.avro import decode, encode
from pratique.contract.canonical import canonical_json, parse_json, text_sha256
from pratique.contract.digests import (
    compaction_join_key,
    compaction_subject_sha256,
    message_sha256,
    source_population_sha256,
)
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import (
    Decided,
    Evidence,
    EvidenceKind,
    JoinKey,
    Receipt,
    StatedReason,
    Verdict,
    VerdictOutcome,
)
from pratique.contract.signing import Ed25519Signer, MacSigner, Signature, Signer
from pratique.contract.topics import COMPACTION_ACCEPTED, EVIDENCE
from pratique.verification import Expectation
from tests.integration.asking import Question, verdicts_since
from tests.integration.platform import Platform
from tests.integration.raw import Ends, Headers, Raw, until

STRANGER: Final = Ed25519Signer("gate-of-a-stranger", Ed25519PrivateKey.from_private_bytes(b"stranger" * 4))
"""A key that no trust target names."""


@dataclass(frozen=True, slots=True)
class Forged:
    """A record to be appended."""

    topic: str
    key: bytes
    value: bytes
    headers: Headers

    def append_to(self, platform: Platform) -> tuple[int, int]:
        """Append it to its key's partition; return where it lies."""
        return platform.log.publish(self.topic, self.value, key=self.key, headers=self.headers)


@dataclass(frozen=True, slots=True)
class Case:
    """A request that was judged: what the log holds about it."""

    question: Question
    evidence: dict[EvidenceKind, Raw]
    verdict: Raw

    @classmethod
    def of(cls, platform: Platform, question: Question, since: Ends) -> Case:
        """Return what the log holds about a request that has its verdict."""
        found: dict[str, list[Raw]] = {}

        def published() -> bool:
            found.update(verdicts_since(platform, since))
            return question.sha256 in found

        until(published, "the verdict is in the log")
        evidence = {stated.kind: record for record, stated in evidence_of(platform, question.sha256, since)}
        return cls(question, evidence, found[question.sha256][0])

    @property
    def join_key(self) -> JoinKey:
        """The request's join key."""
        return join_key(self.question)

    def receipt(self, kind: EvidenceKind) -> Receipt:
        """Return what a worker stated."""
        receipt = decode(self.evidence[kind].value, Evidence).receipt
        assert receipt is not None
        return receipt

    @property
    def pin(self) -> str | None:
        """The policy set it was judged under."""
        return decode(self.evidence[EvidenceKind.OPENED].value, Evidence).policy_set_sha256


def evidence_of(platform: Platform, request: str, since: Ends) -> list[tuple[Raw, Evidence]]:
    """Return the evidence about a request, by its digest, in the order of the log."""
    stated = ((record, decode(record.value, Evidence)) for record in platform.log.records(EVIDENCE, since=since))
    return [(record, evidence) for record, evidence in stated if evidence.join_key.request_sha256 == request]


def join_key(question: Question) -> JoinKey:
    """Return a request's join key, as intake derives it."""
    population = source_population_sha256([message_sha256(item) for item in question.request.source_messages])
    return compaction_join_key(question.request, question.value, population)


def text_sha256s(question: Question) -> tuple[str, ...]:
    """Return the digests of what a request's summary would let into a context."""
    return Expectation.of(question.request, question.value).text_sha256s


def stated(evidence: Evidence, signer: MacSigner) -> Forged:
    """Return evidence under some role's key."""
    value = encode(evidence)
    return Forged(EVIDENCE, evidence.join_key.message_key, value, signer.sign(EVIDENCE, value).headers)


def refusal(question: Question, like: Case, signer: MacSigner) -> Forged:
    """Return an OPENED that refuses a request: it is decided at once, if it is believed."""
    opened = decode(like.evidence[EvidenceKind.OPENED].value, Evidence).opened
    assert opened is not None
    why = (StatedReason.of(Reason.of(ReasonCode.QUOTA_EXCEEDED, "", "intake")),)
    refused = replace(
        opened,
        task_id=question.request.task_id,
        requested_at=question.request.requested_at,
        required=(),
        refusal=why,
    )
    return stated(
        Evidence(
            EvidenceKind.OPENED, join_key(question), like.pin, opened=refused, opened_at=question.request.requested_at
        ),
        signer,
    )


def passing_receipt(question: Question, scanned: Evidence, like: Case, signer: MacSigner) -> Forged:
    """Return a CONSISTENCY receipt that lets a request pass, made of the receipt of one that did.

    Args:
        question: The request.
        scanned: What scan truly stated about it; the two are compared.
        like: A request that passed.
        signer: Who states it.
    """
    receipt = like.receipt(EvidenceKind.CONSISTENCY)
    assert receipt.body_json is not None
    assert scanned.receipt is not None
    output = compacted_output(question)
    body = parse_json(receipt.body_json)
    assert isinstance(body, dict)
    body |= {
        name: value
        for name, value in {
            "tenant_id": question.request.tenant_id,
            "task_id": question.request.task_id,
            "source_population_sha256": join_key(question).source_population_sha256,
            "compacted_output_sha256": output,
            "compacted_summary_sha256": text_sha256s(question)[0],
        }.items()
        if name in body
    }
    body_json = canonical_json(body)
    changed = replace(
        receipt,
        body_json=body_json,
        receipt_sha256=text_sha256(body_json),
        compacted_output_sha256=output,
        scan_population_sha256=scanned.receipt.scan_population_sha256,
        scan_field_count=scanned.receipt.scan_field_count,
    )
    return stated(
        Evidence(EvidenceKind.CONSISTENCY, join_key(question), like.pin, receipt=changed, opened_at=scanned.opened_at),
        signer,
    )


def finding_nothing(question: Question, opened: Evidence, like: Case, signer: MacSigner) -> Forged:
    """Return a SCAN receipt that found nothing, made of the receipt of a scan that did not.

    Args:
        question: The request.
        opened: What intake truly stated about it.
        like: A request that passed.
        signer: Who states it.
    """
    receipt = like.receipt(EvidenceKind.SCAN)
    body = parse_json(receipt.body_json or "")
    roots = parse_json(question.request.candidate_json)
    assert isinstance(body, dict)
    assert isinstance(roots, dict)
    del roots["preserved_constraint_claims"]
    population = text_sha256(canonical_json(roots))
    count = sum(len(root) if isinstance(root, list) else 1 for root in roots.values())
    body_json = canonical_json({**body, "scanned_population_sha256": population, "scanned_field_count": count})
    changed = replace(
        receipt,
        body_json=body_json,
        receipt_sha256=text_sha256(body_json),
        compacted_output_sha256=compacted_output(question),
        scan_population_sha256=population,
        scan_field_count=count,
    )
    return stated(replace(opened, kind=EvidenceKind.SCAN, opened=None, receipt=changed), signer)


def moved_receipt(question: Question, like: Case) -> Forged:
    """Return another request's CONSISTENCY receipt with this request's join key written into it."""
    record = like.evidence[EvidenceKind.CONSISTENCY]
    moved = replace(decode(record.value, Evidence), join_key=join_key(question))
    return Forged(EVIDENCE, moved.join_key.message_key, encode(moved), record.headers)


def under_another_key(question: Question, record: Raw) -> Forged:
    """Return another request's record as it is, under this request's message key, and so in its partition."""
    assert record.value is not None
    return Forged(record.topic, join_key(question).message_key, record.value, record.headers)


def accepting_verdict(question: Question, like: Case) -> Verdict:
    """Return a verdict that accepts a request, made of the verdict on one that was."""
    request, key = question.request, join_key(question)
    verdict = decode(like.verdict.value, Verdict)
    assert verdict.outcome is VerdictOutcome.ACCEPTED
    assert verdict.event_json is not None
    event = parse_json(verdict.event_json)
    assert isinstance(event, dict)
    event |= {
        "tenant_id": request.tenant_id,
        "task_id": request.task_id,
        "source_population_sha256": key.source_population_sha256,
        "compacted_output_sha256": compacted_output(question),
    }
    event_json = canonical_json(event)
    return replace(
        verdict,
        tenant_id=request.tenant_id,
        task_id=request.task_id,
        request_id=request.compaction_request_id,
        source_population_sha256=key.source_population_sha256,
        subject_sha256=compaction_subject_sha256(request.candidate_json),
        request_sha256=key.request_sha256,
        compacted_output_sha256=compacted_output(question),
        event_json=event_json,
        event_sha256=text_sha256(event_json),
        accepted_text_sha256s=text_sha256s(question),
    )


def decision(question: Question, like: Case, gate: Signer, signer: MacSigner) -> Forged:
    """Return a DECIDED that accepts a request."""
    value = encode(accepting_verdict(question, like))
    signature = gate.sign(COMPACTION_ACCEPTED, value)
    decided = Decided(VerdictOutcome.ACCEPTED, value, signature.key_id, signature.signature)
    return stated(Evidence(EvidenceKind.DECIDED, join_key(question), like.pin, decided=decided), signer)


def moved_decision(question: Question, like: Case) -> Forged:
    """Return another request's DECIDED with this request's join key written into it."""
    record = like.evidence[EvidenceKind.DECIDED]
    moved = replace(decode(record.value, Evidence), join_key=join_key(question))
    return Forged(EVIDENCE, moved.join_key.message_key, encode(moved), record.headers)


def publication(question: Question, like: Case, gate: Signer, *, key_id: str | None = None) -> Forged:
    """Return a verdict on compaction.accepted, under some key and perhaps another key's name."""
    value = encode(accepting_verdict(question, like))
    signature = gate.sign(COMPACTION_ACCEPTED, value)
    signature = Signature(key_id or signature.key_id, signature.signature)
    return Forged(COMPACTION_ACCEPTED, join_key(question).message_key, value, signature.headers)


def compacted_output(question: Question) -> str:
    """Return the digest of a request's candidate."""
    return text_sha256(canonical_json(parse_json(question.request.candidate_json)))

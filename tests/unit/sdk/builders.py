"""What the client's tests are made of: keys, policy, requests, and a gate's answers to them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pratique.candidate import draft_candidate
from pratique.commitments import STATEMENT_SCHEMA_VERSION
from pratique.contract.avro import decode, encode
from pratique.contract.canonical import (
    JsonValue,
    canonical_bytes,
    canonical_json,
    canonical_sha256,
    parse_json,
    text_sha256,
)
from pratique.contract.digests import message_sha256, request_sha256, source_population_sha256
from pratique.contract.dsse import COMMITMENTS_TYPE, seal
from pratique.contract.records import (
    CompactionRequested,
    Fallback,
    Origin,
    Provenance,
    Role,
    SourceMessage,
    StatedReason,
    Verdict,
    VerdictOutcome,
)
from pratique.contract.signing import Ed25519Signer
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED, COMPACTION_REQUESTED
from pratique.contract.trust import KeyRole, TrustedKey, TrustTarget
from pratique.errors import NoContextError, UnavailableError
from pratique.pinned import Document, PinnedPolicy
from pratique.transport import Received
from tests.fakes.kafka import FakeKafka

NOW_MS = 1_790_000_000_000
TENANT = "acme"
TASK = "task-1"
POLICY_ID = "default"
POLICY_SHA256 = "1" * 64
SET_SHA256 = "2" * 64


def signer(name: str) -> Ed25519Signer:
    """A key that is the same in every run; its seed is its name's digest."""
    return Ed25519Signer(name, Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest()))


GATE = signer("gate-1")
PUBLISHER = signer("acme-publisher-1")
STRANGER = signer("stranger-1")
COMMITMENT_SIGNER = signer("acme-commitments-1")


def trusted(
    key: Ed25519Signer,
    *roles: KeyRole,
    tenants: frozenset[str] | None = None,
    not_before_ms: int = 0,
    expires_ms: int = 2**52,
) -> TrustedKey:
    return TrustedKey(key.key_id, key.private_key.public_key(), frozenset(roles), tenants, not_before_ms, expires_ms)


def trust(*keys: TrustedKey) -> TrustTarget:
    return TrustTarget(1, "3" * 64, MappingProxyType({key.key_id: key for key in keys}), MappingProxyType({}))


TRUST = trust(
    trusted(GATE, KeyRole.GATE),
    trusted(PUBLISHER, KeyRole.PUBLISHER, tenants=frozenset({TENANT})),
    trusted(COMMITMENT_SIGNER, KeyRole.COMMITMENT_SIGNER, tenants=frozenset({TENANT})),
)


def _record(id_field: str, identifier: str, text: str, predicate: str) -> dict[str, JsonValue]:
    body: dict[str, JsonValue] = {
        id_field: identifier,
        "canonical_text": text,
        "canonical_predicate": predicate,
        "record_revision": 1,
    }
    return body | {"record_sha256": canonical_sha256(body)}


MANIFEST: Document = {
    "schema_version": "aidefend.invariant-manifest.v3",
    "policy_sha256": POLICY_SHA256,
    "registry_revision": 1,
    "records": [_record("invariant_id", "no-exfiltration", "Never disclose data.", "disclosure == never")],
}
STANDING: Document = {
    "schema_version": "aidefend.commitment-snapshot.v3",
    "policy_sha256": POLICY_SHA256,
    "commitment_revision": 1,
    "records": [_record("commitment_id", "approved-tools", "Use approved tools only.", "tools == approved")],
}
POLICY = PinnedPolicy(
    policy_set_sha256=SET_SHA256,
    policy_sha256=POLICY_SHA256,
    instruction="You are careful.",
    fallback_message_count=2,
    summary_min_length=1,
    deadline_ms=30_000,
    manifest=MANIFEST,
    standing=STANDING,
    standing_applies=True,
)

MESSAGES = (
    SourceMessage("m1", Role.USER, "Book a flight.", Provenance.TRUSTED),
    SourceMessage("m2", Role.ASSISTANT, "Looking.", Provenance.TRUSTED),
    SourceMessage("m3", Role.TOOL, '{"flights":[]}'),
)
SUMMARY = "The user wants a flight; none was found yet."
CANDIDATE = draft_candidate(SUMMARY, MESSAGES, MANIFEST, STANDING)


def commitments(**changes: JsonValue) -> bytes:
    """The task's own commitments, signed; their statement with fields changed."""
    statement: dict[str, JsonValue] = {
        "schema_version": STATEMENT_SCHEMA_VERSION,
        "tenant_id": TENANT,
        "task_id": TASK,
        "not_before": NOW_MS - 1000,
        "expires_at": NOW_MS + 1000,
        "snapshot": STANDING,
    }
    return seal(COMMITMENTS_TYPE, canonical_bytes(statement | changes), COMMITMENT_SIGNER)


@dataclass
class FakePolicies:
    """A ``PolicySource`` from memory."""

    current: PinnedPolicy = POLICY
    target: TrustTarget = TRUST
    others: Mapping[str, PinnedPolicy] = field(default_factory=dict)
    rotated: TrustTarget | None = None
    refreshes: int = 0

    def trust(self) -> TrustTarget:
        return self.target

    def pinned(self, tenant_id: str, policy_id: str, policy_set_sha256: str | None = None) -> PinnedPolicy:
        assert (tenant_id, policy_id) == (TENANT, POLICY_ID)
        if policy_set_sha256 in {None, self.current.policy_set_sha256}:
            return self.current
        if policy_set_sha256 not in self.others:
            raise UnavailableError("no such set")
        return self.others[str(policy_set_sha256)]

    def refresh(self) -> None:
        self.refreshes += 1
        self.target = self.rotated or self.target


def request(**changes: object) -> CompactionRequested:
    """A request like the client's own."""
    base = CompactionRequested(
        tenant_id=TENANT,
        task_id=TASK,
        compaction_request_id="r1",
        requested_at=NOW_MS,
        policy_id=POLICY_ID,
        source_messages=MESSAGES,
        candidate_json=CANDIDATE,
        expected_invariant_ids=("no-exfiltration",),
        expected_commitment_ids=("approved-tools",),
    )
    return replace(base, **changes)  # type: ignore[arg-type] # a test names real fields


def verdict(
    value: bytes, outcome: VerdictOutcome = VerdictOutcome.ACCEPTED, *, policy: PinnedPolicy = POLICY, **changes: object
) -> Verdict:
    """The gate's verdict on a request's bytes, with fields changed as a case wants."""
    asked = decode(value, CompactionRequested)
    population = source_population_sha256([message_sha256(item) for item in asked.source_messages])
    accepted = outcome is VerdictOutcome.ACCEPTED
    output = canonical_sha256(parse_json(asked.candidate_json))
    try:
        rendered: str | None = policy.render(None).rendered_policy_sha256
    except NoContextError:
        rendered = None
    event: dict[str, JsonValue] = {
        "schema_version": f"aidefend.context-compaction-{'acceptance' if accepted else 'fallback'}.v1",
        "tenant_id": asked.tenant_id,
        "task_id": asked.task_id,
        "policy_sha256": policy.policy_sha256,
        "source_population_sha256": population,
        "outcome": "ACCEPTED" if accepted else "FALLBACK",
    }
    if accepted:
        event |= {
            "compacted_output_sha256": output,
            "consistency_receipt_sha256": "4" * 64,
            "secret_scan_receipt_sha256": "5" * 64,
        }
    event_json = canonical_json(event)
    keep = tuple(item.message_id for item in asked.source_messages[-policy.fallback_message_count :])
    base = Verdict(
        verdict_id=request_sha256(value),
        origin=Origin.COMPACTION,
        outcome=outcome,
        tenant_id=asked.tenant_id,
        task_id=asked.task_id,
        request_id=asked.compaction_request_id,
        policy_id=asked.policy_id,
        policy_sha256=policy.policy_sha256,
        policy_set_sha256=policy.policy_set_sha256,
        rendered_policy_sha256=rendered,
        invariant_manifest_sha256=canonical_sha256(policy.manifest),
        commitment_snapshot_sha256="6" * 64,
        source_population_sha256=population,
        request_sha256=request_sha256(value),
        subject_sha256=text_sha256(asked.candidate_json),
        compacted_output_sha256=output,
        trust=Provenance.UNTRUSTED,
        assurance="BOUNDED" if accepted else "NOT_ESTABLISHED",
        checks=(),
        reasons=() if accepted else (StatedReason("SECRET", "candidate.summary_text", "kingfisher", "HIGH"),),
        event_json=event_json,
        event_sha256=text_sha256(event_json),
        entries=None,
        fallback=None if accepted else Fallback(keep),
        ledger_view=None,
        decided_at=asked.requested_at + 10,
        valid_until=asked.requested_at + 600_000,
        versions={},
    )
    return replace(base, **changes)  # type: ignore[arg-type] # a test names real fields


def topic_of(answer: Verdict) -> str:
    return COMPACTION_ACCEPTED if answer.outcome is VerdictOutcome.ACCEPTED else COMPACTION_QUARANTINED


def received(answer: Verdict, key: Ed25519Signer = GATE, *, topic: str | None = None) -> Received:
    """A verdict as it is consumed, signed for the topic it is on."""
    where = topic or topic_of(answer)
    value = encode(answer)
    message_key = (answer.source_population_sha256 or answer.request_sha256).encode()
    return Received(where, message_key, value, tuple(key.sign(where, value).headers))


class FakeGateService:
    """Answers requests on a ``FakeKafka`` as the gate would; ``answers`` is what each request gets, in order."""

    def __init__(self, kafka: FakeKafka) -> None:
        self.kafka = kafka
        self.requests: list[Received] = []
        self.before: list[Received] = []
        self.answer: VerdictOutcome | None = VerdictOutcome.ACCEPTED
        self.changes: dict[str, object] = {}
        self.policy = POLICY
        self.key = GATE
        kafka.create(COMPACTION_REQUESTED, COMPACTION_ACCEPTED, COMPACTION_QUARANTINED)
        kafka.on_publish = self._on_publish

    def _on_publish(self, record: Received) -> None:
        if record.topic != COMPACTION_REQUESTED:
            return
        self.requests.append(record)
        if self.answer is None:
            return
        assert record.value is not None
        self.send(received(verdict(record.value, self.answer, policy=self.policy, **self.changes), self.key))

    def send(self, record: Received) -> None:
        self.kafka.append(record.topic, record.key or b"", record.value or b"", record.headers)

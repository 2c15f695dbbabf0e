"""Evidence that is right, for tests to make wrong: OPENED and receipts of one request, bound to each other."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pratique.contract import avro
from pratique.contract.canonical import JsonValue, bytes_sha256, canonical_json, canonical_sha256, text_sha256
from pratique.contract.reasons import FindingStatus, Outcome, Reason, ReasonCode
from pratique.contract.records import (
    Decided,
    Evidence,
    EvidenceKind,
    JoinKey,
    Opened,
    Origin,
    Provenance,
    Receipt,
    StatedReason,
    Verdict,
)
from pratique.contract.signing import Ed25519Signer, MacSigner
from pratique.contract.trust import KeyRole, MacRole, TrustedKey, TrustedMacKey, TrustTarget
from streams.domain.scanning.request import Decision, ScanReceipt
from streams.domain.verdicts.evidence import Stated

NOW_MS: Final = 1_790_000_000_000
FOREVER_MS: Final = 2**52
TENANT: Final = "acme"
OTHER_TENANT: Final = "globex"

POLICY: Final = "a" * 64
MANIFEST: Final = "b" * 64
SNAPSHOT: Final = "c" * 64
SCANNER: Final = "5" * 64
OUTPUT: Final = "e" * 64
POPULATION: Final = "f" * 64
BLOCK: Final = '{"schema_version":"aidefend.rehydrated-policy-block.v3"}'
RENDERED: Final = text_sha256(BLOCK)
FIELD_COUNT: Final = 5
PIN: Final = "1" * 64
NEWER_PIN: Final = "2" * 64

RECEIPT_KINDS: Final = (EvidenceKind.CONSISTENCY, EvidenceKind.SCAN)


def ed25519(name: str) -> Ed25519Signer:
    """A key that is the same in every run; its seed is its name's digest."""
    return Ed25519Signer(name, Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest()))


def mac(name: str) -> MacSigner:
    """A MAC key that is the same in every run."""
    return MacSigner(name, hashlib.sha256(name.encode()).digest())


MAC: Final[Mapping[MacRole, MacSigner]] = {role: mac(f"{role.value}-1") for role in MacRole}
GATE: Final = ed25519("gate-1")
PUBLISHER: Final = ed25519("acme-publisher-1")
OTHER_PUBLISHER: Final = ed25519("globex-publisher-1")
SECRETS: Final = {signer.key_id: signer.secret for signer in MAC.values()}


def trusted(key: Ed25519Signer, role: KeyRole, *tenants: str) -> TrustedKey:
    return TrustedKey(
        key.key_id, key.private_key.public_key(), frozenset({role}), frozenset(tenants) or None, 0, FOREVER_MS
    )


def trust_target(
    *more: TrustedKey, macs: Mapping[str, TrustedMacKey] | None = None, expires_ms: int = FOREVER_MS
) -> TrustTarget:
    """The trust target of these tests; ``expires_ms`` is that of the MAC keys."""
    keys = (
        trusted(GATE, KeyRole.GATE),
        trusted(PUBLISHER, KeyRole.PUBLISHER, TENANT),
        trusted(OTHER_PUBLISHER, KeyRole.PUBLISHER, OTHER_TENANT),
        *more,
    )
    roles = {signer.key_id: TrustedMacKey(signer.key_id, role, 0, expires_ms) for role, signer in MAC.items()}
    return TrustTarget(
        1, "3" * 64, MappingProxyType({key.key_id: key for key in keys}), MappingProxyType(roles | dict(macs or {}))
    )


TRUST: Final = trust_target()


def join_key(number: int = 0, tenant: str = TENANT, **changes: object) -> JoinKey:
    """The join key of a request."""
    base = JoinKey(
        tenant_id=tenant,
        origin=Origin.COMPACTION,
        request_id=f"request-{number}",
        source_population_sha256=canonical_sha256(["population", number]),
        subject_sha256=canonical_sha256(["subject", number]),
        request_sha256=canonical_sha256([tenant, "request", number]),
    )
    return replace(base, **changes)  # type: ignore[arg-type] # a test names real fields


def opened(key: JoinKey | None = None, pin: str | None = PIN, *, at_ms: int = NOW_MS, **changes: object) -> Evidence:
    """Intake's statement about a request; ``changes`` are fields of ``Opened``."""
    base = Opened(
        task_id="task-1",
        policy_id="default",
        requested_at=NOW_MS,
        policy_version=1,
        policy_sha256=POLICY,
        rendered_policy_sha256=RENDERED,
        invariant_manifest_sha256=MANIFEST,
        commitment_snapshot_sha256=SNAPSHOT,
        scanner_sha256=SCANNER,
        required=RECEIPT_KINDS,
        keep_message_ids=("m2", "m3"),
        trust=Provenance.UNTRUSTED,
        deadline_ms=30_000,
        valid_ms=600_000,
    )
    head = replace(base, **changes)  # type: ignore[arg-type] # a test names real fields
    return Evidence(EvidenceKind.OPENED, key or join_key(), pin, opened=head, opened_at=at_ms)


def refused(key: JoinKey | None = None, *codes: ReasonCode, **changes: object) -> Evidence:
    """Intake's refusal."""
    reasons = tuple(StatedReason.of(Reason.of(code, "", "intake")) for code in codes or (ReasonCode.MESSAGE_INVALID,))
    return opened(key, None, at_ms=NOW_MS, **{"required": (), "refusal": reasons, "keep_message_ids": None, **changes})


def consistency_body(**changes: JsonValue) -> dict[str, JsonValue]:
    """The seed's consistency receipt."""
    return {
        "schema_version": "aidefend.compaction-consistency-receipt.v3",
        "tenant_id": TENANT,
        "task_id": "task-1",
        "policy_sha256": POLICY,
        "invariant_manifest_sha256": MANIFEST,
        "commitment_snapshot_sha256": SNAPSHOT,
        "rendered_canonical_policy_block": BLOCK,
        "rendered_policy_sha256": RENDERED,
        "compacted_output_sha256": OUTPUT,
        "compacted_summary_sha256": "6" * 64,
        "claim_population_sha256": "7" * 64,
        "claim_count": 2,
        "result_population_sha256": "8" * 64,
        "result_count": 2,
        "conflict_verifier_version": "clauses/1",
        "conflict_verifier_artifact_sha256": "9" * 64,
        "conflict_verifier_receipt_sha256": "0" * 64,
        "semantic_assurance": "COMPLETE_DETERMINISTIC_BOUNDED_RULES_NOT_FREE_TEXT_EQUIVALENCE",
        **changes,
    }


def scan_body(**changes: JsonValue) -> dict[str, JsonValue]:
    """The scanner's receipt."""
    receipt = ScanReceipt("4" * 64, POLICY, SCANNER, POPULATION, FIELD_COUNT, Decision.CLEAN, 0)
    return {**receipt.body(), **changes}


def receipt(
    kind: EvidenceKind,
    key: JoinKey | None = None,
    pin: str | None = PIN,
    *,
    body: Mapping[str, JsonValue] | None = None,
    at_ms: int = NOW_MS,
    **changes: object,
) -> Evidence:
    """A passing receipt; ``changes`` are fields of ``Receipt``, ``body`` replaces its body, digest and all."""
    if body is None:
        tenant = (key or join_key()).tenant_id
        body = consistency_body(tenant_id=tenant) if kind is EvidenceKind.CONSISTENCY else scan_body()
    body_json = canonical_json(body)
    base = Receipt(
        outcome=Outcome.PASS.value,
        finding_status=FindingStatus.NO_FINDING.value,
        reasons=(),
        body_json=body_json,
        receipt_sha256=text_sha256(body_json),
        compacted_output_sha256=OUTPUT,
        scan_population_sha256=POPULATION,
        scan_field_count=FIELD_COUNT,
        versions={f"{kind.value.lower()}er": "1"},
    )
    stated = replace(base, **changes)  # type: ignore[arg-type] # a test names real fields
    return Evidence(kind, key or join_key(), pin, receipt=stated, opened_at=at_ms)


def failed(kind: EvidenceKind, code: ReasonCode, key: JoinKey | None = None, pin: str | None = PIN) -> Evidence:
    """A receipt of a check that found something."""
    reason = Reason.of(code, "candidate.summary_text", kind.value.lower())
    return receipt(
        kind,
        key,
        pin,
        outcome=reason.meaning.outcome.value,
        finding_status=reason.meaning.finding_status.value,
        reasons=(StatedReason.of(reason),),
    )


def decided(verdict: Verdict, key: JoinKey, signature: bytes = b"\x01" * 64) -> Evidence:
    """The verdict app's proposal."""
    proposal = Decided(verdict.outcome, avro.encode(verdict), GATE.key_id, signature)
    return Evidence(EvidenceKind.DECIDED, key, verdict.policy_set_sha256, decided=proposal)


def stated(evidence: Evidence, offset: int = 0, at_ms: int = NOW_MS) -> Stated:
    """The evidence at its place in the log."""
    return Stated(evidence, bytes_sha256(avro.encode(evidence)), offset, at_ms)

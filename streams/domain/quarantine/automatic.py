"""What a verdict asks of the ledger by itself: ``pratique.automatic-quarantine.v1``, signed by the gate's key.

The contract: an automatic addition is a payload of its own, so that the gate can ask for no more than it can say: no
scope but a tenant's, no removal, no revision, no time to live of its own choice. Whether it comes to anything is the
ledger's to say, by the policy's rule at its newest (``review``).

``additions`` is a pure function of the verdict that the log decided on, of what the scan worker nominated and of the
request's identity: however often the evidence is delivered, the same bytes follow. The record's authentication event is
the digest of join key and fingerprint, so that the event is the same as well.

Texts are nowhere in it; a fingerprint comes from the scan worker, which has the text and the key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_bytes, parse_json
from pratique.contract.document import HEX64, MAX_INTEGER, Fields
from pratique.contract.dsse import seal
from pratique.contract.reasons import ReasonCode
from pratique.contract.records import JoinKey, NominatedText, Nomination, Origin, StatedReason, Verdict, VerdictOutcome
from pratique.contract.signing import Ed25519Signer
from pratique.contract.trust import KeyRole, TrustTarget
from pratique.errors import MalformedError, SignerNotAuthorisedError
from streams.domain.policy.quarantine_rules import DAY_MS, LISTABLE_CODES
from streams.domain.quarantine.command import COMMAND_TYPE
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord, as_identifier, choice
from streams.domain.verdicts.evidence import join_id
from streams.errors import CommandRefusedError

AUTOMATIC_SCHEMA_VERSION: Final = "pratique.automatic-quarantine.v1"
_MARK: Final = b'"schema_version":"pratique.automatic-quarantine.v1"'

ACTOR: Final = "pratique.verdict"
"""Who adds: the verdict app, whichever key it signs with."""

LIFETIME_MS: Final = DAY_MS
"""How long after its verdict an addition may still be applied: a ledger that was away for longer missed it."""

MAX_PAYLOAD_BYTES: Final = 4 * 1024
MAX_ADDITIONS: Final = 32
"""Most additions of one verdict; the rest is met again when it is recalled again."""

MAX_OTHERS: Final = 16
"""Most fingerprints that an addition names of the same text under other generations of the key."""

SUMMARY: Final = "candidate.summary_text"
NARRATIVE: Final = "candidate.narrative_text"
CLAIMS: Final = "candidate.preserved_constraint_claims["
_CONFLICT: Final = ReasonCode.PREDICATE_CONFLICT.value
_PATH: Final = re.compile(r"candidate\.(?:summary|narrative)_text|entries\[[0-9]{1,4}\]\.content")
_FIELDS: Final = (
    "schema_version",
    "tenant_id",
    "fingerprint_hmac_sha256",
    "key_generation",
    "incident_id",
    "authentication_event_id",
    "policy_id",
    "policy_version",
    "detector_version",
    "origin",
    "codes",
    "verdict_id",
    "request_sha256",
    "path",
    "decided_at",
)
_OTHERS: Final = "other_fingerprints"


@dataclass(frozen=True, slots=True)
class AutomaticAddition:
    """A fingerprint that a verdict would have quarantined for its tenant.

    Attributes:
        key: Which, and for whom: always a tenant.
        key_generation: The fingerprint key that the fingerprint was made with.
        policy_id: The policy that the verdict was decided under, whose rule allows this or not.
        codes: The reason codes that are the ground; sorted.
        path: The field of the request that the text was.
        decided_at: When the verdict was decided, in milliseconds since the epoch.
        others: The same text's fingerprints under other generations of the key, sorted.
    """

    key: LedgerKey
    key_generation: str
    incident_id: str
    authentication_event_id: str
    policy_id: str
    policy_version: str
    detector_version: str
    origin: Origin
    codes: tuple[ReasonCode, ...]
    verdict_id: str
    request_sha256: str
    path: str
    decided_at: int
    others: tuple[str, ...] = ()

    def record(self, revision: int) -> QuarantineRecord:
        """Return the record that it asks for, at a revision that the ledger chooses."""
        return QuarantineRecord(
            key=self.key,
            revision=revision,
            action=Action.ADD,
            incident_id=self.incident_id,
            actor_id=ACTOR,
            authentication_event_id=self.authentication_event_id,
            policy_version=self.policy_version,
            detector_version=self.detector_version,
        )

    @property
    def payload(self) -> bytes:
        """Its canonical JSON."""
        others: dict[str, JsonValue] = {_OTHERS: list(self.others)} if self.others else {}
        return canonical_bytes(
            {
                **others,
                "schema_version": AUTOMATIC_SCHEMA_VERSION,
                "tenant_id": self.key.tenant_id,
                "fingerprint_hmac_sha256": self.key.fingerprint,
                "key_generation": self.key_generation,
                "incident_id": self.incident_id,
                "authentication_event_id": self.authentication_event_id,
                "policy_id": self.policy_id,
                "policy_version": self.policy_version,
                "detector_version": self.detector_version,
                "origin": self.origin.value,
                "codes": [code.value for code in self.codes],
                "verdict_id": self.verdict_id,
                "request_sha256": self.request_sha256,
                "path": self.path,
                "decided_at": self.decided_at,
            }
        )


def additions(verdict: Verdict, nomination: Nomination, key: JoinKey) -> tuple[AutomaticAddition, ...]:
    """Return what follows from a verdict for the tenant's ledger, at most ``MAX_ADDITIONS``, each fingerprint once.

    Args:
        verdict: The verdict that the log decided on.
        nomination: What the scan worker nominated of the request.
        key: The request's identity.

    Raises:
        MalformedError: The tenant, or a fingerprint, is none that a ledger key can have.
    """
    if verdict.outcome is not VerdictOutcome.QUARANTINED:
        return ()
    found: dict[str, AutomaticAddition] = {}
    for text, codes in _grounds(verdict, nomination):
        if len(found) >= MAX_ADDITIONS:
            break
        if text.fingerprint_hmac_sha256 not in found:
            found[text.fingerprint_hmac_sha256] = _addition(verdict, nomination, key, text, codes)
    return tuple(found.values())


def is_automatic(payload: bytes) -> bool:
    """Say whether a signed payload says that it is an automatic addition; what else it says is not looked at.

    In canonical JSON no text can hold these bytes, since its quotation marks are escaped.
    """
    return _MARK in payload


def parse_addition(payload: bytes) -> AutomaticAddition:
    """Read an addition's payload.

    Raises:
        CommandRefusedError: LEDGER_COMMAND_MALFORMED.
    """
    try:
        return _parsed(payload)
    except MalformedError as error:
        raise CommandRefusedError(str(error), code=ReasonCode.LEDGER_COMMAND_MALFORMED) from None


def sign_addition(addition: AutomaticAddition, signer: Ed25519Signer) -> bytes:
    """Return the envelope of an addition.

    Raises:
        CommandRefusedError: It would be refused as malformed, whoever signs it.
    """
    parse_addition(addition.payload)
    return seal(COMMAND_TYPE, addition.payload, signer)


def check_gate(addition: AutomaticAddition, key_id: str, trust: TrustTarget, at_ms: int) -> None:
    """Require that a key is the gate's, for this tenant, at a moment: nobody else adds automatically.

    Raises:
        CommandRefusedError: SIGNER_NOT_AUTHORISED.
    """
    try:
        trust.authorised_key(key_id, KeyRole.GATE, addition.key.tenant_id, at_ms)
    except SignerNotAuthorisedError as error:
        raise CommandRefusedError(str(error), code=ReasonCode.SIGNER_NOT_AUTHORISED) from None


def _grounds(verdict: Verdict, nomination: Nomination) -> Iterator[tuple[NominatedText, tuple[ReasonCode, ...]]]:
    """Yield the texts in which something was found that the rule lists, with all of that."""
    listed: dict[str, ReasonCode] = {code.value: code for code in LISTABLE_CODES if code.value in nomination.codes}
    for text in nomination.texts:
        stated = {reason.code for reason in verdict.reasons if _is_of(reason, text.path)} | set(text.codes)
        codes = sorted(stated & listed.keys())
        if codes and ReasonCode.KNOWN_FINGERPRINT.value not in stated:
            yield text, tuple(listed[code] for code in codes)


def _is_of(reason: StatedReason, field: str) -> bool:
    """Say whether a reason is about a field, or a part of it (``candidate.summary_text[3:9]``).

    A conflict is stated at the claim that it contradicts, and it is the summary that contradicts.
    """
    if reason.path == field or reason.path.startswith(f"{field}["):
        return True
    return field == SUMMARY and reason.code == _CONFLICT and reason.path.startswith(CLAIMS)


def _addition(
    verdict: Verdict, nomination: Nomination, key: JoinKey, text: NominatedText, codes: tuple[ReasonCode, ...]
) -> AutomaticAddition:
    ledger_key = LedgerKey.of(Scope.TENANT, key.tenant_id, text.fingerprint_hmac_sha256)
    request = join_id(key)
    event = hashlib.sha256(request + bytes.fromhex(ledger_key.fingerprint)).hexdigest()
    return AutomaticAddition(
        key=ledger_key,
        key_generation=nomination.key_generation,
        incident_id=f"auto-{request.hex()}",
        authentication_event_id=f"auto-{event}",
        policy_id=verdict.policy_id,
        policy_version=as_identifier(nomination.policy_version),
        detector_version=as_identifier(nomination.detector_version),
        origin=key.origin,
        codes=codes,
        verdict_id=verdict.verdict_id,
        request_sha256=key.request_sha256,
        path=text.path,
        decided_at=verdict.decided_at,
        others=text.others,
    )


def _parsed(payload: bytes) -> AutomaticAddition:
    value: JsonValue = parse_json(payload, max_bytes=MAX_PAYLOAD_BYTES, max_depth=3)
    if canonical_bytes(value) != payload:
        raise MalformedError("automatic addition: is not canonical JSON")
    has_others = isinstance(value, Mapping) and _OTHERS in value
    expected = (*_FIELDS, _OTHERS) if has_others else _FIELDS
    fields = Fields(value, "automatic addition", expected, MalformedError)
    fields.literal("schema_version", AUTOMATIC_SCHEMA_VERSION)
    path = fields.text("path", max_characters=64)
    if _PATH.fullmatch(path) is None:
        raise fields.refusal("path", "is no field of a request that is fingerprinted")
    listed: dict[str, ReasonCode] = {code.value: code for code in LISTABLE_CODES}
    codes = fields.texts("codes", maximum=len(listed), max_characters=64)
    if not listed.keys() >= set(codes) or list(codes) != sorted(codes):
        raise fields.refusal("codes", "are not sorted, or hold what no rule can list")
    return AutomaticAddition(
        key=LedgerKey.of(Scope.TENANT, fields.identifier("tenant_id"), fields.sha256("fingerprint_hmac_sha256")),
        key_generation=fields.identifier("key_generation"),
        incident_id=fields.identifier("incident_id"),
        authentication_event_id=fields.identifier("authentication_event_id"),
        policy_id=fields.identifier("policy_id"),
        policy_version=fields.identifier("policy_version"),
        detector_version=fields.identifier("detector_version"),
        origin=choice(fields, "origin", Origin),
        codes=tuple(listed[code] for code in codes),
        verdict_id=fields.sha256("verdict_id"),
        request_sha256=fields.sha256("request_sha256"),
        path=path,
        decided_at=fields.integer("decided_at", minimum=0, maximum=MAX_INTEGER - LIFETIME_MS),
        others=_others(fields) if has_others else (),
    )


def _others(fields: Fields) -> tuple[str, ...]:
    others = fields.texts(_OTHERS, maximum=MAX_OTHERS, max_characters=64)
    if not all(map(HEX64.fullmatch, others)) or list(others) != sorted(set(others)):
        raise fields.refusal(_OTHERS, "are no fingerprints, or not sorted")
    return others

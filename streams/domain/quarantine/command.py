"""A command to the quarantine ledger: ``pratique.quarantine-command.v1``, signed in a DSSE envelope.

The contract: the envelope's payload is the command's canonical JSON, exactly. A command says which transition is
wanted, at which revision it expects the entry, why, and how long it may be applied; it is a request, and what becomes
of it is ``transition.apply``'s to say. ``parse_command`` refuses with a reason code; ``LEDGER_SCOPE_INVALID`` for a
scope that is unknown or does not go with the tenant, since an unknown scope is never taken for global.

``replaces`` is there where content that is quarantined under an earlier key generation is put in under a later one
(``generation``); a command without it has no such field.

``reason`` is a person's words about an incident. It goes into the audit for good: no agent content belongs in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_bytes, parse_json
from pratique.contract.document import MAX_INTEGER, Fields
from pratique.contract.dsse import seal
from pratique.contract.reasons import ReasonCode
from pratique.contract.signing import Ed25519Signer
from pratique.errors import MalformedError
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord, choice, nullable_identifier
from streams.errors import CommandRefusedError

COMMAND_TYPE: Final = "application/vnd.pratique.quarantine-command.v1+json"
COMMAND_SCHEMA_VERSION: Final = "pratique.quarantine-command.v1"

MAX_COMMAND_BYTES: Final = 8 * 1024
"""Largest payload: thirteen short fields and a reason."""

MAX_REASON_CHARACTERS: Final = 1024
MAX_LIFETIME_MS: Final = 24 * 60 * 60 * 1000
"""Longest time for which a command may be applied; one that waits longer is decided anew by who sent it."""

_FIELDS: Final = (
    "schema_version",
    "action",
    "scope",
    "tenant_id",
    "fingerprint_hmac_sha256",
    "incident_id",
    "expected_revision",
    "key_generation",
    "actor_id",
    "authentication_event_id",
    "policy_version",
    "detector_version",
    "reason",
    "issued_at",
    "expires_at",
)
_REPLACES: Final = "replaces"


@dataclass(frozen=True, slots=True)
class Command:
    """A transition that somebody wants.

    Attributes:
        proposed: The record that it asks for; its revision is the expected one plus 1.
        key_generation: The fingerprint key that the fingerprint was made with.
        reason: Why, in a person's words.
        issued_at: When it was made, in milliseconds since the epoch.
        expires_at: First moment at which it may no longer be applied, in milliseconds since the epoch.
        replaces: The fingerprint that the same content has under an earlier key generation; null if none is meant.
    """

    proposed: QuarantineRecord
    key_generation: str
    reason: str
    issued_at: int
    expires_at: int
    replaces: str | None = None

    @property
    def key(self) -> LedgerKey:
        """The entry that it is about."""
        return self.proposed.key

    @property
    def expected_revision(self) -> int:
        """The revision at which it expects the entry; 0 where there is none yet."""
        return self.proposed.revision - 1

    @property
    def payload(self) -> bytes:
        """Its canonical JSON."""
        replaces: dict[str, JsonValue] = {} if self.replaces is None else {_REPLACES: self.replaces}
        return canonical_bytes(
            {
                **replaces,
                "schema_version": COMMAND_SCHEMA_VERSION,
                "action": self.proposed.action.value,
                "scope": self.key.scope.value,
                "tenant_id": self.key.tenant_id,
                "fingerprint_hmac_sha256": self.key.fingerprint,
                "incident_id": self.proposed.incident_id,
                "expected_revision": self.expected_revision,
                "key_generation": self.key_generation,
                "actor_id": self.proposed.actor_id,
                "authentication_event_id": self.proposed.authentication_event_id,
                "policy_version": self.proposed.policy_version,
                "detector_version": self.proposed.detector_version,
                "reason": self.reason,
                "issued_at": self.issued_at,
                "expires_at": self.expires_at,
            }
        )


def parse_command(payload: bytes) -> Command:
    """Read a command's payload.

    Raises:
        CommandRefusedError: LEDGER_COMMAND_MALFORMED, or LEDGER_SCOPE_INVALID where scope and tenant are the trouble.
    """
    try:
        return _command(payload)
    except MalformedError as error:
        raise CommandRefusedError(str(error), code=ReasonCode.LEDGER_COMMAND_MALFORMED) from None


def sign_command(command: Command, *signers: Ed25519Signer) -> bytes:
    """Return the envelope of a command.

    Raises:
        CommandRefusedError: It would be refused as malformed, whoever signs it.
    """
    parse_command(command.payload)
    return seal(COMMAND_TYPE, command.payload, *signers)


def _command(payload: bytes) -> Command:
    value: JsonValue = parse_json(payload, max_bytes=MAX_COMMAND_BYTES, max_depth=2)
    if canonical_bytes(value) != payload:
        raise MalformedError("quarantine command: is not canonical JSON")
    carries_over = isinstance(value, Mapping) and _REPLACES in value
    expected = (*_FIELDS, _REPLACES) if carries_over else _FIELDS
    fields = Fields(value, "quarantine command", expected, MalformedError)
    fields.literal("schema_version", COMMAND_SCHEMA_VERSION)
    fingerprint = fields.sha256("fingerprint_hmac_sha256")
    proposed = QuarantineRecord(
        key=_key(fields, fingerprint),
        revision=fields.integer("expected_revision", minimum=0, maximum=MAX_INTEGER - 1) + 1,
        action=choice(fields, "action", Action),
        incident_id=fields.identifier("incident_id"),
        actor_id=fields.identifier("actor_id"),
        authentication_event_id=fields.identifier("authentication_event_id"),
        policy_version=fields.identifier("policy_version"),
        detector_version=fields.identifier("detector_version"),
    )
    issued_at = fields.integer("issued_at", minimum=0)
    expires_at = fields.integer("expires_at", minimum=1)
    if not issued_at < expires_at <= issued_at + MAX_LIFETIME_MS:
        raise fields.refusal("expires_at", f"is not within {MAX_LIFETIME_MS} ms after issued_at")
    return Command(
        proposed=proposed,
        key_generation=fields.identifier("key_generation"),
        reason=fields.text("reason", max_characters=MAX_REASON_CHARACTERS),
        issued_at=issued_at,
        expires_at=expires_at,
        replaces=_replaced(fields, proposed) if carries_over else None,
    )


def _replaced(fields: Fields, proposed: QuarantineRecord) -> str:
    replaced = fields.sha256(_REPLACES)
    if proposed.action is not Action.ADD or replaced == proposed.key.fingerprint:
        raise fields.refusal(_REPLACES, "is not another entry's that is put in anew")
    return replaced


def _key(fields: Fields, fingerprint: str) -> LedgerKey:
    try:
        return LedgerKey.of(choice(fields, "scope", Scope), nullable_identifier(fields, "tenant_id"), fingerprint)
    except MalformedError as error:
        raise CommandRefusedError(str(error), code=ReasonCode.LEDGER_SCOPE_INVALID) from None

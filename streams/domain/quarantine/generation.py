"""Key generations of the ledger: carrying entries over to a new one, and retiring the old one.

The contract: a fingerprint can't be computed anew without its content, so a rotation of the key carries each entry over
when its content is at hand: a command puts it in under the new generation and names the fingerprint that it
``replaces``. ``uncovered`` says which entries of a generation are quarantined and carried over to no quarantined entry;
while there is one, the generation can't be retired.

A ``Retirement`` (``pratique.quarantine-retirement.v1``) asks for a generation to be retired in one partition: its
entries are removed from the ledger topic by tombstones, which compaction takes away in time, and no command of that
generation is taken any more. The audit keeps what there was. Global curators alone may ask for it, since a partition
holds many tenants' entries.

That content is the same under both fingerprints is the signer's word: the ledger sees no content. Whoever may sign a
command that carries an entry over may take that entry out, or is the gate, which sees the content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import canonical_bytes, parse_json
from pratique.contract.document import Fields
from pratique.contract.dsse import open_envelope, seal
from pratique.contract.reasons import ReasonCode
from pratique.contract.signing import Ed25519Signer
from pratique.contract.trust import KeyRole, TrustTarget
from pratique.errors import MalformedError, SignatureInvalidError, SignerNotAuthorisedError
from streams.domain.quarantine.command import COMMAND_TYPE, MAX_COMMAND_BYTES, MAX_LIFETIME_MS, MAX_REASON_CHARACTERS
from streams.domain.quarantine.ledger_key import LedgerKey
from streams.domain.quarantine.transition import Head
from streams.errors import CommandRefusedError

RETIREMENT_SCHEMA_VERSION: Final = "pratique.quarantine-retirement.v1"
_MARK: Final = RETIREMENT_SCHEMA_VERSION.encode("ascii")

MAX_PARTITIONS: Final = 1_000_000
MAX_RETIRED: Final = 64
"""Most generations that a partition may have retired: every audit entry names them all."""

_FIELDS: Final = (
    "schema_version",
    "partition",
    "key_generation",
    "actor_id",
    "authentication_event_id",
    "reason",
    "issued_at",
    "expires_at",
)


@dataclass(frozen=True, slots=True)
class Retirement:
    """A command to retire a key generation in one partition of the ledger.

    Attributes:
        partition: The partition's number.
        key_generation: The generation.
        actor_id: Who.
        authentication_event_id: How the actor was authenticated.
        reason: Why, in a person's words.
        issued_at: When it was made, in milliseconds since the epoch.
        expires_at: First moment at which it may no longer be applied, in milliseconds since the epoch.
    """

    partition: int
    key_generation: str
    actor_id: str
    authentication_event_id: str
    reason: str
    issued_at: int
    expires_at: int

    @property
    def record_key(self) -> bytes:
        """The key of its command and of what the audit says of it: no entry's."""
        return f"generation/{self.key_generation}".encode("ascii")

    @property
    def payload(self) -> bytes:
        """Its canonical JSON."""
        return canonical_bytes(
            {
                "schema_version": RETIREMENT_SCHEMA_VERSION,
                "partition": self.partition,
                "key_generation": self.key_generation,
                "actor_id": self.actor_id,
                "authentication_event_id": self.authentication_event_id,
                "reason": self.reason,
                "issued_at": self.issued_at,
                "expires_at": self.expires_at,
            }
        )


def is_retirement(payload: bytes) -> bool:
    """Return whether a signed payload says that it is a retirement; what else it says is not looked at.

    One that spells its version with escapes is not canonical, and malformed whatever it is taken for.
    """
    if _MARK not in payload:
        return False
    try:
        value = parse_json(payload, max_bytes=MAX_COMMAND_BYTES, max_depth=2)
    except MalformedError:
        return False
    return isinstance(value, Mapping) and value.get("schema_version") == RETIREMENT_SCHEMA_VERSION


def parse_retirement(payload: bytes) -> Retirement:
    """Read a retirement's payload.

    Raises:
        CommandRefusedError: LEDGER_COMMAND_MALFORMED.
    """
    try:
        return _retirement(payload)
    except MalformedError as error:
        raise CommandRefusedError(str(error), code=ReasonCode.LEDGER_COMMAND_MALFORMED) from None


def sign_retirement(retirement: Retirement, *signers: Ed25519Signer) -> bytes:
    """Return the envelope of a retirement.

    Raises:
        CommandRefusedError: It would be refused as malformed, whoever signs it.
    """
    parse_retirement(retirement.payload)
    return seal(COMMAND_TYPE, retirement.payload, *signers)


def check_retirer(envelope: bytes, trust: TrustTarget, at_ms: int) -> str:
    """Return the id of the key that signed a retirement and may do so.

    Args:
        envelope: The envelope that it came in.
        trust: The trust target at its newest.
        at_ms: When the log took it, in milliseconds since the epoch.

    Raises:
        CommandRefusedError: SIGNER_NOT_AUTHORISED: no signer is a global curator at that moment.
    """
    try:
        return open_envelope(
            envelope, COMMAND_TYPE, lambda key_id: trust.authorised_key(key_id, KeyRole.GLOBAL_CURATOR, None, at_ms)
        ).key_id
    except (SignerNotAuthorisedError, SignatureInvalidError) as error:
        raise CommandRefusedError(str(error), code=ReasonCode.SIGNER_NOT_AUTHORISED) from None


def uncovered(heads: Iterable[tuple[LedgerKey, Head]], generation: str) -> list[LedgerKey]:
    """Return the entries of a generation that are quarantined under no later fingerprint, in order of their keys.

    Args:
        heads: Every entry of a partition, or of all of them.
        generation: The generation that is to go.
    """
    leaving: list[LedgerKey] = []
    covered: set[tuple[str, bytes]] = set()
    for key, head in heads:
        if not head.quarantined:
            continue
        if head.key_generation == generation:
            leaving.append(key)
        elif head.replaces is not None:
            covered.add((key.place, head.replaces))
    missing = [key for key in leaving if (key.place, bytes.fromhex(key.fingerprint)) not in covered]
    return sorted(missing, key=lambda key: key.record_key)


def _retirement(payload: bytes) -> Retirement:
    value = parse_json(payload, max_bytes=MAX_COMMAND_BYTES, max_depth=2)
    if canonical_bytes(value) != payload:
        raise MalformedError("retirement: is not canonical JSON")
    fields = Fields(value, "retirement", _FIELDS, MalformedError)
    fields.literal("schema_version", RETIREMENT_SCHEMA_VERSION)
    issued_at = fields.integer("issued_at", minimum=0)
    expires_at = fields.integer("expires_at", minimum=1)
    if not issued_at < expires_at <= issued_at + MAX_LIFETIME_MS:
        raise fields.refusal("expires_at", f"is not within {MAX_LIFETIME_MS} ms after issued_at")
    return Retirement(
        partition=fields.integer("partition", minimum=0, maximum=MAX_PARTITIONS),
        key_generation=fields.identifier("key_generation"),
        actor_id=fields.identifier("actor_id"),
        authentication_event_id=fields.identifier("authentication_event_id"),
        reason=fields.text("reason", max_characters=MAX_REASON_CHARACTERS),
        issued_at=issued_at,
        expires_at=expires_at,
    )

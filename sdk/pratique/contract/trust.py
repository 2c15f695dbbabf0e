"""The trust target: which key may do what, for which tenant, when.

The contract: one document, ``pratique.trust.v1``, distributed by TUF and read at its newest. It names every Ed25519
key with its roles, tenants and period, and the *ids* of the MAC keys that each app role may use; their secrets never
travel with policy. Look-ups raise and say which of key, role, tenant or period was wrong. Several keys may hold one
role at once, which is how a rotation overlaps.

Nothing here verifies a signature: that is ``pratique.contract.signing`` and ``pratique.contract.dsse``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from pratique.contract.canonical import JsonValue, bytes_sha256, parse_json
from pratique.contract.document import SAFE_ID, Fields
from pratique.errors import MalformedError, SignerNotAuthorisedError

TRUST_SCHEMA_VERSION: Final = "pratique.trust.v1"
TRUST_PATH: Final = "trust.json"
"""The target's path in the TUF repository."""

MAX_TRUST_BYTES: Final = 1024 * 1024
MAX_KEYS: Final = 4096
ED25519_PUBLIC_BYTES: Final = 32
EVERY_TENANT: Final = "*"

_KEY_FIELDS: Final = ("key_id", "algorithm", "public", "roles", "tenants", "not_before_ms", "expires_ms")
_MAC_FIELDS: Final = ("key_id", "role", "not_before_ms", "expires_ms")


class KeyRole(Enum):
    """What an Ed25519 key may be used for."""

    PUBLISHER = "publisher"
    """Signs compaction requests of its tenants."""
    LOADER = "loader"
    """Signs recall requests, and so the loader's manifest, of its tenants."""
    COMMITMENT_SIGNER = "commitment_signer"
    """Signs task commitments of its tenants."""
    GATE = "gate"
    """Signs verdicts and the ledger commands that follow from them."""
    SERVICE = "service"
    """Signs for the operator's other services."""
    TENANT_CURATOR = "tenant_curator"
    """Signs quarantine transitions in its tenants' scope."""
    GLOBAL_CURATOR = "global_curator"
    """Signs quarantine transitions in the global scope."""


class MacRole(Enum):
    """The app roles that authenticate evidence to one another."""

    INTAKE = "intake"
    CONSISTENCY = "consistency"
    SCAN = "scan"
    VERDICT = "verdict"


EVERY_TENANT_ROLES: Final = frozenset({KeyRole.GATE, KeyRole.SERVICE, KeyRole.GLOBAL_CURATOR})
"""Roles whose keys may stand for every tenant; all others name their tenants one by one."""


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """An Ed25519 key and its scope.

    Attributes:
        tenants: The tenants it may act for; null for every tenant.
        not_before_ms: First moment it may be used, in milliseconds since the epoch.
        expires_ms: First moment it may no longer be used.
    """

    key_id: str
    public_key: Ed25519PublicKey
    roles: frozenset[KeyRole]
    tenants: frozenset[str] | None
    not_before_ms: int
    expires_ms: int

    def check_tenant(self, tenant_id: str | None) -> None:
        """Let a key pass that may act for a tenant; null stands for what concerns no single tenant.

        Raises:
            SignerNotAuthorisedError: It may not.
        """
        if self.tenants is not None and tenant_id not in self.tenants:
            raise SignerNotAuthorisedError(f"key {self.key_id} is not authorised for this tenant")


@dataclass(frozen=True, slots=True)
class TrustedMacKey:
    """The id of a MAC key and the one app role that may use it. Times as in ``TrustedKey``."""

    key_id: str
    role: MacRole
    not_before_ms: int
    expires_ms: int


@dataclass(frozen=True, slots=True)
class TrustTarget:
    """Every key that is trusted, by id.

    Attributes:
        revision: The author's count of changes.
        sha256: Digest of the document's bytes.
    """

    revision: int
    sha256: str
    keys: Mapping[str, TrustedKey]
    mac_keys: Mapping[str, TrustedMacKey]

    def authorised_key(self, key_id: str, role: KeyRole, tenant_id: str | None, at_ms: int) -> TrustedKey:
        """Return the key if it may act in a role for a tenant at a moment.

        Args:
            key_id: The id that came with a signature.
            role: What it is used for.
            tenant_id: For whom; null for what concerns no single tenant (the global curator's scope, say).
            at_ms: When, in milliseconds since the epoch.

        Raises:
            SignerNotAuthorisedError: Unknown key, or not this role, tenant or moment; the message says which.
        """
        key = self.key_in_role(key_id, role, at_ms)
        key.check_tenant(tenant_id)
        return key

    def key_in_role(self, key_id: str, role: KeyRole, at_ms: int) -> TrustedKey:
        """Return the key if it holds a role at a moment, for whatever tenant: ``check_tenant`` says for which.

        Raises:
            SignerNotAuthorisedError: Unknown key, or not this role or moment; the message says which.
        """
        key = self.keys.get(key_id)
        if key is None:
            raise SignerNotAuthorisedError("key is unknown: the trust target names no such key id")
        if role not in key.roles:
            raise SignerNotAuthorisedError(f"key {key.key_id} does not hold the role {role.value}")
        _check_period(key, at_ms)
        return key

    def authorised_mac_key(self, key_id: str, role: MacRole, at_ms: int) -> TrustedMacKey:
        """Return the MAC key's entry if an app role may use it at a moment.

        Raises:
            SignerNotAuthorisedError: Unknown key, or not this role or moment; the message says which.
        """
        key = self.mac_keys.get(key_id)
        if key is None:
            raise SignerNotAuthorisedError("MAC key is unknown: the trust target names no such key id")
        if key.role is not role:
            raise SignerNotAuthorisedError(f"MAC key {key.key_id} does not hold the role {role.value}")
        _check_period(key, at_ms)
        return key

    def choose_key(self, key_ids: Iterable[str], role: KeyRole, tenant_id: str | None, at_ms: int) -> str:
        """Return which of one's own keys to sign with: the authorised one whose period began last.

        That is what makes a rotation a matter of publishing: hand out the new key, publish it, and every holder moves
        over when its period begins.

        Raises:
            SignerNotAuthorisedError: None of them is authorised.
        """
        usable: list[TrustedKey] = []
        for key_id in key_ids:
            try:
                usable.append(self.authorised_key(key_id, role, tenant_id, at_ms))
            except SignerNotAuthorisedError:
                continue
        if not usable:
            raise SignerNotAuthorisedError(f"no key at hand is authorised for the role {role.value} here and now")
        return max(usable, key=lambda key: (key.not_before_ms, key.key_id)).key_id

    def choose_mac_key(self, key_ids: Iterable[str], role: MacRole, at_ms: int) -> str:
        """Return which of a role's MAC keys to authenticate with, as ``choose_key`` does.

        Raises:
            SignerNotAuthorisedError: None of them is authorised.
        """
        usable: list[TrustedMacKey] = []
        for key_id in key_ids:
            try:
                usable.append(self.authorised_mac_key(key_id, role, at_ms))
            except SignerNotAuthorisedError:
                continue
        if not usable:
            raise SignerNotAuthorisedError(f"no MAC key at hand is authorised for the role {role.value} now")
        return max(usable, key=lambda key: (key.not_before_ms, key.key_id)).key_id


def parse_trust(document: bytes) -> TrustTarget:
    """Read a trust target.

    Raises:
        MalformedError: It is not a ``pratique.trust.v1`` document; the message names the field.
    """
    return read_trust(parse_json(document, max_bytes=MAX_TRUST_BYTES), sha256=bytes_sha256(document))


def read_trust(value: JsonValue, *, sha256: str) -> TrustTarget:
    """Read a parsed trust target; ``sha256`` is the digest of its bytes.

    Raises:
        MalformedError: As ``parse_trust``.
    """
    fields = Fields(value, "trust target", ("schema_version", "revision", "keys", "mac_keys"), MalformedError)
    fields.literal("schema_version", TRUST_SCHEMA_VERSION)
    keys = [_key(item) for item in fields.records("keys", _KEY_FIELDS, minimum=1, maximum=MAX_KEYS)]
    macs = [_mac_key(item) for item in fields.records("mac_keys", _MAC_FIELDS, minimum=0, maximum=MAX_KEYS)]
    identifiers = [key.key_id for key in keys] + [key.key_id for key in macs]
    if len(set(identifiers)) != len(identifiers):
        raise fields.refusal("keys", "and mac_keys hold a key id twice")
    # One key under two ids would let a revocation miss it.
    if len({key.public_key.public_bytes_raw() for key in keys}) != len(keys):
        raise fields.refusal("keys", "hold a public key twice")
    return TrustTarget(
        revision=fields.integer("revision", minimum=1),
        sha256=sha256,
        keys=MappingProxyType({key.key_id: key for key in keys}),
        mac_keys=MappingProxyType({key.key_id: key for key in macs}),
    )


def _key(fields: Fields) -> TrustedKey:
    fields.literal("algorithm", "ed25519")
    roles = frozenset(_role(fields, name) for name in fields.texts("roles", maximum=len(KeyRole)))
    not_before_ms, expires_ms = _period(fields)
    return TrustedKey(
        key_id=fields.identifier("key_id"),
        public_key=Ed25519PublicKey.from_public_bytes(fields.base64("public", length=ED25519_PUBLIC_BYTES)),
        roles=roles,
        tenants=_tenants(fields, roles),
        not_before_ms=not_before_ms,
        expires_ms=expires_ms,
    )


def _mac_key(fields: Fields) -> TrustedMacKey:
    not_before_ms, expires_ms = _period(fields)
    name = fields.text("role", max_characters=64)
    try:
        role = MacRole(name)
    except ValueError:
        raise fields.refusal("role", "is no app role") from None
    return TrustedMacKey(fields.identifier("key_id"), role, not_before_ms, expires_ms)


def _role(fields: Fields, name: str) -> KeyRole:
    try:
        return KeyRole(name)
    except ValueError:
        raise fields.refusal("roles", "holds an unknown role") from None


def _tenants(fields: Fields, roles: frozenset[KeyRole]) -> frozenset[str] | None:
    if fields.raw("tenants") == EVERY_TENANT:
        if not roles <= EVERY_TENANT_ROLES:
            raise fields.refusal("tenants", "is every tenant, which a role of this key may not have")
        return None
    tenants = fields.texts("tenants", maximum=MAX_KEYS, max_characters=128)
    if any(SAFE_ID.fullmatch(tenant) is None for tenant in tenants):
        raise fields.refusal("tenants", "holds what is no tenant id of letters, digits, '.', '_', '-'")
    return frozenset(tenants)


def _period(fields: Fields) -> tuple[int, int]:
    not_before_ms = fields.integer("not_before_ms", minimum=0)
    expires_ms = fields.integer("expires_ms", minimum=1)
    if not_before_ms >= expires_ms:
        raise fields.refusal("expires_ms", "is not after not_before_ms")
    return not_before_ms, expires_ms


def _check_period(key: TrustedKey | TrustedMacKey, at_ms: int) -> None:
    if at_ms < key.not_before_ms:
        raise SignerNotAuthorisedError(f"key {key.key_id} is not valid yet")
    if at_ms >= key.expires_ms:
        raise SignerNotAuthorisedError(f"key {key.key_id} has expired")

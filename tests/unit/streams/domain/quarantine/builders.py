"""Commands, signers and a trust target to try the ledger's rules with."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pratique.contract.signing import Ed25519Signer
from pratique.contract.trust import KeyRole, TrustTarget, read_trust
from streams.domain.quarantine.command import Command
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord

NOW: Final = 1_800_000_000_000
MINUTE: Final = 60_000
PERIOD: Final = (NOW - 1000 * MINUTE, NOW + 1000 * MINUTE)
TENANT: Final = "tenant-a"
FINGERPRINT: Final = "f" * 64


def signer(key_id: str) -> Ed25519Signer:
    """Return the key of an id, the same every time."""
    return Ed25519Signer(key_id, Ed25519PrivateKey.from_private_bytes(hashlib.sha256(key_id.encode()).digest()))


KEYS: Final[dict[str, tuple[KeyRole, list[str] | None, tuple[int, int]]]] = {
    "curator": (KeyRole.TENANT_CURATOR, [TENANT], PERIOD),
    "curator-b": (KeyRole.TENANT_CURATOR, ["tenant-b"], PERIOD),
    "curator-gone": (KeyRole.TENANT_CURATOR, [TENANT], (NOW - 1000 * MINUTE, NOW)),
    "curator-to-come": (KeyRole.TENANT_CURATOR, [TENANT], (NOW + 1, NOW + 1000 * MINUTE)),
    "global": (KeyRole.GLOBAL_CURATOR, None, PERIOD),
    "gate": (KeyRole.GATE, None, PERIOD),
    "service": (KeyRole.SERVICE, None, PERIOD),
    "service-b": (KeyRole.SERVICE, ["tenant-b"], PERIOD),
    "publisher": (KeyRole.PUBLISHER, [TENANT], PERIOD),
}


def trust(now_ms: int = NOW) -> TrustTarget:
    """Return a trust target that names every key of ``KEYS``, as if it were now."""
    shift = now_ms - NOW
    keys: list[Any] = [
        {
            "key_id": key_id,
            "algorithm": "ed25519",
            "public": base64.b64encode(signer(key_id).private_key.public_key().public_bytes_raw()).decode(),
            "roles": [role.value],
            "tenants": "*" if tenants is None else tenants,
            "not_before_ms": not_before_ms + shift,
            "expires_ms": expires_ms + shift,
        }
        for key_id, (role, tenants, (not_before_ms, expires_ms)) in KEYS.items()
    ]
    document: dict[str, Any] = {"schema_version": "pratique.trust.v1", "revision": 1, "keys": keys, "mac_keys": []}
    return read_trust(document, sha256="0" * 64)


def record(
    action: Action = Action.ADD,
    revision: int = 1,
    *,
    tenant_id: str | None = TENANT,
    fingerprint: str = FINGERPRINT,
    **changes: Any,  # noqa: ANN401 - any field
) -> QuarantineRecord:
    """Return a record; globally where no tenant is named."""
    scope = Scope.GLOBAL if tenant_id is None else Scope.TENANT
    made = QuarantineRecord(
        key=LedgerKey.of(scope, tenant_id, fingerprint),
        revision=revision,
        action=action,
        incident_id="INC-7",
        actor_id="ada",
        authentication_event_id="login-1",
        policy_version="recall-3",
        detector_version="injection-1",
    )
    return replace(made, **changes)


def command(action: Action = Action.ADD, expected: int = 0, **changes: Any) -> Command:  # noqa: ANN401 - any field
    """Return a command; fields of the command and of its record may be changed."""
    own = {
        name: changes.pop(name) for name in ("key_generation", "reason", "issued_at", "expires_at") if name in changes
    }
    made = Command(
        proposed=record(action, expected + 1, **changes),
        key_generation="2026-1",
        reason="planted approval",
        issued_at=NOW - MINUTE,
        expires_at=NOW + MINUTE,
    )
    return replace(made, **own)

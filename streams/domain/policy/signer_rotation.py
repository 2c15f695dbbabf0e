"""A tenant's commitment signer replaced in a trust target that is being written.

The contract: a new document, one revision further, in which a new key signs the tenant's commitments. The keys that it
replaces end after an overlap, so that envelopes they signed still hold until then, or are gone at once where one was
stolen. A key that serves another role or tenant as well is refused: ending it would end that too.

It reads and writes no file, makes no key, and publishes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_sha256
from pratique.contract.trust import KeyRole, TrustedKey, read_trust
from pratique.errors import MalformedError
from streams.errors import ConfigurationError, PolicyError

_ALGORITHM: Final = "ed25519"
_ONE_ROLE: Final = frozenset({KeyRole.COMMITMENT_SIGNER})


@dataclass(frozen=True, slots=True)
class SignerRotation:
    """What a rotation comes to.

    Attributes:
        document: The trust target to publish.
        revision: Its revision.
        begins_ms: From when on the new key signs.
        replaced: Ids of the keys that it replaces, sorted.
        ends_ms: When the last of them ends; null where they are gone at once.
    """

    document: Mapping[str, JsonValue]
    revision: int
    begins_ms: int
    replaced: tuple[str, ...]
    ends_ms: int | None


def rotated_signer(
    trust: JsonValue, tenant_id: str, key_id: str, public: str, *, now_ms: int, begins_ms: int, overlap_ms: int | None
) -> SignerRotation:
    """Replace a tenant's commitment signer.

    Args:
        trust: The trust target as it is.
        tenant_id: The tenant.
        key_id: The new key's id.
        public: The new public key, base64.
        now_ms: Now, in milliseconds since the epoch.
        begins_ms: From when on the new key signs.
        overlap_ms: How long after that the old ones' signatures count; null takes them out at once.

    Raises:
        PolicyError: The trust target is none.
        ConfigurationError: The tenant has no signer whose period is not over, or one that serves others too.
    """
    try:
        read = read_trust(trust, sha256=canonical_sha256(trust))
    except MalformedError as error:
        raise PolicyError(str(error)) from None
    old = {key.key_id: key for key in read.keys.values() if _signs_for(key, tenant_id) and key.expires_ms > now_ms}
    if not old:
        raise ConfigurationError(f"tenant {tenant_id} has no commitment signer in trust.json: add one there")
    for key in old.values():
        if key.tenants != frozenset({tenant_id}) or key.roles != _ONE_ROLE:
            raise ConfigurationError(f"key {key.key_id} serves other roles or tenants too: part it in trust.json")
    last_ms = None if overlap_ms is None else begins_ms + overlap_ms
    rows: list[JsonValue] = []
    for row in _rows(trust):
        name = row["key_id"]
        if name not in old:
            rows.append(row)
        elif last_ms is not None:
            rows.append({**row, "expires_ms": max(min(old[str(name)].expires_ms, last_ms), _first_end(old[str(name)]))})
    rows.append(
        {
            "key_id": key_id,
            "algorithm": _ALGORITHM,
            "public": public,
            "roles": [KeyRole.COMMITMENT_SIGNER.value],
            "tenants": [tenant_id],
            "not_before_ms": begins_ms,
            "expires_ms": begins_ms + max(key.expires_ms - key.not_before_ms for key in old.values()),
        }
    )
    document = {**_object(trust), "revision": read.revision + 1, "keys": rows}
    made = read_trust(document, sha256=canonical_sha256(document))
    ends = [made.keys[name].expires_ms for name in old if name in made.keys]
    return SignerRotation(document, made.revision, begins_ms, tuple(sorted(old)), max(ends, default=None))


def _signs_for(key: TrustedKey, tenant_id: str) -> bool:
    return KeyRole.COMMITMENT_SIGNER in key.roles and (key.tenants is None or tenant_id in key.tenants)


def _first_end(key: TrustedKey) -> int:
    """Return when a key may end at the earliest: one that would begin after its end is none."""
    return key.not_before_ms + 1


def _object(value: JsonValue) -> Mapping[str, JsonValue]:
    if not isinstance(value, Mapping):
        raise PolicyError("trust target is no object")
    return value


def _rows(trust: JsonValue) -> Sequence[Mapping[str, JsonValue]]:
    rows = _object(trust)["keys"]
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        raise PolicyError("trust target lists no keys")
    return [_object(row) for row in rows]

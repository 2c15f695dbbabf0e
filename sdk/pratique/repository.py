"""Policy from a TUF repository, as the client needs it.

The contract is ``pratique.pinned.PolicySource``. A set is content-addressed and its documents say which compaction
policy they belong to, so what was read once is kept. A tenant with standing commitments has an effective set of its
own: the base set's map and the commitments' entry. From memory everything is a look-up; the first look-up after
``refresh_ms`` asks the repository for news.

It reads what the client renders and falls back to: compaction policy, invariant manifest, standing commitments. The
service validates the whole set and has the last word.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import JsonValue, bytes_sha256, canonical_sha256, parse_json
from pratique.contract.document import HEX64, SAFE_ID
from pratique.contract.trust import TrustTarget
from pratique.errors import MalformedError
from pratique.pinned import Document, PinnedPolicy
from pratique.policy.client import PolicyReader
from pratique.policy.errors import (
    PolicyError,
    PolicyExpiredError,
    PolicyNotLoadedError,
    PolicyUnavailableError,
    TargetUnknownError,
)

REFRESH_MS: Final = 30_000
"""How long a look-up relies on the last refresh."""

REFRESH_AT_MOST_EVERY_MS: Final = 2_000
"""A stranger's key id makes the client look for a rotated key; this is how often at most."""

MAX_SETS: Final = 256

_NEVER: Final = 2**63

_COMPACTION: Final = "compaction"
_INVARIANTS: Final = "invariants"
_COMMITMENTS: Final = "commitments"


@dataclass(slots=True)
class _Known:
    """What was learned under one edition of the repository."""

    edition: str
    trust: TrustTarget | None
    newest: dict[tuple[str, str], tuple[PinnedPolicy, int]]
    """By tenant and policy, with the first moment at which a role that vouches for it has expired."""


class RepositoryPolicies:
    """A ``PolicySource`` over a reader.

    Args:
        reader: The repository's reader, used by this source alone.
        clock: Now, in milliseconds since the epoch.
        refresh_ms: How long a look-up relies on the last refresh.
    """

    def __init__(self, reader: PolicyReader, clock: Callable[[], int], *, refresh_ms: int = REFRESH_MS) -> None:
        self._reader = reader
        self._clock = clock
        self._refresh_ms = refresh_ms
        self._lock = threading.RLock()
        self._known = _Known("", None, {})
        self._sets: dict[tuple[str, str], PinnedPolicy] = {}
        self._asked_at: int | None = None
        self._role_expires_at_ms = _NEVER

    def trust(self) -> TrustTarget:
        """Return the trust target at its newest known; see ``PolicySource.trust``."""
        with self._lock:
            self._fresh(self._refresh_ms)
            if self._known.trust is None:
                self._known.trust = self._reader.trust()
            return self._known.trust

    def pinned(self, tenant_id: str, policy_id: str, policy_set_sha256: str | None = None) -> PinnedPolicy:
        """Return a policy set; see ``PolicySource.pinned``.

        Raises:
            PolicyNotLoadedError: Nothing was ever loaded and the repository is out of reach.
            PolicyUnavailableError: A document can't be obtained as its metadata describes it, or no such set is known.
            PolicyExpiredError: The metadata is past its expiry.
            PolicyError: There is no such policy, or a document says something it may not.
        """
        with self._lock:
            self._fresh(self._refresh_ms)
            newest = self._newest(tenant_id, policy_id)
            if policy_set_sha256 is None or newest.policy_set_sha256 == policy_set_sha256:
                return newest
            known = self._sets.get((tenant_id, policy_set_sha256))
            if known is not None:
                return known
            self._fresh(REFRESH_AT_MOST_EVERY_MS)
            newest = self._newest(tenant_id, policy_id)
            if newest.policy_set_sha256 == policy_set_sha256:
                return newest
            return self._keep(tenant_id, self._base(policy_id, policy_set_sha256)[0])

    def refresh(self) -> None:
        """Ask the repository for news, unless that was done a moment ago; see ``PolicySource.refresh``."""
        with self._lock:
            self._refresh_if_older_than(REFRESH_AT_MOST_EVERY_MS)

    def _fresh(self, age_ms: int) -> None:
        self._refresh_if_older_than(age_ms)
        if self._reader.loaded and self._clock() >= self._reader.expires_at_ms:
            raise PolicyExpiredError("policy metadata has expired")

    def _refresh_if_older_than(self, age_ms: int) -> None:
        now = self._clock()
        if self._asked_at is not None and 0 <= now - self._asked_at < age_ms:
            return
        self._asked_at = now
        try:
            self._reader.refresh()
        except PolicyExpiredError:
            self._asked_at = None  # refused until it is renewed, and not just once an interval
            raise
        except (PolicyUnavailableError, PolicyNotLoadedError):
            if not self._reader.loaded:
                raise
            return  # what is known stands until it expires
        if self._reader.edition != self._known.edition:
            self._known = _Known(self._reader.edition, None, {})

    def _newest(self, tenant_id: str, policy_id: str) -> PinnedPolicy:
        known = self._known.newest.get((tenant_id, policy_id))
        if known is not None:
            pinned, expires_at_ms = known
            if self._clock() >= expires_at_ms:
                raise PolicyExpiredError("a delegated role's policy metadata has expired")
            return pinned
        self._role_expires_at_ms = _NEVER
        try:
            pointer = self._json(f"current/{_safe(policy_id)}.json")
        except TargetUnknownError:
            raise PolicyError("the policy repository has no policy of this policy_id") from None
        pinned, set_map = self._base(policy_id, _digest(pointer, "policy_set_sha256"))
        if pinned.standing_applies:
            pinned = self._with_standing(tenant_id, policy_id, pinned, set_map)
        self._known.newest[tenant_id, policy_id] = pinned, self._role_expires_at_ms
        return self._keep(tenant_id, pinned)

    def _with_standing(self, tenant_id: str, policy_id: str, base: PinnedPolicy, set_map: Document) -> PinnedPolicy:
        folder = f"tenants/{_safe(tenant_id)}"
        try:
            pointer = self._json(f"{folder}/current-{_safe(policy_id)}.json")
        except TargetUnknownError:
            return base
        if _digest(pointer, "policy_sha256") != base.policy_sha256:
            return base  # stale: the gate says COMMITMENTS_STALE
        snapshot_sha256 = _digest(pointer, "snapshot_sha256")
        path = f"{folder}/{snapshot_sha256}.json"
        documents = set_map.get("documents")
        if not isinstance(documents, Mapping):
            raise PolicyError("policy set: field documents is no JSON object")
        entry: dict[str, JsonValue] = {"path": path, "sha256": snapshot_sha256}
        effective: dict[str, JsonValue] = {**set_map, "documents": {**documents, _COMMITMENTS: entry}}
        return base.with_standing(canonical_sha256(effective), self._json(path, snapshot_sha256))

    def _base(self, policy_id: str, policy_set_sha256: str) -> tuple[PinnedPolicy, Document]:
        set_map = self._json(f"sets/{policy_set_sha256}.json", policy_set_sha256)
        if set_map.get("policy_id") != policy_id:
            raise PolicyError("policy set: field policy_id is another policy's")
        policy_sha256 = _document_sha256(set_map, _COMPACTION)
        policy = self._json(f"{_COMPACTION}/{policy_sha256}.json", policy_sha256)
        manifest_sha256 = _document_sha256(set_map, _INVARIANTS)
        manifest = self._json(f"{_INVARIANTS}/{manifest_sha256}.json", manifest_sha256)
        if manifest.get("policy_sha256") != policy_sha256:
            raise PolicyError("invariant manifest: field policy_sha256 is not the compaction policy's digest")
        return (
            PinnedPolicy(
                policy_set_sha256=policy_set_sha256,
                policy_sha256=policy_sha256,
                instruction=_text(policy, "trusted_instruction"),
                fallback_message_count=_count(policy, "fallback_message_count"),
                summary_min_length=_count(policy, "summary_min_length"),
                deadline_ms=_count(policy, "deadline_ms"),
                standing_applies=policy.get("standing_commitments") is True,
                manifest=manifest,
                standing=None,
            ),
            set_map,
        )

    def _json(self, path: str, sha256: str | None = None) -> Document:
        """Return a target's JSON object.

        Raises:
            PolicyUnavailableError: The bytes have another digest than their path says.
            PolicyError: It is no JSON object.
        """
        loaded = self._reader.load(path)
        content = loaded.content
        self._role_expires_at_ms = min(self._role_expires_at_ms, loaded.role_expires_at_ms or _NEVER)
        if sha256 is not None and bytes_sha256(content) != sha256:
            raise PolicyUnavailableError(f"policy target {path} does not have the digest it is named by")
        try:
            value = parse_json(content)
        except MalformedError as error:
            raise PolicyError(f"policy target {path}: {error}") from None
        if not isinstance(value, Mapping):
            raise PolicyError(f"policy target {path} is no JSON object")
        return value

    def _keep(self, tenant_id: str, pinned: PinnedPolicy) -> PinnedPolicy:
        self._sets[tenant_id, pinned.policy_set_sha256] = pinned
        while len(self._sets) > MAX_SETS:
            self._sets.pop(next(iter(self._sets)))
        return pinned


def _document_sha256(set_map: Document, kind: str) -> str:
    documents = set_map.get("documents")
    entry = documents.get(kind) if isinstance(documents, Mapping) else None
    if not isinstance(entry, Mapping):
        raise PolicyError(f"policy set: document {kind} is missing")
    return _digest(entry, "sha256")


def _digest(document: Document, field: str) -> str:
    value = document.get(field)
    if not isinstance(value, str) or HEX64.fullmatch(value) is None:
        raise PolicyError(f"policy document: field {field} is no SHA-256 in lower-case hexadecimal")
    return value


def _text(document: Document, field: str) -> str:
    value = document.get(field)
    if not isinstance(value, str) or not value.strip():
        raise PolicyError(f"compaction policy: field {field} is no text, or a blank one")
    return value


def _count(document: Document, field: str) -> int:
    value = document.get(field)
    if type(value) is not int or value < 1:
        raise PolicyError(f"compaction policy: field {field} is no positive integer")
    return value


def _safe(identifier: str) -> str:
    if SAFE_ID.fullmatch(identifier) is None:
        raise PolicyError("tenant or policy id is no identifier of letters, digits, '.', '_', '-' (at most 128)")
    return identifier

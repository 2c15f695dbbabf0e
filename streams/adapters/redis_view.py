"""Look-ups in the quarantine ledger's view in Redis, under an identity that can only read.

The contract is ``QuarantineView``: one round trip, atomic (MULTI), both scopes, every fingerprint; and an error where
the view can't be known to hold everything: no pointer or facts (flushed, partial), not refreshed within the bound of
staleness (behind), an entry that is no record of its own key or that the index disagrees with (malformed, partial),
another key generation, a server that may evict. Time is Redis's own, so that clocks need not agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from redis import Redis
from redis.exceptions import RedisError

from pratique.errors import MalformedError
from streams.adapters.redis_keys import (
    POINTER,
    VIEW_SCHEMA,
    Pointer,
    count_field,
    entry_key,
    index_key,
    meta_key,
)
from streams.application.ports.quarantine import Looked
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, parse_record
from streams.errors import LedgerViewIncompleteError

_FACTS: Final = ("schema", "applied", "refreshed_ms", "generation")
_FIXED: Final = 3
"""Replies before those of the two scopes: pointer, time, eviction policy."""


class RedisQuarantineView:
    """A ``QuarantineView``.

    Args:
        client: A connection that decodes responses.
        max_staleness_ms: How long ago the view may last have been known to hold everything.
    """

    def __init__(self, client: Redis, *, max_staleness_ms: int) -> None:
        self._client = client
        self._max_staleness_ms = max_staleness_ms
        self._pointer: Pointer | None = None

    def generation(self) -> str:
        """Return the current key generation; see ``QuarantineView``.

        Raises:
            LedgerViewIncompleteError: The view does not say, or can't be reached.
        """
        return self._read_pointer().generation

    def look_up(self, tenant_id: str, fingerprints: Sequence[str]) -> Looked:
        """Return which fingerprints are quarantined; see ``QuarantineView``.

        Raises:
            LedgerViewIncompleteError: The view can't answer for all of them.
        """
        pointer = self._pointer or self._read_pointer()
        for _ in range(2):
            replies = self._ask(pointer, tenant_id, fingerprints)
            found = read_pointer(replies[0])
            if found == pointer:
                self._pointer = found
                return self._answer(pointer, tenant_id, fingerprints, replies)
            pointer = found  # a rebuild was finished meanwhile: ask where it says
        raise LedgerViewIncompleteError("the ledger's view changes faster than it can be read")

    def _ask(self, pointer: Pointer, tenant_id: str, fingerprints: Sequence[str]) -> list[Any]:
        try:
            with self._client.pipeline(transaction=True) as pipeline:
                pipeline.hgetall(POINTER)
                pipeline.time()
                pipeline.config_get("maxmemory-policy")
                for scope, tenant in ((Scope.TENANT, tenant_id), (Scope.GLOBAL, None)):
                    keys = [LedgerKey.of(scope, tenant, item) for item in fingerprints]
                    segment = tenant if tenant is not None else "global"
                    partition = _partition(pointer, scope, tenant)
                    place = (pointer.namespace, partition)
                    index = index_key(*place, scope.value, segment)
                    pipeline.hmget(meta_key(*place), [*_FACTS, count_field(scope.value, segment)])
                    pipeline.scard(index)
                    if keys:
                        pipeline.smismember(index, [key.fingerprint for key in keys])
                    for key in keys:
                        pipeline.lindex(entry_key(*place, key), 0)
                replies: list[Any] = pipeline.execute()
        except RedisError as error:
            raise LedgerViewIncompleteError(f"the ledger's view can't be read: {type(error).__name__}") from error
        except MalformedError as error:
            raise LedgerViewIncompleteError(f"the ledger's view can't be asked: {error}") from None
        return replies

    def _answer(self, pointer: Pointer, tenant_id: str, fingerprints: Sequence[str], replies: list[Any]) -> Looked:
        _, (seconds, microseconds), policy = replies[:_FIXED]
        now_ms = int(seconds) * 1000 + int(microseconds) // 1000
        if policy.get("maxmemory-policy") != "noeviction":
            raise LedgerViewIncompleteError("the ledger's view lies on a server that may evict it")
        known: set[str] = set()
        staleness_ms, positions, rest = 0, [], replies[_FIXED:]
        for scope, tenant in ((Scope.TENANT, tenant_id), (Scope.GLOBAL, None)):
            facts, size, rest = rest[0], rest[1], rest[2:]
            applied, age_ms = self._check_facts(pointer, facts, int(size), now_ms)
            staleness_ms = max(staleness_ms, age_ms)
            positions.append(f"{_partition(pointer, scope, tenant)}@{applied}")
            if fingerprints:
                members, heads, rest = rest[0], rest[1 : 1 + len(fingerprints)], rest[1 + len(fingerprints) :]
                for item, member, head in zip(fingerprints, members, heads, strict=True):
                    if _is_quarantined(LedgerKey.of(scope, tenant, item), head) != bool(member):
                        raise LedgerViewIncompleteError("the ledger's view is partial: entry and index differ")
                    if member:
                        known.add(item)
        return Looked(frozenset(known), f"{pointer.namespace}:{','.join(positions)}", staleness_ms, pointer.generation)

    def _check_facts(self, pointer: Pointer, facts: Sequence[str | None], size: int, now_ms: int) -> tuple[int, int]:
        schema, applied, refreshed, generation, count = facts
        if schema != VIEW_SCHEMA or applied is None or refreshed is None:
            raise LedgerViewIncompleteError("the ledger's view is flushed or partial: a partition is not there")
        if generation != pointer.generation:
            raise LedgerViewIncompleteError("the ledger's view holds another key generation")
        if int(count or "0") != size:
            raise LedgerViewIncompleteError("the ledger's view is partial: an index has lost entries")
        age_ms = max(0, now_ms - int(refreshed))
        if age_ms > self._max_staleness_ms:
            raise LedgerViewIncompleteError(f"the ledger's view is behind: last complete {age_ms} ms ago")
        return int(applied), age_ms

    def _read_pointer(self) -> Pointer:
        try:
            return read_pointer(self._client.hgetall(POINTER))
        except RedisError as error:
            raise LedgerViewIncompleteError(f"the ledger's view can't be read: {type(error).__name__}") from error


def read_pointer(value: Any) -> Pointer:  # noqa: ANN401 - the client's replies are untyped
    """Read what look-ups read from.

    Raises:
        LedgerViewIncompleteError: There is none, or it is malformed.
    """
    try:
        stated: Mapping[str, str] = value
        return Pointer(stated["namespace"], int(stated["partition_count"]), stated["generation"])
    except (KeyError, ValueError, TypeError):
        raise LedgerViewIncompleteError("the ledger's view is not there: run `pratique ledger rebuild`") from None


def _partition(pointer: Pointer, scope: Scope, tenant_id: str | None) -> int:
    return LedgerKey.of(scope, tenant_id, "0" * 64).partition(pointer.partition_count)


def _is_quarantined(key: LedgerKey, head: str | None) -> bool:
    if head is None:
        return False
    try:
        record = parse_record(head)
    except MalformedError as error:
        raise LedgerViewIncompleteError(f"the ledger's view is malformed: {error}") from None
    if record.key != key:
        raise LedgerViewIncompleteError("the ledger's view is malformed: an entry is another's")
    return record.action is Action.ADD

"""Look-ups in the quarantine ledger's view in Redis, under an identity that can only read.

The contract is ``QuarantineView``: one round trip, both scopes, every fingerprint; and an error where the view can't be
known to hold everything: no pointer or facts (flushed, partial), not refreshed within the bound of staleness (behind),
an entry that is no record of its own key or that the index disagrees with (malformed, partial), entries of a key
generation that was not asked about, a server that may evict. Each scope is read by one function, so that no change
comes between what is compared. Time is Redis's own, so that clocks need not agree. In a cluster pointer and scopes may
lie on servers of their own: one round trip each, at the same time.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from redis import Redis

from pratique.contract.document import HEX64, SAFE_ID
from pratique.errors import MalformedError
from streams.adapters.redis_connect import REDIS_ERRORS, each_server, is_cluster
from streams.adapters.redis_keys import POINTER, VIEW_SCHEMA, Pointer, count_field, entry_key, index_key, meta_key
from streams.application.ports.quarantine import Fingerprints, Looked
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, parse_record
from streams.errors import LedgerViewIncompleteError

POLICY_SECONDS: Final = 1.0
"""How long a cluster's eviction policies are remembered; what was evicted is noticed by its absence at once."""

_NOBODY: Final = "0" * 64
_POLICY: Final = "maxmemory-policy"
_NOT_THERE: Final = "the ledger's view is not there: run `pratique ledger rebuild`"
_OTHER_RELEASE: Final = "the ledger's view answers as none of this release does: run `pratique ledger rebuild`"


@dataclass(frozen=True, slots=True)
class _Segment:
    """One scope of a look-up: where it lies."""

    scope: Scope
    tenant_id: str | None
    partition: int
    meta: str
    indexes: tuple[str, ...]
    entries: str
    count: str

    @classmethod
    def of(cls, pointer: Pointer, scope: Scope, tenant_id: str | None, generations: Iterable[str]) -> _Segment:
        key = LedgerKey.of(scope, tenant_id, _NOBODY)
        place = (pointer.namespace, key.partition(pointer.partition_count))
        return cls(
            scope,
            tenant_id,
            place[1],
            meta_key(*place),
            tuple(index_key(*place, scope.value, key.segment, generation) for generation in generations),
            entry_key(*place, key).removesuffix(_NOBODY),
            count_field(scope.value, key.segment),
        )


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
        self._is_cluster = is_cluster(client)
        self._policies: tuple[float, frozenset[str | None]] | None = None

    def generation(self) -> str:
        """Return the current key generation; see ``QuarantineView``.

        Raises:
            LedgerViewIncompleteError: The view does not say, or can't be reached.
        """
        return self._read_pointer().generation

    def look_up(self, tenant_id: str, fingerprints: Fingerprints) -> Looked:
        """Return which fingerprints are quarantined; see ``QuarantineView``.

        Raises:
            LedgerViewIncompleteError: The view can't answer for all of them.
        """
        flat = [item for items in fingerprints.values() for item in items]
        if not all(map(HEX64.fullmatch, flat)) or not all(map(SAFE_ID.fullmatch, fingerprints)):
            raise LedgerViewIncompleteError("the ledger's view can't be asked: a fingerprint or generation is none")
        pointer = self._pointer or self._read_pointer()
        for _ in range(2):
            try:
                segments = (
                    _Segment.of(pointer, Scope.TENANT, tenant_id, fingerprints),
                    _Segment.of(pointer, Scope.GLOBAL, None, fingerprints),
                )
            except MalformedError as error:
                raise LedgerViewIncompleteError(f"the ledger's view can't be asked: {error}") from None
            stated, policies, answers = self._ask(segments, fingerprints)
            found = read_pointer(stated)
            if found == pointer:
                self._pointer = found
                if policies != {"noeviction"}:
                    raise LedgerViewIncompleteError("the ledger's view lies on a server that may evict it")
                if pointer.generation not in fingerprints:
                    raise LedgerViewIncompleteError(
                        f"the ledger's current key generation is {pointer.generation}, and its key is not here"
                    )
                try:
                    return self._answer(pointer, flat, segments, answers)
                except (ValueError, TypeError) as error:  # a number that is none, or not as many items as there are
                    raise LedgerViewIncompleteError(_OTHER_RELEASE) from error
            pointer = found  # a rebuild was finished meanwhile: ask where it says
        raise LedgerViewIncompleteError("the ledger's view changes faster than it can be read")

    def _ask(
        self, segments: Sequence[_Segment], fingerprints: Fingerprints
    ) -> tuple[Any, frozenset[str | None], list[Any]]:
        flat = [item for items in fingerprints.values() for item in items]
        asked = [str(len(fingerprints)), *fingerprints, *map(str, map(len, fingerprints.values()))]
        try:
            with self._client.pipeline(transaction=False) as pipeline:
                pipeline.hgetall(POINTER)
                if not self._is_cluster:
                    pipeline.config_get(_POLICY)
                for segment in segments:
                    keys = [segment.meta, *segment.indexes, *(segment.entries + item for item in flat)]
                    pipeline.fcall_ro("pratique_look", len(keys), *keys, segment.count, *asked)
                stated, *replies = pipeline.execute()
            policies = self._cluster_policies() if self._is_cluster else frozenset({replies.pop(0).get(_POLICY)})
        except REDIS_ERRORS as error:
            raise LedgerViewIncompleteError(f"the ledger's view can't be read: {type(error).__name__}") from error
        return stated, policies, replies

    def _cluster_policies(self) -> frozenset[str | None]:
        """Return the eviction policies of a cluster's servers: asked apart, so not with each look-up."""
        now = time.monotonic()
        if self._policies is None or now - self._policies[0] > POLICY_SECONDS:
            stated = each_server(self._client, partial(self._client.config_get, _POLICY))
            self._policies = now, frozenset(item.get(_POLICY) for item in stated)
        return self._policies[1]

    def _answer(
        self, pointer: Pointer, fingerprints: Sequence[str], segments: Sequence[_Segment], answers: Sequence[Any]
    ) -> Looked:
        known: dict[Scope, set[str]] = {}
        staleness_ms, positions = 0, []
        for segment, (facts, size, moment, members, present, heads) in zip(segments, answers, strict=True):
            now_ms = int(moment[0]) * 1000 + int(moment[1]) // 1000
            applied, age_ms = self._check_facts(facts, int(size), now_ms)
            staleness_ms = max(staleness_ms, age_ms)
            positions.append(f"{segment.partition}@{applied}")
            known[segment.scope] = set(_quarantined(segment, fingerprints, members, present, heads))
        return Looked(
            known=frozenset().union(*known.values()),
            position=f"{pointer.namespace}:{','.join(positions)}",
            staleness_ms=staleness_ms,
            generation=pointer.generation,
            following=pointer.following,
            own=frozenset(known[Scope.TENANT]),
        )

    def _check_facts(self, facts: Sequence[str | None], size: int, now_ms: int) -> tuple[int, int]:
        schema, applied, refreshed, count = facts
        if schema != VIEW_SCHEMA or applied is None or refreshed is None:
            raise LedgerViewIncompleteError("the ledger's view is flushed or partial: a partition is not there")
        if int(count or "0") != size:
            raise LedgerViewIncompleteError(
                f"the ledger's view has {count or 0} quarantined entries where {size} can be asked about: it is "
                "partial, or the key of another generation is not here (`pratique ledger keys status`)"
            )
        age_ms = max(0, now_ms - int(refreshed))
        if age_ms > self._max_staleness_ms:
            raise LedgerViewIncompleteError(f"the ledger's view is behind: last complete {age_ms} ms ago")
        return int(applied), age_ms

    def _read_pointer(self) -> Pointer:
        try:
            return read_pointer(self._client.hgetall(POINTER))
        except REDIS_ERRORS as error:
            raise LedgerViewIncompleteError(f"the ledger's view can't be read: {type(error).__name__}") from error


def read_pointer(value: Any) -> Pointer:  # noqa: ANN401 - the client's replies are untyped
    """Read what look-ups read from.

    Raises:
        LedgerViewIncompleteError: There is none, or it is malformed.
    """
    try:
        stated: Mapping[str, str] = value
        count = int(stated["partition_count"])
        pointer = Pointer(stated["namespace"], count, stated["generation"], stated.get("following", ""))
    except (KeyError, ValueError, TypeError):
        raise LedgerViewIncompleteError(_NOT_THERE) from None
    if count < 1:
        raise LedgerViewIncompleteError(_NOT_THERE)
    return pointer


def _quarantined(
    segment: _Segment, fingerprints: Sequence[str], members: str, present: str, heads: Sequence[str]
) -> Iterator[str]:
    """Yield the fingerprints that are quarantined, as both the index and the entries' heads say."""
    if not len(members) == len(present) == len(fingerprints) or present.count("1") != len(heads):
        raise LedgerViewIncompleteError(_OTHER_RELEASE)
    remaining = iter(heads)
    for item, member, there in zip(fingerprints, members, present, strict=True):
        if member == there == "0":
            continue
        if (there == "1" and _is_quarantined(segment, item, next(remaining))) != (member == "1"):
            raise LedgerViewIncompleteError("the ledger's view is partial: entry and index differ")
        if member == "1":
            yield item


def _is_quarantined(segment: _Segment, fingerprint: str, head: str) -> bool:
    try:
        record = parse_record(head)
    except MalformedError as error:
        raise LedgerViewIncompleteError(f"the ledger's view is malformed: {error}") from None
    key = record.key
    if (key.scope, key.tenant_id, key.fingerprint) != (segment.scope, segment.tenant_id, fingerprint):
        raise LedgerViewIncompleteError("the ledger's view is malformed: an entry is another's")
    return record.action is Action.ADD

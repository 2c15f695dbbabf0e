"""Comparing the ledger's three accounts of itself: topic, audit and view.

The contract: read-only. The audit is every entry's whole history; the ledger topic must hold its newest revision, the
view all of it, newest first, with an index and counts that agree, and nothing else. Each difference is told. What is
written while it is compared differs for a moment: whoever asks compares twice, and believes what differs both times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from redis import Redis
from redis.exceptions import RedisError

from pratique.errors import UnavailableError
from streams.adapters.ledger_log import LedgerLog
from streams.adapters.redis_keys import POINTER, Pointer, count_field, entry_key, index_key, meta_key, tag
from streams.adapters.redis_view import read_pointer
from streams.domain.quarantine.ledger_key import VIEW_PREFIX, LedgerKey
from streams.domain.quarantine.record import Action, parse_record
from streams.wire.ledger import read_audit, read_entry

LISTS_TOGETHER: Final = 500

History = Mapping[LedgerKey, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it should be.

    Attributes:
        where: ``ledger topic``, ``view``, ``index`` or ``facts``.
        what: The entry, segment or partition.
        detail: What is there, and what should be.
    """

    where: str
    what: str
    detail: str


class LedgerCheck:
    """Compares.

    Args:
        log: The ledger's topics.
        client: A connection of the verifier's identity.
        ledger: The ledger topic.
        audit: The audit topic.
    """

    def __init__(self, log: LedgerLog, client: Redis, ledger: str, audit: str) -> None:
        self._log = log
        self._client = client
        self._ledger = ledger
        self._audit = audit
        self.entries = 0
        """Entries of the last comparison."""

    def differences(self) -> Iterator[Difference]:
        """Return every difference there is now.

        Raises:
            LedgerViewIncompleteError: There is no view.
            LedgerBrokenError: A topic holds what is no record of it.
            UnavailableError: Redis or the broker does not answer.
        """
        pointer = read_pointer(self._ask(lambda: self._client.hgetall(POINTER)))
        self.entries = 0
        for partition in range(pointer.partition_count):
            yield from self._partition(pointer, partition)

    def _partition(self, pointer: Pointer, partition: int) -> Iterator[Difference]:
        facts = self._ask(lambda: self._client.hgetall(meta_key(pointer.namespace, partition)))
        whole, applied = self._history(partition, int(facts.get("applied", "0")))
        self.entries += len(whole)
        yield from self._topic(partition, whole)
        if not facts:
            yield Difference("facts", f"partition {partition}", "the view has none: it is flushed or partial")
            return
        yield from self._lists(pointer, partition, applied)
        yield from self._indexes(pointer, partition, applied, facts)

    def _history(self, partition: int, applied: int) -> tuple[History, History]:
        """Return every entry's records, oldest first: all there are, and those that the view has applied."""
        whole: dict[LedgerKey, list[str]] = defaultdict(list)
        seen: dict[LedgerKey, list[str]] = defaultdict(list)
        for record in self._log.read(self._audit, partition, *self._log.committed_bounds(self._audit, partition)):
            entry = read_audit(record.value)
            if entry.record_json is None or entry.reason_code is not None:
                continue
            key = parse_record(entry.record_json).key
            whole[key].append(entry.record_json)
            if record.offset < applied:
                seen[key].append(entry.record_json)
        return whole, seen

    def _topic(self, partition: int, history: History) -> Iterator[Difference]:
        heads: dict[bytes | None, str] = {}
        bounds = self._log.committed_bounds(self._ledger, partition)
        for record in self._log.read(self._ledger, partition, *bounds):
            heads[record.key] = read_entry(record.value).record_json
        for key, records in history.items():
            head = heads.pop(key.record_key, None)
            if head != records[-1]:
                detail = "is missing" if head is None else "is another record than the audit's newest"
                yield Difference("ledger topic", key.record_key.decode(), detail)
        for stray in heads:
            yield Difference("ledger topic", (stray or b"").decode("ascii", "replace"), "is not in the audit")

    def _lists(self, pointer: Pointer, partition: int, history: History) -> Iterator[Difference]:
        keys = list(history)
        for start in range(0, len(keys), LISTS_TOGETHER):
            together = keys[start : start + LISTS_TOGETHER]
            with self._client.pipeline(transaction=False) as pipeline:
                for key in together:
                    pipeline.lrange(entry_key(pointer.namespace, partition, key), 0, -1)
                replies = self._ask(pipeline.execute)
            for key, found in zip(together, replies, strict=True):
                if found != list(reversed(history[key])):
                    detail = f"has {len(found)} transitions where the audit has {len(history[key])}, or others"
                    yield Difference("view", key.record_key.decode(), detail)
        expected = {entry_key(pointer.namespace, partition, key) for key in history}
        for stray in self._scan(tag(pointer.namespace, partition) + VIEW_PREFIX + "*"):
            if stray not in expected:
                yield Difference("view", stray, "is not in the audit")

    def _indexes(
        self, pointer: Pointer, partition: int, history: History, facts: Mapping[str, str]
    ) -> Iterator[Difference]:
        segments: dict[tuple[str, str], set[str]] = defaultdict(set)
        for key, records in history.items():
            members = segments[key.scope.value, key.segment]
            if parse_record(records[-1]).action is Action.ADD:
                members.add(key.fingerprint)
        for (scope, segment), expected in segments.items():
            index = index_key(pointer.namespace, partition, scope, segment)
            found = self._ask(lambda index=index: self._client.smembers(index))
            if found != expected:
                yield Difference("index", f"{scope}/{segment}", f"{len(found ^ expected)} fingerprints differ")
            if int(facts.get(count_field(scope, segment), "0")) != len(expected):
                yield Difference("facts", f"{scope}/{segment}", "the count of quarantined fingerprints differs")
        if int(facts.get("entries", "-1")) != len(history):
            yield Difference("facts", f"partition {partition}", "the count of entries differs")
        if facts.get("generation") != pointer.generation:
            yield Difference("facts", f"partition {partition}", "the key generation differs")

    def _scan(self, match: str) -> Iterator[str]:
        cursor = 0
        while True:
            cursor, keys = self._ask(lambda cursor=cursor: self._client.scan(cursor, match, 1000))
            yield from keys
            if not cursor:
                return

    def _ask(self, ask: Any) -> Any:  # noqa: ANN401 - the client's replies are untyped
        try:
            return ask()
        except RedisError as error:
            raise UnavailableError(f"the ledger's view can't be read: {type(error).__name__}") from error

"""Comparing the ledger's three accounts of itself: topic, audit and view.

The contract: read-only. The audit is every entry's whole history; the ledger topic must hold its newest revision, the
view all of it, newest first, with an index and counts that agree, and nothing else; of a retired key generation the
topic must hold nothing, and the view may. Each difference is told. What is
written while it is compared differs for a moment: whoever asks compares twice, and believes what differs both times.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from redis import Redis

from pratique.errors import UnavailableError
from streams.adapters.ledger_log import LedgerLog
from streams.adapters.redis_connect import REDIS_ERRORS
from streams.adapters.redis_keys import POINTER, Pointer, count_field, entry_key, index_key, index_member, meta_key, tag
from streams.adapters.redis_view import read_pointer
from streams.domain.quarantine.ledger_key import VIEW_PREFIX, LedgerKey
from streams.domain.quarantine.record import Action, parse_record
from streams.wire.ledger import Retired, Transition, read_change, read_entry

LISTS_TOGETHER: Final = 500
SCANNED_TOGETHER: Final = 1000
_COUNTED: Final = ("quarantined:", "entries:")
"""How the facts that count something begin: one that should not be there makes look-ups of its segment fail."""


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


class _Account:
    """What a partition's audit says, up to some offset.

    Attributes:
        histories: Every entry's records, oldest first.
        generations: Every entry's key generation.
        retired: The generations that are retired.
    """

    def __init__(self) -> None:
        self.histories: dict[LedgerKey, list[str]] = defaultdict(list)
        self.generations: dict[LedgerKey, str] = {}
        self.retired: set[str] = set()

    @property
    def live(self) -> list[LedgerKey]:
        """The entries whose generation is not retired."""
        return [key for key in self.histories if self.is_live(key)]

    def is_live(self, key: LedgerKey) -> bool:
        """Return whether an entry's generation is not retired."""
        return self.generations[key] not in self.retired

    def add(self, change: Transition | Retired) -> None:
        """Take over what the next audit entry changed."""
        if isinstance(change, Retired):
            self.retired.add(change.generation)
        else:
            self.histories[change.key].append(change.record_json)
            self.generations[change.key] = change.generation

    def quarantined(self) -> dict[tuple[str, str, str], set[str]]:
        """Return the quarantined fingerprints by scope, segment and generation; empty sets included."""
        found: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for key in self.live:
            members = found[key.scope.value, key.segment, self.generations[key]]
            if parse_record(self.histories[key][-1]).action is Action.ADD:
                members.add(key.fingerprint)
        return found


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
        whole, applied = self._accounts(partition, int(facts.get("applied", "0")))
        self.entries += len(whole.live)
        yield from self._topic(partition, whole)
        if not facts:
            yield Difference("facts", f"partition {partition}", "the view has none: it is flushed or partial")
            return
        yield from self._lists(pointer, partition, applied)
        yield from self._indexes(pointer, partition, applied)
        yield from _counts(partition, applied, facts)

    def _accounts(self, partition: int, applied: int) -> tuple[_Account, _Account]:
        """Return the audit's account: all there is, and what the view has applied."""
        whole, seen = _Account(), _Account()
        bounds = self._log.committed_bounds(self._audit, partition)
        for offset, value in self._log.values(self._audit, partition, *bounds):
            change = read_change(value)
            if change is not None:
                whole.add(change)
                if offset < applied:
                    seen.add(change)
        return whole, seen

    def _topic(self, partition: int, account: _Account) -> Iterator[Difference]:
        heads: dict[bytes | None, str] = {}
        bounds = self._log.committed_bounds(self._ledger, partition)
        for record in self._log.read(self._ledger, partition, *bounds):
            entry = read_entry(record.value)
            if entry is None:
                heads.pop(record.key, None)
            else:
                heads[record.key] = entry.record_json
        for key in account.live:
            head = heads.pop(key.record_key, None)
            if head != account.histories[key][-1]:
                detail = "is missing" if head is None else "is another record than the audit's newest"
                yield Difference("ledger topic", key.record_key.decode(), detail)
        for stray in heads:
            yield Difference("ledger topic", (stray or b"").decode("ascii", "replace"), "is not in the audit")

    def _lists(self, pointer: Pointer, partition: int, account: _Account) -> Iterator[Difference]:
        keys = list(account.histories)
        for start in range(0, len(keys), LISTS_TOGETHER):
            together = keys[start : start + LISTS_TOGETHER]
            with self._client.pipeline(transaction=False) as pipeline:
                for key in together:
                    pipeline.lrange(entry_key(pointer.namespace, partition, key), 0, -1)
                replies = self._ask(pipeline.execute)
            for key, found in zip(together, replies, strict=True):
                expected = list(reversed(account.histories[key]))
                # What is retired stays in a view until the view is built anew.
                if found != expected and (found or account.is_live(key)):
                    detail = f"has {len(found)} transitions where the audit has {len(expected)}, or others"
                    yield Difference("view", key.record_key.decode(), detail)
        known = {entry_key(pointer.namespace, partition, key) for key in keys}
        for stray in self._scan(tag(pointer.namespace, partition) + VIEW_PREFIX + "*"):
            if stray not in known:
                yield Difference("view", stray, "is not in the audit")

    def _indexes(self, pointer: Pointer, partition: int, account: _Account) -> Iterator[Difference]:
        for (scope, segment, generation), expected in account.quarantined().items():
            index = index_key(pointer.namespace, partition, scope, segment, generation)
            found = self._ask(lambda index=index: self._client.smembers(index))
            different = found ^ set(map(index_member, expected))
            if different:
                yield Difference("index", f"{scope}/{segment}", f"{len(different)} fingerprints differ")

    def _scan(self, match: str) -> Iterator[str]:
        found = self._client.scan_iter(match, SCANNED_TOGETHER)
        while keys := self._ask(lambda: list(islice(found, SCANNED_TOGETHER))):
            yield from keys

    def _ask(self, ask: Any) -> Any:  # noqa: ANN401 - the client's replies are untyped
        try:
            return ask()
        except REDIS_ERRORS as error:
            raise UnavailableError(f"the ledger's view can't be read: {type(error).__name__}") from error


def _counts(partition: int, account: _Account, facts: Mapping[str, str]) -> Iterator[Difference]:
    expected: Counter[str] = Counter({f"entries:{generation}": 0 for generation in account.retired})
    for (scope, segment, generation), members in account.quarantined().items():
        expected[count_field(scope, segment)] += len(members)
        expected[f"{count_field(scope, segment)}:{generation}"] += len(members)
    for key in account.live:
        expected[f"entries:{account.generations[key]}"] += 1
    counted = {field for field in facts if field.startswith(_COUNTED)}
    for field in sorted(counted | expected.keys()):
        found, count = facts.get(field, "0"), expected[field]
        if found != str(count):
            yield Difference("facts", f"partition {partition}", f"{field} differs: {found}, not {count}")
    if {field.removeprefix("retired:") for field in facts if field.startswith("retired:")} != account.retired:
        yield Difference("facts", f"partition {partition}", "the retired key generations differ")

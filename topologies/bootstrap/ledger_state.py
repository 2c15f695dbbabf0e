"""The quarantine ledger's entries, read from its topic: heads, and which of them are the same content.

The contract: both ends of a partition are the broker's, and committed records only are read. Entries of one content
under several key generations are known by what each of them replaces; no content is needed for that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

from pratique.contract.ledger_records import LedgerEntry
from pratique.contract.topics import QUARANTINE_AUDIT, QUARANTINE_LEDGER
from streams.adapters.ledger_log import LedgerLog
from streams.domain.quarantine.ledger_key import LedgerKey
from streams.domain.quarantine.record import Action, parse_record
from streams.domain.quarantine.transition import Head
from streams.wire.ledger import read_audit, read_entry
from topologies.settings import Settings


@contextmanager
def ledger_log(settings: Settings) -> Iterator[LedgerLog]:
    """Provide the ledger's topics, closed in the end."""
    log = LedgerLog(settings.connection)
    try:
        yield log
    finally:
        log.close()


def read_heads(
    log: LedgerLog, progress: Callable[[int, int], None] = lambda *_: None
) -> tuple[dict[LedgerKey, Head], frozenset[str]]:
    """Return every entry's head, and the key generations that every partition has retired.

    Args:
        log: The ledger's topics.
        progress: Told how many partitions are read, of how many.

    Raises:
        LedgerBrokenError: A topic holds what is no record of it.
        UnavailableError: The cluster does not answer.
    """
    count = log.partition_count(QUARANTINE_LEDGER)
    heads: dict[LedgerKey, Head] = {}
    retired: list[frozenset[str]] = []
    for partition in range(count):
        heads.update(partition_heads(log, partition))
        newest = log.newest(QUARANTINE_AUDIT, partition)
        retired.append(frozenset() if newest is None else frozenset(read_audit(newest.value).retired))
        progress(partition + 1, count)
    return heads, frozenset.intersection(*retired)


def partition_heads(log: LedgerLog, partition: int) -> dict[LedgerKey, Head]:
    """Return the heads of one partition; raises as ``read_heads`` does."""
    return dict(_head(entry) for entry in partition_entries(log, partition))


def partition_entries(log: LedgerLog, partition: int) -> list[LedgerEntry]:
    """Return the newest entries of one partition; raises as ``read_heads`` does."""
    newest: dict[bytes | None, LedgerEntry] = {}
    for record in log.read(QUARANTINE_LEDGER, partition, *log.bounds(QUARANTINE_LEDGER, partition)):
        entry = read_entry(record.value)
        if entry is None:
            newest.pop(record.key, None)
        else:
            newest[record.key] = entry
    return list(newest.values())


def same_content(keys: Collection[LedgerKey], heads: Mapping[LedgerKey, Head]) -> list[LedgerKey]:
    """Return the entries of one content, ordered by fingerprint.

    Args:
        keys: Places that are known to be this content's, of one scope and segment; whether they are entries or not.
        heads: The entries.
    """
    places = {key.place for key in keys}
    links: dict[LedgerKey, set[LedgerKey]] = {}
    for one, head in heads.items():
        if head.replaces is not None and one.place in places:
            other = LedgerKey(one.scope, one.segment, head.replaces.hex())
            links.setdefault(one, set()).add(other)
            links.setdefault(other, set()).add(one)
    found, open_keys = set(keys), list(keys)
    while open_keys:
        for other in links.get(open_keys.pop(), set()) - found:
            found.add(other)
            open_keys.append(other)
    return sorted(found & heads.keys(), key=lambda item: item.fingerprint)


def _head(entry: LedgerEntry) -> tuple[LedgerKey, Head]:
    record = parse_record(entry.record_json)
    return record.key, Head(
        revision=record.revision,
        event_id=bytes.fromhex(entry.event_id),
        previous_event_id=None if entry.previous_event_id is None else bytes.fromhex(entry.previous_event_id),
        quarantined=record.action is Action.ADD,
        key_generation=entry.key_generation,
        replaces=None if entry.replaces is None else bytes.fromhex(entry.replaces),
    )

"""The review queue from the command line: what verdicts put into the ledger, a curator's word on it, and the rescan.

The contract: the queue is read from the review topic to its end, committed records only. A curator's word is a command
like any other (``ledger_client``), at the entry's newest revision, signed by a tenant curator's key. What was released
is asked about again, as a memory that is recalled, under the policy that is current: the content is the caller's, or is
looked for in the request that the verdict was about, for as long as that is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pratique.client import Gate
from pratique.contract import avro
from pratique.contract.digests import request_sha256
from pratique.contract.ledger_records import ReviewEntry
from pratique.contract.records import (
    CompactionRequested,
    MemoryRecalled,
    Origin,
    Verdict,
)
from pratique.contract.topics import COMPACTION_REQUESTED, MEMORY_RECALLED, QUARANTINE_REVIEW
from pratique.errors import MalformedError
from streams.adapters.kafka_log import KafkaLog
from streams.application.fingerprinting import fingerprints
from streams.domain.policy.model import AssuranceProfile
from streams.domain.quarantine.ledger_key import LedgerKey
from streams.wire.candidate import read_candidate
from streams.wire.ledger import read_review
from topologies.bootstrap.ledger_state import ledger_log
from topologies.bootstrap.ledger_view import fingerprint_keys
from topologies.settings import Settings

RESCAN_TASK: Final = "quarantine-rescan"
_GROUP: Final = "pratique.quarantine"
_TOPICS: Final = {Origin.RECALL: MEMORY_RECALLED, Origin.COMPACTION: COMPACTION_REQUESTED}


@dataclass(frozen=True, slots=True)
class Queued:
    """An automatic entry and when the log took its state.

    Attributes:
        at_ms: Milliseconds since the epoch.
    """

    key: LedgerKey
    entry: ReviewEntry
    at_ms: int

    @property
    def window_ms(self) -> int | None:
        """How long after its verdict it counted; null where it waits, or never counted."""
        return None if self.entry.revision == 0 else self.at_ms - self.entry.decided_at


def queue(settings: Settings, tenant_id: str | None = None) -> list[Queued]:
    """Return every automatic entry, the oldest verdict first.

    Args:
        settings: Where the broker is.
        tenant_id: Whose; everyone's where null.

    Raises:
        LedgerBrokenError: The review topic holds what is no review.
        UnavailableError: The cluster does not answer.
    """
    newest: dict[bytes | None, Queued] = {}
    with ledger_log(settings) as log:
        for partition in range(log.partition_count(QUARANTINE_REVIEW)):
            for record in log.read(QUARANTINE_REVIEW, partition, *log.bounds(QUARANTINE_REVIEW, partition)):
                entry = read_review(record.value)
                if entry is None:
                    newest.pop(record.key, None)
                else:
                    newest[record.key] = Queued(LedgerKey.parse(record.key), entry, record.timestamp)
    found = [item for item in newest.values() if tenant_id is None or item.key.tenant_id == tenant_id]
    return sorted(found, key=lambda item: (item.entry.decided_at, item.entry.ledger_key))


def content_of(settings: Settings, item: Queued) -> str | None:
    """Return the text that an entry is about, from the request that its verdict was about; null if that is gone.

    The requests that were made within a horizon before the verdict are read, and no other.

    Raises:
        ConfigurationError: There is no fingerprint key here.
        UnavailableError: The cluster does not answer.
    """
    keys = fingerprint_keys(settings).held()
    for text in _texts(settings, item):
        if item.key.fingerprint in fingerprints(text, keys).values():
            return text
    return None


def rescan(stack: Path, item: Queued, content: str, *, wait_s: float) -> Verdict | None:
    """Ask about a text as its tenant would if it was recalled now; null where no verdict came in time.

    Raises:
        ConfigurationError: There is no loader key of the tenant here.
        UnavailableError: Kafka or the policy repository is away.
    """
    memory = {"entry_id": f"released-{item.key.fingerprint[:16]}", "memory_version": "1", "content": content}
    with Gate.from_stack(stack, tenant_id=str(item.key.tenant_id), policy_id=item.entry.policy_id) as gate:
        request = gate.recall_request([memory], [(memory["entry_id"], "1")], task_id=RESCAN_TASK)
        return gate.ask_recall(request, wait_s=wait_s)


def _texts(settings: Settings, item: Queued) -> Iterator[str]:
    entry = item.entry
    with KafkaLog(settings.connection, _TOPICS[entry.origin], _GROUP) as log:
        for partition in range(log.partition_count()):
            start = log.offset_at(partition, entry.decided_at - settings.horizon_ms - settings.skew_ms)
            if start is None:
                continue
            following = log.offset_at(partition, entry.decided_at + settings.skew_ms)
            end = log.end_offset(partition) if following is None else following
            with closing(log.history(partition, start, end)) as records:
                for record in records:
                    if record.value is not None and request_sha256(record.value) == entry.request_sha256:
                        yield from contents_of_request(record.value, entry.origin)


def contents_of_request(value: bytes, origin: Origin) -> Iterator[str]:
    """Yield the texts of a request that are fingerprinted; none of one that is malformed.

    Args:
        value: The request, as it was published.
        origin: Which kind it is of.
    """
    try:
        if origin is Origin.RECALL:
            yield from (memory.content for memory in avro.decode(value, MemoryRecalled).entries if memory.content)
            return
        request = avro.decode(value, CompactionRequested)
        for profile in AssuranceProfile:  # at most one of them reads it
            candidate = read_candidate(request.candidate_json, max_bytes=len(value), profile=profile)
            context = getattr(candidate, "context", None)
            if context is not None:
                yield context.summary_text
                if context.narrative_text is not None:
                    yield context.narrative_text
    except MalformedError:
        return  # it had a verdict, so it was well formed; what is not is not it

"""The catalogue of topics: name, what it carries, key, partitions, cleanup, retention, and who may write.

The contract: one frozen ``TopicSpec`` a topic (contract, Topics). ``pratique topics apply`` makes a cluster agree with
it; nothing else creates or changes a topic. Partition counts of evidence and ledger topics are for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pratique.contract import topics

KIB: Final = 1024
DAY_MS: Final = 24 * 60 * 60 * 1000
YEAR_MS: Final = 365 * DAY_MS
CONTENT_RETENTION_MS: Final = 7 * DAY_MS
"""Agent content is kept for as long as a stopped consumer may need to catch up, and no longer."""


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """One topic.

    Attributes:
        name: The topic's name.
        record: What a value is.
        key: What a key is.
        writers: Who may write.
        content: Whether values hold agent content.
        cleanup: ``delete`` or ``compact``.
        retention_ms: How long a record is kept; -1 for ever.
        max_message_bytes: Largest record batch.
        append_time: Whether the broker stamps records with the time it appends them.
        fixed_partitions: Whether the partition count may never change.
    """

    name: str
    record: str
    key: str
    writers: tuple[str, ...]
    content: bool
    cleanup: str
    retention_ms: int
    max_message_bytes: int
    append_time: bool = False
    fixed_partitions: bool = False

    @property
    def is_placed(self) -> bool:
        """Whether a record's partition is its writer's to name: the hash of its key is another one's."""
        return self.key == _LEDGER_KEY

    @property
    def configuration(self) -> Mapping[str, str]:
        """The topic's configuration as the broker takes it."""
        return {
            "cleanup.policy": self.cleanup,
            "retention.ms": str(self.retention_ms),
            "max.message.bytes": str(self.max_message_bytes),
            "message.timestamp.type": "LogAppendTime" if self.append_time else "CreateTime",
        }


_REQUEST_BYTES: Final = topics.MAX_REQUEST_BYTES + 32 * KIB
"""A request at its limit, with headers and the batch around it; one byte more still arrives and is answered."""

_ENVELOPED_BYTES: Final = topics.MAX_REQUEST_BYTES + topics.MAX_ENVELOPE_BYTES + 32 * KIB
_STATEMENT_BYTES: Final = 1024 * KIB
_LEDGER_BYTES: Final = 1024 * KIB
"""Commands of up to 16 KiB are served; a transaction's records travel together, in one batch a partition."""

_POPULATION: Final = "source_population_sha256"
_LEDGER_KEY: Final = "scope/segment/fingerprint, in the partition of scope/segment"

COMPACTION_REQUESTED: Final = TopicSpec(
    name=topics.COMPACTION_REQUESTED,
    record="CompactionRequested, signed",
    key="any",
    writers=("agent platforms",),
    content=True,
    cleanup="delete",
    retention_ms=CONTENT_RETENTION_MS,
    max_message_bytes=_REQUEST_BYTES,
)
MEMORY_RECALLED: Final = TopicSpec(
    name=topics.MEMORY_RECALLED,
    record="MemoryRecalled, signed",
    key="any",
    writers=("agent platforms",),
    content=True,
    cleanup="delete",
    retention_ms=CONTENT_RETENTION_MS,
    max_message_bytes=_REQUEST_BYTES,
)
WORK: Final = TopicSpec(
    name=topics.WORK,
    record="Work",
    key=_POPULATION,
    writers=("intake",),
    content=True,
    cleanup="delete",
    retention_ms=CONTENT_RETENTION_MS,
    max_message_bytes=_ENVELOPED_BYTES,
)
EVIDENCE: Final = TopicSpec(
    name=topics.EVIDENCE,
    record="Evidence, authenticated by its role",
    key=_POPULATION,
    writers=("intake", "consistency", "scan", "verdict"),
    content=False,
    cleanup="delete",
    retention_ms=3 * YEAR_MS,
    max_message_bytes=_STATEMENT_BYTES,
    append_time=True,
    fixed_partitions=True,
)
COMPACTION_ACCEPTED: Final = TopicSpec(
    name=topics.COMPACTION_ACCEPTED,
    record="Verdict, signed",
    key=_POPULATION,
    writers=("verdict",),
    content=False,
    cleanup="delete",
    retention_ms=3 * YEAR_MS,
    max_message_bytes=_STATEMENT_BYTES,
)
COMPACTION_QUARANTINED: Final = TopicSpec(
    name=topics.COMPACTION_QUARANTINED,
    record="Verdict, signed",
    key=_POPULATION,
    writers=("verdict",),
    content=False,
    cleanup="delete",
    retention_ms=3 * YEAR_MS,
    max_message_bytes=_STATEMENT_BYTES,
)
MEMORY_FINDINGS: Final = TopicSpec(
    name=topics.MEMORY_FINDINGS,
    record="MemoryFinding, one per entry",
    key=_POPULATION,
    writers=("scan",),
    content=False,
    cleanup="delete",
    retention_ms=3 * YEAR_MS,
    max_message_bytes=_STATEMENT_BYTES,
)
QUARANTINE_COMMANDS: Final = TopicSpec(
    name=topics.QUARANTINE_COMMANDS,
    record="a transition that is wanted, in a DSSE envelope",
    key=_LEDGER_KEY,
    writers=("verdict", "curators"),
    content=False,
    cleanup="delete",
    retention_ms=30 * DAY_MS,
    max_message_bytes=_LEDGER_BYTES,
    append_time=True,
    fixed_partitions=True,
)
QUARANTINE_LEDGER: Final = TopicSpec(
    name=topics.QUARANTINE_LEDGER,
    record="LedgerEntry: the newest revision",
    key=_LEDGER_KEY,
    writers=("ledger",),
    content=False,
    cleanup="compact",
    retention_ms=-1,
    max_message_bytes=_LEDGER_BYTES,
    append_time=True,
    fixed_partitions=True,
)
QUARANTINE_AUDIT: Final = TopicSpec(
    name=topics.QUARANTINE_AUDIT,
    record="AuditEntry: every transition, every authenticated refusal",
    key=_LEDGER_KEY,
    writers=("ledger",),
    content=False,
    cleanup="delete",
    retention_ms=-1,
    max_message_bytes=_LEDGER_BYTES,
    append_time=True,
    fixed_partitions=True,
)
QUARANTINE_REVIEW: Final = TopicSpec(
    name=topics.QUARANTINE_REVIEW,
    record="ReviewEntry: what became of an automatic entry",
    key=_LEDGER_KEY,
    writers=("ledger",),
    content=False,
    cleanup="compact",
    retention_ms=-1,
    max_message_bytes=_LEDGER_BYTES,
    append_time=True,
    fixed_partitions=True,
)
DEAD_LETTER: Final = TopicSpec(
    name=topics.DEAD_LETTER,
    record="the original bytes",
    key="the original key",
    writers=("every app",),
    content=True,
    cleanup="delete",
    retention_ms=CONTENT_RETENTION_MS,
    max_message_bytes=_ENVELOPED_BYTES,
)

TOPICS: Final[tuple[TopicSpec, ...]] = (
    COMPACTION_REQUESTED,
    MEMORY_RECALLED,
    WORK,
    EVIDENCE,
    COMPACTION_ACCEPTED,
    COMPACTION_QUARANTINED,
    MEMORY_FINDINGS,
    QUARANTINE_COMMANDS,
    QUARANTINE_LEDGER,
    QUARANTINE_AUDIT,
    QUARANTINE_REVIEW,
    DEAD_LETTER,
)
"""Every topic that an app of this release reads or writes."""

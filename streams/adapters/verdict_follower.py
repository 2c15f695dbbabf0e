"""Keeping the index of verdicts: the verdict topics, read in order and written to Redis.

The contract: where an index stands is what it says itself, asked each time: one that was lost is filled again from what
the topics hold, as far back as entries are kept. Several followers of one index do no harm: a verdict is final, so each
writes the same. Records that are no verdict on a compaction are passed over. Signatures are checked by whoever looks a
verdict up, not here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pratique.contract import avro
from pratique.contract.records import Origin, Verdict
from pratique.contract.signing import Signature
from pratique.errors import MalformedError, SignatureInvalidError
from streams.adapters.beside import Beside
from streams.adapters.kafka_log import KafkaLog, ReadRecord
from streams.adapters.redis_verdicts import PublishedVerdict, RedisVerdictWriter, accepted_by
from streams.application.ports.metrics import Metrics

PAUSE_SECONDS: Final = 1.0
"""Between two looks at the ends of the topics, which each cost the broker a question a partition."""
TOGETHER: Final = 500
"""Verdicts written at once."""


class VerdictFollower:
    """Reads the verdict topics into the index.

    Args:
        logs: The topics, by name.
        writer: The index.
        kept_ms: How far back verdicts are worth reading.
        now_ms: The wall clock.
    """

    def __init__(
        self, logs: Mapping[str, KafkaLog], writer: RedisVerdictWriter, kept_ms: int, now_ms: Callable[[], int]
    ) -> None:
        self._logs = logs
        self._writer = writer
        self._kept_ms = kept_ms
        self._now_ms = now_ms

    def catch_up(self) -> int:
        """Read what there is to read; return how many verdicts it were.

        Raises:
            UnavailableError: Redis or the broker does not answer.
        """
        positions = self._writer.positions()
        return sum(
            self._catch_up_with(topic, log, partition, positions.get(f"{topic}/{partition}"))
            for topic, log in self._logs.items()
            for partition in range(log.partition_count())
        )

    def _catch_up_with(self, topic: str, log: KafkaLog, partition: int, position: int | None) -> int:
        end = log.end_offset(partition)
        if position is None or position > end:  # an index that is new, or of topics that were made anew
            position = log.offset_at(partition, self._now_ms() - self._kept_ms)
            position = end if position is None else position
        elif position == end:
            return 0
        place, count, verdicts = f"{topic}/{partition}", 0, list[PublishedVerdict]()
        for record in log.history(partition, position, end):
            published = published_verdict(record)
            if published is not None:
                verdicts.append(published)
                count += 1
            if len(verdicts) >= TOGETHER:
                self._writer.write(verdicts, place, record.offset + 1)
                verdicts.clear()
        self._writer.write(verdicts, place, end)
        return count


def published_verdict(record: ReadRecord) -> PublishedVerdict | None:
    """Return a record as a verdict on a compaction; null where it is none."""
    try:
        verdict = avro.decode(record.value, Verdict)
        signature = Signature.from_headers(record.headers)
    except (MalformedError, SignatureInvalidError):
        return None
    if verdict.origin is not Origin.COMPACTION or record.value is None:
        return None
    return PublishedVerdict(
        verdict.tenant_id, verdict.verdict_id, accepted_by(verdict), record.topic, signature, record.value
    )


def following(follower: VerdictFollower, metrics: Metrics) -> Beside:
    """Return a thread that keeps the index of verdicts beside an app."""

    def follow() -> bool:
        metrics.count("verdict_index_verdicts_total", follower.catch_up())
        return True

    return Beside("verdict-index", follow, pause_s=PAUSE_SECONDS, gauge="verdict_index_current", metrics=metrics)

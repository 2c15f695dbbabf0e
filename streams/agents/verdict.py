"""The verdict app: evidence in, DECIDED out, and the first DECIDED read back is published.

The contract: nothing is decided but by the log (architecture, decisions 1, 3, 6, 7). Open joins live in memory, one
``PartitionJoins`` a partition; the offset that is safe is that of the oldest open join, so a crash or a rebalance
replays from there. A newly gained partition is warmed up before its first batch: what was decided within the
retention, up to the committed offset, is read into its index, and nothing is emitted.

Evidence that is not authentic is counted and ignored; a record that is no evidence at all is a dead letter.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final

from pratique.contract import avro
from pratique.contract.reasons import ReasonCode
from pratique.contract.records import Decided, Evidence, EvidenceKind, VerdictOutcome
from pratique.contract.signing import Signature, Signer
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED
from pratique.errors import MalformedError, SignatureInvalidError, SignerNotAuthorisedError
from streams.agents.loop import until_available
from streams.agents.nominating import Nominator
from streams.application.ports.log import Batch, Channel, Clock, EvidenceLog, LogRecord, Outbox, Output, Partition
from streams.application.ports.metrics import Metrics
from streams.domain.verdicts.evidence import Stated
from streams.domain.verdicts.joins import Effect, JoinLimits, PartitionJoins, Proposal, Publication, Repetition, Wait
from streams.errors import UnavailableError
from streams.wire.dead_letter import dead_letter
from streams.wire.evidence import EvidenceReader, EvidenceWriter, may_matter_later

LOG: Final = logging.getLogger(__name__)

_CHANNELS: Final[Mapping[VerdictOutcome, tuple[Channel, str]]] = {
    VerdictOutcome.ACCEPTED: (Channel.ACCEPTED, COMPACTION_ACCEPTED),
    VerdictOutcome.QUARANTINED: (Channel.QUARANTINED, COMPACTION_QUARANTINED),
}


class _Deadlines:
    """When the open joins of one partition expire, in monotonic milliseconds.

    A join expires only in two steps: its time runs out, then the partition is read up to the end offset that was
    observed after that. Nothing unread can be timed out.
    """

    def __init__(self) -> None:
        self._at: dict[bytes, tuple[Wait, int]] = {}
        self._observed: dict[Wait, int] = {}

    def follow(self, joins: PartitionJoins, now_ms: int) -> None:
        """Start the time of what is newly waited for, and forget what is not waited for any more."""
        for identity, changed in joins.changed_waits().items():
            before = self._at.pop(identity, None)
            if before is not None:
                self._observed.pop(before[0], None)
            if changed is not None:
                self._at[identity] = changed[0], now_ms + changed[1]

    def run_out(self, now_ms: int) -> list[Wait]:
        """Return what was waited for until now and for which no end offset was observed yet."""
        return [wait for wait, at in self._at.values() if now_ms >= at and wait not in self._observed]

    def observe(self, waits: Iterable[Wait], end_offset: int) -> None:
        """Note the end offset that was observed after these waits' time had run out."""
        for wait in waits:
            self._observed.setdefault(wait, end_offset)

    def expired(self, next_offset: int | None) -> list[Wait]:
        """Return the waits whose partition was read up to the observed end."""
        return [wait for wait, end in self._observed.items() if next_offset is not None and next_offset >= end]


@dataclass(slots=True)
class _Held:
    """A partition that this process holds."""

    joins: PartitionJoins
    deadlines: _Deadlines


class VerdictStep:
    """Joins evidence, proposes verdicts, publishes the first of each request."""

    def __init__(  # noqa: PLR0913 - everything that is outside, once
        self,
        *,
        reader: EvidenceReader,
        writer: EvidenceWriter,
        gate: Callable[[], Signer],
        outbox: Outbox,
        log: EvidenceLog,
        clock: Clock,
        limits: JoinLimits,
        metrics: Metrics,
        nominator: Nominator | None = None,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._gate = gate
        self._outbox = outbox
        self._log = log
        self._clock = clock
        self._limits = limits
        self._metrics = metrics
        self._nominator = nominator
        self._held: dict[Partition, _Held] = {}
        # A batch, a sweep and an assignment each see whole states, never each other's halves.
        self._turn = asyncio.Lock()

    async def gained(self, partitions: frozenset[Partition]) -> None:
        """Take over partitions: no open joins, and an index of what was decided before the committed offset."""
        async with self._turn:
            kept = {partition: held for partition, held in self._held.items() if partition in partitions}
            self._held = {}

            async def attempt() -> dict[Partition, _Held]:
                self._reader.trust()  # from here on evidence can be read without asking anyone
                return await asyncio.to_thread(self._warmed_up, partitions, kept)

            self._held = await until_available(attempt, lambda: True, self._metrics, "policy and evidence log") or {}

    async def take(self, batch: Batch, is_current: Callable[[], bool]) -> Mapping[Partition, int]:
        """Read evidence; propose and publish what follows; return what is safe."""
        async with self._turn:
            if not is_current():
                return {}
            followed, dead = await asyncio.to_thread(self._follow, batch)

            async def attempt() -> list[Output]:
                return await asyncio.to_thread(self._written, followed)

            outputs = await until_available(attempt, is_current, self._metrics, "evidence log")
            if outputs is None or not is_current():
                return {}
            await self._outbox.send([*dead, *outputs, *await self._commands(followed)])
            now_ms = self._clock.monotonic_ms()
            for partition in batch.parts:
                held = self._held[partition]
                held.deadlines.follow(held.joins, now_ms)
            self._report()
            return self._safe(batch.parts)

    async def tick(self) -> None:
        """Expire joins whose time has run out, once everything appended before that was read."""
        async with self._turn:
            now_ms = self._clock.monotonic_ms()
            for partition, held in list(self._held.items()):
                run_out = held.deadlines.run_out(now_ms)
                if run_out:
                    await self._observe(partition, held, run_out)
                effects = held.joins.expire(held.deadlines.expired(held.joins.next_offset))
                if effects:
                    self._metrics.count("expired_total", len(effects))
                    await self._outbox.send([self._output(effect, partition) for effect in effects])
                    held.deadlines.follow(held.joins, now_ms)

    async def _observe(self, partition: Partition, held: _Held, run_out: list[Wait]) -> None:
        try:
            end = await asyncio.to_thread(self._log.end_offset, partition[1])
        except UnavailableError as error:
            # Nothing is timed out while the log can't be asked; the next tick asks again.
            LOG.warning("end offset of partition %d is not to be had: %s", partition[1], error)
            self._metrics.count("waits_total", what="end offset")
            return
        held.deadlines.observe(run_out, end)

    def _warmed_up(self, partitions: frozenset[Partition], kept: Mapping[Partition, _Held]) -> dict[Partition, _Held]:
        return {
            partition: _Held(self._warm_up(partition[1], kept.get(partition)), _Deadlines())
            for partition in sorted(partitions)
        }

    def _warm_up(self, partition: int, kept: _Held | None) -> PartitionJoins:
        """Return joins that know what was opened and decided within the retention before the committed offset."""
        committed = self._log.committed_offset(partition)
        if committed is None:  # everything there is will be read
            return PartitionJoins(self._limits)
        resumes_ms = self._resumes_ms(partition, committed)
        joins = PartitionJoins(self._limits)
        if kept is not None and kept.joins.can_reopen(resumes_ms):
            joins = kept.joins
        start = joins.next_offset
        joins.reopen(committed, resumes_ms)
        if start is None:
            start = self._log.offset_at(partition, resumes_ms - self._limits.retention_ms)
        # A kept partition may have been another owner's in between: its decisions of that time are read as well.
        if start is not None and start < committed:
            with closing(self._log.history(partition, start, committed)) as records:
                for record in records:
                    stated = self._authentic(record) if may_matter_later(record.value) else None
                    if stated is not None:
                        joins.remember(stated)
        LOG.info("partition %d: %d decisions remembered", partition, joins.decided_count)
        return joins

    def _resumes_ms(self, partition: int, committed: int) -> int:
        """Return the log time at the committed offset: after an outage the index must reach back from there.

        What lies there may be no record (deleted, or a transaction's marker), so the next one is asked for.
        """
        with closing(self._log.history(partition, committed, self._log.end_offset(partition))) as unread:
            first = next(unread, None)
        now_ms = self._clock.wall_ms()
        return now_ms if first is None else min(now_ms, first.timestamp)

    def _follow(self, batch: Batch) -> tuple[list[tuple[Effect, Partition]], list[Output]]:
        """Read a batch into the joins; nothing here can fail halfway."""
        followed: list[tuple[Effect, Partition]] = []
        dead: list[Output] = []
        for partition, records in batch.parts.items():
            joins = self._held[partition].joins
            for record in records:
                try:
                    stated = self._reader.read(record)
                except MalformedError as error:
                    dead.append(self._dead(record, error))
                    joins.passed(record.offset)
                except (SignatureInvalidError, SignerNotAuthorisedError) as error:
                    self._ignore(record, error)
                    joins.passed(record.offset)
                else:
                    followed.extend((effect, partition) for effect in joins.read(stated))
        return followed, dead

    async def _commands(self, followed: Iterable[tuple[Effect, Partition]]) -> list[Output]:
        """Return what the verdicts of a batch ask of the quarantine ledger: nothing, where policy has no rule."""
        nominated = [effect for effect, _ in followed if isinstance(effect, Publication) and effect.nomination]
        if self._nominator is None or not nominated:
            return []
        return await asyncio.to_thread(self._nominator.commands, nominated)

    def _written(self, followed: Iterable[tuple[Effect, Partition]]) -> list[Output]:
        return [self._output(effect, partition) for effect, partition in followed]

    def _authentic(self, record: LogRecord) -> Stated | None:
        try:
            return self._reader.read(record)
        except (MalformedError, SignatureInvalidError, SignerNotAuthorisedError):
            return None  # it was counted when it was first read

    def _dead(self, record: LogRecord, error: MalformedError) -> Output:
        LOG.info("dead letter %s at %s[%d]@%d: %s", error.code, record.topic, record.partition, record.offset, error)
        self._metrics.count("dead_letters_total", code=error.code)
        return dead_letter(record, ReasonCode(error.code), now_ms=self._clock.wall_ms())

    def _ignore(self, record: LogRecord, error: Exception) -> None:
        LOG.warning("evidence ignored at %s[%d]@%d: %s", record.topic, record.partition, record.offset, error)
        self._metrics.count("evidence_ignored_total", why=type(error).__name__)

    def _output(self, effect: Effect, partition: Partition) -> Output:
        if isinstance(effect, Proposal):
            return self._proposal(effect, partition[1])
        if isinstance(effect, Publication):
            self._metrics.count("verdicts_total", outcome=effect.decided.outcome.value)
            return _publication(effect.join_key.message_key, effect.decided)
        return self._repetition(effect, partition[1])

    def _proposal(self, proposal: Proposal, partition: int) -> Output:
        outcome = proposal.verdict.outcome
        value = avro.encode(proposal.verdict)
        signature = self._gate().sign(_CHANNELS[outcome][1], value)
        decided = Decided(outcome, value, signature.key_id, signature.signature)
        pin = proposal.verdict.policy_set_sha256
        evidence = Evidence(EvidenceKind.DECIDED, proposal.join_key, pin, decided=decided)
        return replace(self._writer.write(evidence), partition=partition)

    def _repetition(self, repetition: Repetition, partition: int) -> Output:
        self._metrics.count("repetitions_total")
        stated = self._reader.read(self._log.record_at(partition, repetition.offset))
        if stated.evidence.decided is None:
            raise UnavailableError("the index names an offset that holds no decision")
        return _publication(stated.evidence.join_key.message_key, stated.evidence.decided)

    def _safe(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        offsets = {partition: self._held[partition].joins.safe_offset() for partition in partitions}
        return {partition: offset for partition, offset in offsets.items() if offset is not None}

    def _report(self) -> None:
        self._metrics.gauge("open_joins", sum(held.joins.open_count for held in self._held.values()))
        self._metrics.gauge("remembered_decisions", sum(held.joins.decided_count for held in self._held.values()))


def _publication(key: bytes, decided: Decided) -> Output:
    channel, _ = _CHANNELS[decided.outcome]
    return Output(channel, key, decided.verdict, Signature(decided.key_id, decided.signature).headers)

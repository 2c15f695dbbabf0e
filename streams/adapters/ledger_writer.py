"""The quarantine ledger's writer: a consume-process-produce transaction (KIP-447), fenced by the group's generation.

The contract: a command's offset, the entry and the audit that follow from it are committed together or not at all. Of
several writers, one holds a partition; one that was paused and replaced can't write. How that is ensured:

1. A new owner awaits stable offsets (``committed`` under read_committed): its predecessor may have handed its offsets
   to a transaction that can still commit.
2. It then reads the ledger partition to the end that the broker has appended to, open transactions included, and holds
   what it read to the newest audit entry. Only then it consumes.
3. The group's metadata that fences a writer is that of the assignment, taken when it was given. Taken later, it might
   be that of a member that was thrown out meanwhile: empty, which a broker does not check at all.
4. Assignments are eager: every change of the group gives each partition up, and its state with it.

Whatever fails within a transaction ends the writer: ``run`` raises, and the process is to end without committing
anything more. It is started again, and begins at 1. Offsets, positions and moments are the broker's; a clock is read
for one thing alone, the end of automatic entries, which is a transaction like any other and as fenced: it states the
offset that the partition stands at once more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from pratique.contract.trust import TrustTarget
from pratique.errors import RefusedError, UnavailableError
from pratique.kafka_clients import new_client
from streams.adapters.kafka_log import ReadRecord, read_record
from streams.adapters.kafka_outbox import MAX_MESSAGE_BYTES
from streams.adapters.ledger_log import LedgerLog, StoppingError, bear
from streams.application.ledger import LedgerLimits, LedgerPartition
from streams.application.ledger_decision import Decision, Rules, no_rules
from streams.application.ports.log import Channel, Output
from streams.application.ports.metrics import Metrics
from streams.errors import LedgerBrokenError
from streams.wire.ledger import consequences, outputs, read_audit, read_entry, read_review

LOG: Final = logging.getLogger(__name__)

POLL_SECONDS: Final = 0.2
REQUEST_SECONDS: Final = 10.0
END_EVERY_MS: Final = 1_000
"""How often is looked for automatic entries whose time is over."""

BATCH_BYTES: Final = 16 * 1024 * 1024
"""Most that a transaction puts aside: it has to be written in its time, whatever compression brought in one batch."""

STEPS: Final = ("check/write", "write/send_offsets", "send_offsets/commit", "commit/next")
"""The moments at which a writer may be interrupted, as tests name them."""


GIVEN: Final = "given"
"""The moment at which it was given partitions and has not looked at them yet, as tests name it."""


class WriterFencedError(UnavailableError):
    """This writer may not write, or can't know whether it wrote: its process must end."""


@dataclass(frozen=True, slots=True)
class LedgerTopics:
    """The ledger's topics, as they are called here.

    Attributes:
        commands: Read.
        ledger: Written; compacted.
        audit: Written; kept.
        review: Written; compacted.
        dead_letter: Written.
    """

    commands: str
    ledger: str
    audit: str
    review: str
    dead_letter: str

    def of(self, channel: Channel) -> str:
        """Return the topic behind a channel."""
        names = {Channel.LEDGER: self.ledger, Channel.AUDIT: self.audit, Channel.REVIEW: self.review}
        return self.dead_letter if channel is Channel.DEAD_LETTER else names[channel]


@dataclass(frozen=True, slots=True)
class WriterTimes:
    """What a writer takes its time for.

    Attributes:
        session_timeout_ms: How long a silent member keeps its partitions.
        transaction_timeout_ms: How long the broker lets a transaction stay open: a writer that died in one holds its
            successor up for so long.
        batch_records: Most commands of a transaction.
    """

    session_timeout_ms: int
    transaction_timeout_ms: int = 15_000
    batch_records: int = 500


class LedgerWriter:
    """Writes the ledger.

    Args:
        configuration: librdkafka properties of the connection.
        topics: The ledger's topics.
        group: The consumer group.
        transactional_id: Unlike that of any other process: generations fence, not producer epochs.
        times: What it takes its time for.
        limits: What a partition takes.
        trust: Returns the trust target to go by.
        rules: Returns the rules of automatic quarantine to go by.
        now_ms: The time by which automatic entries end, in milliseconds since the epoch.
        metrics: Counts.
        is_stopping: Whether the process was told to end.
        on_ready: Called when the first assignment is loaded.
        reached: Called at each of ``STEPS``, and when it is given partitions; for tests that interrupt a writer there.
    """

    def __init__(  # noqa: PLR0913 - everything that is outside, once
        self,
        configuration: Mapping[str, str],
        topics: LedgerTopics,
        group: str,
        transactional_id: str,
        *,
        times: WriterTimes,
        limits: LedgerLimits,
        trust: Callable[[], TrustTarget],
        rules: Rules = no_rules,
        now_ms: Callable[[], int] = lambda: 0,
        metrics: Metrics,
        is_stopping: Callable[[], bool],
        on_ready: Callable[[], None] = lambda: None,
        reached: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._topics = topics
        self._batch_records = times.batch_records
        self._limits = limits
        self._trust = trust
        self._rules = rules
        self._now_ms = now_ms
        self._looked_ms = 0
        self._positions: dict[int, int] = {}
        self._metrics = metrics
        self._is_stopping = is_stopping
        self._on_ready = on_ready
        self._reached = reached
        self._partitions: dict[int, LedgerPartition] = {}
        self._fence: Any = None
        self._log = LedgerLog(configuration, is_stopping)
        self._partition_count = self._agreed_count()
        self._consumer = new_client(
            Consumer,
            {
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed",
                "partition.assignment.strategy": "range",
                "session.timeout.ms": times.session_timeout_ms,
                "heartbeat.interval.ms": times.session_timeout_ms // 5,
                "max.poll.interval.ms": 24 * 60 * 60 * 1000,  # reading a large ledger is no failure
                **configuration,
            },
        )
        self._producer = new_client(
            Producer,
            {
                "transactional.id": transactional_id,
                "transaction.timeout.ms": times.transaction_timeout_ms,
                "compression.type": "lz4",
                "linger.ms": 1,
                "message.max.bytes": MAX_MESSAGE_BYTES,
                "partitioner": "murmur2_random",
                **configuration,
            },
        )

    def run(self) -> None:
        """Serve commands until told to stop.

        Raises:
            RefusedError: A topic holds what it may not, or the group has lost its place: an operator has to mend it.
            UnavailableError: Something failed in a transaction, or this writer was fenced: end the process.
        """
        try:
            self._log.patiently(
                lambda: self._producer.init_transactions(REQUEST_SECONDS), "the transaction coordinator"
            )
            self._consumer.subscribe(
                [self._topics.commands], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
            )
            while not self._is_stopping():
                messages = next_batch(self._consumer, self._batch_records, lambda: self._fence)
                self._end()  # first: what an operator let be lost is written down before anything is built on it
                self._serve(messages)
        except StoppingError:
            return
        except KafkaException as error:
            raise WriterFencedError(f"the log refuses this writer: {error.args[0].name()}") from error

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()
        self._log.close()

    # -- a batch -----------------------------------------------------------------------------------------------------

    def _serve(self, messages: Sequence[Message]) -> None:
        records: list[ReadRecord] = []
        for message in messages:
            error = message.error()
            if error is None:
                records.append(read_record(message))
            else:
                bear(error, self._topics.commands)
        for together in within(records, BATCH_BYTES):
            self._serve_together(together)

    def _serve_together(self, records: Sequence[ReadRecord]) -> None:
        trust = self._trust()
        decided = [
            (record, self._partitions[record.partition].decide(record, trust, self._rules)) for record in records
        ]
        written = [output for record, decision in decided for output in outputs(record, decision)]
        self._commit(written, {record.partition: record.offset + 1 for record in records})
        for _, decision in decided:
            self._count(decision)

    def _end(self) -> None:
        """Take out the automatic entries whose time is over, some at a time."""
        now_ms = self._now_ms()
        if now_ms - self._looked_ms < END_EVERY_MS:
            return
        self._looked_ms = now_ms
        for partition, state in self._partitions.items():
            decided = list(islice(state.ended(now_ms), self._batch_records))
            if decided:
                written = [output for decision in decided for output in consequences(decision, partition)]
                self._commit(written, {partition: self._positions[partition]})
            for decision in decided:
                self._count(decision)

    def _commit(self, written: Sequence[Output], offsets: Mapping[int, int]) -> None:
        self._reached("check/write")
        self._producer.begin_transaction()
        try:
            self._write(written, offsets)
        except KafkaException as error:
            self._abort(error)
            raise
        self._positions.update(offsets)
        self._reached("commit/next")

    def _write(self, written: Sequence[Output], offsets: Mapping[int, int]) -> None:
        for output in written:
            self._produce(output)
        self._reached("write/send_offsets")
        places = [TopicPartition(self._topics.commands, *item) for item in offsets.items()]
        _repeatedly(lambda: self._producer.send_offsets_to_transaction(places, self._fence, REQUEST_SECONDS))
        self._reached("send_offsets/commit")
        _repeatedly(lambda: self._producer.commit_transaction(REQUEST_SECONDS))

    def _produce(self, output: Output) -> None:
        where: dict[str, Any] = {} if output.partition is None else {"partition": output.partition}
        topic = self._topics.of(output.channel)
        while True:
            try:
                self._producer.produce(topic, output.value, output.key, headers=list(output.headers), **where)
            except BufferError:  # the local queue is full: let deliveries drain it
                self._producer.poll(0.1)
            else:
                return

    def _abort(self, error: KafkaException) -> None:
        LOG.error("transaction failed: %s", error.args[0].name())
        if error.args[0].txn_requires_abort():
            try:
                self._producer.abort_transaction(REQUEST_SECONDS)
            except KafkaException as second:  # the broker aborts it by itself, in time
                LOG.warning("transaction not aborted by us: %s", second.args[0].name())

    def _count(self, decision: Decision) -> None:
        if decision.automatic:
            self._metrics.count("ledger_automatic_total", result=decision.automatic)
        if decision.entry is not None:
            self._metrics.count("ledger_transitions_total")
        elif not decision.automatic and decision.audit is not None and decision.audit.reason_code is not None:
            self._metrics.count("ledger_refusals_total", code=decision.audit.reason_code)
        if decision.dead is not None:
            self._metrics.count("dead_letters_total", code=decision.dead.value)

    # -- the group ---------------------------------------------------------------------------------------------------

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._reached(GIVEN)
        self._fence = consumer.consumer_group_metadata()
        if not consumer.memberid():
            raise WriterFencedError("was thrown out of the group while it was given partitions")
        self._partitions.clear()
        self._positions = {}
        self._looked_ms = 0
        LOG.info("is given %d partitions; awaits stable offsets", len(partitions))
        starts = self._log.patiently(lambda: _committed(consumer, partitions), "its predecessor's transaction")
        lost = [start.partition for start in starts if start.offset < 0]
        if lost:
            raise RefusedError(
                f"the ledger's group has no committed offset for partitions {lost} of {self._topics.commands}: "
                "run `pratique topics apply` and see docs/guide/operator.md"
            )
        for start in starts:
            self._partitions[start.partition] = self._load(start.partition)
            self._positions[start.partition] = start.offset
        consumer.assign(starts)
        LOG.info("holds %d partitions, %d entries", len(starts), sum(map(len, self._partitions.values())))
        self._metrics.gauge("ledger_partitions", len(starts))
        self._on_ready()

    def _revoked(self, consumer: Consumer, _: list[TopicPartition]) -> None:
        self._partitions.clear()
        self._fence = None
        consumer.unassign()

    def _lost(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        raise WriterFencedError(f"{len(partitions)} partitions were given to another writer")

    def _load(self, partition: int) -> LedgerPartition:
        state = LedgerPartition(partition, self._partition_count, self._limits)
        for record in self._whole("ledger", self._topics.ledger, partition):
            state.load(record.key, read_entry(record.value))
        for record in self._whole("review", self._topics.review, partition):
            state.load_review(record.key, read_review(record.value))
        newest = self._log.newest(self._topics.audit, partition)
        state.check(None if newest is None else read_audit(newest.value))
        return state

    def _whole(self, role: str, topic: str, partition: int) -> Iterator[ReadRecord]:
        low, end = self._log.bounds(topic, partition)
        if low > 0:  # compaction leaves the first offset where it is; only deletion moves it
            raise LedgerBrokenError(f"{role} partition {partition} begins at offset {low}: its beginning was deleted")
        return self._log.read(topic, partition, low, end)

    def _agreed_count(self) -> int:
        names = (self._topics.commands, self._topics.ledger, self._topics.audit, self._topics.review)
        counts = {name: self._log.partition_count(name) for name in names}
        if len(set(counts.values())) != 1:
            raise RefusedError(f"the ledger's topics differ in their partition counts: {counts}")
        return counts[self._topics.commands]


def within(records: Sequence[ReadRecord], most_bytes: int) -> Iterator[Sequence[ReadRecord]]:
    """Yield records in order, so many at once that their values have at most so many bytes; one at least."""
    begin, size = 0, 0
    for place, record in enumerate(records):
        size += len(record.value or b"")
        if size > most_bytes and place > begin:
            yield records[begin:place]
            begin, size = place, len(record.value or b"")
    if begin < len(records):
        yield records[begin:]


def next_batch(consumer: Consumer, most: int, held: Callable[[], object]) -> list[Message]:
    """Wait for a record, and return it with those that are there already: one alone waits for no others.

    Args:
        consumer: What is read; it may be given other partitions meanwhile.
        most: Records at most.
        held: Returns what stands for the assignment, another object for each.
    """
    first = consumer.poll(POLL_SECONDS)
    if first is None:
        return []
    before = held()
    following = consumer.consume(most - 1, 0)
    # Where partitions were given up in between, the record in hand is read again, by whoever holds its partition now.
    return [first, *following] if held() is before else following


def _committed(consumer: Consumer, partitions: list[TopicPartition]) -> list[TopicPartition]:
    """Return committed offsets that no open transaction can change; raises ``KafkaException`` while one can."""
    answers = consumer.committed(partitions, REQUEST_SECONDS)
    for answer in answers:
        if answer.error is not None:
            raise KafkaException(answer.error)
    return answers


def _repeatedly(step: Callable[[], None]) -> None:
    """Do a step of a transaction, again where the library says that it may be done again."""
    while True:
        try:
            step()
        except KafkaException as error:
            if not error.args[0].retriable():
                raise
        else:
            return

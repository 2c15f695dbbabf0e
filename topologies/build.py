"""Topology to a Faust app; with `credentials` the only module that knows Faust.

The contract (architecture, decision 11): Faust keeps the consumer group, its thread, rebalances, flow control and the
commit timer. One fetch reaches the agent as one event, a ``Batch`` of raw records; what is committed is exactly what
the step marked safe. Nothing of Faust's messages, acknowledgements, tables or producer is relied on.

An exception that leaves a step ends the process with status 70: Faust would restart the agent behind the batch that
failed, and its records would be lost.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Final, cast

import faust
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from mode.utils.objects import cached_property

from pratique.errors import ConfigurationError
from streams.agents.loop import Step, run
from streams.application.ports.log import Batch, Partition
from topologies.apps import Topology
from topologies.credentials import faust_credentials
from topologies.settings import Settings

LOG: Final = logging.getLogger(__name__)

FAUST_VERSION: Final = "0.15.3"
"""The one version whose internals were read; ``check_internals`` and a test hold the few that are used."""

_USED_INTERNALS: Final = (
    "_drain_messages",
    "_new_offset",
    "_filter_tps_with_pending_acks",
    "_wait_next_records",
    "_to_message",
    "track_message",
    "ack",
    "_new_consumer_thread",
)
EXIT_UNMARKED: Final = 70
"""Status of a process that ended without marking a batch (sysexits: EX_SOFTWARE)."""

TICK_SECONDS: Final = 0.5
COMMIT_SECONDS: Final = 0.5
FETCHES_QUEUED: Final = 4
FETCH_RECORDS: Final = 2000
FETCH_WAIT_MS: Final = 100


def check_internals() -> None:
    """Check that the installed Faust is the one this module was written against.

    Raises:
        ConfigurationError: Another version, or one of the internals used is gone.
    """
    found = metadata.version("faust-streaming")
    missing = [name for name in _USED_INTERNALS if not hasattr(driver.Consumer, name)]
    if found != FAUST_VERSION or missing:
        raise ConfigurationError(
            f"faust-streaming {FAUST_VERSION} is needed, found {found} (missing: {missing}); install from run.lock"
        )


class _PassThrough(faust.Schema[Any, Any]):
    """Hands a batch to the agent as it is."""

    def loads_key(self, app: Any, message: Any, **_: Any) -> None:  # noqa: ANN401, ARG002 - Faust's signature
        return None

    def loads_value(self, app: Any, message: Any, **_: Any) -> Any:  # noqa: ANN401, ARG002 - Faust's signature
        return message.value


class _ConsumerThread(driver.AIOKafkaConsumerThread):
    """Creates aiokafka's consumer as Faust does, except that no fetch waits long for data.

    aiokafka has one fetch a broker in flight. A partition that was read dry is in none until that one returns, so while
    the others are silent its next record waits as long as a fetch may: 1.5 s as Faust has it, at each hop of a request.
    """

    def _create_consumer(self, loop: asyncio.AbstractEventLoop) -> Any:  # noqa: ANN401 - an aiokafka consumer
        consumer = super()._create_consumer(loop)
        if not hasattr(consumer, "_fetch_max_wait_ms"):
            raise ConfigurationError("aiokafka keeps its fetch wait elsewhere than it did; install from run.lock")
        consumer._fetch_max_wait_ms = FETCH_WAIT_MS  # noqa: SLF001 - Faust has no setting for it; read when it starts
        return consumer


class _BatchConsumer(driver.Consumer):
    """Hands one fetch to the agent as one event, and commits what the app says is safe."""

    def _new_consumer_thread(self) -> driver.AIOKafkaConsumerThread:
        return _ConsumerThread(self, loop=self.loop, beacon=self.beacon)

    async def _drain_messages(self, fetcher: Any) -> None:  # noqa: ANN401 - Faust's signature
        app = cast("_App", self.app)
        while not (self._stopped.is_set() or fetcher._stopped.is_set()):  # noqa: SLF001 - as in the overridden method
            records, active = await self._wait_next_records(1.0)
            generation, epoch = app.consumer_generation_id, app.epoch
            await asyncio.sleep(0)
            if not records or self.should_stop:
                continue
            if not self.flow_active:
                await self.perform_seek()
                continue
            parts = self._unread(records, active)
            if not parts or generation != app.consumer_generation_id or epoch != app.epoch:
                continue
            tp, last = next((tp, fetched[-1]) for tp, fetched in parts.items())
            message: Any = self._to_message(tp, last)
            message.value = Batch(epoch, {(tp.topic, tp.partition): fetched for tp, fetched in parts.items()})
            await self.wait_first(self.callback(message), self.suspend_flow.wait())
            for tp, fetched in parts.items():
                self._read_offset[tp] = fetched[-1].offset + 1

    def _unread(self, records: Mapping[TP, Any], active: set[TP] | None) -> dict[TP, Any]:
        parts = {}
        for tp, fetched in records.items():
            if active is not None and tp not in active:
                continue
            position = self._read_offset[tp]
            unread = [record for record in fetched if position is None or record.offset >= position]
            if unread:
                parts[tp] = unread
        return parts

    def track_message(self, message: Any) -> None:  # noqa: ANN401 - Faust's signature
        """Track nothing: what is safe is the step's to say."""

    def ack(self, message: Any) -> bool:  # noqa: ANN401, ARG002 - Faust's signature
        """Acknowledge nothing: the same."""
        return True

    def _new_offset(self, tp: TP) -> int | None:
        return cast("_App", self.app).safe.get((tp.topic, tp.partition))

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:  # noqa: ANN401, ARG002 - Faust's signature
        return iter([TP(topic, partition) for topic, partition in cast("_App", self.app).safe])


class _App(faust.App):
    """A Faust app that knows its assignment's epoch and the offsets that are safe in it.

    A member sends no heartbeats while its assignment callback runs, so what takes time happens elsewhere: ``warm``
    before the group is joined, and preparing for an assignment beside it, with batches waiting for the end of it.
    """

    epoch: int = 0
    warm: Callable[[], Awaitable[None]]
    preparing: asyncio.Task[None] | None = None

    @cached_property
    def safe(self) -> dict[Partition, int]:
        """What may be committed, by partition."""
        return {}

    async def on_start(self) -> None:
        """Load what takes seconds before the group is joined."""
        await _or_end(self.warm())
        await super().on_start()

    def prepare(self, gained: Callable[[], Awaitable[None]], on_ready: Callable[[], None]) -> None:
        """Begin to prepare for the current assignment, after what is being prepared already."""
        earlier, epoch = self.preparing, self.epoch

        async def work() -> None:
            if earlier is not None:
                await earlier
            await _or_end(gained())
            if epoch == self.epoch:
                on_ready()

        self.preparing = asyncio.create_task(work())

    async def prepared(self) -> None:
        """Return when the app is prepared for its current assignment."""
        while self.preparing is not None and not self.preparing.done():
            await asyncio.shield(self.preparing)

    def mark(self, epoch: int, offsets: Mapping[Partition, int]) -> None:
        """State the offsets that may be committed, unless the epoch is over."""
        if epoch == self.epoch:
            self.safe.update(offsets)

    def _new_transport(self) -> Any:  # noqa: ANN401 - Faust's signature
        transport: Any = super()._new_transport()
        transport.Consumer = _BatchConsumer
        return transport


def build(
    topology: Topology,
    settings: Settings,
    step: Step,
    warm: Callable[[], Awaitable[None]],
    on_ready: Callable[[], None],
) -> faust.App:
    """Return the Faust app of a topology.

    Args:
        topology: What it reads.
        settings: Where it runs.
        step: What it does; told of every assignment before its first batch.
        warm: Awaited before the group is joined: what takes seconds to load.
        on_ready: Called when the app holds its first assignment and is prepared for it.

    Raises:
        ConfigurationError: The installed Faust is another one.
    """
    check_internals()
    app = _App(
        topology.group,
        broker=[f"kafka://{server.strip()}" for server in settings.bootstrap.split(",")],
        broker_credentials=faust_credentials(settings.kafka),
        store="memory://",
        datadir=str(Path(settings.policy_state or ".") / "faust"),
        web_enabled=False,
        topic_disable_leader=True,
        topic_allow_declare=False,
        processing_guarantee="at_least_once",
        table_standby_replicas=0,
        stream_wait_empty=False,
        stream_publish_on_commit=False,
        stream_buffer_maxsize=FETCHES_QUEUED,
        consumer_auto_offset_reset="earliest",
        broker_commit_interval=COMMIT_SECONDS,
        broker_max_poll_records=FETCH_RECORDS,
        broker_max_poll_interval=3600.0,
        broker_session_timeout=settings.session_timeout_ms / 1000,
        broker_heartbeat_interval=settings.session_timeout_ms / 5000,
        broker_rebalance_timeout=60.0,
        broker_request_timeout=90.0,
        loghandlers=[],
    )
    app.warm = warm
    source = app.topic(*(spec.name for spec in topology.sources), schema=_PassThrough())
    _follow_assignments(app, step, on_ready)

    async def serve(stream: Any) -> None:  # noqa: ANN401 - a Faust stream
        await _or_end(run(_batches(app, stream), step, app))

    async def tick() -> None:
        await _or_end(step.tick())

    app.agent(source, name=topology.name, concurrency=1)(serve)
    app.timer(TICK_SECONDS)(tick)
    return app


def _follow_assignments(app: _App, step: Step, on_ready: Callable[[], None]) -> None:
    async def revoked(*_: Any, **__: Any) -> None:  # noqa: ANN401 - Faust's signature
        await app.consumer.commit()
        app.epoch += 1
        app.safe.clear()

    async def assigned(_: Any, partitions: set[TP], **__: Any) -> None:  # noqa: ANN401 - Faust's signature
        app.epoch += 1
        app.safe.clear()
        held = frozenset((tp.topic, tp.partition) for tp in partitions)
        LOG.info("assigned %d partitions", len(held))
        app.prepare(lambda: step.gained(held), on_ready)

    # Held strongly: Faust's signals keep weak references to their receivers.
    app.on_partitions_revoked.connect(revoked, weak=False)
    cast("Any", app.on_partitions_assigned).connect(assigned, weak=False)


async def _batches(app: _App, stream: Any) -> AsyncIterator[Batch]:  # noqa: ANN401 - a Faust stream
    async for batch in stream:
        await app.prepared()
        yield batch


async def _or_end(work: Awaitable[None]) -> None:
    try:
        await work
    except Exception:  # the one place where every error ends: see the module's contract
        LOG.exception("ending without marking; the log is read again from the last safe offset")
        logging.shutdown()
        os._exit(EXIT_UNMARKED)

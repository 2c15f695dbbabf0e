"""The shell around Faust: what is handed on, what is committed, and that a changed Faust is noticed."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from pratique.errors import ConfigurationError
from streams.application.ports.log import Batch, Partition
from tests.fakes.steps import Record
from topologies import build as build_module
from topologies.apps import APPS
from topologies.build import (
    EXIT_UNMARKED,
    FETCH_WAIT_MS,
    _App,
    _BatchConsumer,
    _batches,
    _ConsumerThread,
    _follow_assignments,
    _or_end,
    build,
    check_internals,
)
from topologies.settings import Settings

FIRST, SECOND = TP("topic", 0), TP("topic", 1)


class Ended(BaseException):
    """What ending the process is here."""


# --------------------------------------------------------------------------------------------------------- internals


def test_installed_faust_is_the_one_that_was_read() -> None:
    check_internals()


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "0.15.4")
    with pytest.raises(ConfigurationError, match=r"0\.15\.4"):
        check_internals()


@pytest.mark.parametrize("name", build_module._USED_INTERNALS)
def test_internal_that_is_gone_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        """A consumer that lacks one of them."""

    for other in build_module._USED_INTERNALS:
        if other != name:
            setattr(Other, other, None)
    monkeypatch.setattr(driver, "Consumer", Other)
    with pytest.raises(ConfigurationError, match=name):
        check_internals()


def test_every_override_overrides_something() -> None:
    """A method that Faust renamed would be ours alone, and never called."""
    ours = {name for name in vars(_BatchConsumer) if not name.startswith("__") and name != "_unread"}
    assert ours <= {name for base in driver.Consumer.__mro__ for name in vars(base)} | {"_abc_impl", "logger", "log"}
    for name in ("_drain_messages", "_new_offset", "_filter_tps_with_pending_acks", "track_message", "ack"):
        assert name in vars(_BatchConsumer)


# ---------------------------------------------------------------------------------------------------------- commits


@dataclass
class App:
    """What the consumer needs of an app."""

    safe: dict[Partition, int] = field(default_factory=dict)
    epoch: int = 1
    consumer_generation_id: int = 1


def consumer(app: App, committed: Mapping[TP, int] | None = None) -> Any:  # noqa: ANN401 - without Faust's constructor
    found: Any = object.__new__(_BatchConsumer)
    found.app = app
    found._committed_offset = defaultdict(lambda: None, committed or {})
    found._read_offset = defaultdict(lambda: None)
    return found


def committable(found: Any) -> dict[TP, int]:  # noqa: ANN401 - as above
    """Return what Faust's own code would commit."""
    result: dict[TP, int] = found._filter_committable_offsets(list(found._filter_tps_with_pending_acks()))
    return result


def test_exactly_what_is_safe_is_committed() -> None:
    app = App({("topic", 0): 7, ("topic", 1): 0, ("other", 3): 9})
    assert committable(consumer(app)) == {FIRST: 7, SECOND: 0, TP("other", 3): 9}


def test_nothing_is_committed_without_a_mark() -> None:
    assert committable(consumer(App())) == {}


def test_what_is_committed_already_is_not_committed_again() -> None:
    app = App({("topic", 0): 7, ("topic", 1): 8})
    assert committable(consumer(app, {FIRST: 7, SECOND: 7})) == {SECOND: 8}


def test_acknowledging_commits_nothing() -> None:
    found = consumer(App())
    message = object()
    found.track_message(message)
    assert found.ack(message) is True
    assert committable(found) == {}


def test_mark_of_an_assignment_that_is_over_is_nothing() -> None:
    app = object.__new__(_App)
    app.epoch = 4
    app.__dict__["safe"] = {}
    app.mark(3, {("topic", 0): 7})
    assert app.safe == {}
    app.mark(4, {("topic", 0): 7})
    app.mark(4, {("topic", 1): 1})
    assert app.safe == {("topic", 0): 7, ("topic", 1): 1}


# ---------------------------------------------------------------------------------------------------------- batches


def record(offset: int, partition: int = 0) -> Record:
    return Record("topic", b"v", partition=partition, offset=offset)


@pytest.mark.parametrize(
    ("position", "active", "expected"),
    [
        (None, {FIRST}, [0, 1, 2]),
        (0, {FIRST}, [0, 1, 2]),
        (1, {FIRST}, [1, 2]),
        (3, {FIRST}, None),
        (None, set(), None),
        (None, None, [0, 1, 2]),
    ],
)
def test_what_was_read_or_is_not_held_is_left_out(
    position: int | None, active: set[TP] | None, expected: list[int] | None
) -> None:
    found = consumer(App())
    found._read_offset[FIRST] = position
    parts = found._unread({FIRST: [record(offset) for offset in range(3)]}, active)
    assert [item.offset for item in parts.get(FIRST, [])] == (expected or [])
    assert (FIRST in parts) == (expected is not None)


class Drain:
    """A consumer whose fetches are scripted; what reaches the agent is kept."""

    def __init__(self, app: App, *fetches: Mapping[TP, list[Record]] | None) -> None:
        self.app = app
        self.consumer = consumer(app)
        self.fetches = list(fetches)
        self.delivered: list[Batch] = []
        self.sought = 0
        self.fetched = 0
        self.at_fetch: Callable[[int], None] = lambda _: None
        self.stopped = asyncio.Event()
        self.consumer._stopped = self.stopped
        self.consumer.flow_active = True
        self.consumer.suspend_flow = asyncio.Event()
        self.consumer._wait_next_records = self._next
        self.consumer.perform_seek = self._seek
        self.consumer._to_message = lambda tp, last: type("Message", (), {"tp": tp, "offset": last.offset})()
        self.consumer.callback = self._callback
        self.consumer.wait_first = self._wait_first

    async def _next(self, _: float) -> tuple[Mapping[TP, list[Record]] | None, set[TP]]:
        self.at_fetch(self.fetched)
        self.fetched += 1
        if not self.fetches:
            self.stopped.set()
            return None, set()
        return self.fetches.pop(0), {FIRST, SECOND}

    async def _seek(self) -> None:
        self.sought += 1

    async def _callback(self, message: Any) -> None:  # noqa: ANN401 - Faust's message
        self.delivered.append(message.value)

    @staticmethod
    async def _wait_first(first: Awaitable[None], second: Awaitable[None]) -> None:
        await first
        second.close()  # type: ignore[attr-defined] # a coroutine

    def run(self) -> None:
        fetcher = type("Fetcher", (), {"_stopped": asyncio.Event()})()
        asyncio.run(self.consumer._drain_messages(fetcher))


@pytest.fixture(autouse=True)
def _not_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_BatchConsumer, "should_stop", property(lambda self: self._stopped.is_set()))


def test_one_fetch_is_one_batch_of_its_epoch() -> None:
    drain = Drain(App(epoch=5), {FIRST: [record(0), record(1)], SECOND: [record(4, 1)]}, {FIRST: [record(2)]})
    drain.run()
    assert [(batch.epoch, batch.ends()) for batch in drain.delivered] == [
        (5, {("topic", 0): 2, ("topic", 1): 5}),
        (5, {("topic", 0): 3}),
    ]
    assert drain.consumer._read_offset == {FIRST: 3, SECOND: 5}


def test_records_that_come_twice_are_handed_on_once() -> None:
    drain = Drain(App(), {FIRST: [record(0), record(1)]}, {FIRST: [record(1), record(2)]}, {FIRST: [record(0)]})
    drain.run()
    assert [[item.offset for item in batch.records()] for batch in drain.delivered] == [[0, 1], [2]]


def test_offsets_may_have_gaps() -> None:
    drain = Drain(App(), {FIRST: [record(0), record(7)]}, {FIRST: [record(20)]})
    drain.run()
    assert [batch.ends() for batch in drain.delivered] == [{("topic", 0): 8}, {("topic", 0): 21}]


def test_empty_fetch_is_no_batch() -> None:
    drain = Drain(App(), None, {}, {FIRST: []})
    drain.run()
    assert drain.delivered == []


def test_fetch_while_the_flow_is_suspended_is_dropped_and_sought_again() -> None:
    drain = Drain(App(), {FIRST: [record(0)]}, {FIRST: [record(0)]})

    def at_fetch(number: int) -> None:
        drain.consumer.flow_active = number != 0

    drain.at_fetch = at_fetch
    drain.run()
    assert drain.sought == 1
    assert [batch.ends() for batch in drain.delivered] == [{("topic", 0): 1}]


@pytest.mark.parametrize("what", ["epoch", "consumer_generation_id"])
def test_fetch_over_which_the_assignment_changes_is_dropped(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = App()
    drain = Drain(app, {FIRST: [record(0)]})
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        setattr(app, what, getattr(app, what) + 1)
        await real(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    drain.run()
    assert drain.delivered == []
    assert drain.consumer._read_offset[FIRST] is None


# ------------------------------------------------------------------------------------------------------ assignments


class Signal:
    """A signal of Faust's; it has one receiver here."""

    receiver: Callable[..., Awaitable[None]]

    def connect(self, receiver: Callable[..., Awaitable[None]], *, weak: bool) -> None:
        assert not weak
        self.receiver = receiver


class Assigned:
    """An app whose assignments are told by hand; marking and preparing are the real app's."""

    mark: Any = _App.mark
    prepare: Any = _App.prepare
    prepared: Any = _App.prepared

    def __init__(self) -> None:
        self.log: list[str] = []
        self.epoch = 0
        self.safe: dict[Partition, int] = {}
        self.preparing: asyncio.Task[None] | None = None
        self.on_partitions_revoked = Signal()
        self.on_partitions_assigned = Signal()
        self.consumer = self
        self.go_on = asyncio.Event()
        _follow_assignments(self, self, lambda: self.log.append("ready"))  # type: ignore[arg-type] # app and step

    async def commit(self) -> None:
        self.log.append(f"commit {self.safe}")

    async def gained(self, partitions: frozenset[Partition]) -> None:
        await self.go_on.wait()
        self.log.append(f"gained {sorted(partitions)}")

    async def revoke(self) -> None:
        await self.on_partitions_revoked.receiver(self, {FIRST})

    async def assign(self, *partitions: TP) -> None:
        await self.on_partitions_assigned.receiver(self, set(partitions))


def test_what_is_safe_is_committed_before_it_is_forgotten() -> None:
    async def scenario() -> None:
        app = Assigned()
        app.mark(0, {("topic", 0): 7})
        await app.revoke()
        assert app.log == ["commit {('topic', 0): 7}"]
        assert (app.safe, app.epoch) == ({}, 1)
        app.mark(0, {("topic", 0): 8})
        assert app.safe == {}

    asyncio.run(scenario())


def test_assignment_is_prepared_beside_the_callback_and_batches_wait_for_it() -> None:
    async def scenario() -> None:
        app = Assigned()
        await app.assign(FIRST, SECOND)  # returns at once: a member sends no heartbeat until then
        assert (app.epoch, app.log) == (1, [])
        batch = Batch(1, {("topic", 0): [record(0)]})

        async def stream() -> Any:  # noqa: ANN401 - a Faust stream
            yield batch

        batches: Any = _batches(app, stream())  # type: ignore[arg-type] # stands for the app
        found = asyncio.create_task(anext(batches))
        await asyncio.sleep(0)
        assert not found.done()
        app.go_on.set()
        assert await found is batch
        assert app.log == ["gained [('topic', 0), ('topic', 1)]", "ready"]

    asyncio.run(scenario())


def test_assignments_are_prepared_in_turn_and_only_the_last_is_ready() -> None:
    async def scenario() -> None:
        app = Assigned()
        await app.assign(FIRST)
        await app.revoke()
        await app.assign(SECOND)
        app.go_on.set()
        await app.prepared()
        assert [entry for entry in app.log if "commit" not in entry] == [
            "gained [('topic', 0)]",
            "gained [('topic', 1)]",
            "ready",
        ]
        assert app.epoch == 3

    asyncio.run(scenario())


def test_error_ends_the_process_unmarked(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(status: int) -> None:
        raise Ended(status)

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(logging, "shutdown", lambda: None)

    async def fail() -> None:
        raise ValueError("unforeseen")

    with pytest.raises(Ended) as caught:
        asyncio.run(_or_end(fail()))
    assert caught.value.args == (EXIT_UNMARKED,)


# --------------------------------------------------------------------------------------------------------- the app


@pytest.mark.parametrize("topology", APPS, ids=lambda topology: topology.name)
def test_app_is_set_up_as_the_architecture_asks(topology: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a Topology
    async def warm() -> None: ...

    settings = Settings(bootstrap="one:9092,two:9092", policy_state=str(tmp_path), session_timeout_ms=6_000)
    app = build(topology, settings, object(), warm, lambda: None)  # type: ignore[arg-type] # never run here
    conf: Any = app.conf
    assert conf.id == topology.group
    assert [str(url) for url in conf.broker] == ["kafka://one:9092", "kafka://two:9092"]
    assert conf.processing_guarantee.value == "at_least_once"
    assert (conf.stream_wait_empty, conf.topic_allow_declare, conf.topic_disable_leader) == (False, False, True)
    assert (conf.web_enabled, conf.consumer_auto_offset_reset) == (False, "earliest")
    assert (conf.broker_session_timeout, conf.broker_heartbeat_interval) == (6.0, 1.2)
    assert [agent.name.rpartition(".")[2] for agent in app.agents.values()] == [topology.name]
    (agent,) = app.agents.values()
    assert agent.concurrency == 1
    assert set(agent.channel.topics) == {spec.name for spec in topology.sources}
    assert app.transport.Consumer is _BatchConsumer


def test_no_fetch_waits_long_for_data(tmp_path: Path) -> None:
    async def warm() -> None: ...

    async def created() -> Any:  # noqa: ANN401 - aiokafka's consumer
        settings = Settings(bootstrap="127.0.0.1:1", policy_state=str(tmp_path))
        app = build(APPS[0], settings, object(), warm, lambda: None)  # type: ignore[arg-type] # never run here
        thread: Any = object.__new__(_ConsumerThread)
        thread.app, thread.transport, thread.consumer = app, app.transport, SimpleNamespace(in_transaction=False)
        consumer = thread._create_consumer(asyncio.get_running_loop())
        consumer._closed = True  # it was never started, and would complain
        return consumer

    assert asyncio.run(created())._fetch_max_wait_ms == FETCH_WAIT_MS
    assert FETCH_WAIT_MS < 1500  # what Faust would have it


def test_the_apps_consumer_is_made_by_that_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module, "_ConsumerThread", lambda found, **given: (found, given))
    found = consumer(App())
    found.loop, found.beacon = object(), object()
    assert found._new_consumer_thread() == (found, {"loop": found.loop, "beacon": found.beacon})


def test_consumer_that_keeps_its_fetch_wait_elsewhere_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver.AIOKafkaConsumerThread, "_create_consumer", lambda *_, **__: SimpleNamespace())
    thread: Any = object.__new__(_ConsumerThread)
    with pytest.raises(ConfigurationError, match="fetch wait"):
        thread._create_consumer(None)

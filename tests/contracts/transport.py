"""The client's Kafka port, as cases: a class for each kind of transport derives from ``TransportCases``."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from pratique.errors import KafkaUnavailableError
from pratique.transport import Received, Subscription, Transport

WAIT_S = 120.0
HEADERS = (("pratique-key-id", b"key-1"), ("pratique-signature", b"\x00\xff"), ("pratique-key-id", b"key-2"))


@dataclass
class Bench:
    """A transport under test with two topics that exist."""

    transport: Transport
    topics: tuple[str, str]
    missing: str


def take(subscription: Subscription, count: int) -> list[Received]:
    """Poll until ``count`` records came."""
    records: list[Received] = []
    until = time.monotonic() + WAIT_S
    while len(records) < count and time.monotonic() < until:
        records += subscription.poll(1.0)
    return records


class TransportCases:
    """What every transport does; a subclass provides the fixture ``bench``."""

    def test_record_arrives_as_it_was_sent(self, bench: Bench) -> None:
        subscription = bench.transport.subscribe(bench.topics)
        bench.transport.publish(bench.topics[0], b"key", b"\x00value", HEADERS).result(WAIT_S)
        (record,) = take(subscription, 1)
        assert (record.topic, record.key, record.value) == (bench.topics[0], b"key", b"\x00value")
        assert tuple(record.headers) == HEADERS
        subscription.close()

    def test_what_was_appended_before_is_not_received_and_what_comes_after_is(self, bench: Bench) -> None:
        bench.transport.publish(bench.topics[0], b"k", b"before", ()).result(WAIT_S)
        subscription = bench.transport.subscribe(bench.topics)
        # Nothing was polled yet: the position is that of the subscription, not of the first poll.
        bench.transport.publish(bench.topics[0], b"k", b"after 1", ()).result(WAIT_S)
        bench.transport.publish(bench.topics[1], b"k", b"after 2", ()).result(WAIT_S)
        assert {(item.topic, item.value) for item in take(subscription, 2)} == {
            (bench.topics[0], b"after 1"),
            (bench.topics[1], b"after 2"),
        }
        subscription.close()

    def test_every_partition_is_read(self, bench: Bench) -> None:
        subscription = bench.transport.subscribe(bench.topics)
        values = [f"value {index}".encode() for index in range(30)]
        sent = [bench.transport.publish(bench.topics[0], value, value, ()) for value in values]
        for future in sent:
            future.result(WAIT_S)
        assert sorted(item.value or b"" for item in take(subscription, 30)) == sorted(values)
        subscription.close()

    def test_subscriptions_do_not_share_records(self, bench: Bench) -> None:
        first, second = bench.transport.subscribe(bench.topics), bench.transport.subscribe(bench.topics)
        bench.transport.publish(bench.topics[0], b"k", b"for both", ()).result(WAIT_S)
        assert [item.value for item in take(first, 1)] == [b"for both"]
        assert [item.value for item in take(second, 1)] == [b"for both"]
        first.close()
        second.close()

    def test_poll_without_records_ends(self, bench: Bench) -> None:
        subscription = bench.transport.subscribe(bench.topics)
        assert subscription.poll(0.01) == []
        subscription.close()

    def test_topic_that_does_not_exist_is_unavailable(self, bench: Bench) -> None:
        with pytest.raises(KafkaUnavailableError):
            bench.transport.subscribe((bench.topics[0], bench.missing))

    def test_closed_transport_sends_nothing(self, bench: Bench) -> None:
        bench.transport.close()
        with pytest.raises(KafkaUnavailableError):
            bench.transport.publish(bench.topics[0], b"k", b"v", ())

"""What the ledger's speed is measured by: a broker and a Redis that do the same with the same bytes, and look at none.

The contract: each function returns a rate, per second, of one round. Redis runs with the settings of the view's; only
its users are left out. Making what is written is no part of what is timed.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition
from redis import Redis
from redis.exceptions import RedisError

from infra.stack.broker import LOOPBACK, free_ports
from infra.stack.redis import REDIS
from streams.adapters.ledger_applier import STEPS_TOGETHER
from tests.bench.ledger_records import PATIENCE_SECONDS, Written

Item = TypeVar("Item")

CHUNK: Final = 20 * STEPS_TOGETHER


@contextmanager
def raw_redis(folder: Path) -> Iterator[Redis]:
    """Yield a connection to a server of its own, which anybody may use while this lasts.

    Raises:
        TimeoutError: It does not answer.
    """
    folder.mkdir(parents=True)
    (port,) = free_ports(1)
    arguments = ["redis-server", str(REDIS / "redis.conf"), "--port", str(port), "--dir", str(folder)]
    with (folder / "redis.log").open("wb") as out:
        process = psutil.Popen(arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
    client = Redis(LOOPBACK, port, decode_responses=True)
    try:
        until = time.monotonic() + PATIENCE_SECONDS
        while not _answers(client):
            if time.monotonic() > until:
                raise TimeoutError(f"redis-server does not answer ({folder / 'redis.log'})")
            time.sleep(0.02)
        yield client
    finally:
        client.close()
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def used_memory(client: Redis) -> int:
    """Return what a server holds, in bytes."""
    return int(client.info("memory")["used_memory"])


def writes_per_second(client: Redis, pairs: Iterable[tuple[str, str]]) -> float:
    """Return the rate at which keys and values are written, as many at a time as the view's applier sends."""
    seconds, count = 0.0, 0
    for chunk in _chunks(pairs, CHUNK):
        begun = time.monotonic()
        for together in _chunks(chunk, STEPS_TOGETHER):
            with client.pipeline(transaction=False) as pipeline:
                for key, value in together:
                    pipeline.set(key, value)
                pipeline.execute()
        seconds += time.monotonic() - begun
        count += len(chunk)
    return count / seconds


def read_seconds(client: Redis, asked: Sequence[Sequence[str]]) -> float:
    """Return how long a pipelined read of each of these lists of keys takes, in seconds, all together."""
    begun = time.monotonic()
    for keys in asked:
        with client.pipeline(transaction=False) as pipeline:
            for key in keys:
                pipeline.get(key)
            pipeline.execute()
    return time.monotonic() - begun


def consumed_per_second(bootstrap: str, topic: str) -> float:
    """Return the rate at which a topic's committed records are read from its beginning to its end."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "raw",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    open_partitions = set(consumer.list_topics(topic, 10).topics[topic].partitions)
    begun, count = time.monotonic(), 0
    consumer.assign([TopicPartition(topic, number, 0) for number in open_partitions])
    while open_partitions:
        for message in consumer.consume(10_000, 0.1):
            if message.error() is None:
                count += 1
            else:
                open_partitions.discard(message.partition())
    seconds = time.monotonic() - begun
    consumer.close()
    return count / seconds


def transactions_per_second(producer: Producer, prefix: str, made: Sequence[Written], together: int) -> float:
    """Return the rate at which what transitions write is written, so many transitions a transaction."""
    begun = time.monotonic()
    for chunk in _chunks(made, together):
        producer.begin_transaction()
        for item in chunk:
            producer.produce(f"{prefix}ledger", item.entry, item.key, partition=item.partition)
            producer.produce(f"{prefix}audit", item.audit, item.key, partition=item.partition)
        producer.commit_transaction(PATIENCE_SECONDS)
    return len(made) / (time.monotonic() - begun)


def _chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    remaining = iter(items)
    while chunk := list(islice(remaining, size)):
        yield chunk


def _answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except RedisError:
        return False

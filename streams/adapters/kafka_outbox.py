"""The outbox on Kafka: one idempotent confluent-kafka producer a process.

The contract: ``send`` returns when every output is acknowledged by all in-sync replicas. An output that the broker
refuses for its content raises ``OutputRefusedError``; anything else that keeps it from being acknowledged raises
``OutputLostError``, after which the process must end without marking: an idempotent producer that lost a record can't
be trusted with the next. Partitions are murmur2's of the key, as every other Kafka client computes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from pratique.errors import RefusedError, UnavailableError
from pratique.kafka_clients import new_client
from streams.application.ports.log import Channel, Output

MAX_MESSAGE_BYTES: Final = 6 * 1024 * 1024
"""Largest message that a producer of ours takes, in bytes: any dead letter, whatever compression hid before it."""

FLUSH_SECONDS: Final = 120.0
"""How long an acknowledgement is awaited; longer than a broker's restart takes."""

_REFUSED: Final = frozenset(
    {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE, KafkaError.INVALID_RECORD}
)


class OutputRefusedError(RefusedError):
    """The log refuses an output for good because of its content."""


class OutputLostError(UnavailableError):
    """An output was not acknowledged; nothing after it may be marked."""


class KafkaOutbox:
    """Writes outputs to the topics their channels are bound to.

    Args:
        configuration: librdkafka properties of the connection (``bootstrap.servers`` and security).
        topics: Topic name by channel; only these channels may be written to.
    """

    def __init__(self, configuration: Mapping[str, str], topics: Mapping[Channel, str]) -> None:
        self._topics = dict(topics)
        self._failures: list[KafkaError] = []
        self._producer = new_client(
            Producer,
            {
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 2,
                # A callback for every success would cost more than the rest of a send; flush() counts what is left.
                "delivery.report.only.error": True,
                "partitioner": "murmur2_random",
                "compression.type": "lz4",
                "message.max.bytes": MAX_MESSAGE_BYTES,
                "queue.buffering.max.kbytes": 256 * 1024,
                "message.timeout.ms": int(FLUSH_SECONDS * 1000),
                **configuration,
            },
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="outbox")

    async def send(self, outputs: Sequence[Output]) -> None:
        """Write the outputs and await all acknowledgements.

        Raises:
            OutputRefusedError: The broker refuses one because of its content.
            OutputLostError: One was not acknowledged.
        """
        if outputs:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._send, outputs)

    def close(self) -> None:
        """Stop; what was sent was acknowledged already."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _send(self, outputs: Sequence[Output]) -> None:
        for output in outputs:
            self._produce(output)
        left = self._producer.flush(FLUSH_SECONDS)
        failures, self._failures = self._failures, []
        for failure in failures:
            if failure.code() in _REFUSED:
                raise OutputRefusedError(f"broker refuses a record: {failure.name()}")
        if failures:
            raise OutputLostError(f"{len(failures)} records were not acknowledged, the first: {failures[0].name()}")
        if left:
            raise OutputLostError(f"{left} records were not acknowledged within {FLUSH_SECONDS:.0f} s")

    def _produce(self, output: Output) -> None:
        arguments: dict[str, Any] = {"headers": list(output.headers), "on_delivery": self._delivered}
        if output.partition is not None:
            arguments["partition"] = output.partition
        while True:
            try:
                self._producer.produce(self._topics[output.channel], output.value, output.key, **arguments)
            except BufferError:  # the local queue is full: let deliveries drain it
                self._producer.poll(0.1)
            except KafkaException as error:
                self._failures.append(error.args[0])
                return
            else:
                return

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._failures.append(error)

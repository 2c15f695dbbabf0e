"""The log in memory does what the port says; ``tests/integration/test_transport.py`` asks the same of a broker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contracts.transport import Bench, TransportCases
from tests.fakes.kafka import FakeKafka, FakeTransport


class TestFakeTransport(TransportCases):
    @pytest.fixture
    def bench(self) -> Iterator[Bench]:
        log, topics = FakeKafka(), ("accepted", "quarantined")
        log.create(*topics)
        transport = FakeTransport(log)
        yield Bench(transport, topics, "missing")
        transport.close()

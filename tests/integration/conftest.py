"""What the integration tests share: one Kafka container a session.

Set before testcontainers is imported: its reaper is an image of its own that may not be had; every container here is
ended by its fixture.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")

from tests.integration.kafka_container import KafkaContainer, kafka_image

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaContainer]:
    """A running broker; ``kafka.bootstrap`` is its address. Whoever stops it starts it again."""
    with KafkaContainer(kafka_image()) as container:
        yield container

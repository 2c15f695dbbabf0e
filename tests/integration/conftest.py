"""What the integration tests share: one Kafka container and one platform on it a session.

Set before testcontainers is imported: its reaper is an image of its own that may not be had; every container here is
ended by its fixture.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")

from tests.integration.kafka_container import SHORT_SESSION_MS, KafkaContainer, kafka_image
from tests.integration.platform import Platform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pratique.client import Gate


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaContainer]:
    """A running broker; ``kafka.bootstrap`` is its address. Whoever stops it starts it again."""
    settings = {"KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS": str(SHORT_SESSION_MS)}
    with KafkaContainer(kafka_image(), settings=settings) as container:
        yield container


@pytest.fixture(scope="session")
def one_platform(kafka: KafkaContainer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """The platform that ``platform`` puts right before each test."""
    with Platform(kafka.bootstrap, tmp_path_factory.mktemp("platform")) as platform:
        yield platform


@pytest.fixture
def platform(one_platform: Platform, request: pytest.FixtureRequest) -> Iterator[Platform]:
    """The gate: one running process of each app, whatever an earlier test did to them."""
    one_platform.restore()
    failed_before = request.session.testsfailed
    yield one_platform
    if request.session.testsfailed > failed_before:
        request.node.add_report_section("teardown", "apps", one_platform.logs())


@pytest.fixture
def gate(platform: Platform) -> Iterator[Gate]:
    """A client of the platform's first tenant."""
    with platform.gate() as gate:
        yield gate

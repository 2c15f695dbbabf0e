"""Where the index of verdicts is: beside the ledger's view, or on a server that may evict."""

from __future__ import annotations

from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

from pratique.errors import ConfigurationError
from streams.adapters.redis_verdicts import RedisVerdictIndex
from streams.application.ports.lineage import NoIndex
from tests.fakes.steps import FakeMetrics
from topologies.bootstrap import lineage
from topologies.bootstrap.lineage import verdict_index
from topologies.settings import Settings


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that were connected to."""
    asked: list[str] = []

    def connect(url: str, *_: object) -> Any:  # noqa: ANN401 - a Redis client's stand-in
        if url == "redis://no-password":
            raise ConfigurationError("no password")
        asked.append(url)
        return SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(lineage, "connect", connect)
    return asked


def index(settings: Settings) -> object:
    def trust() -> Any:  # noqa: ANN401 - nobody asks here
        raise NotImplementedError

    with ExitStack() as closing:
        return verdict_index(settings, trust, FakeMetrics(), closing)


@pytest.mark.parametrize(
    ("own", "views", "expected"),
    [
        ("", "redis://view", "redis://view"),
        ("redis://own", "redis://view", "redis://own"),
        ("redis://own", "", "redis://own"),
    ],
)
def test_a_server_of_its_own_goes_before_the_views(asked: list[str], own: str, views: str, expected: str) -> None:
    assert isinstance(index(Settings(lineage_redis_url=own, redis_url=views)), RedisVerdictIndex)
    assert asked == [expected]


@pytest.mark.parametrize("views", ["", "redis://no-password"])
def test_without_a_server_or_its_password_nothing_is_known(asked: list[str], views: str) -> None:
    assert isinstance(index(Settings(redis_url=views)), NoIndex)
    assert asked == []

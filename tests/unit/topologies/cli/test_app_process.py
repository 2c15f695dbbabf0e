"""What an app's process says of metrics that it can't serve."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pratique.errors import ConfigurationError
from streams.adapters.prometheus import PrometheusMetrics
from topologies.apps import APPS, StepKind
from topologies.cli import app_process
from topologies.settings import Settings


class Running:
    """A step, or a ledger, that was made."""

    def __init__(self) -> None:
        self.metrics = PrometheusMetrics({"app": "test"})
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("topology", APPS, ids=lambda app: app.name)
def test_a_port_that_is_taken_is_wrong_usage_and_leaves_nothing_open(
    topology: Any,  # noqa: ANN401 - an app
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running = Running()
    monkeypatch.setattr(app_process, "_made", lambda *_: running)
    monkeypatch.setattr(app_process, "make_ledger", lambda *_, **__: running)
    monkeypatch.setattr(app_process, "require_start_offsets", lambda *_: None)
    monkeypatch.setattr(app_process, "signal", SimpleNamespace(signal=lambda *_: None, SIGTERM=15, SIGINT=2))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(metrics_port=taken.getsockname()[1])
        start = app_process._run_ledger if topology.step is StepKind.LEDGER else app_process._run_here
        with pytest.raises(ConfigurationError, match=f"port {settings.metrics_port} is taken: PRATIQUE_METRICS_PORT"):
            start(topology, settings)
    assert running.is_closed


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(metrics_port=70_000), "PRATIQUE_METRICS_PORT"),
        (Settings(metrics_host="192.0.2.1", metrics_port=0), "PRATIQUE_METRICS_HOST"),
    ],
)
def test_a_place_that_is_none_of_this_host_is_wrong_usage(settings: Settings, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        app_process._serve_metrics(cast("Any", Running()), settings)

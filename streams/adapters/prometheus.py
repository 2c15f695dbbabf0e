"""Metrics for Prometheus, served over HTTP on one address.

The contract: names are prefixed ``pratique_``; a metric's labels are fixed by its first use. Labels hold our own words
alone, so neither content nor a request's identity can reach a metrics store.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

PREFIX: Final = "pratique_"
BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Upper bounds of duration buckets, in seconds, up to the longest deadline there can be."""

MetricT = TypeVar("MetricT", Counter, Gauge, Histogram)


class _Known(Generic[MetricT]):
    """The metrics of one kind that were used so far, by name, and with their labels set."""

    def __init__(self) -> None:
        self.metrics: dict[str, MetricT] = {}
        self.children: dict[tuple[Sequence[str], ...], MetricT] = {}


class PrometheusMetrics:
    """Counters, gauges and durations of one process.

    Args:
        constant: Labels that every metric of this process carries (the app's name).
    """

    def __init__(self, constant: Mapping[str, str]) -> None:
        self._constant = dict(constant)
        self._registry = CollectorRegistry()
        self._making = threading.Lock()
        self._counters: _Known[Counter] = _Known()
        self._gauges: _Known[Gauge] = _Known()
        self._histograms: dict[str, Histogram] = {}

    def serve(self, host: str, port: int) -> int:
        """Serve ``/metrics``; return the port, which is a free one where 0 was asked for."""
        server, _ = start_http_server(port, addr=host, registry=self._registry)
        return int(server.server_port)

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        """Add to a counter."""
        self._child(self._counters, Counter, name, labels).inc(amount)

    def gauge(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._child(self._gauges, Gauge, name, labels).set(value)

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Add an observation of a duration, in seconds."""
        with self._making:
            if name not in self._histograms:
                self._histograms[name] = Histogram(
                    PREFIX + name, name, list(self._all(labels)), registry=self._registry, buckets=BUCKETS
                )
        self._histograms[name].labels(**self._all(labels)).observe(seconds)

    def _all(self, labels: Mapping[str, str]) -> dict[str, str]:
        return {**self._constant, **labels}

    def _child(self, known: _Known[MetricT], kind: type[MetricT], name: str, labels: Mapping[str, str]) -> MetricT:
        """Return a metric with its labels set. Kept, since to find one again costs more than to count with it."""
        labelled = (name, *labels.items())
        child = known.children.get(labelled)
        if child is None:
            child = known.children[labelled] = self._metric(known, kind, name, labels).labels(**self._all(labels))
        return child

    def _metric(self, known: _Known[MetricT], kind: type[MetricT], name: str, labels: Mapping[str, str]) -> MetricT:
        with self._making:  # steps count on the loop and in threads, and a second metric of one name is an error
            metric = known.metrics.get(name)
            if metric is None:
                metric = known.metrics[name] = kind(
                    PREFIX + name, name, list(self._all(labels)), registry=self._registry
                )
            return metric

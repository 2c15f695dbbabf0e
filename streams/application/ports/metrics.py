"""What a step counts. Labels are our own words: never content, an identifier of a request, or a key's value."""

from __future__ import annotations

from typing import Protocol


class Metrics(Protocol):
    """Counters and gauges of one process."""

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        """Add to a counter."""
        ...

    def gauge(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        ...

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Add an observation of a duration, in seconds."""
        ...

"""The applier sends transitions in order; where a view is built anew, it reads on while some are applied."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pytest

from streams.adapters import ledger_applier
from streams.adapters.ledger_applier import LedgerApplier
from streams.adapters.prometheus import PrometheusMetrics
from streams.adapters.redis_ledger import Step, ViewConflictError
from tests.bench.ledger_records import Population, written

TOGETHER = 2
RECORDS = 5
PATIENCE_SECONDS = 30.0
AUDIT = [made.audit for made in islice(written(Population(RECORDS, "2026-1", 1), iter(range(RECORDS)), 1), RECORDS)]


class Log:
    """An audit of one partition; says when the first record of a second batch is read."""

    def __init__(self) -> None:
        self.read_on = threading.Event()

    def committed_bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return the first offset and the end."""
        del topic, partition
        return 0, RECORDS

    def values(self, topic: str, partition: int, start: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Yield the audit."""
        del topic, partition
        assert end == RECORDS
        for offset in range(start, end):
            if offset == TOGETHER:
                self.read_on.set()
            yield offset, AUDIT[offset]


class View:
    """Takes transitions, as soon as ``until`` is set."""

    def __init__(self, until: threading.Event | None = None, refusal: str = "") -> None:
        self._until = until
        self._refusal = refusal
        self.sent: list[Step] = []
        self.advanced: list[tuple[int, int]] = []

    def applied(self, *_: object) -> int:
        """Return that nothing is applied."""
        return 0

    def apply(self, namespace: str, partition: int, steps: Sequence[Step]) -> None:
        """Take a batch."""
        del namespace, partition
        if self._until is not None:
            assert self._until.wait(PATIENCE_SECONDS), "nothing is read while transitions are applied"
        self.sent += steps
        if self._refusal:
            raise ViewConflictError(self._refusal)

    def advance(self, namespace: str, partition: int, *, applied: int, following: int, end: int) -> None:
        """Take that this was all."""
        del namespace, partition, end
        self.advanced.append((applied, following))


@pytest.fixture(autouse=True)
def few_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_applier, "STEPS_TOGETHER", TOGETHER)


def applier(log: Any, view: Any, *, is_ahead: bool) -> LedgerApplier:  # noqa: ANN401 - fakes of both
    """Return an applier of a log to a view."""
    return LedgerApplier(log, view, "audit", metrics=PrometheusMetrics({"app": "test"}), is_ahead=is_ahead)


def test_the_next_transitions_are_read_while_some_are_applied() -> None:
    log = Log()
    view = View(until=log.read_on)
    assert applier(log, view, is_ahead=True).catch_up_with("1", 0) == RECORDS
    assert [(step.applied, step.following) for step in view.sent] == [(at, at + 1) for at in range(RECORDS)]
    assert view.advanced == [(RECORDS, RECORDS)]


@pytest.mark.parametrize("is_ahead", [False, True])
def test_nothing_is_sent_after_what_is_refused(*, is_ahead: bool) -> None:
    view = View(refusal="REVISION")
    with pytest.raises(ViewConflictError, match="REVISION"):
        applier(Log(), view, is_ahead=is_ahead).catch_up_with("1", 0)
    assert [step.applied for step in view.sent] == [0, 1]
    assert not view.advanced


@pytest.mark.parametrize("is_ahead", [False, True])
def test_what_the_last_transitions_are_refused_for_is_raised(
    monkeypatch: pytest.MonkeyPatch, *, is_ahead: bool
) -> None:
    monkeypatch.setattr(ledger_applier, "STEPS_TOGETHER", RECORDS + 1)
    view = View(refusal="REVISION")
    with pytest.raises(ViewConflictError, match="REVISION"):
        applier(Log(), view, is_ahead=is_ahead).catch_up_with("1", 0)
    assert not view.advanced

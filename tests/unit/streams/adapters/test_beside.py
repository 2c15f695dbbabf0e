"""Work that is repeated beside an app."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable

import pytest

from pratique.errors import UnavailableError
from streams.adapters import beside
from streams.adapters.beside import Beside
from tests.fakes.steps import FakeMetrics

AWAY = UnavailableError("no answer")


class Gauges(FakeMetrics):
    """Keeps what a gauge showed, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, float]] = []

    def gauge(self, name: str, value: float, **labels: str) -> None:
        super().gauge(name, value, **labels)
        self.seen.append((name, value))


class Work:
    """Does what it is told to, round by round, and then says that it is over."""

    def __init__(self, rounds: Iterable[bool | UnavailableError]) -> None:
        self._rounds = iter(rounds)
        self.closing = threading.Event()

    def __call__(self) -> bool:
        given = next(self._rounds, None)
        if given is None:
            self.closing.set()
            raise UnavailableError("told to end")
        if isinstance(given, UnavailableError):
            raise given
        return given


@pytest.fixture
def metrics() -> Gauges:
    return Gauges()


def run(work: Work, metrics: Gauges, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "RETRY_SECONDS", 0.0)
    thread = Beside("follower", work, pause_s=0.0, gauge="is_current", metrics=metrics, closing=work.closing)
    thread.start()
    assert work.closing.wait(60)
    thread.close()


def test_what_keeps_work_away_is_shown_until_it_is_done_again(metrics: Gauges, monkeypatch: pytest.MonkeyPatch) -> None:
    run(Work([True, AWAY, AWAY, True]), metrics, monkeypatch)
    assert metrics.seen == [("is_current", value) for value in (1, 0, 0, 1)]


def test_work_that_is_not_all_done_says_nothing_of_being_current(
    metrics: Gauges, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(Work([False, True, False]), metrics, monkeypatch)
    assert metrics.seen == [("is_current", 1)]


def test_a_lasting_fault_is_said_once_and_a_new_one_again(
    metrics: Gauges, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    run(Work([AWAY, AWAY, UnavailableError("refused"), True, AWAY]), metrics, monkeypatch)
    said = [record.getMessage() for record in caplog.records]
    assert said == ["follower waits: no answer", "follower waits: refused", "follower waits: no answer"]


def test_closing_ends_it_in_the_middle_of_a_pause(metrics: Gauges) -> None:
    began = threading.Event()

    def work() -> bool:
        began.set()
        return True

    thread = Beside("follower", work, pause_s=3600.0, gauge="is_current", metrics=metrics)
    thread.start()
    assert began.wait(60)
    thread.close()
    assert metrics.seen == [("is_current", 1)]

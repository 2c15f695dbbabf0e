from __future__ import annotations

import signal
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from infra.stack.processes import PssSampler, Supervisor, end_recorded, running_recorded, tree_pss_mib

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAITS = "import signal; print('up', flush=True); signal.pause()"
FORKS = (
    "import subprocess, sys, signal;"
    "p = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()']);"
    "print(p.pid, flush=True); signal.pause()"
)
DEAF = (
    "import signal, sys;"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True);\n"
    "while True: signal.pause()"
)


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    with Supervisor(tmp_path / "logs", registry=tmp_path / "processes.json", environment={"GREETING": "hello"}) as made:
        yield made


def test_a_process_gets_the_settings_and_leaves_its_exit_status_and_log(supervisor: Supervisor) -> None:
    managed = supervisor.start(
        "one",
        [sys.executable, "-c", "import os, sys; print(os.environ['GREETING'], os.environ['WHO']); sys.exit(7)"],
        environment={"WHO": "you"},
    )

    assert managed.process.wait(30) == 7
    assert [ended.name for ended in supervisor.ended()] == ["one"]
    assert managed.log_tail() == "hello you"


def test_stopping_is_by_sigterm_and_reported_as_such(supervisor: Supervisor) -> None:
    managed = supervisor.start("one", [sys.executable, "-c", WAITS])
    await_first_line(managed.log)

    assert managed.stop() == -signal.SIGTERM
    assert not managed.is_running


def test_a_stopped_process_that_is_deaf_to_sigterm_is_killed(supervisor: Supervisor) -> None:
    managed = supervisor.start("deaf", [sys.executable, "-c", DEAF])
    await_first_line(managed.log)
    managed.signal(signal.SIGSTOP)

    assert managed.stop(grace_s=0.2) == -signal.SIGKILL


def test_what_a_process_forked_ends_with_it(supervisor: Supervisor) -> None:
    managed = supervisor.start("parent", [sys.executable, "-c", FORKS])
    child = psutil.Process(int(await_first_line(managed.log)))

    managed.stop()

    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_name_is_used_once_at_a_time(supervisor: Supervisor) -> None:
    supervisor.start("one", [sys.executable, "-c", WAITS])

    with pytest.raises(ValueError, match="one is already running"):
        supervisor.start("one", [sys.executable, "-c", WAITS])


def test_the_registry_lets_another_process_end_what_runs(supervisor: Supervisor, tmp_path: Path) -> None:
    registry = tmp_path / "processes.json"
    first = supervisor.start("first", [sys.executable, "-c", WAITS])
    broker = supervisor.start("broker", [sys.executable, "-c", WAITS])
    assert sorted(running_recorded(registry)) == ["broker", "first"]

    assert end_recorded(registry, last=["broker"]) == ["broker", "first"]

    assert not first.is_running
    assert not broker.is_running
    assert not registry.exists()
    assert end_recorded(registry) == []


def test_a_process_id_that_was_given_to_another_process_is_left_alone(supervisor: Supervisor, tmp_path: Path) -> None:
    registry = tmp_path / "processes.json"
    managed = supervisor.start("one", [sys.executable, "-c", WAITS])
    registry.write_text(registry.read_text("utf-8").replace('"created": ', '"created": 1'), "utf-8")

    assert end_recorded(registry) == []
    assert managed.is_running


def test_memory_is_counted_over_the_whole_tree(supervisor: Supervisor) -> None:
    managed = supervisor.start("parent", [sys.executable, "-c", FORKS])
    child = int(await_first_line(managed.log))
    with PssSampler({"parent": managed.pid}, interval_s=60) as sampler:
        now = sampler.sample()["parent"]

    assert now > tree_pss_mib(child) > 1
    assert sampler.peak_mib["parent"] >= now
    assert sampler.peak_total_mib == sampler.peak_mib["parent"]
    managed.stop()
    assert tree_pss_mib(managed.pid) == 0.0


def await_first_line(log: Path) -> str:
    """Wait until a process has written its first line: it is up by then."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        text = log.read_text("utf-8")
        if "\n" in text:
            return text.partition("\n")[0]
        time.sleep(0.01)
    raise AssertionError(f"nothing was written to {log}")

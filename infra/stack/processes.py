"""Processes of the stack: started with a log file each, written down, and ended for certain.

The contract: whatever was started is in the registry file before ``start`` returns, so that a later ``end_recorded``
ends it even if we were killed; a process id that the system has given to somebody else meanwhile is left alone.

It restarts nothing by itself: a process that ends is the caller's to notice (``Supervisor.ended``).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import TracebackType

GRACE_S: Final = 15.0
"""How long a process gets between SIGTERM and SIGKILL, in seconds."""

MIB: Final = 1024 * 1024


@dataclass(slots=True)
class ManagedProcess:
    """A process under its name, its log and everything it forked."""

    name: str
    process: psutil.Popen
    log: Path

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended (it may be stopped by a signal)."""
        return self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process alone, not to its children."""
        self.process.send_signal(number)

    def children(self) -> list[psutil.Process]:
        """Return everything below the process, at this moment."""
        try:
            return psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def stop(self, *, grace_s: float = GRACE_S) -> int:
        """End it and what it forked: SIGTERM, then SIGKILL after ``grace_s`` seconds. Returns its exit status."""
        end_all([self.process], grace_s=grace_s)
        return self.process.wait()

    def kill(self) -> int:
        """Kill the process alone (SIGKILL), as a fault would; return its exit status. Children are left to notice."""
        self.process.kill()
        return self.process.wait()

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of its log."""
        return "\n".join(self.log.read_text("utf-8", errors="replace").splitlines()[-lines:])


class Supervisor:
    """Starts processes, keeps the list of them, ends them all.

    Attributes:
        processes: Those started and not yet stopped through us, by name.
        environment: What every process gets: our own environment and what was added to it.
    """

    def __init__(
        self, log_dir: Path, *, registry: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Set up without starting anything.

        Args:
            log_dir: Folder of the ``<name>.log`` files.
            registry: File that remembers what runs, for ``end_recorded``; None where nobody will come after us.
            environment: Added to our own environment for every process.
        """
        self.processes: dict[str, ManagedProcess] = {}
        self._log_dir = log_dir
        self._registry = registry
        self.environment: dict[str, str] = {**os.environ, **(environment or {})}

    def start(
        self, name: str, command: Sequence[str], *, environment: Mapping[str, str] | None = None
    ) -> ManagedProcess:
        """Start a process, its output appended to ``<name>.log``.

        Args:
            name: Unique among those running.
            command: Program and arguments.
            environment: Added to our environment and the supervisor's.

        Raises:
            ValueError: One of that name is running.
        """
        if name in self.processes and self.processes[name].is_running:
            raise ValueError(f"{name} is already running")
        self._log_dir.mkdir(parents=True, exist_ok=True)
        log = self._log_dir / f"{name}.log"
        with log.open("ab") as out:
            process = psutil.Popen(
                command,
                env={**self.environment, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in a terminal is for us, who then end them in order
            )
        managed = ManagedProcess(name, process, log)
        self.processes[name] = managed
        self.record(name, process.pid)
        return managed

    def start_python(
        self, name: str, module: str, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> ManagedProcess:
        """Start ``python -m module arguments…`` with this interpreter; see ``start``."""
        return self.start(name, [sys.executable, "-m", module, *arguments], environment=environment)

    def record(self, name: str, pid: int) -> None:
        """Write a process that was started elsewhere (the broker) into the registry."""
        if self._registry is not None:
            entries = _read_registry(self._registry)
            entries[name] = {"pid": pid, "created": psutil.Process(pid).create_time()}
            write_json(self._registry, entries)

    def ended(self) -> list[ManagedProcess]:
        """Return those that have ended without having been asked to."""
        return [managed for managed in self.processes.values() if not managed.is_running]

    def stop_all(self, *, grace_s: float = GRACE_S) -> None:
        """End everything that was started here, all at once; what does not go within ``grace_s`` is killed."""
        end_all([managed.process for managed in self.processes.values()], grace_s=grace_s)
        self.processes.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_all()


def end_all(processes: Iterable[psutil.Process], *, grace_s: float) -> None:
    """End processes and everything below them: SIGCONT and SIGTERM, then SIGKILL after ``grace_s`` seconds."""
    tree: list[psutil.Process] = []
    heads = list(processes)
    for head in heads:
        try:
            tree.extend(head.children(recursive=True))
        except psutil.NoSuchProcess:
            continue
    for number in (signal.SIGTERM, signal.SIGCONT):
        _signal_each(heads, number)
    psutil.wait_procs(heads, timeout=grace_s)
    _, left = psutil.wait_procs([*heads, *tree], timeout=1)
    _signal_each(left, signal.SIGKILL)
    psutil.wait_procs(left, timeout=grace_s)


def end_recorded(registry: Path, *, last: Sequence[str] = (), grace_s: float = GRACE_S) -> list[str]:
    """End what a registry file says is running, then forget the file.

    Args:
        registry: The file a ``Supervisor`` kept.
        last: Names to end after all the others (the broker, which the others need to end in order).
        grace_s: See ``end_all``.

    Returns:
        The names of those that were running.
    """
    running = running_recorded(registry)
    end_all([process for name, process in running.items() if name not in last], grace_s=grace_s)
    end_all([running[name] for name in last if name in running], grace_s=grace_s)
    registry.unlink(missing_ok=True)
    return sorted(running)


def running_recorded(registry: Path) -> dict[str, psutil.Process]:
    """Return those processes of a registry file that still run, by name."""
    running: dict[str, psutil.Process] = {}
    for name, entry in _read_registry(registry).items():
        try:
            process = psutil.Process(int(entry["pid"]))
            if process.create_time() == entry["created"] and process.status() != psutil.STATUS_ZOMBIE:
                running[name] = process
        except psutil.NoSuchProcess:
            continue
    return running


class PssSampler:
    """Samples the memory of named process trees in a thread; shared pages are counted once (PSS).

    Attributes:
        peak_mib: Highest PSS seen for each name, in MiB.
        peak_total_mib: Highest sum at one moment, in MiB.
    """

    def __init__(self, pids: Mapping[str, int], *, interval_s: float = 1.0) -> None:
        """Set up; sampling runs inside ``with``.

        Args:
            pids: The trees' heads by name; read anew at each sample, so that the caller may change it.
            interval_s: Seconds between samples.
        """
        self.peak_mib: dict[str, float] = {}
        self.peak_total_mib = 0.0
        self._pids = pids
        self._interval_s = interval_s
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pss-sampler", daemon=True)

    def sample(self) -> dict[str, float]:
        """Take one sample now and return it: MiB by name."""
        now = {name: tree_pss_mib(pid) for name, pid in dict(self._pids).items()}
        for name, mib in now.items():
            self.peak_mib[name] = max(mib, self.peak_mib.get(name, 0.0))
        self.peak_total_mib = max(sum(now.values()), self.peak_total_mib)
        return now

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self.sample()

    def _run(self) -> None:
        while not self._done.wait(self._interval_s):
            self.sample()


def tree_pss_mib(pid: int) -> float:
    """Return the PSS of a process and everything below it, in MiB; 0 where it has ended."""
    try:
        head = psutil.Process(pid)
        tree = [head, *head.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    total = 0
    for process in tree:
        try:
            total += process.memory_full_info().pss
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return total / MIB


def write_json(path: Path, value: object) -> None:
    """Replace a JSON file in one step: a reader sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(value, indent=2) + "\n", "utf-8")
    draft.replace(path)


def _signal_each(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue


def _read_registry(path: Path) -> dict[str, dict[str, float]]:
    try:
        entries: dict[str, dict[str, float]] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return entries

"""The whole stack as one value: broker, topics, demo policy, Redis, the apps, and the file that says where it all is.

The contract: ``start`` returns when everything is ready, or raises and leaves nothing running; ``stop`` leaves nothing
running, and so does ``stop_recorded`` for a stack that another process started. ``stack.json`` is there exactly while
the stack is up. Every start begins with an empty log and a new demo policy, and leaves alone what it does not make: a
policy set in ``policy`` is its owner's.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Self

from infra.stack.broker import LOOPBACK, EmbeddedBroker, free_ports
from infra.stack.paths import ROOT, STATE
from infra.stack.processes import ManagedProcess, Supervisor, end_recorded, running_recorded, write_json
from infra.stack.redis import EmbeddedRedis
from infra.stack.requirements import ensure_broker_jars, ensure_redis, say
from pratique.errors import UnavailableError
from topologies.apps import APPS, LEDGER
from topologies.bootstrap.ledger_view import rebuild
from topologies.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

BROKER: Final = "broker"
REDIS: Final = "redis"

ALL_APPS: Final = tuple(topology.name for topology in APPS)

READY_TIMEOUT_S: Final = 180.0
"""Seconds on an idle machine; a process that ended is noticed at once, so that only a busy one waits longer."""


class Stack:
    """The development stack in one state folder.

    Attributes:
        broker: The embedded broker.
        redis: The embedded Redis; started where the ledger is.
        supervisor: Starts and ends the apps.
        policy: Folder of the demo policy set, as ``pratique policy init`` lays it out.
        metrics: Where each app that was started serves its metrics.
    """

    def __init__(
        self,
        state: Path = STATE,
        *,
        apps: Sequence[str] = ALL_APPS,
        environment: Mapping[str, str] | None = None,
        with_policy: Callable[[Path], object] | None = None,
        supervised: bool = False,
    ) -> None:
        """Choose ports and folders; nothing is started.

        Args:
            state: Folder for data, logs, policy and the registry of processes.
            apps: Apps that ``start`` starts, one process each; without any there is no policy either. One that is
                named again gets a second process, ``scan-2`` for one.
            environment: Further PRATIQUE_* settings for every process.
            with_policy: Called with the demo policy's folder once that is made and before any app starts.
            supervised: Whether an app that ends unasked is started again, as where the stack is left running.
        """
        self.state = state
        self._supervised = supervised
        self.log_dir = state / "logs"
        self.policy = state / "stack" / "policy"
        self.broker = EmbeddedBroker(state / "kafka", log_dir=self.log_dir)
        self.redis = EmbeddedRedis(state / "redis", self.policy / "keys", log_dir=self.log_dir)
        self.supervisor = Supervisor(
            self.log_dir,
            registry=registry_of(state),
            environment={
                "PRATIQUE_BOOTSTRAP": self.broker.bootstrap,
                "PRATIQUE_POLICY_REPOSITORY": str(self.policy / "repository"),
                "PRATIQUE_POLICY_ROOT": str(self.policy / "root.json"),
                "PRATIQUE_POLICY_STATE": str(state / "policy-state"),
                "PRATIQUE_KEYS": str(self.policy / "keys"),
                "PRATIQUE_METRICS_HOST": LOOPBACK,
                **(environment or {}),
            },
        )
        self.metrics: dict[str, str] = {}
        self._apps = _named(apps)
        self._with_policy = with_policy

    def start(self) -> Mapping[str, object]:
        """Start everything and return what ``stack.json`` says.

        Raises:
            ConfigurationError: Java or Maven is missing and may not be installed here.
            UnavailableError: Something did not start; nothing is left running.
        """
        ensure_broker_jars()
        if stop_recorded(self.state):
            say("ended what an earlier stack had left running")
        folders = (self.broker.data_dir, self.redis.data_dir, self.log_dir, self.policy, self.state / "policy-state")
        for folder in (*folders, self._ready_dir):
            shutil.rmtree(folder, ignore_errors=True)
        try:
            self._start_broker_and_policy()
            if self._apps:
                say(f"starting {', '.join(self._apps)}")
                for name, app in self._apps.items():
                    self.start_app(app, name=name)
                self.wait_until_ready(self._apps)
        except BaseException:
            self.stop()
            raise
        facts = self.facts()
        write_json(stack_file_of(self.state), facts)
        return facts

    def start_app(
        self, app: str, *, name: str | None = None, environment: Mapping[str, str] | None = None
    ) -> ManagedProcess:
        """Start one process of an app; ``wait_until_ready`` says when it holds its partitions.

        Args:
            app: Which app.
            name: Name of this process; the app's by default. Give one to run a second process of an app.
            environment: Further PRATIQUE_* settings for this process.
        """
        name = name or app
        (port,) = free_ports(1)
        self.metrics[name] = f"http://{LOOPBACK}:{port}/metrics"
        ready = self._ready_file(name)
        ready.parent.mkdir(parents=True, exist_ok=True)
        ready.unlink(missing_ok=True)
        own = {"PRATIQUE_READY_FILE": str(ready), "PRATIQUE_METRICS_PORT": str(port), **(environment or {})}
        arguments = ["run", "--supervised", app] if self._supervised else ["run", app]
        return self.supervisor.start_python(name, "topologies", *arguments, environment=own)

    def wait_until_ready(self, names: Iterable[str], *, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Return when each of the named processes has said that it is ready.

        Raises:
            UnavailableError: One ended, or was not ready in time; the message ends with its log.
        """
        until = time.monotonic() + timeout_s
        waiting = list(names)
        while waiting:
            waiting = [name for name in waiting if not self._ready_file(name).exists()]
            for name in waiting:
                managed = self.supervisor.processes[name]
                if not managed.is_running:
                    raise UnavailableError(f"{name} ended before it was ready ({managed.log}):\n{managed.log_tail()}")
                if time.monotonic() > until:
                    raise UnavailableError(f"{name} was not ready in time ({managed.log}):\n{managed.log_tail()}")
            time.sleep(0.05)

    def facts(self) -> dict[str, object]:
        """Return what ``stack.json`` says: where clients find each part."""
        return {
            "bootstrap": self.broker.bootstrap,
            "redis_url": self.redis.url if self.redis.is_running else None,
            "policy_repository": str(self.policy / "repository"),
            "policy_root": str(self.policy / "root.json"),
            "policy_state": str(self.state / "policy-state" / "clients"),
            "keys": str(self.policy / "keys"),
            "metrics": self.metrics,
        }

    def process_ids(self) -> dict[str, int]:
        """Return the heads of the process trees that run now, by name; for ``PssSampler``."""
        running = {name: managed.pid for name, managed in self.supervisor.processes.items() if managed.is_running}
        if self.redis.is_running:
            running[REDIS] = self.redis.pid
        return {BROKER: self.broker.pid, **running} if self.broker.is_running else running

    def run_cli(self, *arguments: str, given: str = "", status: int = 0) -> str:
        """Run ``python -m topologies`` with the stack's settings and return what it printed.

        Args:
            *arguments: The command.
            given: What it reads from standard input.
            status: How it has to exit.

        Raises:
            UnavailableError: It exited with another status.
        """
        done = subprocess.run(
            [sys.executable, "-m", "topologies", *arguments],
            check=False,
            capture_output=True,
            text=True,
            input=given,
            env=self.supervisor.environment,
            cwd=ROOT,
        )
        if done.returncode != status:
            raise UnavailableError(
                f"pratique {' '.join(arguments)} exited with {done.returncode}: {done.stderr[-2000:]}"
            )
        return done.stdout

    def stop(self) -> None:
        """End the apps, then what they stand on; forget the stack."""
        stack_file_of(self.state).unlink(missing_ok=True)
        self.supervisor.stop_all()
        self.redis.stop()
        self.broker.stop()
        registry_of(self.state).unlink(missing_ok=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def _ready_dir(self) -> Path:
        return self.state / "ready"

    def _ready_file(self, name: str) -> Path:
        return self._ready_dir / name

    def _start_broker_and_policy(self) -> None:
        """Both take seconds and neither needs the other."""
        with ThreadPoolExecutor(max_workers=1) as beside:
            policy = beside.submit(self.run_cli, "policy", "init", str(self.policy)) if self._apps else None
            say(f"starting the broker on {self.broker.bootstrap}" + (", making the demo policy" if policy else ""))
            self.broker.start(spawned=lambda pid: self.supervisor.record(BROKER, pid))
            self.run_cli("topics", "apply")
            if policy is not None:
                policy.result()
                if self._with_policy is not None:
                    self._with_policy(self.policy)
                if LEDGER.name in self._apps.values():
                    self._start_redis()

    def _start_redis(self) -> None:
        """The view's passwords lie among the keys, and its key generation is the fingerprint key's."""
        ensure_redis()
        self.redis.start(spawned=lambda pid: self.supervisor.record(REDIS, pid))
        self.supervisor.environment["PRATIQUE_REDIS_URL"] = self.redis.url
        rebuild(Settings.read(self.supervisor.environment), lambda _done, _count: None, grace_s=0)


def _named(apps: Sequence[str]) -> dict[str, str]:
    """Return apps by the name of their process."""
    named: dict[str, str] = {}
    for app in apps:
        number = 1 + sum(other == app for other in named.values())
        named[app if number == 1 else f"{app}-{number}"] = app
    return named


def registry_of(state: Path) -> Path:
    """The file that remembers which processes run."""
    return state / "processes.json"


def stack_file_of(state: Path) -> Path:
    """The file that tells clients where the stack is."""
    return state / "stack.json"


def recorded_facts(state: Path = STATE) -> Mapping[str, object] | None:
    """Return what ``stack.json`` says if that stack's broker still runs, else None."""
    try:
        facts: dict[str, object] = json.loads(stack_file_of(state).read_text("utf-8"))
    except FileNotFoundError:
        return None
    return facts if BROKER in running_recorded(registry_of(state)) else None


def stop_recorded(state: Path = STATE) -> list[str]:
    """End a stack that another process left running; return the names of what was running."""
    stack_file_of(state).unlink(missing_ok=True)
    return end_recorded(registry_of(state), last=[BROKER])

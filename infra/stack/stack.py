"""The whole stack as one value: a broker, topics, the apps, and the file that says where it all is.

The contract: ``start`` returns when everything is ready, or raises and leaves nothing running; ``stop`` leaves nothing
running, and so does ``stop_recorded`` for a stack that another process started. ``stack.json`` is there exactly while
the stack is up. Every start begins with an empty log.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Final, Self

from infra.stack.broker import EmbeddedBroker
from infra.stack.paths import ROOT, STATE
from infra.stack.processes import Supervisor, end_recorded, running_recorded, write_json
from infra.stack.requirements import ensure_broker_jars, say
from pratique.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

BROKER: Final = "broker"


class Stack:
    """The development stack in one state folder.

    Attributes:
        broker: The embedded broker.
        supervisor: Starts and ends the apps.
        environment: The PRATIQUE_* settings that every process of the stack gets.
    """

    def __init__(self, state: Path = STATE) -> None:
        """Choose ports and folders; nothing is started.

        Args:
            state: Folder for data, logs, policy and the registry of processes.
        """
        self.state = state
        self.log_dir = state / "logs"
        self.policy_repository = state / "policy"
        self.keys = state / "keys"
        self.broker = EmbeddedBroker(state / "kafka", log_dir=self.log_dir)
        self.environment: dict[str, str] = {
            "PRATIQUE_BOOTSTRAP": self.broker.bootstrap,
            "PRATIQUE_POLICY_REPOSITORY": str(self.policy_repository),
            "PRATIQUE_KEYS": str(self.keys),
        }
        self.supervisor = Supervisor(self.log_dir, registry=registry_of(state), environment=self.environment)

    def start(self) -> Mapping[str, object]:
        """Start everything and return what ``stack.json`` says.

        Raises:
            ConfigurationError: Java or Maven is missing and may not be installed here.
            UnavailableError: Something did not start; nothing is left running.
        """
        ensure_broker_jars()
        if stop_recorded(self.state):
            say("ended what an earlier stack had left running")
        for folder in (self.broker.data_dir, self.log_dir):
            shutil.rmtree(folder, ignore_errors=True)
        try:
            say(f"starting the broker on {self.broker.bootstrap}")
            self.broker.start(spawned=lambda pid: self.supervisor.record(BROKER, pid))
            self._prepare()
        except BaseException:
            self.stop()
            raise
        facts = self.facts()
        write_json(stack_file_of(self.state), facts)
        return facts

    def facts(self) -> dict[str, object]:
        """Return what ``stack.json`` says: where clients find each part."""
        return {
            "bootstrap": self.broker.bootstrap,
            "redis_url": None,
            "policy_repository": str(self.policy_repository),
            "keys": str(self.keys),
            "metrics": {},
        }

    def stop(self) -> None:
        """End the apps, then the broker; forget the stack."""
        stack_file_of(self.state).unlink(missing_ok=True)
        self.supervisor.stop_all()
        self.broker.stop()
        registry_of(self.state).unlink(missing_ok=True)

    def run_cli(self, *arguments: str) -> str:
        """Run ``python -m topologies`` with the stack's settings and return what it printed.

        Raises:
            UnavailableError: It exited with another status than 0.
        """
        done = subprocess.run(
            [sys.executable, "-m", "topologies", *arguments],
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=self.supervisor.environment,
            cwd=ROOT,
        )
        if done.returncode != 0:
            raise UnavailableError(
                f"pratique {' '.join(arguments)} exited with {done.returncode}: {done.stderr[-2000:]}"
            )
        return done.stdout

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _prepare(self) -> None:
        if importlib.util.find_spec("topologies.__main__") is not None:
            say("creating the topics")
            self.run_cli("topics", "apply")


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

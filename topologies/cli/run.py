"""``pratique run``: one app in this process, or apps under a supervisor.

The contract: an app process ends with status 0 after SIGTERM (drained and committed), 70 when it ended without marking
a batch, and the usual codes for what an operator has to mend. The supervisor starts each app as a process of its own
and starts it again when it ends with 70 or is killed; it ends when it is told to, or with the status of an app that an
operator has to mend. It prints no result, and so has no ``--json``.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Final

import click

from pratique.errors import ConfigurationError
from topologies.apps import APPS
from topologies.cli.output import speaks
from topologies.settings import Settings

RESTART_SECONDS: Final = 1.0

EXIT_UNMARKED: Final = 70
"""``topologies.build.EXIT_UNMARKED``, which a supervisor would have to load Faust for; a test holds them equal."""

_BY_NAME: Final = {topology.name: topology for topology in APPS}


@click.command()
@click.argument("apps", nargs=-1, required=True)
@click.option("--supervised", is_flag=True, help="Start a single app again, too, when it ends unasked.")
@speaks
def run(apps: Sequence[str], *, supervised: bool) -> None:
    """Run APPS: intake, consistency, scan, verdict, ledger, or all."""
    names = list(_BY_NAME) if "all" in apps else list(dict.fromkeys(apps))
    unknown = [name for name in names if name not in _BY_NAME]
    if unknown:
        raise ConfigurationError(f"no such app: {', '.join(unknown)}; there are {', '.join(_BY_NAME)} and all")
    settings = Settings.read(os.environ)
    if len(names) > 1:
        _refuse_what_several_would_share(settings)
    if len(names) > 1 or supervised:
        _supervise(names)
    else:
        # By name, since an app loads what takes a supervisor's memory and seconds for nothing.
        importlib.import_module("topologies.cli.app_process").run_app(_BY_NAME[names[0]], settings)


def _refuse_what_several_would_share(settings: Settings) -> None:
    if settings.metrics_port > 0:
        raise ConfigurationError(
            "PRATIQUE_METRICS_PORT names one port, which several processes can't share: 0 takes a free one for each, "
            "-1 serves none; or run each app by itself"
        )
    if settings.ready_file:
        raise ConfigurationError(
            "PRATIQUE_READY_FILE names one file, which the first of several processes would write: leave it out, or "
            "run each app by itself"
        )


def _supervise(names: Sequence[str]) -> None:
    stopping = threading.Event()
    processes: dict[str, subprocess.Popen[bytes]] = {}

    def stop(*_: object) -> None:
        stopping.set()
        for process in processes.values():
            process.terminate()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    failed = 0
    for name in names:
        processes[name] = _started(name)
    while processes:
        time.sleep(RESTART_SECONDS)
        for name, status in _ended(processes):
            if stopping.is_set() or (status != EXIT_UNMARKED and status >= 0):
                del processes[name]
                if status > 0 and not stopping.is_set():
                    failed = status
                    stop()
                continue
            click.echo(f"pratique: {name} ended with {status}; starting it again", err=True)
            processes[name] = _started(name)
            if stopping.is_set():  # told to while it was started, and so not yet among those that were told
                processes[name].terminate()
    if failed:
        raise SystemExit(failed)


def _ended(processes: Mapping[str, subprocess.Popen[bytes]]) -> list[tuple[str, int]]:
    polled = [(name, process.poll()) for name, process in processes.items()]
    return [(name, status) for name, status in polled if status is not None]


def _started(name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "topologies", "run", name])

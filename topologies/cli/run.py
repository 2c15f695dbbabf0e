"""``pratique run``: one app in this process, or several under one supervisor.

The contract: an app process ends with status 0 after SIGTERM (drained and committed), 70 when it ended without marking
a batch, and the usual codes for what an operator has to mend. The supervisor starts each app as a process of its own
and starts it again when it ends with 70 or is killed; it ends when it is told to, or with the status of an app that an
operator has to mend.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click
from mode import Worker

from pratique.errors import ConfigurationError, RefusedError, UnavailableError
from topologies.apps import APPS, StepKind, Topology
from topologies.bootstrap.ledger import RunningLedger, make_ledger
from topologies.bootstrap.steps import Running, make_step
from topologies.bootstrap.topics import require_start_offsets
from topologies.build import EXIT_UNMARKED, build
from topologies.cli.output import speaks
from topologies.settings import Settings

LOG: Final = logging.getLogger("pratique")

RESTART_SECONDS: Final = 1.0
WAIT_SECONDS: Final = 2.0

_BY_NAME: Final = {topology.name: topology for topology in APPS}


@click.command()
@click.argument("apps", nargs=-1, required=True)
@speaks
def run(apps: Sequence[str]) -> None:
    """Run APPS: intake, consistency, scan, verdict, ledger, or all."""
    names = list(_BY_NAME) if "all" in apps else list(dict.fromkeys(apps))
    unknown = [name for name in names if name not in _BY_NAME]
    if unknown:
        raise ConfigurationError(f"no such app: {', '.join(unknown)}; there are {', '.join(_BY_NAME)} and all")
    if len(names) == 1:
        topology, settings = _BY_NAME[names[0]], Settings.read(os.environ)
        _log_to_stderr(topology, settings)
        if topology.step is StepKind.LEDGER:
            _run_ledger(topology, settings)
        else:
            _run_here(topology, settings)
    else:
        _supervise(names)


def _log_to_stderr(topology: Topology, settings: Settings) -> None:
    logging.basicConfig(
        level=settings.log_level,
        format=f"%(asctime)s %(levelname)s {topology.name} %(name)s %(message)s",
        stream=sys.stderr,
    )
    # Debug logging of these costs a tenth of the throughput, and says nothing an operator needs.
    for noisy in ("faust", "mode", "aiokafka", "asyncio", "tuf", "urllib3"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLogger().level))


def _run_here(topology: Topology, settings: Settings) -> None:
    running = _made(topology, settings)
    _serve_metrics(running, settings)
    app = build(topology, settings, running.step, running.warm, lambda: _ready(settings))
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        raise SystemExit(Worker(app, loglevel=None, override_logging=False, loop=loop).execute_from_commandline())
    finally:
        running.close()


def _made(topology: Topology, settings: Settings) -> Running:
    """Make the step, waiting for the broker for as long as it takes."""
    while True:
        try:
            require_start_offsets(settings, topology)
            return make_step(topology, settings, _instance(topology))
        except UnavailableError as error:
            LOG.warning("waiting: %s", error)
            time.sleep(WAIT_SECONDS)


def _run_ledger(topology: Topology, settings: Settings) -> None:
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    running: RunningLedger | None = None
    while running is None and not stopping.is_set():
        try:
            require_start_offsets(settings, topology)
            running = make_ledger(
                topology,
                settings,
                _instance(topology),
                is_stopping=stopping.is_set,
                on_ready=lambda: _ready(settings),
            )
        except UnavailableError as error:
            LOG.warning("waiting: %s", error)
            stopping.wait(WAIT_SECONDS)
    if running is None:
        return
    _serve_metrics(running, settings)
    try:
        running.writer.run()
    except RefusedError:
        raise
    except Exception:  # whatever it was: what was written is known to the log alone (see the writer's contract)
        LOG.exception("ending without committing; commands are read again from the last committed offset")
        logging.shutdown()
        os._exit(EXIT_UNMARKED)
    running.close()


def _serve_metrics(running: Running | RunningLedger, settings: Settings) -> None:
    if settings.metrics_port >= 0:
        port = running.metrics.serve(settings.metrics_host, settings.metrics_port)
        LOG.info("metrics at %s:%d", settings.metrics_host, port)


def _instance(topology: Topology) -> str:
    return f"{topology.name}-{socket.gethostname()}-{os.getpid()}"


def _ready(settings: Settings) -> None:
    if settings.ready_file:
        Path(settings.ready_file).write_text(str(os.getpid()), encoding="utf-8")
    LOG.info("ready")


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

"""One app in this process: what ``pratique run APP`` does.

The contract: the process ends with status 0 after SIGTERM (drained and committed), 70 when it ended without marking a
batch, and by an error of ours for what an operator has to mend.

A module of its own, imported on use: a supervisor needs none of what an app loads.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Final

import uvloop
from mode import Worker

from pratique.errors import ConfigurationError, RefusedError, UnavailableError
from topologies.apps import StepKind, Topology
from topologies.bootstrap.ledger import RunningLedger, make_ledger
from topologies.bootstrap.steps import Running, make_step
from topologies.bootstrap.topics import require_start_offsets
from topologies.build import EXIT_UNMARKED, build
from topologies.settings import Settings

LOG: Final = logging.getLogger("pratique")

WAIT_SECONDS: Final = 2.0
COLLECT_AFTER: Final = 20_000
"""Objects more than were freed, before the youngest are looked at."""


def run_app(topology: Topology, settings: Settings) -> None:
    """Run an app until it is told to end.

    Raises:
        RefusedError: An operator has to mend something first.
        ConfigurationError: The same.
    """
    _log_to_stderr(topology, settings)
    if topology.step is StepKind.LEDGER:
        _run_ledger(topology, settings)
    else:
        _run_here(topology, settings)


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
    try:
        _serve_metrics(running, settings)
    except ConfigurationError:
        running.close()
        raise
    app = build(topology, settings, running.step, running.warm, lambda: _ready(settings))
    _collect_seldom()
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())  # the consumer's thread makes a loop of its own
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        Worker(app, loglevel=None, override_logging=False, loop=loop).execute_from_commandline()
    except SystemExit as ended:
        # Where Faust itself failed (its consumer crashed, say) there is nothing for an operator to mend.
        raise SystemExit(EXIT_UNMARKED if ended.code else 0) from None
    finally:
        running.close()


def _collect_seldom() -> None:
    """Look for cycles seldom: records are freed by reference count, and a batch makes tens of thousands of objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 20)


def _made(topology: Topology, settings: Settings) -> Running:
    """Make the step, waiting for the broker for as long as it takes."""
    while True:
        try:
            require_start_offsets(settings, topology)
            return make_step(topology, settings)
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
                on_ready=lambda: _loaded(settings),
            )
        except UnavailableError as error:
            LOG.warning("waiting: %s", error)
            stopping.wait(WAIT_SECONDS)
    if running is None:
        return
    try:
        _serve_metrics(running, settings)
    except ConfigurationError:
        running.close()
        raise
    _collect_seldom()  # a ledger's entries are made by the million while it is loaded
    try:
        running.writer.run()
    except RefusedError:
        raise
    except Exception:  # whatever it was: what was written is known to the log alone (see the writer's contract)
        LOG.exception("ending without committing; commands are read again from the last committed offset")
        logging.shutdown()
        os._exit(EXIT_UNMARKED)
    running.close()


def _loaded(settings: Settings) -> None:
    gc.freeze()  # entries stay, and hold no cycles: no collection has to go through them
    _ready(settings)


def _serve_metrics(running: Running | RunningLedger, settings: Settings) -> None:
    """Serve metrics where they are to be served.

    Raises:
        ConfigurationError: They can't be, at that address and port.
    """
    if settings.metrics_port < 0:
        return
    place = f"{settings.metrics_host}:{settings.metrics_port}"
    try:
        port = running.metrics.serve(settings.metrics_host, settings.metrics_port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigurationError(
                f"port {settings.metrics_port} is taken: PRATIQUE_METRICS_PORT expects a free one, 0 for any, or -1"
            ) from None
        raise ConfigurationError(
            f"metrics can't be served at {place} ({error.strerror}): PRATIQUE_METRICS_HOST, PRATIQUE_METRICS_PORT"
        ) from None
    except OverflowError:
        raise ConfigurationError(f"PRATIQUE_METRICS_PORT is no port: {settings.metrics_port}") from None
    LOG.info("metrics at %s:%d", settings.metrics_host, port)


def _instance(topology: Topology) -> str:
    return f"{topology.name}-{socket.gethostname()}-{os.getpid()}"


def _ready(settings: Settings) -> None:
    if settings.ready_file:
        Path(settings.ready_file).write_text(str(os.getpid()), encoding="utf-8")
    LOG.info("ready")

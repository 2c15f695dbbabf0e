"""A worker process seen from its parent: started, spoken to, ended.

The contract: every way of it being gone is a ``DetectorError``; too slow is a ``TimeoutError``. It is usable once
``load`` has returned which scanner it is, and ended by ``end``, whatever state it is in.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from multiprocessing.context import ForkServerContext
from typing import Final

from pratique.errors import MalformedError
from streams.adapters.frames import PeerClosedError, receive_frame, send_frame
from streams.adapters.worker import worker_main
from streams.domain.scanning.manifest import ScannerManifest, read_manifest
from streams.errors import DetectorError

_END_TIMEOUT_S: Final = 5.0


class WorkerProcess:
    """One worker.

    Args:
        context: Where processes come from.
        factory: Path of the detectors' factory.

    Attributes:
        jobs: How many jobs it was sent.

    Raises:
        DetectorError: No process starts.
    """

    def __init__(self, context: ForkServerContext, factory: str) -> None:
        self.jobs = 0
        self._manifest: ScannerManifest | None = None
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = context.Process(target=worker_main, args=(theirs, factory), name="scan-worker", daemon=True)
            try:
                self._process.start()
            except (OSError, EOFError) as error:
                self._channel.close()
                raise DetectorError("scan worker does not start") from error

    def load(self, *, timeout_s: float) -> ScannerManifest:
        """Wait until its detectors are loaded, and return which scanner it is.

        Raises:
            DetectorError: It did not load in time, or died.
        """
        try:
            hello = json.loads(receive_frame(self._channel, timeout_s=timeout_s))
            self._manifest = read_manifest(hello["ready"])
        except (PeerClosedError, TimeoutError, ValueError, TypeError, KeyError, MalformedError) as error:
            raise DetectorError("scan worker did not load its detectors") from error
        return self._manifest

    @property
    def manifest(self) -> ScannerManifest:
        """Which scanner it said it is.

        Raises:
            DetectorError: It has not loaded.
        """
        if self._manifest is None:
            raise DetectorError("scan worker did not load its detectors")
        return self._manifest

    @property
    def pid(self) -> int | None:
        """Its process id."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.is_alive()

    def send(self, payloads: Sequence[bytes], *, timeout_s: float) -> None:
        """Send jobs; it answers each with a frame.

        Raises:
            TimeoutError: It does not take them.
            DetectorError: It is gone.
        """
        self.jobs += len(payloads)
        try:
            send_frame(self._channel, b"[" + b",".join(payloads) + b"]", timeout_s=timeout_s)
        except PeerClosedError as error:
            raise DetectorError("scan worker is gone") from error

    def receive(self, *, timeout_s: float) -> bytes:
        """Return its next answer.

        Raises:
            TimeoutError: It has none in time.
            DetectorError: It is gone.
        """
        try:
            return receive_frame(self._channel, timeout_s=timeout_s)
        except PeerClosedError as error:
            raise DetectorError("scan worker is gone") from error

    def kill(self) -> None:
        """End the process at once, from any thread."""
        self._process.kill()

    def end(self) -> None:
        """End the process and wait for it."""
        self._process.kill()
        self._process.join(_END_TIMEOUT_S)
        self._channel.close()

"""A real Apache Kafka broker in the local JVM, single node KRaft, on loopback ports.

The contract: ``start`` returns once a client can list the broker, or raises; data and ports outlive ``stop``, ``kill``
and ``start`` again, so that clients reconnect to the address they know. Settings come from
``infra/kafka/broker.properties``; this module adds listeners and folders. The jars must have been resolved
(``infra.stack.requirements.ensure_broker_jars``).

It does no TLS, no authentication and no replication. It does not delete the data folder.
"""

from __future__ import annotations

import base64
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from infra.stack.kafka_settings import properties
from infra.stack.paths import KAFKA, KAFKA_JARS, KAFKA_TARGET
from pratique.errors import ConfigurationError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

LOOPBACK: Final = "127.0.0.1"

PORT_RANGE: Final = range(20_000, 32_000)
"""Below Linux' ephemeral ports (32768 on), so that no outgoing connection takes the port while the broker is down."""

START_TIMEOUT_S: Final = 60.0
STOP_TIMEOUT_S: Final = 20.0
POLL_S: Final = 0.05

BROKER_MAIN: Final = "kafka.Kafka"
CLASS_ARCHIVE: Final = KAFKA_TARGET / "broker.jsa"


@dataclass(frozen=True, slots=True)
class BrokerPorts:
    """The two loopback ports of a broker: one for clients, one for its own KRaft controller."""

    client: int
    controller: int


def free_ports(count: int) -> list[int]:
    """Return distinct loopback TCP ports that nothing listens on at this moment.

    Args:
        count: How many.

    Raises:
        UnavailableError: No free port was found.
    """
    found: list[int] = []
    for port in random.SystemRandom().sample(PORT_RANGE, 200):
        with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise UnavailableError(f"no {count} free loopback ports between {PORT_RANGE.start} and {PORT_RANGE.stop - 1}")


def wait_for_kafka(
    bootstrap: str, *, timeout_s: float, is_running: Callable[[], bool] = lambda: True, cluster_id: str | None = None
) -> None:
    """Return once a client gets the broker's metadata.

    Args:
        bootstrap: ``host:port``.
        timeout_s: How long to try, in seconds.
        is_running: Whether the broker still runs; where not, waiting is pointless.
        cluster_id: The broker's; another one that happens to answer at the address does not count.

    Raises:
        UnavailableError: Not ready in time, or it ended.
    """
    host, _, port = bootstrap.rpartition(":")
    until = time.monotonic() + timeout_s
    # The port first: librdkafka logs every refused connection, and backs off.
    while not _accepts(host, int(port)):
        _give_up(until, bootstrap, is_running)
        time.sleep(POLL_S)
    admin = AdminClient({"bootstrap.servers": bootstrap, "reconnect.backoff.max.ms": 200, "log_level": 0})
    while True:
        try:
            found = admin.list_topics(timeout=1)
            if found.brokers and cluster_id in {None, found.cluster_id}:
                return
        except KafkaException:
            pass  # not ready yet; the deadline below decides
        _give_up(until, bootstrap, is_running)
        time.sleep(POLL_S)


def cluster_id_of(randomness: bytes) -> str:
    """Return a cluster id of 16 random bytes, as Kafka writes it: base64 for addresses, without padding.

    The first bit is left out: an id that began with a hyphen, as one in 64 would, is an option to Kafka's tools.
    """
    first, *others = randomness
    return base64.urlsafe_b64encode(bytes([first & 0x7F, *others])).decode("ascii").rstrip("=")


class EmbeddedBroker:
    """One broker process.

    Attributes:
        ports: Its loopback ports; the same at every start.
        data_dir: Its log folder; formatted at the first start, kept afterwards.
        log_dir: Where ``broker.log`` (warnings) and ``broker.out`` (what the JVM prints) go.
    """

    def __init__(self, data_dir: Path, *, log_dir: Path, ports: BrokerPorts | None = None, heap_mib: int = 512) -> None:
        self.ports: BrokerPorts = ports or BrokerPorts(*free_ports(2))
        self.data_dir = data_dir
        self.log_dir = log_dir
        self._heap_mib = heap_mib
        self._process: subprocess.Popen[bytes] | None = None
        self._record_classes_in: Path | None = None

    @property
    def bootstrap(self) -> str:
        """The address for clients, ``127.0.0.1:port``."""
        return f"{LOOPBACK}:{self.ports.client}"

    @property
    def pid(self) -> int:
        """Process id of the running JVM.

        Raises:
            UnavailableError: The broker is not running.
        """
        if self._process is None or self._process.poll() is not None:
            raise UnavailableError("the broker is not running")
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended (it may be stopped by a signal)."""
        return self._process is not None and self._process.poll() is None

    def start(self, *, timeout_s: float = START_TIMEOUT_S, spawned: Callable[[int], None] = lambda _pid: None) -> str:
        """Start the broker and return its bootstrap address once clients are served.

        Args:
            timeout_s: How long it may take, in seconds. About 2 s when all is idle; 4 s more after ``kill``.
            spawned: Told the process id at once, before the broker is ready.

        Raises:
            ConfigurationError: The jars are not there, or the broker is already running.
            UnavailableError: It ended or was not ready in time; its logs say why.
        """
        if self.is_running:
            raise ConfigurationError("the broker is already running")
        for folder in (self.data_dir, self.log_dir):
            folder.mkdir(parents=True, exist_ok=True)
        settings = self._write_settings()
        if not (self.data_dir / "meta.properties").exists():
            self._format(settings)
        with (self.log_dir / "broker.out").open("ab") as out:
            self._process = subprocess.Popen(
                self._java(BROKER_MAIN, str(settings)),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in a terminal is for us, who then stop it in order
            )
        try:
            spawned(self._process.pid)
            wait_for_kafka(
                self.bootstrap,
                timeout_s=timeout_s,
                is_running=lambda: self.is_running,
                cluster_id=self._cluster_id(),
            )
        except UnavailableError as error:
            self.kill()
            raise UnavailableError(f"{error}; see broker.log and broker.out in {self.log_dir}") from error
        return self.bootstrap

    def stop(self, *, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Stop in order (SIGTERM), then by force. Does nothing when not running."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
            self._process.terminate()
            try:
                self._process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.kill()
        self._process = None

    def kill(self) -> None:
        """Kill at once (SIGKILL): what a power cut does. Does nothing when not running."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self, *, timeout_s: float = START_TIMEOUT_S) -> str:
        """Stop in order and start again, on the same ports with the same data; see ``start``."""
        self.stop()
        return self.start(timeout_s=timeout_s)

    def pause(self) -> None:
        """Stop the process where it stands (SIGSTOP); clients see a broker that no longer answers."""
        os.kill(self.pid, signal.SIGSTOP)

    def unpause(self) -> None:
        """Let a paused process go on (SIGCONT)."""
        os.kill(self.pid, signal.SIGCONT)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _write_settings(self) -> Path:
        client, controller = self.ports.client, self.ports.controller
        lines = [
            f"listeners=PLAINTEXT://{LOOPBACK}:{client},CONTROLLER://{LOOPBACK}:{controller}",
            f"advertised.listeners=PLAINTEXT://{LOOPBACK}:{client}",
            f"controller.quorum.voters=1@{LOOPBACK}:{controller}",
            f"log.dirs={self.data_dir.resolve()}",
        ]
        path = self.log_dir / "broker.properties"
        path.write_text((KAFKA / "broker.properties").read_text("utf-8") + "\n".join(["", *lines, ""]), "utf-8")
        return path

    def _cluster_id(self) -> str:
        return properties(self.data_dir / "meta.properties")["cluster.id"]

    def _format(self, settings: Path) -> None:
        cluster_id = cluster_id_of(uuid.uuid4().bytes)
        done = subprocess.run(
            self._java("kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(settings)),
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode != 0:
            raise UnavailableError(f"the broker's data folder {self.data_dir} could not be formatted: {done.stderr}")

    def _java(self, main: str, *arguments: str) -> list[str]:
        jars = sorted(KAFKA_JARS.glob("*.jar"))
        if not jars:
            raise ConfigurationError(
                f"no broker jars in {KAFKA_JARS}: `make up` resolves them (Maven, pom.xml in {KAFKA})"
            )
        archive = f"-XX:SharedArchiveFile={CLASS_ARCHIVE}"
        if main == BROKER_MAIN and self._record_classes_in is not None:
            archive = f"-XX:ArchiveClassesAtExit={self._record_classes_in}"
        return [
            "java",
            f"-Xmx{self._heap_mib}m",
            "-XX:+UseSerialGC",  # two thirds of G1's memory; a small heap on few cores has no pause worth the price
            "-Xshare:auto",  # an archive that is missing or of another JVM is not used
            archive,
            f"-Dlog4j2.configurationFile={KAFKA / 'log4j2.properties'}",
            f"-Dpratique.log.dir={self.log_dir}",
            "-cp",
            os.pathsep.join(str(jar) for jar in jars),
            main,
            *arguments,
        ]


def record_class_archive() -> None:
    """Make the JVM's archive of the broker's classes by starting and stopping one broker. It halves every later start.

    Raises:
        UnavailableError: That broker did not start.
    """
    with tempfile.TemporaryDirectory(prefix="pratique-broker-") as folder:
        broker = EmbeddedBroker(Path(folder, "data"), log_dir=Path(folder, "logs"))
        broker._record_classes_in = Path(folder, CLASS_ARCHIVE.name)  # noqa: SLF001 - the one caller, in this module
        with broker:
            pass
        shutil.move(broker._record_classes_in, CLASS_ARCHIVE)  # noqa: SLF001 - as above


def _accepts(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False


def _give_up(until: float, bootstrap: str, is_running: Callable[[], bool]) -> None:
    if not is_running():
        raise UnavailableError(f"the broker at {bootstrap} ended before it was ready")
    if time.monotonic() > until:
        raise UnavailableError(f"the broker at {bootstrap} was not ready in time")

"""Apache Kafka in a container, through testcontainers: the same for the official image and the locally built one.

The contract: it is ready when a client gets metadata, not when a log says so; its address stays the same over
``restart``, ``stop_broker``/``start_broker`` and ``pause``, and so do its data. It speaks to the local engine only.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Final, Self

from testcontainers.core.container import DockerContainer

from infra.stack.broker import LOOPBACK, free_ports, wait_for_kafka
from infra.stack.kafka_settings import CLIENT_PORT, container_environment
from infra.stack.paths import ROOT
from pratique.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

READY_TIMEOUT_S: Final = 60.0
STOP_GRACE_S: Final = 20

SHORT_SESSION_MS: Final = 3_000
"""Shortest consumer session that the tests' broker takes: half of Kafka's own bound, so that takeovers are quick."""


class KafkaContainer(DockerContainer):
    """One broker; use it as a context manager, or ``start`` and ``stop`` it.

    Attributes:
        bootstrap: ``127.0.0.1:port``, known before the start.
    """

    def __init__(self, image: str, *, settings: Mapping[str, str] | None = None) -> None:
        """Choose the port; nothing is started.

        Args:
            image: A name that ``kafka_image`` returned, or any image with the environment contract of the official one.
            settings: Further ``KAFKA_*`` variables.
        """
        (port,) = free_ports(1)
        self.bootstrap = f"{LOOPBACK}:{port}"
        super().__init__(image, env={**container_environment(self.bootstrap), **(settings or {})})
        # docker-py takes an address with the port; testcontainers passes it on but does not say so in its types.
        self.ports[f"{CLIENT_PORT}/tcp"] = (LOOPBACK, port)  # type: ignore[assignment]

    def start(self) -> Self:
        """Create and start the container; return when clients are served."""
        super().start()
        self.wait_until_ready()
        return self

    def pause(self) -> None:
        """Freeze every process of the container: connections stay open and nothing answers."""
        self._inner().pause()

    def unpause(self) -> None:
        """Let a frozen container go on."""
        self._inner().unpause()

    def stop_broker(self) -> None:
        """Stop the broker in order; the container, its port and its data stay."""
        self._inner().stop(timeout=STOP_GRACE_S)

    def kill_broker(self) -> None:
        """Kill the broker; the container, its port and its data stay."""
        self._inner().kill()

    def start_broker(self) -> None:
        """Start a stopped or killed broker again; return when clients are served."""
        self._inner().start()
        self.wait_until_ready()

    def restart(self) -> None:
        """Stop in order and start again."""
        self.stop_broker()
        self.start_broker()

    def wait_until_ready(self, *, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Return when a client gets metadata.

        Raises:
            UnavailableError: Not in time, or the broker ended; the message ends with its log.
        """
        try:
            wait_for_kafka(self.bootstrap, timeout_s=timeout_s, is_running=self._is_running)
        except UnavailableError as error:
            log = self._inner().logs(tail=30).decode(errors="replace")
            raise UnavailableError(f"{error}\n{log}") from error

    def _is_running(self) -> bool:
        inner = self._inner()
        inner.reload()
        return bool(inner.status == "running")

    def _inner(self) -> Any:  # noqa: ANN401 - docker's container is untyped
        return self.get_wrapped_container()


def kafka_image() -> str:
    """Return the image to use, built first where it has to be (``infra/images/build-kafka-image.sh``).

    Raises:
        UnavailableError: No image could be had; what the script said is shown.
    """
    script = ROOT / "infra" / "images" / "build-kafka-image.sh"
    done = subprocess.run([str(script)], check=False, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise UnavailableError(f"{script.name} could not provide a Kafka image (exit {done.returncode})")
    return done.stdout.strip()

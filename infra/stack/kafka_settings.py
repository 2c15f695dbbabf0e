"""``infra/kafka/broker.properties`` as Python values: one source for the embedded broker, the containers and compose.

It knows nothing of addresses and folders; ``container_environment`` adds those of a container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from infra.stack.paths import KAFKA

if TYPE_CHECKING:
    from pathlib import Path

CLIENT_PORT: Final = 9092
"""Port of the client listener inside a container."""

CLUSTER_ID: Final = "cHJhdGlxdWUtZGV2ZWxvcA"
"""A development cluster's id: 16 bytes in URL-safe base64, as Kafka asks. It names and does not admit: no secret."""


def broker_settings() -> dict[str, str]:
    """Return the properties of ``broker.properties``."""
    return properties(KAFKA / "broker.properties")


def properties(file: Path) -> dict[str, str]:
    """Return the lines ``name=value`` of a file; comments and blank lines are left out."""
    lines = (line.strip() for line in file.read_text("utf-8").splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def container_environment(advertised: str) -> dict[str, str]:
    """Return the environment that makes the official image, or ours, run with the same settings.

    Args:
        advertised: ``host:port`` at which clients reach the container.
    """
    # A broker sends transaction markers to itself, at the address that it advertises to brokers: inside the container,
    # that of the clients is nobody's.
    own = broker_settings()
    settings = {
        **own,
        "listener.security.protocol.map": f"{own['listener.security.protocol.map']},INTERNAL:PLAINTEXT",
        "inter.broker.listener.name": "INTERNAL",
        "listeners": f"PLAINTEXT://0.0.0.0:{CLIENT_PORT},CONTROLLER://127.0.0.1:9093,INTERNAL://127.0.0.1:9094",
        "advertised.listeners": f"PLAINTEXT://{advertised},INTERNAL://127.0.0.1:9094",
        "controller.quorum.voters": "1@127.0.0.1:9093",
        "log.dirs": "/var/lib/kafka/data",
    }
    environment = {variable(name): value for name, value in settings.items()}
    environment["CLUSTER_ID"] = CLUSTER_ID
    environment["KAFKA_HEAP_OPTS"] = "-Xmx512m"
    return environment


def variable(name: str) -> str:
    """Return the image's variable for a broker property: a dot is ``_``, an underscore ``__``, a hyphen ``___``."""
    return "KAFKA_" + name.replace("_", "__").replace("-", "___").replace(".", "_").upper()

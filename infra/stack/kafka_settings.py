"""``infra/kafka/broker.properties`` as Python values: one source for the embedded broker, the containers and compose.

It knows nothing of addresses and folders; ``container_environment`` adds those of a container.
"""

from __future__ import annotations

from typing import Final

from infra.stack.paths import KAFKA

CLIENT_PORT: Final = 9092
"""Port of the client listener inside a container."""

CLUSTER_ID: Final = "cHJhdGlxdWUtZGV2ZWxvcA"
"""A development cluster's id: 16 bytes in URL-safe base64, as Kafka asks. It names and does not admit: no secret."""


def broker_settings() -> dict[str, str]:
    """Return the properties of ``broker.properties``."""
    settings: dict[str, str] = {}
    for line in (KAFKA / "broker.properties").read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, value = line.partition("=")
            settings[name.strip()] = value.strip()
    return settings


def container_environment(advertised: str) -> dict[str, str]:
    """Return the environment that makes the official image, or ours, run with the same settings.

    Args:
        advertised: ``host:port`` at which clients reach the container.
    """
    settings = {
        **broker_settings(),
        "listeners": f"PLAINTEXT://0.0.0.0:{CLIENT_PORT},CONTROLLER://127.0.0.1:9093",
        "advertised.listeners": f"PLAINTEXT://{advertised}",
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

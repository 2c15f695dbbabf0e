"""Redis in a container, through testcontainers, with the settings and identities of ``infra/redis``.

The contract: it is ready when it serves look-ups; its address stays the same over ``kill_server``/``start_server``, and
so do its data. It is reachable from this machine alone, and speaks to the local engine only.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Final, Self

from testcontainers.core.container import DockerContainer

from infra.stack.broker import LOOPBACK, free_ports
from infra.stack.paths import ROOT
from infra.stack.redis import REDIS, answers, write_identities
from pratique.errors import UnavailableError
from tests.integration.raw import until

if TYPE_CHECKING:
    from pathlib import Path

PORT: Final = 6379
SETTINGS: Final = "/etc/redis/redis.conf"
USERS: Final = "/etc/redis/users.acl"


class RedisContainer(DockerContainer):
    """One server; ``start`` and ``stop`` it.

    Attributes:
        url: ``redis://127.0.0.1:port/0``, known before the start.
    """

    def __init__(self, image: str, folder: Path, keys: Path) -> None:
        """Choose the port; nothing is started.

        Args:
            image: A name that ``redis_image`` returned, or any image with ``redis-server``.
            folder: Folder of the ACL file.
            keys: The key directory that passwords are kept in.
        """
        (port,) = free_ports(1)
        self.url = f"redis://{LOOPBACK}:{port}/0"
        self._acl = folder / "users.acl"
        self._keys = keys
        volumes = [(str(REDIS / "redis.conf"), SETTINGS, "ro"), (str(self._acl), USERS, "ro")]
        super().__init__(image, volumes=volumes)
        self.with_command(["redis-server", SETTINGS, "--bind", "0.0.0.0", "--aclfile", USERS])  # noqa: S104 - inside
        # docker-py takes an address with the port; testcontainers passes it on but does not say so in its types.
        self.ports[f"{PORT}/tcp"] = (LOOPBACK, port)  # type: ignore[assignment]

    def start(self) -> Self:
        """Make passwords, create and start the container; return when look-ups are served."""
        write_identities(self._acl, self._keys)
        self._acl.chmod(0o644)  # digests of random passwords, for the container's own user
        super().start()
        self.wait_until_ready()
        return self

    def kill_server(self) -> None:
        """Kill the server; the container, its port and its data stay."""
        self._inner().kill()

    def start_server(self) -> None:
        """Start a killed server again; return when look-ups are served."""
        self._inner().start()
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Return when look-ups are served."""
        until(lambda: answers(self.url, self._keys), f"Redis answers at {self.url}")

    def _inner(self) -> Any:  # noqa: ANN401 - docker's container is untyped
        return self.get_wrapped_container()


def redis_image() -> str:
    """Return the image to use, built first where it has to be (``infra/images/build-redis-image.sh``).

    Raises:
        UnavailableError: No image could be had; what the script said is shown.
    """
    script = ROOT / "infra" / "images" / "build-redis-image.sh"
    done = subprocess.run([str(script)], check=False, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise UnavailableError(f"{script.name} could not provide a Redis image (exit {done.returncode})")
    return done.stdout.strip()

"""A real Redis for the ledger's view: ``redis-server`` on loopback, with settings and identities of ``infra/redis``.

The contract: ``start`` returns when it answers; every start makes new passwords, and keeps them where the key source
looks (``<keys>/redis/<identity>.password``). Nothing of it is reachable from outside the machine.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, Final

import psutil

from infra.stack.broker import LOOPBACK, free_ports
from infra.stack.paths import ROOT
from pratique.errors import ConfigurationError, UnavailableError
from pratique.keyfiles import read_private_file, write_private_file
from streams.adapters.redis_connect import RedisIdentity, connect, password_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REDIS: Final = ROOT / "infra" / "redis"
READY_TIMEOUT_S: Final = 20.0
GRACE_S: Final = 10.0


class EmbeddedRedis:
    """One server.

    Attributes:
        url: ``redis://127.0.0.1:port/0``, known before the start.
    """

    def __init__(self, data_dir: Path, keys: Path, *, log_dir: Path) -> None:
        """Choose the port; nothing is started.

        Args:
            data_dir: Folder of the append-only file and the ACL file.
            keys: The key directory that passwords are kept in.
            log_dir: Folder of ``redis.log``.
        """
        (self._port,) = free_ports(1)
        self.url = f"redis://{LOOPBACK}:{self._port}/0"
        self.data_dir = data_dir
        self._keys = keys
        self._log = log_dir / "redis.log"
        self._process: psutil.Popen | None = None

    @property
    def pid(self) -> int:
        """Its process id."""
        if self._process is None:
            raise UnavailableError("Redis was not started")
        return int(self._process.pid)

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self, *, spawned: Callable[[int], object] = lambda _: None) -> None:
        """Make passwords and start.

        Args:
            spawned: Called with the process id before it answers.

        Raises:
            UnavailableError: It ended, or did not answer in time.
        """
        shutil.rmtree(self._keys / "redis", ignore_errors=True)
        self._acl.unlink(missing_ok=True)
        write_identities(self._acl, self._keys)
        self.start_again(spawned=spawned)

    def start_again(self, *, spawned: Callable[[int], object] = lambda _: None) -> None:
        """Start with the data and passwords there are; raises as ``start`` does."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        arguments = ["--port", str(self._port), "--dir", str(self.data_dir), "--aclfile", str(self._acl)]
        with self._log.open("ab") as out:
            self._process = psutil.Popen(
                ["redis-server", str(REDIS / "redis.conf"), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        spawned(self.pid)
        until = time.monotonic() + READY_TIMEOUT_S
        while not answers(self.url, self._keys):
            if not self.is_running or time.monotonic() > until:
                tail = self._log.read_text("utf-8", errors="replace")[-2000:]
                raise UnavailableError(f"redis-server did not start ({self._log}):\n{tail}")
            time.sleep(0.02)

    def kill(self) -> None:
        """Kill it (SIGKILL), as a fault would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(GRACE_S)

    def stop(self) -> None:
        """End it in order."""
        if self._process is not None and self.is_running:
            self._process.terminate()
            self._process.wait(GRACE_S)

    @property
    def _acl(self) -> Path:
        return self.data_dir / "users.acl"


def answers(url: str, keys: Path) -> bool:
    """Return whether a server serves look-ups.

    Args:
        url: Where it is.
        keys: The key directory that its passwords are kept in.
    """
    import redis.exceptions  # noqa: PLC0415 - used here alone

    client = connect(url, RedisIdentity.LOOKUP, keys, {})
    try:
        return bool(client.ping())
    except redis.exceptions.RedisError:
        return False
    finally:
        client.close()


def write_identities(acl: Path, keys: Path) -> list[RedisIdentity]:
    """Make the server's list of who may do what, and a password for whoever has none; return for whom.

    What is there is kept: passwords, and users in the list that are not ours.

    Args:
        acl: The server's ACL file.
        keys: The key directory that the passwords are kept in.

    Raises:
        ConfigurationError: A password that is there may not be used, or a file can't be written; nothing was changed.
    """
    kept = {identity: _password(file) for identity in RedisIdentity if (file := password_file(keys, identity)).exists()}
    template = (REDIS / "users.acl").read_text("utf-8")
    others = _others(acl, template)
    made = {identity: secrets.token_urlsafe(32) for identity in RedisIdentity if identity not in kept}
    for identity, password in made.items():
        write_private_file(password_file(keys, identity), password.encode("utf-8") + b"\n")
    digests = {
        identity.value.replace("-", "_"): hashlib.sha256(password.encode("utf-8")).hexdigest()
        for identity, password in {**kept, **made}.items()
    }
    acl.parent.mkdir(parents=True, exist_ok=True)
    beside = acl.with_name(f"{acl.name}.new")
    beside.unlink(missing_ok=True)
    write_private_file(beside, (template.format_map(digests) + others).encode("utf-8"))
    beside.replace(acl)
    return list(made)


def _password(file: Path) -> str:
    password = read_private_file(file).decode("utf-8", errors="replace").strip()
    if not password:
        raise ConfigurationError(f"{file} is empty, expected a password: remove it, and one is made")
    return password


def _others(acl: Path, template: str) -> str:
    """Return the lines of a list that are about nobody in ours: an administrator, replicas, Sentinels."""
    ours = {_user(line) for line in template.splitlines()}
    try:
        there = acl.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigurationError(f"{acl} can't be read: {error.strerror}") from None
    return "".join(f"{line}\n" for line in there if line.strip() and _user(line) not in ours)


def _user(line: str) -> str:
    return " ".join(line.split()[:2])

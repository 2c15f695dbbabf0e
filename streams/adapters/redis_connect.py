"""Connections to Redis, one identity each.

The contract: an address says where, and whether by TLS; who, and the password, come from the key source:
``<keys>/redis/<identity>.password``, private to its owner, or ``PRATIQUE_REDIS_PASSWORD_<IDENTITY>``. What an identity
may do is the server's to hold (infra/redis/users.acl). Nothing is connected before it is asked something.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from pratique.errors import ConfigurationError
from pratique.keyfiles import read_private_file

TIMEOUT_SECONDS: Final = 2.0
"""How long an answer is awaited; a look-up that takes longer is no answer."""


class RedisIdentity(Enum):
    """Who asks; the server's user is called ``pratique-<value>``."""

    LEDGER = "ledger"
    LEDGER_GLOBAL = "ledger-global"
    LOOKUP = "lookup"
    VERIFY = "verify"
    MAINTENANCE = "maintenance"


def password_file(directory: Path, identity: RedisIdentity) -> Path:
    """Return where an identity's password lies."""
    return directory / "redis" / f"{identity.value}.password"


def connect(url: str, identity: RedisIdentity, directory: Path | None, environment: Mapping[str, str]) -> Redis:
    """Return a connection.

    Args:
        url: ``redis://host:port/0``, or ``rediss://`` for TLS.
        identity: Who asks.
        directory: The key directory; null where the environment holds all.
        environment: The environment.

    Raises:
        ConfigurationError: There is no password here, its file is readable to others, or the address is none.
    """
    variable = f"PRATIQUE_REDIS_PASSWORD_{identity.name}"
    password = environment.get(variable)
    if password is None:
        if directory is None:
            raise ConfigurationError(f"no password of Redis identity {identity.value}: expected {variable}")
        password = read_private_file(password_file(directory, identity)).decode("utf-8").strip()
    try:
        return Redis.from_url(
            url,
            username=f"pratique-{identity.value}",
            password=password,
            decode_responses=True,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            # Tried once more at once, for a connection that the server has closed meanwhile: every change compares
            # offsets, so a change that is sent twice is refused the second time.
            retry=Retry(NoBackoff(), 1),
        )
    except ValueError:
        raise ConfigurationError("PRATIQUE_REDIS_URL is no redis:// or rediss:// address") from None

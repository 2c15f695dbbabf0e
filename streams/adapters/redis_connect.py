"""Connections to Redis, one identity each: a single server, a master that Sentinels name, or a cluster.

The contract: an address says where, and whether by TLS; who, and the password, come from the key source:
``<keys>/redis/<identity>.password``, private to its owner, or ``PRATIQUE_REDIS_PASSWORD_<IDENTITY>``. What an identity
may do is the server's to hold (infra/redis/users.acl). Nothing is connected before it is asked something.

=========================================  =====================================================
``redis://host:port/0``                    one server
``redis+sentinel://host:port,…/name``      the master of a name, as the Sentinels know it
``redis+cluster://host:port,…``            a cluster; any of its nodes
=========================================  =====================================================

``rediss`` in place of ``redis`` is TLS; ``?ssl_ca_certs=FILE`` names who signs the servers' certificates, and
``ssl_certfile`` and ``ssl_keyfile`` one's own. Sentinels that want a password find it as ``sentinel``.

Replicas are never asked: what one has not applied yet would be unknown to it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlsplit

from redis import Redis
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import RedisClusterException, RedisError
from redis.retry import Retry
from redis.sentinel import Sentinel

from pratique.errors import ConfigurationError
from pratique.keyfiles import read_private_file

TIMEOUT_SECONDS: Final = 2.0
"""How long an answer is awaited; a look-up that takes longer is no answer."""

REDIS_ERRORS: Final = (RedisError, RedisClusterException)
"""What the library raises; the second is no kind of the first."""

_SENTINEL: Final = "sentinel"
_TLS_OPTIONS: Final = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"})
_BAD_ADDRESS: Final = (
    "PRATIQUE_REDIS_URL is no redis://host:port/0, redis+sentinel://host:port,…/name or redis+cluster://host:port,… "
    "(rediss for TLS; ?ssl_ca_certs=, ssl_certfile=, ssl_keyfile=)"
)


class RedisIdentity(Enum):
    """Who asks; the server's user is called ``pratique-<value>``."""

    LEDGER = "ledger"
    LEDGER_GLOBAL = "ledger-global"
    LOOKUP = "lookup"
    VERIFY = "verify"
    MAINTENANCE = "maintenance"
    VERDICT_INDEX = "verdict-index"


class LazyCluster:
    """A cluster that is not asked for its nodes before something else is asked; stands for a ``Redis``.

    Its servers are several: what is said of one of them goes through ``each_server``.
    """

    def __init__(self, make: Callable[[], RedisCluster]) -> None:
        self._make = make
        self._made: RedisCluster | None = None
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a Redis has
        with self._lock:
            if self._made is None:
                self._made = self._make()
        return getattr(self._made, name)

    def close(self) -> None:
        """Close the connections there are."""
        if self._made is not None:
            self._made.close()


def password_file(directory: Path, identity: RedisIdentity) -> Path:
    """Return where an identity's password lies."""
    return directory / "redis" / f"{identity.value}.password"


def connect(url: str, identity: RedisIdentity, directory: Path | None, environment: Mapping[str, str]) -> Redis:
    """Return a connection.

    Args:
        url: The address.
        identity: Who asks.
        directory: The key directory; null where the environment holds all.
        environment: The environment.

    Raises:
        ConfigurationError: There is no password here, its file is readable to others, or the address is none.
    """
    password = _password(identity.name, None if directory is None else password_file(directory, identity), environment)
    if password is None:
        raise ConfigurationError(
            f"no password of Redis identity {identity.value}: expected PRATIQUE_REDIS_PASSWORD_{identity.name}"
        )
    options = {
        "username": f"pratique-{identity.value}",
        "password": password,
        "decode_responses": True,
        "socket_timeout": TIMEOUT_SECONDS,
        "socket_connect_timeout": TIMEOUT_SECONDS,
        # Tried once more at once, for a connection that the server has closed meanwhile: every change compares
        # offsets, so a change that is sent twice is refused the second time.
        "retry": Retry(NoBackoff(), 1),
    }
    scheme = url.partition("://")[0]
    try:
        if scheme in ("redis+cluster", "rediss+cluster"):
            return _cluster(url, options)
        if scheme in ("redis+sentinel", "rediss+sentinel"):
            file = None if directory is None else directory / "redis" / f"{_SENTINEL}.password"
            return _by_sentinel(url, options, _password(_SENTINEL.upper(), file, environment))
        return Redis.from_url(url, **options)
    except ValueError:
        raise ConfigurationError(_BAD_ADDRESS) from None


def each_server(client: Redis, ask: Callable[..., Any]) -> list[Mapping[str, Any]]:
    """Return what each server that holds data says to a question; one answer where there is one server.

    Args:
        client: The connection.
        ask: One of its methods, with arguments but for the nodes.
    """
    if not isinstance(client, LazyCluster):
        return [ask()]
    answers = ask(target_nodes=RedisCluster.PRIMARIES)
    return list(answers.values()) if client.get_primaries()[1:] else [answers]


def is_cluster(client: Redis) -> bool:
    """Return whether a connection is to several servers."""
    return isinstance(client, LazyCluster)


def _cluster(url: str, options: Mapping[str, Any]) -> Redis:
    hosts, path, tls = _places(url)
    if path:
        raise ValueError("a cluster has no name")
    nodes = [ClusterNode(host, port) for host, port in hosts]  # type: ignore[no-untyped-call] # redis-py does not type it
    return cast("Redis", LazyCluster(lambda: RedisCluster(startup_nodes=nodes, **options, **tls)))


def _by_sentinel(url: str, options: Mapping[str, Any], sentinel_password: str | None) -> Redis:
    hosts, master_name, tls = _places(url)
    if not master_name:
        raise ValueError("no name of a master")
    asked = {name: options[name] for name in ("socket_timeout", "socket_connect_timeout", "retry")}
    asked |= {"password": sentinel_password, **tls}
    sentinel = Sentinel(hosts, sentinel_kwargs=asked)  # type: ignore[no-untyped-call] # redis-py does not type it
    master: Redis = sentinel.master_for(master_name, **options, **tls)  # type: ignore[no-untyped-call] # the same
    return master


def _places(url: str) -> tuple[list[tuple[str, int]], str, dict[str, Any]]:
    """Return hosts and ports, the path, and how TLS is done."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
    if not query.keys() <= _TLS_OPTIONS or "@" in parts.netloc:
        raise ValueError("an option that is none")
    places = []
    for place in parts.netloc.split(","):
        host, _, port = place.rpartition(":")
        if not host:
            raise ValueError("a place without a port")
        places.append((host.strip("[]"), int(port)))
    return places, parts.path.strip("/"), {"ssl": True, **query} if parts.scheme.startswith("rediss+") else {}


def _password(name: str, file: Path | None, environment: Mapping[str, str]) -> str | None:
    stated = environment.get(f"PRATIQUE_REDIS_PASSWORD_{name}")
    if stated is not None or file is None or (name == _SENTINEL.upper() and not file.exists()):
        return stated
    return read_private_file(file).decode("utf-8").strip()

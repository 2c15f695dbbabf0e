"""What a Redis is set to, asked with what little its readers may ask."""

from __future__ import annotations

from functools import partial
from typing import Final

from redis import Redis

from pratique.errors import UnavailableError
from streams.adapters.redis_connect import REDIS_ERRORS, RedisIdentity, each_server

_SETTING: Final = "maxmemory-policy"


def eviction_policies(client: Redis, identity: RedisIdentity) -> set[str]:
    """Return the eviction policies of the servers that hold data.

    Args:
        client: A connection.
        identity: Whose it is: a look-up's may ask for settings and not for facts, a ledger's the other way round.

    Raises:
        UnavailableError: Redis does not answer.
    """
    try:
        if identity is RedisIdentity.LOOKUP:
            stated = each_server(client, partial(client.config_get, _SETTING))
            return {str(item.get(_SETTING)) for item in stated}
        return {str(item.get("maxmemory_policy")) for item in each_server(client, client.info)}
    except REDIS_ERRORS as error:
        raise UnavailableError(
            f"Redis does not answer ({type(error).__name__}): is it running where PRATIQUE_REDIS_URL says?"
        ) from None

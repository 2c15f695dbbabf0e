"""The index of verdicts, wired: look-ups for intake, the follower for the ledger app.

The contract: each gets the one Redis identity it needs. Where there is no Redis, or no password of that identity yet
(an installation from before there was an index), there is no index, which is said once: then what was compacted before
is untrusted, and nothing waits.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from redis import Redis

from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED
from pratique.contract.trust import TrustTarget
from pratique.errors import ConfigurationError
from streams.adapters.kafka_log import KafkaLog
from streams.adapters.redis_connect import RedisIdentity, connect
from streams.adapters.redis_verdicts import RedisVerdictIndex, RedisVerdictWriter
from streams.adapters.system_clock import SystemClock
from streams.adapters.verdict_follower import VerdictFollower, following
from streams.application.ports.lineage import NoIndex, VerdictIndex
from streams.application.ports.metrics import Metrics
from topologies.settings import Settings

LOG: Final = logging.getLogger(__name__)

_GROUP: Final = "pratique.verdict-index"
_TOPICS: Final = (COMPACTION_ACCEPTED, COMPACTION_QUARANTINED)


def verdict_index(
    settings: Settings, trust: Callable[[], TrustTarget], metrics: Metrics, closing: ExitStack
) -> VerdictIndex:
    """Return the index that look-ups ask.

    Args:
        settings: Where it is.
        trust: Returns the trust target to go by.
        metrics: Counts look-ups.
        closing: Closes the connection.

    Raises:
        ConfigurationError: Redis' address is none.
    """
    client = _client(settings, RedisIdentity.LOOKUP, closing)
    return NoIndex() if client is None else RedisVerdictIndex(client, trust, metrics)


def start_follower(settings: Settings, metrics: Metrics, closing: ExitStack) -> None:
    """Start what keeps the index, where there is one.

    Args:
        settings: Where it is.
        metrics: Says how it goes.
        closing: Ends it.

    Raises:
        ConfigurationError: Redis' address is none.
    """
    client = _client(settings, RedisIdentity.VERDICT_INDEX, closing)
    if client is None:
        return
    logs = {topic: KafkaLog(settings.connection, topic, _GROUP) for topic in _TOPICS}
    for log in logs.values():
        closing.callback(log.close)
    writer = RedisVerdictWriter(client, settings.lineage_ms)
    thread = following(VerdictFollower(logs, writer, settings.lineage_ms, SystemClock().wall_ms), metrics)
    closing.callback(thread.close)
    thread.start()


def _client(settings: Settings, identity: RedisIdentity, closing: ExitStack) -> Redis | None:
    url = settings.lineage_redis_url or settings.redis_url
    if not url:
        return None
    try:
        client = connect(url, identity, Path(settings.keys) if settings.keys else None, os.environ)
    except ConfigurationError as error:
        LOG.warning("no index of verdicts, so that no lineage is followed: %s", error)
        return None
    closing.callback(client.close)
    return client

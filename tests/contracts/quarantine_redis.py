"""A Redis with the view's functions and identities, and clients of each."""

from __future__ import annotations

from pathlib import Path

from redis import Redis

from infra.stack.redis import EmbeddedRedis
from streams.adapters.redis_connect import RedisIdentity, connect
from streams.adapters.redis_keys import Pointer
from streams.adapters.redis_ledger import RedisLedger, Step, ViewMaintenance
from streams.domain.quarantine.record import QuarantineRecord

PARTITIONS = 3
NAMESPACE = "n1"


class ViewServer:
    """One server, its view opened and empty."""

    def __init__(self, folder: Path, generation: str = "g1") -> None:
        self._generation = generation
        self._keys = folder / "keys"
        self.redis = EmbeddedRedis(folder / "redis", self._keys, log_dir=folder)
        self.redis.start()
        self.reset()

    def client(self, identity: RedisIdentity) -> Redis:
        """Return a connection of an identity."""
        return connect(self.redis.url, identity, self._keys, {})

    @property
    def admin(self) -> Redis:
        """A connection of the maintenance identity."""
        return self.client(RedisIdentity.MAINTENANCE)

    @property
    def ledger(self) -> RedisLedger:
        """The mutation side."""
        return RedisLedger(self.client(RedisIdentity.LEDGER), self.client(RedisIdentity.LEDGER_GLOBAL))

    def reset(self, namespace: str = NAMESPACE) -> None:
        """Begin anew, empty and complete."""
        maintenance = ViewMaintenance(self.admin)
        maintenance.load_functions()
        maintenance.drop(namespace, PARTITIONS)
        for partition in range(PARTITIONS):
            maintenance.open(namespace, partition, first=0)
            self.ledger.advance(namespace, partition, applied=0, following=0, end=0)
        maintenance.flip(Pointer(namespace, PARTITIONS, self._generation))

    def apply(self, *records: QuarantineRecord, namespace: str = NAMESPACE, generation: str = "g1") -> None:
        """Apply records, each at the next offset, and say that this was all there is."""
        for record in records:
            partition = record.key.partition(PARTITIONS)
            applied = self.ledger.applied(namespace, partition)
            assert applied is not None
            self.ledger.apply(namespace, partition, [Step(record.key, record.text, generation, applied, applied + 1)])
            self.ledger.advance(namespace, partition, applied=applied + 1, following=applied + 1, end=applied + 1)

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


class View:
    """A view, wherever it is; ``reset`` opens it."""

    def __init__(self, url: str, keys: Path, generation: str = "g1") -> None:
        self.url = url
        self._generation = generation
        self._keys = keys
        self._clients: dict[tuple[str, RedisIdentity], Redis] = {}

    def client(self, identity: RedisIdentity) -> Redis:
        """Return the connection of an identity."""
        place = self.url, identity
        if place not in self._clients:
            self._clients[place] = connect(self.url, identity, self._keys, {})
        return self._clients[place]

    def close(self) -> None:
        """Close every connection."""
        for client in self._clients.values():
            client.close()

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
        maintenance, ledger = ViewMaintenance(self.admin), self.ledger
        maintenance.load_functions()
        maintenance.drop(goes=namespace.__eq__)
        for partition in range(PARTITIONS):
            maintenance.open(namespace, partition, first=0)
            ledger.advance(namespace, partition, applied=0, following=0, end=0)
        self.point(Pointer(namespace, PARTITIONS, self._generation))

    def point(self, pointer: Pointer) -> None:
        """Have look-ups read something else, whatever they read now."""
        maintenance = ViewMaintenance(self.admin)
        maintenance.flip(pointer, before=maintenance.pointer())

    def apply(self, *records: QuarantineRecord, namespace: str = NAMESPACE, generation: str = "g1") -> None:
        """Apply records, each at the next offset, and say that this was all there is."""
        ledger = self.ledger
        for record in records:
            partition = record.key.partition(PARTITIONS)
            applied = ledger.applied(namespace, partition)
            assert applied is not None
            ledger.apply(namespace, partition, [Step(record.key, record.text, generation, applied, applied + 1)])
            ledger.advance(namespace, partition, applied=applied + 1, following=applied + 1, end=applied + 1)


class ViewServer(View):
    """One server, its view opened and empty."""

    def __init__(self, folder: Path, generation: str = "g1") -> None:
        self.redis = EmbeddedRedis(folder / "redis", folder / "keys", log_dir=folder)
        super().__init__(self.redis.url, folder / "keys", generation)
        self.redis.start()
        self.reset()

    def stop(self) -> None:
        """Close every connection and end the server."""
        self.close()
        self.redis.stop()

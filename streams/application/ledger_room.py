"""How much room each tenant has in one partition of the ledger.

The contract: an entry that ``replaces`` another one that the partition holds is a copy, made while entries are carried
over to another key generation; there is room for as many copies as for the others, and neither takes the other's. When
the entry that it replaces is gone, a copy is one no more. All of it follows from the entries that there are, whatever
order they came in. Both together are bounded as well, whatever entries say that they replace.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.transition import Head


class LedgerRoom:
    """Counts the entries of each tenant, and of the global scope, which has no limit.

    Args:
        entries_per_tenant: How many entries a tenant may have; and as many copies.
        heads: The partition's entries, by the key of their records.
    """

    def __init__(self, entries_per_tenant: int, heads: Mapping[bytes, Head]) -> None:
        self._limit = entries_per_tenant
        self._heads = heads
        self._counts: Counter[str] = Counter()
        self._copies: Counter[str] = Counter()
        self._replacing: defaultdict[str, Counter[bytes]] = defaultdict(Counter)
        """Of each place, how many of its entries replace a fingerprint, be that one here or not."""

    def put(self, key: LedgerKey, before: Head | None, head: Head) -> None:
        """Count an entry that is among the heads now, in the place of what it was before."""
        place = key.place
        if before is None:
            self._counts[place] += 1
            self._copies[place] += self._copies_of(key)
        if before is not None and before.replaces == head.replaces:
            return
        if before is not None and before.replaces is not None:
            self._count(key, before.replaces, -1)
        if head.replaces is not None:
            self._count(key, head.replaces, 1)

    def take(self, key: LedgerKey, head: Head) -> None:
        """Count an entry no more that is about to leave the heads."""
        if head.replaces is not None:
            self._count(key, head.replaces, -1)
        self._copies[key.place] -= self._copies_of(key)
        self._counts[key.place] -= 1

    def is_full(self, key: LedgerKey, *, is_copy: bool) -> bool:
        """Return whether a key's tenant may have no more copies, or no more other entries."""
        if key.scope is not Scope.TENANT:
            return False
        count, copies = self._counts[key.place], self._copies[key.place]
        return count >= 2 * self._limit or (copies if is_copy else count - copies) >= self._limit

    def of_automatic(self, key: LedgerKey) -> int:
        """Return how many entries automatic ones of a key's tenant may still take: half of all are its curators'."""
        count, copies = self._counts[key.place], self._copies[key.place]
        return min(self._limit // 2 - (count - copies), 2 * self._limit - count)

    def _copies_of(self, key: LedgerKey) -> int:
        replacing = self._replacing.get(key.place)
        return replacing[bytes.fromhex(key.fingerprint)] if replacing else 0

    def _count(self, key: LedgerKey, replaces: bytes, by: int) -> None:
        replacing = self._replacing[key.place]
        replacing[replaces] += by
        if not replacing[replaces]:
            del replacing[replaces]
        if f"{key.place}/{replaces.hex()}".encode("ascii") in self._heads:
            self._copies[key.place] += by

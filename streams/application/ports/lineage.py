"""Looking up the verdicts that sources were compacted from.

The contract: a read model beside the log, never authority. A verdict is final, so what is found never changes; what is
not found may be too new, too old, of another tenant, or out of reach, and is missing from the answer. It never raises,
and never keeps a caller waiting for long: whoever gets no answer goes on with less trust.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from streams.domain.compaction.lineage import Ancestor


class VerdictIndex(Protocol):
    """The verdicts on compactions, by id, and by the digest of what one accepted: the output, or a text of it."""

    def look_up(self, tenant_id: str, names: Sequence[str]) -> Mapping[str, Ancestor]:
        """Return those of a tenant's verdicts that are known, each believed by its signature."""

    def recognise(self, tenant_id: str, digests: Sequence[str]) -> AbstractSet[str] | None:
        """Return those of some digests whose texts a tenant's verdicts accepted; null where nobody answers."""


class NoIndex:
    """Knows no verdict: where there is no Redis."""

    def look_up(self, tenant_id: str, names: Sequence[str]) -> Mapping[str, Ancestor]:  # noqa: ARG002 - the port's
        """Return nothing."""
        return {}

    def recognise(self, tenant_id: str, digests: Sequence[str]) -> AbstractSet[str]:  # noqa: ARG002 - the port's
        """Return nothing."""
        return frozenset()

"""Quotas: a token bucket per tenant.

The contract: pure arithmetic on a moment that is given. A worker sees only its share of a tenant's requests, so the
rates are scaled by its share of the partitions. A tenant's bucket starts full.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

MAX_TENANTS: Final = 100_000
"""Most buckets kept; beyond, the one unused for longest goes, and its tenant starts again with a full bucket."""


@dataclass(frozen=True, slots=True)
class QuotaLimits:
    """What a tenant may ask for, over all workers.

    Attributes:
        requests_per_second: The rate at which a bucket fills.
        burst: A full bucket, in requests.
    """

    requests_per_second: float
    burst: float


class TenantQuota:
    """The token buckets of one worker."""

    def __init__(self, limits: QuotaLimits) -> None:
        self._limits = limits
        self._share = 1.0
        self._buckets: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def set_share(self, held: int, total: int) -> None:
        """Set this worker's share: partitions it holds of the topic's total."""
        self._share = held / total if held and total else 1.0

    def take(self, tenant_id: str, now_ms: int) -> bool:
        """Take a token; say whether there was one.

        Args:
            tenant_id: Whose.
            now_ms: A monotonic moment, in milliseconds.
        """
        burst = max(1.0, self._limits.burst * self._share)
        tokens, then_ms = self._buckets.get(tenant_id, (burst, now_ms))
        gained = max(0, now_ms - then_ms) / 1000 * self._limits.requests_per_second * self._share
        tokens = min(burst, tokens + gained)
        had_one = tokens >= 1.0
        self._buckets[tenant_id] = (tokens - 1.0 if had_one else tokens, now_ms)
        self._buckets.move_to_end(tenant_id)
        if len(self._buckets) > MAX_TENANTS:
            self._buckets.popitem(last=False)
        return had_one

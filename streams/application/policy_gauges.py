"""The metrics of a policy store: which version it goes by, and how long that is good for."""

from __future__ import annotations

from streams.application.ports.metrics import Metrics
from streams.application.ports.policy import Freshness, PolicyStatus


def show_policy(metrics: Metrics, status: PolicyStatus, now_ms: int) -> None:
    """Set the gauges.

    Args:
        metrics: Where.
        status: How the store stands.
        now_ms: Now, in milliseconds since the epoch.
    """
    metrics.gauge("policy_version", status.version)
    metrics.gauge("policy_current", 1 if status.freshness is Freshness.CURRENT else 0)
    metrics.gauge("policy_expires_in_seconds", (status.expires_at_ms - now_ms) / 1000)
    if status.role_expires_at_ms is not None:
        metrics.gauge("policy_role_expires_in_seconds", (status.role_expires_at_ms - now_ms) / 1000)
    if status.keys_expire_at_ms is not None:
        metrics.gauge("policy_keys_expire_in_seconds", (status.keys_expire_at_ms - now_ms) / 1000)

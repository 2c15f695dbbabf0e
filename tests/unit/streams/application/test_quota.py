"""Token buckets: what a tenant may do at once, and over time."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from streams.application import quota as quota_module
from streams.application.quota import QuotaLimits, TenantQuota

RATES = st.floats(0, 1_000)
BURSTS = st.floats(1, 1_000)
WAITS = st.lists(st.integers(0, 10_000), max_size=60)


def granted(quota: TenantQuota, moments: list[int], tenant: str = "acme") -> int:
    return sum(quota.take(tenant, now_ms) for now_ms in moments)


def test_full_bucket_then_the_rate() -> None:
    quota = TenantQuota(QuotaLimits(2.0, 3.0))
    assert [quota.take("acme", 0) for _ in range(4)] == [True, True, True, False]
    assert [quota.take("acme", 499), quota.take("acme", 500), quota.take("acme", 999)] == [False, True, False]


@given(rate=RATES, burst=BURSTS, waits=WAITS)
def test_never_more_than_burst_and_rate_allow(rate: float, burst: float, waits: list[int]) -> None:
    quota = TenantQuota(QuotaLimits(rate, burst))
    now_ms, moments = 0, []
    for wait in waits:
        now_ms += wait
        moments.append(now_ms)
    assert granted(quota, moments) <= burst + rate * now_ms / 1000 + 1e-6


@given(rate=st.floats(0.1, 100), waits=st.lists(st.integers(0, 10_000), min_size=1, max_size=60))
def test_whoever_stays_below_the_rate_is_never_refused(rate: float, waits: list[int]) -> None:
    quota = TenantQuota(QuotaLimits(rate, 1.0))
    now_ms = 0
    for wait in waits:
        now_ms += int(1000 / rate) + 1 + wait
        assert quota.take("acme", now_ms)


def test_tenants_do_not_share() -> None:
    quota = TenantQuota(QuotaLimits(0.0, 1.0))
    assert quota.take("acme", 0)
    assert not quota.take("acme", 0)
    assert quota.take("globex", 0)


def test_clock_that_goes_back_gives_nothing() -> None:
    quota = TenantQuota(QuotaLimits(1_000.0, 1.0))
    assert quota.take("acme", 10_000)
    assert not quota.take("acme", 0)


@pytest.mark.parametrize(("held", "total", "expected"), [(1, 4, 25), (4, 4, 100), (2, 8, 25), (0, 4, 100), (1, 0, 100)])
def test_worker_grants_its_share(held: int, total: int, expected: int) -> None:
    quota = TenantQuota(QuotaLimits(0.0, 100.0))
    quota.set_share(held, total)
    assert granted(quota, [0] * 200) == expected


def test_shares_of_all_workers_are_the_whole() -> None:
    workers = [TenantQuota(QuotaLimits(10.0, 40.0)) for _ in range(4)]
    for worker in workers:
        worker.set_share(1, 4)
    assert sum(granted(worker, [0] * 50 + [1_000] * 50) for worker in workers) == 40 + 8  # 2.5 s⁻¹ each, whole tokens


def test_smallest_share_still_serves_one() -> None:
    quota = TenantQuota(QuotaLimits(0.0, 2.0))
    quota.set_share(1, 100)
    assert granted(quota, [0] * 5) == 1


def test_smaller_share_takes_tokens_back() -> None:
    quota = TenantQuota(QuotaLimits(0.0, 100.0))
    assert quota.take("acme", 0)
    quota.set_share(1, 10)
    assert granted(quota, [0] * 200) == 10


def test_buckets_are_bounded_and_the_one_unused_for_longest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota_module, "MAX_TENANTS", 3)
    quota = TenantQuota(QuotaLimits(0.0, 1.0))
    for tenant in ("a", "b", "c"):
        assert quota.take(tenant, 0)
    assert not quota.take("a", 0)  # used again
    assert quota.take("d", 0)  # b goes
    assert not quota.take("a", 0)
    assert quota.take("b", 0)
    assert len(quota._buckets) == 3

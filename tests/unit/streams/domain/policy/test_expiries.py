from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import given

from pratique.contract.trust import KeyRole, MacRole, TrustedKey
from streams.domain.policy.expiries import KEY_WARNING_MS, Expiry, key_expiries
from tests.fakes.evidence import OTHER_TENANT, TENANT, ed25519, trust_target, trusted

NOW = 1_000
SIGNER = "keys of commitment_signer of "


def until(*keys: TrustedKey, now_ms: int = NOW) -> dict[str, int]:
    return {expiry.what: expiry.at_ms for expiry in key_expiries(trust_target(*keys), now_ms)}


def signer(name: str, begins: int, ends: int, *tenants: str) -> TrustedKey:
    key = trusted(ed25519(name), KeyRole.COMMITMENT_SIGNER, *(tenants or (TENANT,)))
    return replace(key, not_before_ms=begins, expires_ms=ends)


def test_every_role_is_looked_at_for_every_tenant() -> None:
    found = until(signer("one", 0, 2_000, TENANT, OTHER_TENANT))
    assert {SIGNER + TENANT, SIGNER + OTHER_TENANT, "keys of gate", f"keys of publisher of {TENANT}"} <= set(found)
    assert {f"MAC keys of {role.value}" for role in MacRole} <= set(found)
    assert found[SIGNER + TENANT] == found[SIGNER + OTHER_TENANT] == 2_000


def test_a_key_beside_a_newer_one_is_no_news() -> None:
    assert until(signer("old", 0, 1_500), signer("new", 1_400, 9_000))[SIGNER + TENANT] == 9_000


def test_a_gap_is_an_end() -> None:
    assert until(signer("old", 0, 1_500), signer("new", 1_501, 9_000))[SIGNER + TENANT] == 1_500


def test_another_tenant_s_key_covers_nobody_else() -> None:
    found = until(signer("mine", 0, 1_500), signer("theirs", 0, 9_000, OTHER_TENANT))
    assert found[SIGNER + TENANT] == 1_500


def test_what_has_ended_says_since_when_and_what_has_not_begun_ends_now() -> None:
    assert until(signer("old", 0, 900))[SIGNER + TENANT] == 900
    assert until(signer("new", 2_000, 3_000))[SIGNER + TENANT] == NOW


def test_the_first_end_comes_first() -> None:
    found = key_expiries(trust_target(signer("soon", 0, NOW + 1)), NOW)
    assert found[0] == Expiry(SIGNER + TENANT, NOW + 1, KEY_WARNING_MS)


def test_soon_is_less_than_the_warning() -> None:
    assert not Expiry("x", 100, 10).is_soon(90)
    assert Expiry("x", 100, 10).is_soon(91)
    assert Expiry("x", 100, 10).is_soon(200)


PERIODS = st.lists(st.tuples(st.integers(0, 3_000), st.integers(1, 3_000)), min_size=1, max_size=5)


@given(PERIODS, st.integers(0, 4_000))
def test_until_then_some_key_may_sign_and_at_that_moment_none(periods: list[tuple[int, int]], now_ms: int) -> None:
    keys = [signer(f"key-{index}", begins, begins + length) for index, (begins, length) in enumerate(periods)]
    end = until(*keys, now_ms=now_ms)[SIGNER + TENANT]

    def covered(at: int) -> bool:
        return any(key.not_before_ms <= at < key.expires_ms for key in keys)

    assert not covered(max(end, now_ms))
    assert all(covered(at) for at in range(now_ms, end))

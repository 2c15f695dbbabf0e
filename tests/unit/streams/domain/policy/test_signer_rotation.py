"""A tenant's commitment signer replaced: by overlap or at once, and nobody else's key touched."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.canonical import canonical_sha256
from pratique.contract.trust import KeyRole, TrustTarget, read_trust
from pratique.errors import SignerNotAuthorisedError
from streams.domain.policy.signer_rotation import SignerRotation, rotated_signer
from streams.errors import ConfigurationError, PolicyError

NOW, HOUR, DAY = 1_790_000_000_000, 3_600_000, 86_400_000
TENANT = "acme"
SIGNER = "commitment_signer"


def public(name: str) -> str:
    """A key's 32 bytes; nothing is verified with it."""
    return base64.b64encode(hashlib.sha256(name.encode()).digest()).decode()


def row(name: str, *, roles: tuple[str, ...] = (SIGNER,), tenants: tuple[str, ...] = (TENANT,), **more: Any) -> Any:  # noqa: ANN401 - JSON
    period = {"not_before_ms": NOW - DAY, "expires_ms": NOW + 300 * DAY}
    body = {"key_id": name, "algorithm": "ed25519", "public": public(name), "roles": list(roles)}
    return {**body, "tenants": list(tenants), **period, **more}


def trust(*rows: Any) -> Any:  # noqa: ANN401 - JSON
    others = (row("globex-signer", tenants=("globex",)), row("publisher", roles=("publisher",)))
    return {"schema_version": "pratique.trust.v1", "revision": 7, "keys": [*rows, *others], "mac_keys": []}


def rotated(value: Any, *, begins: int = HOUR, overlap: int | None = DAY) -> SignerRotation:  # noqa: ANN401 - JSON
    return rotated_signer(value, TENANT, "new", public("new"), now_ms=NOW, begins_ms=NOW + begins, overlap_ms=overlap)


def target(rotation: SignerRotation) -> TrustTarget:
    return read_trust(rotation.document, sha256=canonical_sha256(rotation.document))


def may(found: TrustTarget, key_id: str, at_ms: int) -> bool:
    try:
        found.authorised_key(key_id, KeyRole.COMMITMENT_SIGNER, TENANT, at_ms)
    except SignerNotAuthorisedError:
        return False
    return True


def test_the_new_key_signs_from_its_begin_on_and_the_old_one_counts_until_the_overlap_ends() -> None:
    before = trust(row("old"))
    rotation = rotated(before)
    found = target(rotation)
    assert (found.revision, rotation.revision, rotation.replaced) == (8, 8, ("old",))
    assert rotation.ends_ms == NOW + HOUR + DAY
    moments = (NOW, NOW + HOUR, NOW + HOUR + DAY)
    assert [may(found, "old", at) for at in moments] == [True, True, False]
    assert [may(found, "new", at) for at in moments] == [False, True, True]
    held = ("old", "new")
    assert [found.choose_key(held, KeyRole.COMMITMENT_SIGNER, TENANT, at) for at in moments] == ["old", "new", "new"]
    assert found.keys["new"].expires_ms - found.keys["new"].not_before_ms == 301 * DAY
    assert {name: key for name, key in found.keys.items() if name not in {"old", "new"}} == {
        name: key for name, key in read_trust(before, sha256=canonical_sha256(before)).keys.items() if name != "old"
    }


def test_a_stolen_key_is_out_at_once() -> None:
    rotation = rotated(trust(row("old"), row("older")), begins=-HOUR, overlap=None)
    assert (rotation.replaced, rotation.ends_ms) == (("old", "older"), None)
    assert not {"old", "older"} & set(target(rotation).keys)
    assert may(target(rotation), "new", NOW)


def test_no_key_lives_longer_for_being_replaced() -> None:
    rotation = rotated(trust(row("old", expires_ms=NOW + HOUR)))
    assert target(rotation).keys["old"].expires_ms == rotation.ends_ms == NOW + HOUR


def test_a_key_that_has_ended_is_left_as_it_is() -> None:
    ended = row("ended", expires_ms=NOW)
    rotation = rotated(trust(row("old"), ended))
    assert rotation.replaced == ("old",)
    assert ended in rotation.document["keys"]  # type: ignore[operator] # it is a list


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((), "no commitment signer"),
        ((row("old", expires_ms=NOW),), "no commitment signer"),
        ((row("old", tenants=(TENANT, "globex")),), "serves other"),
        ((row("old", roles=(SIGNER, "publisher")),), "serves other"),
    ],
)
def test_what_can_not_be_replaced_alone_is_named(rows: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        rotated(trust(*rows))


@pytest.mark.parametrize("value", [None, [], {}, {**trust(), "keys": []}, {**trust(), "keys": "keys"}])
def test_what_is_no_trust_target_is_refused(value: Any) -> None:  # noqa: ANN401 - JSON
    with pytest.raises(PolicyError):
        rotated(value)


@given(
    st.lists(st.tuples(st.integers(-400, 400), st.integers(1, 800)), min_size=1, max_size=4),
    st.integers(0, 30),
    st.none() | st.integers(1, 60),
)
def test_the_tenant_always_has_a_key_from_the_begin_on(
    periods: list[tuple[int, int]], begins: int, overlap: int | None
) -> None:
    rows = [
        row(f"k{number}", not_before_ms=NOW + start * DAY, expires_ms=NOW + (start + length) * DAY)
        for number, (start, length) in enumerate(periods)
    ]
    value = trust(*rows)
    before = read_trust(value, sha256=canonical_sha256(value))
    try:
        rotation = rotated(value, begins=begins * DAY, overlap=None if overlap is None else overlap * DAY)
    except ConfigurationError:
        assert all(before.keys[item["key_id"]].expires_ms <= NOW for item in rows)
        return
    found = target(rotation)
    assert may(found, "new", NOW + begins * DAY)
    for name in rotation.replaced:
        if overlap is None:
            assert name not in found.keys
        else:
            assert found.keys[name].expires_ms <= before.keys[name].expires_ms
            assert not may(found, name, max(NOW + (begins + overlap) * DAY, before.keys[name].not_before_ms + 1))

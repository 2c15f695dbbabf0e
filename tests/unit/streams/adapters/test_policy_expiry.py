"""What a store says of the ends to come: of every role of the repository, and of the keys that trust names."""

from __future__ import annotations

import json

from streams.adapters.policy_verify import verify_repository
from streams.application.policy_gauges import show_policy
from tests.fakes.hostile import Hostile, expires
from tests.fakes.policy import DAY_MS, MINUTE_MS, NOW_MS, PolicyWorld

HOUR_MS = 60 * MINUTE_MS


class Gauges:
    """Keeps what gauges were set to."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        raise AssertionError((name, amount, labels))

    def gauge(self, name: str, value: float, **labels: str) -> None:
        assert not labels
        self.values[name] = value

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        raise AssertionError((name, seconds, labels))


def soon(world: PolicyWorld) -> set[str]:
    return {expiry.what for expiry in world.store().expiries() if expiry.is_soon(world.clock())}


def test_every_role_of_the_repository_is_named_with_its_end(world: PolicyWorld) -> None:
    ends = {expiry.what: expiry.at_ms for expiry in world.store().expiries()}
    assert {what: (at_ms - NOW_MS) // DAY_MS for what, at_ms in ends.items() if what.startswith("role ")} == {
        "role timestamp": 1,
        "role snapshot": 7,
        "role root": 365,
        **dict.fromkeys(("role targets", "role safety-invariants", "role scan-policy", "role recall-policy"), 90),
        **dict.fromkeys(("role tenant-tenant-a", "role tenant-tenant-b"), 90),
    }
    assert "keys of commitment_signer of tenant-a" in ends
    assert list(ends.values()) == sorted(ends.values())


def test_a_fresh_repository_warns_of_nothing_and_one_that_is_not_renewed_does(world: PolicyWorld) -> None:
    assert soon(world) == set()
    world.clock.now_ms += 18 * HOUR_MS
    assert soon(world) == set()
    world.clock.now_ms += 1
    assert soon(world) == {"role timestamp"}
    world.tuf.publish({}, world.clock())
    assert soon(world) == set()


def test_a_delegated_role_that_ends_soon_is_named_and_one_that_ended_ends_now(world: PolicyWorld) -> None:
    Hostile(world).forge("tenant-tenant-b", expires(NOW_MS + DAY_MS // 2))
    assert soon(world) == {"role tenant-tenant-b"}
    world.clock.now_ms += DAY_MS // 2
    (first, *_) = world.store().expiries()
    assert (first.what, first.at_ms) == ("role tenant-tenant-b", world.clock())


def test_a_signer_whose_key_ends_soon_is_named(world: PolicyWorld) -> None:
    keys = json.loads((world.source / "trust.json").read_text())["keys"]
    for key in keys:
        if key["roles"] == ["commitment_signer"] and key["tenants"] == ["tenant-b"]:
            key["expires_ms"] = NOW_MS + 13 * DAY_MS
    world.edit("trust.json", revision=2, keys=keys)
    world.publish()
    assert soon(world) == {"keys of commitment_signer of tenant-b"}
    found = verify_repository(str(world.repository), world.root, world.clock)
    assert [expiry.what for expiry in found.expiries if expiry.is_soon(NOW_MS)] == [
        "keys of commitment_signer of tenant-b"
    ]


def test_gauges_say_how_long_what_is_in_use_is_good_for(world: PolicyWorld) -> None:
    Hostile(world).forge("tenant-tenant-a", expires(NOW_MS + 3 * DAY_MS))
    store, gauges = world.store(), Gauges()
    show_policy(gauges, store.refresh(), world.clock())
    assert gauges.values == {"policy_version": 3, "policy_current": 1, "policy_expires_in_seconds": 86_400}
    store.pin("tenant-a", "default")
    store.trust()
    world.clock.now_ms += MINUTE_MS
    show_policy(gauges, store.refresh(), world.clock())
    assert gauges.values["policy_expires_in_seconds"] == 86_400 - 60
    assert gauges.values["policy_role_expires_in_seconds"] == 3 * 86_400 - 60
    assert gauges.values["policy_keys_expire_in_seconds"] == 365 * 86_400 - 60
    world.hide()
    world.clock.now_ms += 2 * DAY_MS
    show_policy(gauges, store.refresh(), world.clock())
    assert gauges.values["policy_current"] == 0
    assert gauges.values["policy_expires_in_seconds"] < 0

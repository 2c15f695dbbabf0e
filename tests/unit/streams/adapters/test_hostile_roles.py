"""What a tenant's key can do, sets that disappear between intake and worker, and clocks that disagree."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tuf.api.metadata import DelegatedRole, Delegations, MetaFile, TargetFile

from pratique.contract.reasons import ReasonCode
from pratique.policy.errors import TargetUnknownError
from pratique.repository import RepositoryPolicies
from streams.domain.policy.sets import current_path
from streams.errors import PolicyNotLoadedError
from tests.fakes.hostile import Hostile, expires, said, targets_of
from tests.fakes.policy import DAY_MS

TENANT = "tenant-a"
TENANT_ROLE = "tenant-tenant-a"
CURRENT = current_path("default")


class TestTenant:
    """What the holder of one tenant's key can do with the help of the online keys, and nobody else's."""

    @pytest.mark.parametrize(
        "path",
        [
            "tenants/tenant-b/current-default.json",
            CURRENT,
            "trust.json",
            "invariants/" + "0" * 64 + ".json",
            "../root.json",
        ],
    )
    def test_it_speaks_for_nobody_else(self, hostile: Hostile, path: str) -> None:
        world = hostile.world
        before = {tenant: world.store().pin(tenant, "default") for tenant in (TENANT, "tenant-b")}
        target = TargetFile.from_data(path, b"{}", ["sha256"])
        for prefixed in target.get_prefixed_paths():
            if ".." not in prefixed:
                file = world.repository / "targets" / prefixed
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(b"{}")
        hostile.forge(TENANT_ROLE, lambda signed: signed.targets.update({path: target}))
        store = world.store()
        for tenant, pinned in before.items():
            assert store.pin(tenant, "default").policy_set_sha256 == pinned.policy_set_sha256
        assert store.trust().revision == 1

    def test_a_delegation_in_a_circle_ends(self, hostile: Hostile) -> None:
        world = hostile.world
        hostile.forge(TENANT_ROLE, delegating(hostile, TENANT_ROLE, TENANT_ROLE, forget=True))
        assert said(lambda: world.store().pin(TENANT, "default")) is None
        assert world.store().pin(TENANT, "default").standing is None, "it said nothing of its own any more"
        assert world.store().pin("tenant-b", "default").standing is not None

    def test_delegations_without_end_end(self, hostile: Hostile) -> None:
        world = hostile.world
        (mine,) = hostile.signers(TENANT_ROLE)
        names = [f"deeper-{number}" for number in range(40)]
        template = targets_of(hostile, TENANT_ROLE)
        for name, following in zip(names, [*names[1:], "none"], strict=True):
            hostile.path(name, 1).write_bytes(hostile.path(TENANT_ROLE, template.version).read_bytes())
            hostile.forge(name, delegating(hostile, TENANT_ROLE, following, forget=True), by=[mine], vouch=False)
        metas = {f"{name}.json": MetaFile(hostile.newest(name).signed.version) for name in names}
        hostile.forge("snapshot", lambda signed: signed.meta.update(metas))
        hostile.forge(TENANT_ROLE, delegating(hostile, TENANT_ROLE, names[0], forget=True))
        assert world.store().pin(TENANT, "default").standing is None
        assert world.store().pin("tenant-b", "default").standing is not None

    def test_a_role_below_it_expires_what_it_vouches_for(self, hostile: Hostile) -> None:
        world = hostile.world
        (mine,) = hostile.signers(TENANT_ROLE)
        template = targets_of(hostile, TENANT_ROLE)
        hostile.path("below", 1).write_bytes(hostile.path(TENANT_ROLE, template.version).read_bytes())
        hostile.forge("below", expires(world.clock() + 60_000), by=[mine])
        hostile.forge(TENANT_ROLE, delegating(hostile, TENANT_ROLE, "below", forget=True))
        store, client = world.store(), RepositoryPolicies(world.reader(), world.clock)
        assert store.pin(TENANT, "default").standing is not None
        assert client.pinned(TENANT, "default").standing is not None
        world.clock.now_ms += 60_000
        assert said(lambda: store.pin(TENANT, "default")) is ReasonCode.POLICY_EXPIRED
        assert said(lambda: client.pinned(TENANT, "default")) is ReasonCode.POLICY_EXPIRED
        assert store.pin("tenant-b", "default").standing is not None

    def test_it_can_not_put_another_s_role_in_its_own_place(self, hostile: Hostile) -> None:
        """It delegates its paths to a role of tenant b's name, signed by itself."""
        world = hostile.world
        hostile.forge(TENANT_ROLE, delegating(hostile, TENANT_ROLE, "tenant-tenant-b", forget=True))
        hostile.forge("tenant-tenant-b", by=hostile.signers(TENANT_ROLE))
        store = world.store()
        said(lambda: store.pin(TENANT, "default"))
        assert said(lambda: store.pin("tenant-b", "default")) is ReasonCode.POLICY_UNAVAILABLE


def delegating(hostile: Hostile, role: str, to: str, *, forget: bool) -> Callable[[object], object]:
    """Return a change by which a role delegates every path to another, under its own key."""
    (signer,) = hostile.signers(role)
    key = signer.public_key

    def change(signed: object) -> None:
        delegated = DelegatedRole(to, [key.keyid], 1, terminating=False, paths=["tenants/tenant-a/*"])
        signed.delegations = Delegations({key.keyid: key}, {to: delegated})  # type: ignore[attr-defined]
        if forget:
            signed.targets.clear()  # type: ignore[attr-defined]

    return change


class TestDisappearing:
    """A set that intake pinned, and that is gone when a worker wants it."""

    def test_its_file_is_gone(self, hostile: Hostile) -> None:
        world = hostile.world
        pinned = world.store().pin(TENANT, "default")
        world.target_file(f"sets/{world.store().newest('default').policy_set_sha256}.json").unlink()
        worker = world.store()
        assert said(lambda: worker.exactly(pinned.policy_set_sha256, pinned.set_map)) is ReasonCode.POLICY_UNAVAILABLE

    def test_its_name_is_gone(self, hostile: Hostile) -> None:
        world = hostile.world
        intake, worker, busy = world.store(), world.store(), world.store()
        pinned = intake.pin(TENANT, "default")
        busy.exactly(pinned.policy_set_sha256, pinned.set_map)
        base = f"sets/{intake.newest('default').policy_set_sha256}.json"
        hostile.forge("targets", lambda signed: signed.targets.pop(base))
        world.clock.now_ms += 60_000
        with pytest.raises(TargetUnknownError):
            worker.exactly(pinned.policy_set_sha256, pinned.set_map)
        assert said(lambda: worker.exactly(pinned.policy_set_sha256, pinned.set_map)) is ReasonCode.POLICY_UNAVAILABLE
        assert said(lambda: intake.pin(TENANT, "default")) is ReasonCode.POLICY_UNAVAILABLE
        assert busy.exactly(pinned.policy_set_sha256, pinned.set_map) == pinned, "what was read is in flight"

    def test_the_whole_repository_is_gone(self, hostile: Hostile) -> None:
        world = hostile.world
        pinned = world.store().pin(TENANT, "default")
        worker = world.store("worker")
        worker.refresh()
        world.hide()
        assert said(lambda: worker.exactly(pinned.policy_set_sha256, pinned.set_map)) is ReasonCode.POLICY_UNAVAILABLE
        with pytest.raises(PolicyNotLoadedError):
            world.store().exactly(pinned.policy_set_sha256, pinned.set_map)
        world.show()
        world.clock.now_ms += 60_000
        assert worker.exactly(pinned.policy_set_sha256, pinned.set_map) == pinned


class TestClockSkew:
    def test_a_reader_whose_clock_runs_ahead_refuses_and_recovers(self, hostile: Hostile) -> None:
        world = hostile.world
        store = world.store()
        pinned = store.pin(TENANT, "default")
        world.clock.now_ms += 2 * DAY_MS
        assert said(lambda: store.pin(TENANT, "default")) is ReasonCode.POLICY_EXPIRED
        world.clock.now_ms -= 2 * DAY_MS
        assert store.pin(TENANT, "default") == pinned

    def test_a_reader_whose_clock_runs_behind_reads_what_was_signed_in_its_future(self, hostile: Hostile) -> None:
        """TUF metadata says when it ends, not when it begins; commitments and keys say both."""
        world = hostile.world
        world.clock.now_ms -= 10 * DAY_MS
        assert world.store().pin(TENANT, "default").policy_id == "default"

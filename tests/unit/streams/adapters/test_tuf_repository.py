from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from tuf.api.metadata import Metadata, TargetFile, Targets, Timestamp

from pratique.policy.client import PolicyReader, Refreshed
from pratique.policy.errors import TargetUnknownError
from streams.adapters.policy_source import read_source, write_json
from streams.adapters.tuf_keys import TufKeys
from streams.adapters.tuf_layout import Lifetimes, RoleKeys
from streams.adapters.tuf_repository import TufRepository
from streams.domain.policy.publication import prepare
from streams.errors import ConfigurationError, PolicyExpiredError, PolicyUnavailableError
from tests.fakes.hostile import Hostile
from tests.fakes.policy import DAY_MS, NOW_MS, SCANNER, Clock, PolicyWorld


def metadata_names(world: PolicyWorld) -> set[str]:
    return {path.name for path in (world.repository / "metadata").iterdir()}


def test_a_repository_has_the_roles_of_the_contract(world: PolicyWorld) -> None:
    targets = Metadata[Targets].from_file(str(world.repository / "metadata" / "2.targets.json")).signed
    assert targets.delegations is not None
    assert targets.delegations.roles is not None
    assert {name: role.paths for name, role in targets.delegations.roles.items()} == {
        "safety-invariants": ["invariants/*"],
        "scan-policy": ["scan/*"],
        "recall-policy": ["recall/*"],
        "tenant-tenant-a": ["tenants/tenant-a/*"],
        "tenant-tenant-b": ["tenants/tenant-b/*"],
    }
    assert all(role.terminating for role in targets.delegations.roles.values())


def test_every_role_signs_what_is_its_own(world: PolicyWorld) -> None:
    _, published = world.publish()
    assert published.added == ()
    named = {
        role: set(Metadata[Targets].from_file(str(world.repository / "metadata" / f"2.{role}.json")).signed.targets)
        for role in ("targets", "safety-invariants", "scan-policy", "recall-policy", "tenant-tenant-a")
    }
    assert {path.partition("/")[0] for path in named["targets"]} == {
        "trust.json",
        "sets",
        "current",
        "compaction",
        "grammar",
    }
    assert {path.partition("/")[0] for path in named["safety-invariants"]} == {"invariants"}
    assert {path.rpartition("/")[0] for path in named["tenant-tenant-a"]} == {"tenants/tenant-a"}


def test_every_role_has_a_key_of_its_own_in_a_private_file(world: PolicyWorld) -> None:
    files = list((world.directory / "tuf-keys").glob("*/*.pem"))
    assert {file.parent.name for file in files} >= {"root", "targets", "snapshot", "timestamp", "safety-invariants"}
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    root = json.loads((world.repository / "metadata" / "1.root.json").read_text())["signed"]
    key_ids = [key_id for role in root["roles"].values() for key_id in role["keyids"]]
    assert len(key_ids) == len(set(key_ids)) == 4


def test_publishing_nothing_new_signs_the_timestamp_alone(world: PolicyWorld) -> None:
    before = metadata_names(world)
    _, published = world.publish()
    assert (published.version, published.added, published.signed) == (2, (), ())
    assert metadata_names(world) == before


def test_publishing_keeps_every_older_file(world: PolicyWorld) -> None:
    before = {path for path in world.repository.rglob("*.json") if path.name != "timestamp.json"}
    world.edit("compaction.json", summary_min_length=99)
    _, published = world.publish()
    assert published.version == 3
    assert before < set(world.repository.rglob("*.json"))


def test_what_is_half_way_to_its_expiry_is_signed_again(world: PolicyWorld) -> None:
    world.clock.now_ms = NOW_MS + 46 * DAY_MS
    published = world.tuf.publish({}, world.clock())
    assert "targets" in published.signed
    assert "tenant-tenant-a" in published.signed
    assert world.reader().refresh() is Refreshed.CURRENT


def test_a_renewal_makes_do_without_the_keys_of_roles_it_cannot_sign_for(world: PolicyWorld) -> None:
    shutil.rmtree(world.directory / "tuf-keys" / "tenant-tenant-a")
    world.clock.now_ms = NOW_MS + 46 * DAY_MS
    published = world.tuf.publish({}, world.clock())
    assert "targets" in published.signed
    assert "tenant-tenant-a" not in published.signed


def test_root_is_renewed_in_its_second_half(world: PolicyWorld) -> None:
    world.clock.now_ms = NOW_MS + 200 * DAY_MS
    world.tuf.publish({}, world.clock())
    assert "2.root.json" in metadata_names(world)
    assert world.reader().refresh() is Refreshed.CURRENT


def test_a_key_that_is_missing_is_named_by_its_place(world: PolicyWorld) -> None:
    shutil.rmtree(world.directory / "tuf-keys" / "safety-invariants")
    world.edit("invariants.json", registry_revision=2)
    with pytest.raises(ConfigurationError, match=r"role safety-invariants needs 1 .*tuf-keys/safety-invariants"):
        world.publish()


def test_a_publication_that_broke_off_leaves_the_repository_as_it_was(world: PolicyWorld) -> None:
    pinned = world.store().pin("tenant-a", "default")
    hidden = world.directory / "timestamp-key"
    (world.directory / "tuf-keys" / "timestamp").rename(hidden)
    world.edit("compaction.json", summary_min_length=99)
    with pytest.raises(ConfigurationError, match="role timestamp"):
        world.publish()
    assert world.store().pin("tenant-a", "default") == pinned
    hidden.rename(world.directory / "tuf-keys" / "timestamp")
    world.publish()
    assert world.store().pin("tenant-a", "default").compaction.summary_min_length == 99


@pytest.mark.parametrize("role", ["timestamp", "snapshot", "targets"])
def test_a_key_of_another_repository_signs_nothing(world: PolicyWorld, role: str) -> None:
    shutil.rmtree(world.directory / "tuf-keys" / role)
    TufKeys(world.directory / "tuf-keys").generate(role)
    world.edit("compaction.json", summary_min_length=99)
    with pytest.raises(ConfigurationError, match=f"role {role}"):
        world.publish()


def test_a_tenants_role_can_not_speak_for_another_tenant(world: PolicyWorld) -> None:
    """Tenant b's key holder names a target under tenant a's path: no reader looks for it there."""
    stolen = "tenants/tenant-a/stolen.json"
    named = {path: TargetFile.from_data(path, b"{}", ["sha256"]) for path in (stolen, "invariants/stolen.json")}
    # a renewal finds it, signed and all, and carries it into the next snapshot
    Hostile(world).forge("tenant-tenant-b", lambda signed: signed.targets.update(named))
    world.clock.now_ms += 46 * DAY_MS
    world.tuf.publish({}, world.clock())
    carried = Metadata[Targets].from_file(str(world.repository / "metadata" / "4.tenant-tenant-b.json")).signed
    assert stolen in carried.targets
    reader = world.reader()
    for target in (stolen, "invariants/stolen.json"):
        with pytest.raises(TargetUnknownError):
            reader.load(target)
    assert world.store().pin("tenant-a", "default").standing_for("tenant-a").commitment_revision == 1


def test_a_target_outside_its_path_pattern_goes_to_the_top_level_role(world: PolicyWorld) -> None:
    published = world.tuf.publish({"tenants/tenant-a/deep/x.json": b"{}"}, NOW_MS)
    assert published.signed == ("targets",)


def test_a_new_tenant_gets_a_role(world: PolicyWorld) -> None:
    world.tuf.add_tenant("tenant-c", NOW_MS)
    assert world.tuf.tenants() == ("tenant-a", "tenant-b", "tenant-c")
    shutil.copy(world.source / "commitments" / "tenant-a.json", world.source / "commitments" / "tenant-c.json")
    world.publish()
    assert world.store().pin("tenant-c", "default").standing_for("tenant-c").commitment_revision == 1
    with pytest.raises(ConfigurationError, match="already"):
        world.tuf.add_tenant("tenant-c", NOW_MS)


@pytest.mark.parametrize("tenant_id", ["*", "a/b", "..", "", "[a-z]"])
def test_a_tenant_id_that_is_a_pattern_gets_no_role(world: PolicyWorld, tenant_id: str) -> None:
    with pytest.raises(ConfigurationError, match="tenant id"):
        world.tuf.add_tenant(tenant_id, NOW_MS)


@pytest.mark.parametrize("role", ["root", "targets", "snapshot", "timestamp", "scan-policy", "tenant-tenant-a"])
def test_a_role_whose_key_is_rotated_is_followed_by_readers(world: PolicyWorld, role: str) -> None:
    reader = world.reader("kept")
    reader.refresh()
    old = {path.name for path in (world.directory / "tuf-keys" / role).iterdir()}
    world.tuf.rotate(role, NOW_MS)
    for name in old:
        (world.directory / "tuf-keys" / role / name).unlink()
    world.edit("compaction.json", summary_min_length=99)
    world.edit("scan.json", timeout_ms=9_999)
    world.publish()
    for cache in ("kept", ""):
        assert world.reader(cache).refresh() is Refreshed.CURRENT
        assert world.store(cache).pin("tenant-a", "default").scan.timeout_ms == 9_999


def test_a_rotated_key_signs_nothing_more(world: PolicyWorld) -> None:
    old = world.directory / "old"
    shutil.copytree(world.directory / "tuf-keys" / "timestamp", old)
    world.tuf.rotate("timestamp", NOW_MS)
    shutil.rmtree(world.directory / "tuf-keys" / "timestamp")
    old.rename(world.directory / "tuf-keys" / "timestamp")
    with pytest.raises(ConfigurationError, match="role timestamp"):
        world.publish()


def test_an_old_key_that_still_lies_there_signs_nothing_more(world: PolicyWorld) -> None:
    world.tuf.rotate("timestamp", NOW_MS)
    assert len(list((world.directory / "tuf-keys" / "timestamp").iterdir())) == 2
    metadata = Metadata[Timestamp].from_file(str(world.repository / "metadata" / "timestamp.json"))
    assert len(metadata.signatures) == 1


def test_an_unknown_role_is_not_rotated(world: PolicyWorld) -> None:
    with pytest.raises(ConfigurationError, match="no role nobody"):
        world.tuf.rotate("nobody", NOW_MS)


class TestThreshold:
    @pytest.fixture
    def strict(self, tmp_path: Path) -> TufRepository:
        return TufRepository(tmp_path / "repository", TufKeys(tmp_path / "keys"))

    def test_fewer_keys_than_the_threshold_sign_nothing(self, strict: TufRepository, tmp_path: Path) -> None:
        strict.create(NOW_MS, role_keys={"root": RoleKeys(3, 2), "targets": RoleKeys(2, 2)})
        strict.publish({"trust.json": b"{}"}, NOW_MS)
        next((tmp_path / "keys" / "targets").iterdir()).unlink()
        with pytest.raises(ConfigurationError, match="role targets needs 2"):
            strict.publish({"trust.json": b"[]"}, NOW_MS)

    def test_as_many_as_the_threshold_are_enough(self, strict: TufRepository, tmp_path: Path) -> None:
        root = strict.create(NOW_MS, role_keys={"targets": RoleKeys(3, 2)})
        next((tmp_path / "keys" / "targets").iterdir()).unlink()
        strict.publish({"trust.json": b"[]"}, NOW_MS)
        reader = PolicyReader(str(tmp_path / "repository"), root, tmp_path / "cache", Clock())
        assert reader.load("trust.json").content == b"[]"

    def test_rotation_keeps_number_and_threshold(self, strict: TufRepository, tmp_path: Path) -> None:
        strict.create(NOW_MS, role_keys={"root": RoleKeys(3, 2)})
        strict.rotate("root", NOW_MS)
        root = json.loads((tmp_path / "repository" / "metadata" / "2.root.json").read_text())["signed"]
        assert len(root["roles"]["root"]["keyids"]) == 3
        assert root["roles"]["root"]["threshold"] == 2


def test_lifetimes_are_arguments(tmp_path: Path) -> None:
    lifetimes = Lifetimes(timestamp=timedelta(minutes=1))
    tuf = TufRepository(tmp_path / "repository", TufKeys(tmp_path / "keys"), lifetimes)
    root = tuf.create(NOW_MS)
    assert tuf.publish({}, NOW_MS).expires_at_ms == NOW_MS + 60_000
    with pytest.raises(PolicyExpiredError):
        PolicyReader(str(tmp_path / "repository"), root, tmp_path / "cache", Clock(NOW_MS + 60_000)).refresh()


def test_a_repository_is_made_once(world: PolicyWorld) -> None:
    with pytest.raises(ConfigurationError, match="already"):
        world.tuf.create(NOW_MS)


def test_what_is_no_repository_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(PolicyUnavailableError, match="policy init"):
        TufRepository(tmp_path, TufKeys(tmp_path)).publish({}, NOW_MS)


@pytest.mark.parametrize(
    ("name", "content"),
    [("compaction.json", None), ("scan.json", "not json"), ("recall.json", '{"a":1,"a":2}'), ("trust.json", "[")],
)
def test_a_source_that_can_not_be_read_is_named(world: PolicyWorld, name: str, content: str | None) -> None:
    file = world.source / name
    if content is None:
        file.unlink()
    else:
        file.write_text(content)
    with pytest.raises((ConfigurationError, Exception), match=name) as caught:
        read_source(world.source)
    assert type(caught.value).__name__ == ("ConfigurationError" if content is None else "PolicyError")


def test_a_source_for_people_reads_back(world: PolicyWorld) -> None:
    write_json(world.source / "compaction.json", json.loads((world.source / "compaction.json").read_text()))
    assert prepare(read_source(world.source), SCANNER).policy_set == world.publish()[0].policy_set

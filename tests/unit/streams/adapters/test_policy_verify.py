from __future__ import annotations

import shutil

import pytest

from streams.adapters.policy_verify import Verified, verify_repository
from streams.errors import (
    ConfigurationError,
    PolicyError,
    PolicyExpiredError,
    PolicyNotLoadedError,
    PolicyUnavailableError,
)
from tests.fakes.policy import DAY_MS, NOW_MS, PolicyWorld


def verify(world: PolicyWorld) -> Verified:
    return verify_repository(str(world.repository), world.root, world.clock)


def test_a_whole_repository_verifies(world: PolicyWorld) -> None:
    world.edit("compaction.json", summary_min_length=99)
    world.publish()
    found = verify(world)
    assert found.version == 3
    assert len(found.sets) == 2
    assert [(tenant, policy) for tenant, policy, _ in found.pinned] == [
        ("tenant-a", "default"),
        ("tenant-b", "default"),
    ]
    assert found.policies["default"].compaction.summary_min_length == 99


def test_a_changed_document_of_an_old_set_is_found(world: PolicyWorld) -> None:
    old = world.store().newest("default").compaction.policy_sha256
    world.edit("compaction.json", summary_min_length=99)
    world.publish()
    world.tamper(f"compaction/{old}.json")
    with pytest.raises(PolicyUnavailableError, match=old):
        verify(world)


def test_a_changed_trust_target_is_found(world: PolicyWorld) -> None:
    world.tamper("trust.json")
    with pytest.raises(PolicyUnavailableError, match=r"trust\.json"):
        verify(world)


def test_changed_metadata_is_found(world: PolicyWorld) -> None:
    path = world.repository / "metadata" / "2.snapshot.json"
    path.write_bytes(path.read_bytes().replace(b"2027", b"2037").replace(b"2026", b"2036"))
    with pytest.raises(PolicyUnavailableError, match="does not verify"):
        verify(world)


def test_a_document_that_workers_would_refuse_is_found(world: PolicyWorld) -> None:
    world.tuf.publish({"trust.json": b'{"schema_version":"pratique.trust.v1"}'}, NOW_MS)
    with pytest.raises(PolicyError, match="trust target"):
        verify(world)


def test_an_expired_repository_is_expired(world: PolicyWorld) -> None:
    world.clock.now_ms += DAY_MS
    with pytest.raises(PolicyExpiredError):
        verify(world)


def test_a_repository_that_is_not_there_is_unknown(world: PolicyWorld) -> None:
    shutil.rmtree(world.repository)
    with pytest.raises(PolicyNotLoadedError):
        verify(world)


def test_another_repositorys_root_is_refused(world: PolicyWorld) -> None:
    root = world.root
    with pytest.raises(ConfigurationError, match="root"):
        verify_repository(str(world.repository), b"{}", world.clock)
    shutil.rmtree(world.repository)
    shutil.rmtree(world.directory / "tuf-keys")
    world.tuf.create(NOW_MS)
    with pytest.raises(PolicyUnavailableError):
        verify_repository(str(world.repository), root, world.clock)

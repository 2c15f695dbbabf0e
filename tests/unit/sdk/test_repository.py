"""The client's policy source over a real TUF repository: the same sets and digests as the service's store."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from pratique.policy.errors import PolicyError, PolicyExpiredError, PolicyNotLoadedError, PolicyUnavailableError
from pratique.repository import REFRESH_AT_MOST_EVERY_MS, REFRESH_MS, RepositoryPolicies
from streams.adapters.policy_source import read_source
from streams.adapters.tuf_keys import TufKeys
from streams.adapters.tuf_layout import Lifetimes
from streams.adapters.tuf_repository import TufRepository
from streams.domain.policy.publication import prepare
from tests.fakes.policy import DAY_MS, MINUTE_MS, NOW_MS, SCANNER, PolicyWorld, make_development_set

TENANT = "tenant-a"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("policy") / "set"
    make_development_set(directory)
    return directory


@pytest.fixture
def world(made: Path, tmp_path: Path) -> PolicyWorld:
    return PolicyWorld(Path(shutil.copytree(made, tmp_path / "set")))


def policies(world: PolicyWorld, cache: str = "") -> RepositoryPolicies:
    return RepositoryPolicies(world.reader(cache), world.clock)


def later(world: PolicyWorld, milliseconds: int = REFRESH_MS) -> None:
    world.clock.now_ms += milliseconds


@pytest.mark.parametrize("tenant_id", ["tenant-a", "tenant-b", "tenant-without-commitments"])
def test_newest_set_is_the_one_the_service_pins(world: PolicyWorld, tenant_id: str) -> None:
    ours, theirs = policies(world).pinned(tenant_id, "default"), world.store().pin(tenant_id, "default")
    assert ours.policy_set_sha256 == theirs.policy_set_sha256
    assert ours.policy_sha256 == theirs.compaction.policy_sha256
    assert ours.instruction == theirs.compaction.trusted_instruction
    assert ours.fallback_message_count == theirs.compaction.fallback_message_count
    assert ours.summary_min_length == theirs.compaction.summary_min_length
    assert ours.deadline_ms == theirs.compaction.deadline_ms
    assert ours.standing_applies is theirs.compaction.standing_commitments
    assert (ours.standing is None) is (theirs.standing is None)


def test_trust_is_the_one_the_service_reads(world: PolicyWorld) -> None:
    assert policies(world).trust().sha256 == world.store().trust().sha256


def test_instruction_is_rendered_as_the_service_renders_it(world: PolicyWorld) -> None:
    from streams.domain.compaction.constraints import constraint_set  # noqa: PLC0415 - only here are both at hand

    theirs = world.store().pin(TENANT, "default")
    assert theirs.standing is not None
    rendered = constraint_set(theirs.compaction.policy_sha256, theirs.invariants, theirs.standing)
    assert policies(world).pinned(TENANT, "default").render(None).rendered_policy_sha256 == (
        rendered.rendered_policy_sha256
    )


def test_set_in_flight_stays_to_be_had_after_a_newer_was_published(world: PolicyWorld) -> None:
    source = policies(world)
    old = source.pinned(TENANT, "default")
    world.edit("compaction.json", trusted_instruction="You are more careful now.")
    world.publish()
    later(world)
    new = source.pinned(TENANT, "default")
    assert new.policy_set_sha256 != old.policy_set_sha256
    assert new.instruction == "You are more careful now."
    assert source.pinned(TENANT, "default", old.policy_set_sha256) == old


def test_base_set_is_had_by_its_digest_in_a_process_that_never_saw_it(world: PolicyWorld) -> None:
    tenant_id = "tenant-without-commitments"
    old = policies(world).pinned(tenant_id, "default")
    world.edit("compaction.json", trusted_instruction="You are more careful now.")
    world.publish()
    fresh = policies(world)
    assert fresh.pinned(tenant_id, "default").policy_set_sha256 != old.policy_set_sha256
    assert fresh.pinned(tenant_id, "default", old.policy_set_sha256) == old


def test_set_that_was_published_since_is_found_by_asking_once_more(world: PolicyWorld) -> None:
    source = policies(world)
    source.pinned(TENANT, "default")
    world.edit("compaction.json", trusted_instruction="You are more careful now.")
    world.publish()
    newer = policies(world).pinned(TENANT, "default")
    later(world, REFRESH_AT_MOST_EVERY_MS)
    assert source.pinned(TENANT, "default", newer.policy_set_sha256) == newer


def test_set_that_nobody_published_is_unavailable(world: PolicyWorld) -> None:
    with pytest.raises(PolicyUnavailableError):
        policies(world).pinned(TENANT, "default", "0" * 64)


def test_unknown_policy_is_refused(world: PolicyWorld) -> None:
    with pytest.raises(PolicyError, match="policy_id"):
        policies(world).pinned(TENANT, "unknown")


@pytest.mark.parametrize(("tenant_id", "policy_id"), [("../x", "default"), (TENANT, "../default"), ("", "default")])
def test_ids_that_lead_elsewhere_are_refused(world: PolicyWorld, tenant_id: str, policy_id: str) -> None:
    with pytest.raises(PolicyError):
        policies(world).pinned(tenant_id, policy_id)


def test_changed_target_is_unavailable(world: PolicyWorld) -> None:
    pinned = policies(world).pinned(TENANT, "default")
    world.tamper(f"compaction/{pinned.policy_sha256}.json")
    with pytest.raises(PolicyUnavailableError, match="changed"):
        policies(world).pinned(TENANT, "default")


def test_repository_out_of_reach_is_gone_on_without(world: PolicyWorld) -> None:
    source = policies(world)
    pinned, trust = source.pinned(TENANT, "default"), source.trust()
    world.hide()
    later(world)
    source.refresh()
    assert source.pinned(TENANT, "default") == pinned
    assert source.trust() == trust


def test_nothing_ever_loaded_is_unavailable(world: PolicyWorld) -> None:
    world.hide()
    with pytest.raises(PolicyNotLoadedError):
        policies(world).pinned(TENANT, "default")
    with pytest.raises(PolicyNotLoadedError):
        policies(world).trust()


def test_expired_metadata_is_refused(world: PolicyWorld) -> None:
    source = policies(world)
    source.pinned(TENANT, "default")
    world.clock.now_ms += 4000 * DAY_MS
    with pytest.raises(PolicyExpiredError):
        source.trust()
    with pytest.raises(PolicyExpiredError):
        source.pinned(TENANT, "default")


def test_expired_metadata_stays_refused_between_refreshes(world: PolicyWorld) -> None:
    source = policies(world)
    source.trust()
    world.clock.now_ms += 4000 * DAY_MS
    for _ in range(2):
        with pytest.raises(PolicyExpiredError):
            source.trust()


def test_expired_delegated_role_expires_only_what_it_vouches_for(world: PolicyWorld) -> None:
    short = TufRepository(
        world.repository, TufKeys(world.directory / "tuf-keys"), Lifetimes(targets=timedelta(minutes=5))
    )
    world.edit("commitments/tenant-a.json", commitment_revision=2)
    targets = prepare(read_source(world.source), SCANNER).targets
    short.publish({path: body for path, body in targets.items() if path.startswith("tenants/tenant-a/")}, NOW_MS)
    source = policies(world)
    source.pinned("tenant-a", "default")
    world.clock.now_ms += 5 * MINUTE_MS
    for _ in range(2):
        with pytest.raises(PolicyExpiredError):
            source.pinned("tenant-a", "default")
    assert source.pinned("tenant-b", "default").standing is not None
    source.trust()


def test_rolled_back_repository_changes_nothing(world: PolicyWorld) -> None:
    source = policies(world, "kept")
    old = world.copy_repository("old")
    world.edit("compaction.json", trusted_instruction="You are more careful now.")
    world.publish()
    assert source.pinned(TENANT, "default").instruction == "You are more careful now."
    world.restore_repository(old)
    later(world)
    assert source.pinned(TENANT, "default").instruction == "You are more careful now."


def test_rotated_trust_is_read_after_a_refresh(world: PolicyWorld) -> None:
    source = policies(world)
    before = source.trust()
    trust = json.loads((world.source / "trust.json").read_text())
    world.edit("trust.json", revision=trust["revision"] + 1)
    world.publish()
    source.refresh()
    assert source.trust() == before, "a refresh a moment ago is enough"
    later(world, REFRESH_AT_MOST_EVERY_MS)
    source.refresh()
    assert source.trust().revision == before.revision + 1


def test_standing_commitments_of_another_compaction_policy_do_not_apply(world: PolicyWorld) -> None:
    before = policies(world).pinned(TENANT, "default")
    assert before.standing is not None
    world.edit("compaction.json", trusted_instruction="You are more careful now.")
    shutil.rmtree(world.source / "commitments")
    world.publish()
    ours, theirs = policies(world).pinned(TENANT, "default"), world.store().pin(TENANT, "default")
    assert ours.policy_set_sha256 == theirs.policy_set_sha256
    assert ours.standing is None

"""Variants stand beside the default policy; a changed target is noticed by whoever needs it, and by nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.stack.policies import publish_variant, weaken_scan_policy
from pratique.errors import PratiqueError
from pratique.repository import RepositoryPolicies
from streams.adapters.policy_verify import verify_repository
from streams.adapters.tuf_store import TufPolicyStore
from streams.errors import PolicyError, PolicyUnavailableError
from tests.fakes.policy import NOW_MS, SCANNER, PolicyWorld, make_development_set

if TYPE_CHECKING:
    from pathlib import Path

    from pratique.contract.canonical import JsonValue

QUICK_MS = 18_000


@pytest.fixture
def world(tmp_path: Path) -> PolicyWorld:
    make_development_set(tmp_path / "policy")
    return PolicyWorld(tmp_path / "policy")


def store(world: PolicyWorld) -> TufPolicyStore:
    return TufPolicyStore(world.reader(), world.clock, refresh_ms=10_000, min_deadline_ms=QUICK_MS)


def test_a_variant_differs_from_the_default_in_what_was_changed_alone(
    world: PolicyWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topologies.bootstrap.policy.SystemClock.wall_ms", lambda _: NOW_MS)
    publish_variant(world.directory, "quick", min_deadline_ms=QUICK_MS, deadline_ms=QUICK_MS)
    policies = store(world)
    default, quick = policies.pin("tenant-a", "default"), policies.pin("tenant-a", "quick")
    assert (default.compaction.deadline_ms, quick.compaction.deadline_ms) == (30_000, QUICK_MS)
    assert quick.scan.scanner_sha256 == SCANNER.sha256
    assert quick.grammar_sha256 == default.grammar_sha256
    assert quick.standing is not None
    assert default.standing is not None
    assert quick.standing.commitment_records == default.standing.commitment_records


def test_a_variant_pins_the_scanner_itself_also_beside_many_with_rules(
    world: PolicyWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topologies.bootstrap.policy.SystemClock.wall_ms", lambda _: NOW_MS)
    for score in range(1, 13):
        rules: JsonValue = {"INJECTION": [{"detector": "injection", "minimum_score": score}]}
        publish_variant(world.directory, "ruled", min_deadline_ms=QUICK_MS, scan={"actions": rules})
    publish_variant(world.directory, "plain", min_deadline_ms=QUICK_MS, scan={"max_total_bytes": 1_000_000})
    policies = store(world)
    assert policies.pin("tenant-a", "ruled").scan.scanner_sha256 != SCANNER.sha256
    assert policies.pin("tenant-a", "plain").scan.scanner_sha256 == SCANNER.sha256


def test_a_deadline_below_the_least_is_refused(world: PolicyWorld) -> None:
    with pytest.raises(PolicyError):
        publish_variant(world.directory, "quick", min_deadline_ms=QUICK_MS, deadline_ms=QUICK_MS - 1)


def test_a_weakened_scan_policy_is_unavailable_to_the_gate_and_its_metadata_verifies(
    world: PolicyWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topologies.bootstrap.policy.SystemClock.wall_ms", lambda _: NOW_MS)
    publication = publish_variant(world.directory, "altered", min_deadline_ms=QUICK_MS)
    before = store(world).pin("tenant-a", "altered")
    file = weaken_scan_policy(world.directory, publication)
    assert file.is_file()
    policies = store(world)
    with pytest.raises(PolicyUnavailableError):
        policies.pin("tenant-a", "altered")
    assert policies.pin("tenant-a", "default").policy_id == "default"
    # The client reads nothing of the scan policy, and can ask and be told.
    client = RepositoryPolicies(world.reader(), world.clock)
    assert client.pinned("tenant-a", "altered").policy_set_sha256 == before.policy_set_sha256
    with pytest.raises(PratiqueError):
        verify_repository(str(world.repository), world.root, world.clock, min_deadline_ms=QUICK_MS)

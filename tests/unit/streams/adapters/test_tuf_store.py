from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from pratique.contract.canonical import canonical_json, canonical_sha256
from streams.adapters.policy_source import read_source
from streams.adapters.tuf_keys import TufKeys
from streams.adapters.tuf_layout import Lifetimes
from streams.adapters.tuf_repository import TufRepository
from streams.application.ports.policy import Freshness, PolicyStore
from streams.domain.policy.publication import prepare
from streams.domain.policy.sets import DocumentKind, SetMap, read_set_map, set_path
from streams.errors import (
    CommitmentsMissingError,
    CommitmentsStaleError,
    PolicyError,
    PolicyExpiredError,
    PolicyNotLoadedError,
    PolicyUnavailableError,
)
from tests.fakes.policy import DAY_MS, MINUTE_MS, NOW_MS, SCANNER, PolicyWorld


def test_a_pinned_set_holds_every_document_and_the_tenants_standing_commitments(world: PolicyWorld) -> None:
    store: PolicyStore = world.store()
    pinned = store.pin("tenant-a", "default")
    assert pinned.policy_set_sha256 == canonical_sha256(json.loads(pinned.set_map))
    assert pinned.invariants.policy_sha256 == pinned.compaction.policy_sha256 == pinned.scan.policy_sha256
    assert [record.invariant_id for record in pinned.invariants.invariant_records] == ["SAFETY-1", "SAFETY-2"]
    assert [record.commitment_id for record in pinned.standing_for("tenant-a").commitment_records] == ["COMMIT-1"]
    assert pinned.scan.scanner_sha256 == SCANNER.sha256
    assert pinned.version == 2


def test_tenants_with_standing_commitments_of_their_own_have_sets_of_their_own(world: PolicyWorld) -> None:
    store = world.store()
    a, b = store.pin("tenant-a", "default"), store.pin("tenant-b", "default")
    assert a.policy_set_sha256 != b.policy_set_sha256
    with pytest.raises(CommitmentsMissingError):
        a.standing_for("tenant-b")


def test_a_tenant_without_standing_commitments_is_pinned_to_the_base_set(world: PolicyWorld) -> None:
    pinned = world.store().pin("tenant-c", "default")
    assert pinned.standing is None
    assert set_path(pinned.policy_set_sha256) in world.publish()[0].targets
    with pytest.raises(CommitmentsMissingError):
        pinned.standing_for("tenant-c")


def test_standing_commitments_for_an_older_policy_are_stale_and_not_missing(world: PolicyWorld) -> None:
    world.edit("compaction.json", summary_min_length=41)
    publication = prepare(read_source(world.source), SCANNER)
    mine = {path: content for path, content in publication.targets.items() if not path.startswith("tenants/")}
    world.tuf.publish(mine, NOW_MS)
    pinned = world.store().pin("tenant-a", "default")
    assert pinned.compaction.summary_min_length == 41
    with pytest.raises(CommitmentsStaleError):
        pinned.standing_for("tenant-a")


def test_a_worker_obtains_exactly_the_pinned_set_after_newer_ones_were_published(world: PolicyWorld) -> None:
    pinned = world.store().pin("tenant-a", "default")
    world.edit("compaction.json", summary_min_length=99)
    world.publish()
    worker = world.store()
    assert worker.pin("tenant-a", "default").compaction.summary_min_length == 99
    assert worker.exactly(pinned.policy_set_sha256, pinned.set_map) == pinned


def test_a_worker_that_looked_before_the_publication_refreshes_once(world: PolicyWorld) -> None:
    worker = world.store()
    worker.pin("tenant-a", "default")
    world.edit("compaction.json", summary_min_length=99)
    world.publish()
    pinned = world.store().pin("tenant-a", "default")
    assert worker.exactly(pinned.policy_set_sha256, pinned.set_map) == pinned


def test_a_set_that_was_never_published_is_unavailable_even_if_its_documents_were(world: PolicyWorld) -> None:
    old = world.store().pin("tenant-c", "default")
    world.edit("compaction.json", summary_min_length=99)
    world.edit("recall.json", review_score=1)
    world.publish()
    new = world.store().pin("tenant-c", "default")
    old_map, new_map = (read_set_map(pinned.set_map, pinned.policy_set_sha256).documents for pinned in (old, new))
    mixed = SetMap("default", {**new_map, DocumentKind.RECALL: old_map[DocumentKind.RECALL]}, None)
    with pytest.raises(PolicyUnavailableError):
        world.store().exactly(mixed.sha256, mixed.text)


def test_a_set_whose_published_map_is_another_is_refused(world: PolicyWorld) -> None:
    pinned = world.store().pin("tenant-c", "default")
    world.tuf.publish({set_path(pinned.policy_set_sha256): b"{}"}, NOW_MS)
    with pytest.raises(PolicyError, match="published map is another"):
        world.store().exactly(pinned.policy_set_sha256, pinned.set_map)


def test_a_map_that_is_not_the_digests_is_refused(world: PolicyWorld) -> None:
    pinned = world.store().pin("tenant-a", "default")
    other = world.store().pin("tenant-b", "default")
    with pytest.raises(PolicyError, match="digest"):
        world.store().exactly(pinned.policy_set_sha256, other.set_map)


def test_another_tenants_path_for_standing_commitments_is_not_found(world: PolicyWorld) -> None:
    pinned = world.store().pin("tenant-a", "default")
    value = json.loads(pinned.set_map)
    entry = value["documents"]["commitments"]
    entry["path"] = entry["path"].replace("tenant-a", "tenant-z")
    with pytest.raises(PolicyUnavailableError):
        world.store().exactly(canonical_sha256(value), canonical_json(value))


def test_the_second_look_up_reads_nothing(world: PolicyWorld) -> None:
    store = world.store()
    pinned, trust = store.pin("tenant-a", "default"), store.trust()
    world.hide()
    assert store.pin("tenant-a", "default") is pinned
    assert store.trust() is trust
    assert store.exactly(pinned.policy_set_sha256, pinned.set_map) == pinned
    assert store.status().freshness is Freshness.CURRENT


def test_news_is_seen_after_the_interval_and_not_before(world: PolicyWorld) -> None:
    store = world.store(refresh_ms=10_000)
    before = store.pin("tenant-a", "default")
    world.edit("compaction.json", summary_min_length=99)
    world.publish()
    world.clock.now_ms += 9_999
    assert store.pin("tenant-a", "default") is before
    world.clock.now_ms += 1
    after = store.pin("tenant-a", "default")
    assert after.compaction.summary_min_length == 99
    assert after.version > before.version


def test_a_clock_that_went_back_asks_again(world: PolicyWorld) -> None:
    store = world.store()
    store.pin("tenant-a", "default")
    world.edit("compaction.json", summary_min_length=99)
    world.publish()
    world.clock.now_ms -= 1
    assert store.pin("tenant-a", "default").compaction.summary_min_length == 99


def test_the_trust_target_is_read_at_its_newest(world: PolicyWorld) -> None:
    store = world.store()
    assert store.trust().revision == 1
    world.edit("trust.json", revision=2)
    world.publish()
    store.refresh()
    assert store.trust().revision == 2


@pytest.mark.parametrize("kind", ["compaction", "invariants", "grammar", "scan", "recall", "commitments"])
def test_a_changed_document_is_noticed_by_a_process_that_starts(world: PolicyWorld, kind: str) -> None:
    pinned = world.store("worker").pin("tenant-a", "default")
    world.tamper(json.loads(pinned.set_map)["documents"][kind]["path"])
    restarted = world.store("worker")  # with the cache of verified copies that it had
    with pytest.raises(PolicyUnavailableError, match="differs from its metadata, which verifies"):
        restarted.pin("tenant-a", "default")
    with pytest.raises(PolicyUnavailableError):
        restarted.exactly(pinned.policy_set_sha256, pinned.set_map)


def test_a_changed_document_is_asked_for_again_after_a_second(world: PolicyWorld) -> None:
    path = json.loads(world.store().pin("tenant-a", "default").set_map)["documents"]["scan"]["path"]
    whole = world.target_file(path).read_bytes()
    world.tamper(path)
    store = world.store()
    with pytest.raises(PolicyUnavailableError):
        store.pin("tenant-a", "default")
    world.target_file(path).write_bytes(whole)
    with pytest.raises(PolicyUnavailableError):
        store.pin("tenant-a", "default")
    world.clock.now_ms += 1_000
    assert store.pin("tenant-a", "default").policy_id == "default"


def test_publishing_again_mends_a_changed_document(world: PolicyWorld) -> None:
    path = json.loads(world.store().pin("tenant-a", "default").set_map)["documents"]["scan"]["path"]
    world.tamper(path)
    world.publish()
    assert world.store().pin("tenant-a", "default").policy_id == "default"


def test_a_missing_document_is_unavailable(world: PolicyWorld) -> None:
    pinned = world.store().pin("tenant-a", "default")
    world.target_file(json.loads(pinned.set_map)["documents"]["grammar"]["path"]).unlink()
    with pytest.raises(PolicyUnavailableError, match="missing"):
        world.store().pin("tenant-a", "default")


def test_a_document_that_grew_is_unavailable(world: PolicyWorld) -> None:
    pinned = world.store().pin("tenant-a", "default")
    file = world.target_file(json.loads(pinned.set_map)["documents"]["grammar"]["path"])
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(PolicyUnavailableError, match="differs"):
        world.store().pin("tenant-a", "default")


def test_metadata_that_expires_while_running_refuses_pins_and_keeps_what_is_in_flight(world: PolicyWorld) -> None:
    store = world.store()
    pinned = store.pin("tenant-a", "default")
    world.clock.now_ms += DAY_MS - 1
    assert store.pin("tenant-a", "default") == pinned
    world.clock.now_ms += 1
    with pytest.raises(PolicyExpiredError):
        store.pin("tenant-a", "default")
    with pytest.raises(PolicyExpiredError):
        store.trust()
    assert store.exactly(pinned.policy_set_sha256, pinned.set_map) == pinned


def test_a_renewed_timestamp_ends_the_expiry(world: PolicyWorld) -> None:
    store = world.store()
    world.clock.now_ms += 2 * DAY_MS
    with pytest.raises(PolicyExpiredError):
        store.pin("tenant-a", "default")
    assert store.status().freshness is Freshness.EXPIRED
    world.tuf.publish({}, world.clock())
    store.refresh()
    assert store.pin("tenant-a", "default").policy_id == "default"


def test_a_renewal_keeps_pins(world: PolicyWorld) -> None:
    store = world.store()
    pinned = store.pin("tenant-a", "default")
    world.clock.now_ms += 20_000
    world.tuf.publish({}, world.clock())
    store.refresh()
    assert store.pin("tenant-a", "default") is pinned
    world.clock.now_ms += DAY_MS - 20_000  # past the first timestamp's expiry, within the second's
    assert store.pin("tenant-a", "default") == pinned


def test_an_expired_delegated_role_expires_only_what_it_vouches_for(world: PolicyWorld) -> None:
    short = TufRepository(
        world.repository, TufKeys(world.directory / "tuf-keys"), Lifetimes(targets=timedelta(minutes=5))
    )
    world.edit("commitments/tenant-a.json", commitment_revision=2)
    publication = prepare(read_source(world.source), SCANNER)
    mine = {path: content for path, content in publication.targets.items() if path.startswith("tenants/tenant-a/")}
    short.publish(mine, NOW_MS)
    store = world.store()
    assert store.pin("tenant-a", "default").standing_for("tenant-a").commitment_revision == 2
    world.clock.now_ms += 5 * MINUTE_MS
    with pytest.raises(PolicyExpiredError, match="delegated role"):
        store.pin("tenant-a", "default")
    assert store.pin("tenant-b", "default").policy_id == "default"


def test_a_repository_out_of_reach_is_no_matter_while_the_metadata_is_valid(world: PolicyWorld) -> None:
    pinned = world.store("worker").pin("tenant-a", "default")
    world.hide()
    restarted = world.store("worker")
    assert restarted.pin("tenant-a", "default") == pinned
    assert restarted.status().freshness is Freshness.CACHED
    assert "out of reach" in restarted.status().detail


def test_a_copy_kept_for_when_the_repository_is_away_is_verified_again(world: PolicyWorld) -> None:
    world.store("worker").pin("tenant-a", "default")
    world.hide()
    for kept in world.cache("worker").joinpath("targets").iterdir():
        kept.write_bytes(kept.read_bytes().replace(b"default", b"defaulT"))
    with pytest.raises(PolicyUnavailableError):
        world.store("worker").pin("tenant-a", "default")


def test_a_repository_out_of_reach_past_the_expiry_is_expired(world: PolicyWorld) -> None:
    world.store("worker").pin("tenant-a", "default")
    world.hide()
    world.clock.now_ms += DAY_MS
    with pytest.raises(PolicyExpiredError):
        world.store("worker").pin("tenant-a", "default")


def test_nothing_loaded_and_out_of_reach_is_to_wait_and_ends_by_itself(world: PolicyWorld) -> None:
    world.hide()
    store = world.store(refresh_ms=1_000)
    with pytest.raises(PolicyNotLoadedError):
        store.pin("tenant-a", "default")
    with pytest.raises(PolicyNotLoadedError):
        store.trust()
    assert store.status().freshness is Freshness.NEVER
    world.show()
    world.clock.now_ms += 1_000
    assert store.pin("tenant-a", "default").policy_id == "default"


def test_a_rolled_back_repository_is_refused_and_what_was_verified_stands(world: PolicyWorld) -> None:
    old = world.copy_repository("old")
    world.edit("compaction.json", summary_min_length=99)
    world.publish()
    pinned = world.store("worker").pin("tenant-a", "default")
    world.restore_repository(old)
    restarted = world.store("worker")
    assert restarted.refresh().freshness is Freshness.REFUSED
    assert restarted.pin("tenant-a", "default") == pinned


def test_an_unknown_policy_is_refused(world: PolicyWorld) -> None:
    with pytest.raises(PolicyError, match="no policy of this policy_id"):
        world.store().pin("tenant-a", "other")


@pytest.mark.parametrize(
    ("tenant_id", "policy_id"), [("../tenant-b", "default"), ("*", "default"), ("tenant-a", "../x")]
)
def test_ids_that_are_no_paths_are_refused(world: PolicyWorld, tenant_id: str, policy_id: str) -> None:
    with pytest.raises(PolicyError):
        world.store().pin(tenant_id, policy_id)


def test_a_deadline_under_the_process_minimum_is_refused(world: PolicyWorld) -> None:
    store = world.store()
    store._min_deadline_ms = 30_001
    with pytest.raises(PolicyError, match="deadline_ms"):
        store.pin("tenant-a", "default")


def test_a_cache_that_is_lost_while_running_changes_nothing_until_the_expiry(world: PolicyWorld) -> None:
    store = world.store("lost")
    pinned = store.pin("tenant-a", "default")
    world.hide()
    shutil.rmtree(world.cache("lost"))
    assert store.refresh().freshness is Freshness.CACHED
    assert store.pin("tenant-a", "default") is pinned
    world.clock.now_ms += DAY_MS
    with pytest.raises(PolicyExpiredError):
        store.pin("tenant-a", "default")


def test_many_threads_get_one_set(world: PolicyWorld) -> None:
    store = world.store()
    with ThreadPoolExecutor(8) as pool:
        pinned = list(pool.map(lambda _: store.pin("tenant-a", "default"), range(64)))
    assert {id(one) for one in pinned} == {id(pinned[0])}

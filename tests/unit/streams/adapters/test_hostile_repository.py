"""Attacks on a policy repository, in the manner of the TUF conformance suite, through the adapters and python-tuf.

Every attack meets three readers: a store that had verified policy before (it stands by that, or refuses), a process
that starts with nothing (it has no policy), and the client's source. The table in ``docs/reference/policy-life.md``
lists the cases with their outcome; ``test_the_attacker_s_tools_work`` says that they can fail.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import pytest
from tuf.api.metadata import Key, MetaFile

from pratique.contract.reasons import ReasonCode
from pratique.policy.client import PolicyReader
from pratique.policy.fetchers import DirectoryFetcher
from pratique.repository import RepositoryPolicies
from streams.adapters.tuf_store import TufPolicyStore
from streams.application.ports.policy import Freshness
from streams.errors import PolicyExpiredError, PolicyUnavailableError
from tests.fakes.hostile import EndlessFetcher, Hostile, StallingFetcher, expires, said, versioned
from tests.fakes.policy import DAY_MS

TENANT = "tenant-a"
TENANT_ROLE = "tenant-tenant-a"
Attack = Callable[[Hostile], object]


@dataclass(frozen=True)
class Case:
    """An attack, and what it comes to.

    Attributes:
        attack: What is done to the repository.
        started: What a process that starts says.
        running: What a process says that had verified policy: null where it stands by that.
        restarted: What that process says when it starts again: null where it stands by what it had verified.
    """

    attack: Attack
    started: ReasonCode = ReasonCode.POLICY_UNAVAILABLE
    running: ReasonCode | None = None
    restarted: ReasonCode | None = None


def root_of(role: str, key: Key) -> Callable[[object], object]:
    """Return a change of root that gives a role one new key in place of all."""

    def change(signed: object) -> None:
        for key_id in list(signed.roles[role].keyids):  # type: ignore[attr-defined]
            signed.revoke_key(key_id, role)  # type: ignore[attr-defined]
        signed.add_key(key, role)  # type: ignore[attr-defined]

    return change


def root_by_new_keys_only(hostile: Hostile) -> None:
    mine = hostile.stranger()
    hostile.forge("root", root_of("root", mine.public_key), by=[mine])


def root_by_old_keys_only(hostile: Hostile) -> None:
    mine = hostile.stranger()
    hostile.forge("root", root_of("root", mine.public_key))


def threshold(hostile: Hostile, role: str, count: int, change: Callable[[Hostile], object]) -> None:
    """Have an honest root ask for several signatures, give as many and be followed, then give fewer that count."""
    other = hostile.stranger()

    def raised(signed: object) -> None:
        signed.add_key(other.public_key, role)  # type: ignore[attr-defined]
        signed.roles[role].threshold = count  # type: ignore[attr-defined]

    hostile.forge("root", raised)
    hostile.forge(role, by=[*hostile.signers(role), other])
    assert hostile.world.reader().refresh().value == "CURRENT", "the same by two keys is followed"
    change(hostile)


def once_more_under_a_strange_id(hostile: Hostile) -> None:
    """One key's signature twice: under its own id, and under one that the root does not name."""
    (signer,) = hostile.signers("timestamp")

    def again(world: Hostile) -> None:
        metadata = world.forge("timestamp", by=[signer])
        (key_id,) = metadata.signatures
        content = world.path("timestamp", 0).read_text()
        start = content.index('{\n   "keyid"') if '{\n   "keyid"' in content else content.index('{"keyid"')
        end = content.index("}", start) + 1
        twice = content[:end] + "," + content[start:end].replace(key_id, "f" * 64) + content[end:]
        world.path("timestamp", 0).write_text(twice)

    threshold(hostile, "timestamp", 2, again)


def once_more_under_its_own_id(hostile: Hostile) -> None:
    def again(world: Hostile) -> None:
        (key_id,) = world.forge("timestamp").signatures
        content = world.path("timestamp", 0).read_text()
        start = content.rindex("{", 0, content.index(key_id))
        end = content.index("}", start) + 1
        world.path("timestamp", 0).write_text(content[:end] + "," + content[start:end] + content[end:])

    threshold(hostile, "timestamp", 2, again)


def named_wrongly(role: str, **wrong: object) -> Attack:
    """Return the attack whose snapshot (or timestamp) describes a role's metadata wrongly."""

    def attack(hostile: Hostile) -> None:
        version = hostile.forge(role, vouch=False).signed.version
        meta = MetaFile(version, **wrong)  # type: ignore[arg-type]
        if role == "snapshot":
            hostile.forge("timestamp", lambda signed: setattr(signed, "snapshot_meta", meta))
        else:
            hostile.forge("snapshot", lambda signed: signed.meta.update({f"{role}.json": meta}))

    return attack


def mixed(hostile: Hostile) -> None:
    """An older targets file under the newest one's name."""
    hostile.forge("targets")
    newest = hostile.newest("targets").signed.version
    hostile.path("targets", newest).write_bytes(hostile.path("targets", newest - 1).read_bytes())


def by_stranger(role: str, **how: object) -> Attack:
    return lambda hostile: hostile.forge(role, by=[hostile.stranger()], **how)  # type: ignore[arg-type]


STANDS = None
CASES = {
    "timestamp by a strange key": Case(by_stranger("timestamp")),
    "snapshot by a strange key": Case(by_stranger("snapshot")),
    "targets by a strange key": Case(by_stranger("targets")),
    "tenant's role by a strange key": Case(by_stranger(TENANT_ROLE), running=ReasonCode.POLICY_UNAVAILABLE),
    "safety invariants by the tenant's key": Case(
        lambda hostile: hostile.forge("safety-invariants", by=hostile.signers(TENANT_ROLE)),
        running=ReasonCode.POLICY_UNAVAILABLE,
    ),
    "timestamp by the snapshot's key": Case(lambda hostile: hostile.forge("timestamp", by=hostile.signers("snapshot"))),
    "nobody's signature": Case(lambda hostile: hostile.forge("timestamp", by=[])),
    "root by a strange key": Case(by_stranger("root")),
    "root by its new keys alone": Case(root_by_new_keys_only),
    "root by its old keys alone": Case(root_by_old_keys_only),
    "root with a gap in its versions": Case(lambda hostile: hostile.forge("root", up=2, file_version=2)),
    "root that goes back": Case(lambda hostile: hostile.forge("root", up=0, file_version=2)),
    # The root is the owner's here, and asks for two signatures: under it, what was verified before does not verify.
    "threshold not met": Case(
        lambda hostile: threshold(hostile, "timestamp", 2, lambda it: it.forge("timestamp")),
        restarted=ReasonCode.POLICY_UNAVAILABLE,
    ),
    "one key twice, under a strange id": Case(once_more_under_a_strange_id, restarted=ReasonCode.POLICY_UNAVAILABLE),
    "one key twice, under its own id": Case(once_more_under_its_own_id, restarted=ReasonCode.POLICY_UNAVAILABLE),
    "snapshot with a wrong digest": Case(named_wrongly("snapshot", hashes={"sha256": "0" * 64})),
    "snapshot with a wrong length": Case(named_wrongly("snapshot", length=17)),
    "targets with a wrong digest": Case(named_wrongly("targets", hashes={"sha256": "0" * 64})),
    "tenant's role with a wrong digest": Case(
        named_wrongly(TENANT_ROLE, hashes={"sha256": "0" * 64}), running=ReasonCode.POLICY_UNAVAILABLE
    ),
    "older targets under the newest's name": Case(mixed),
}


@pytest.mark.parametrize("name", CASES)
def test_attack_is_refused_with_its_reason(hostile: Hostile, name: str) -> None:
    world, case = hostile.world, CASES[name]
    running, client = world.store("kept"), RepositoryPolicies(world.reader(), world.clock)
    before, seen = running.pin(TENANT, "default"), client.pinned(TENANT, "default")
    case.attack(hostile)
    world.clock.now_ms += 60_000
    if case.running is None:
        assert running.pin(TENANT, "default") == before
        assert running.status().freshness is Freshness.REFUSED
        again = world.store("kept")
        if case.restarted is None:
            assert again.pin(TENANT, "default") == before
        else:
            assert said(lambda: again.pin(TENANT, "default")) is case.restarted
        assert client.pinned(TENANT, "default") == seen
    else:
        assert said(lambda: running.pin(TENANT, "default")) is case.running
        assert said(lambda: client.pinned(TENANT, "default")) is case.running
    assert said(lambda: world.store().pin(TENANT, "default")) is case.started


@pytest.mark.parametrize("role", ["root", "timestamp", "snapshot", "targets", TENANT_ROLE])
def test_the_attacker_s_tools_work(hostile: Hostile, role: str) -> None:
    """The same forgeries, by the right keys and without a lie in them, are followed."""
    store = hostile.world.store("kept")
    store.pin(TENANT, "default")
    hostile.forge(role, by=[*hostile.signers(role), hostile.stranger()])  # nor does a strange signature beside it harm
    for cache in ("kept", ""):
        reader = hostile.world.store(cache)
        assert reader.refresh().freshness is Freshness.CURRENT
        assert reader.pin(TENANT, "default").policy_id == "default"


@pytest.mark.parametrize("role", ["timestamp", "snapshot", "targets", TENANT_ROLE])
def test_what_goes_back_is_refused_by_whoever_saw_the_newer(hostile: Hostile, role: str) -> None:
    """Rollback by the holder of every online key: each version stands above those that name it, but for one."""
    world = hostile.world
    hostile.forge(role, up=5)
    store = world.store("kept")
    before = store.pin(TENANT, "default")
    hostile.forge(role, versioned(hostile.newest(role).signed.version - 1))
    world.clock.now_ms += 60_000
    assert store.pin(TENANT, "default") == before
    assert store.status().freshness is Freshness.REFUSED
    assert "does not verify" in store.status().detail
    assert world.store().pin(TENANT, "default").policy_id == "default", "who saw nothing can't know"


@pytest.mark.parametrize("role", ["targets", TENANT_ROLE])
def test_what_a_snapshot_no_longer_names_is_refused(hostile: Hostile, role: str) -> None:
    world = hostile.world
    store = world.store("kept")
    before = store.pin(TENANT, "default")
    hostile.forge("snapshot", lambda signed: signed.meta.pop(f"{role}.json"))
    world.clock.now_ms += 60_000
    assert store.pin(TENANT, "default") == before
    assert store.status().freshness is Freshness.REFUSED


@pytest.mark.parametrize("role", ["root", "timestamp", "snapshot", "targets"])
def test_a_freeze_ends_at_the_first_expiry_of_the_top_level(hostile: Hostile, role: str) -> None:
    """The repository goes on to serve what is signed and true, and gives no news."""
    world = hostile.world
    for signed_until in ("timestamp", "snapshot", "targets", "root"):
        until = world.clock() + (60_000 if signed_until == role else 30 * DAY_MS)
        hostile.forge(signed_until, expires(until))
    hostile.forge("timestamp", expires(world.clock() + (60_000 if role == "timestamp" else 30 * DAY_MS)))
    store, client = world.store("kept"), RepositoryPolicies(world.reader(), world.clock)
    pinned = store.pin(TENANT, "default")
    assert client.pinned(TENANT, "default").policy_set_sha256 == pinned.policy_set_sha256
    assert store.status().expires_at_ms == world.clock() + 60_000
    world.clock.now_ms += 59_999
    assert store.pin(TENANT, "default") == pinned
    world.clock.now_ms += 1
    for reader in (store, world.store("kept"), world.store()):
        assert said(partial(reader.pin, TENANT, "default")) is ReasonCode.POLICY_EXPIRED
        assert said(reader.trust) is ReasonCode.POLICY_EXPIRED
    assert said(lambda: client.pinned(TENANT, "default")) is ReasonCode.POLICY_EXPIRED


def test_a_mirror_that_hides_the_news_is_seen_by_nobody_before_the_expiry(hostile: Hostile) -> None:
    """The bound that expiry is: until then a mirror may serve what was true yesterday."""
    world = hostile.world
    yesterday = world.copy_repository("yesterday")
    store = world.store()
    before = store.pin(TENANT, "default")
    world.edit("trust.json", revision=2)
    world.publish()
    world.restore_repository(yesterday)
    world.clock.now_ms += DAY_MS - 1
    assert store.pin(TENANT, "default") == before
    world.clock.now_ms += 1
    with pytest.raises(PolicyExpiredError):
        store.pin(TENANT, "default")


@pytest.mark.parametrize("file", ["timestamp.json", "2.root.json", "3.snapshot.json", "3.targets.json"])
def test_metadata_without_end_is_broken_off(hostile: Hostile, file: str) -> None:
    world = hostile.world
    store = world.store("kept")
    before = store.pin(TENANT, "default")
    hostile.forge("targets")
    endless = EndlessFetcher(DirectoryFetcher(world.repository), file)
    reader = PolicyReader("", world.root, world.cache("kept"), world.clock, fetcher=endless)
    assert reader.refresh().value == "REFUSED"
    assert 0 < endless.sent < 6_000_000
    assert reader.trust().revision == 1
    assert store.pin(TENANT, "default") == before


def test_a_target_without_end_is_broken_off(hostile: Hostile) -> None:
    world = hostile.world
    endless = EndlessFetcher(DirectoryFetcher(world.repository), "trust.json")
    reader = PolicyReader("", world.root, world.cache(), world.clock, fetcher=endless)
    with pytest.raises(PolicyUnavailableError):
        reader.trust()
    assert 0 < endless.sent < 1_000_000


def test_a_directory_is_read_no_further_than_it_is_wanted(hostile: Hostile) -> None:
    """A mounted repository with a file of a terabyte takes no memory."""
    world = hostile.world
    world.store("kept").pin(TENANT, "default")
    with (world.repository / "metadata" / "timestamp.json").open("r+b") as file:
        file.truncate(1 << 40)
    assert world.store("kept").refresh().freshness is Freshness.REFUSED


def test_a_repository_that_answers_byte_by_byte_holds_up_nobody(hostile: Hostile) -> None:
    world = hostile.world
    fetcher = StallingFetcher(DirectoryFetcher(world.repository))
    store = TufPolicyStore(PolicyReader("", world.root, world.cache(), world.clock, fetcher=fetcher), world.clock)
    pinned, trust = store.pin(TENANT, "default"), store.trust()
    world.clock.now_ms += 60_000
    fetcher.may_go_on.clear()
    with ThreadPoolExecutor(2) as pool:
        refresh = pool.submit(store.refresh)
        try:
            assert fetcher.stalled.wait(60)
            look_ups = pool.submit(lambda: (store.pin(TENANT, "default"), store.trust()))
            assert look_ups.result(60) == (pinned, trust)
            assert not refresh.done()
        finally:
            fetcher.may_go_on.set()


class TestStolenOnlineKeys:
    """Snapshot and timestamp are signed by a machine; their keys are the first to be lost."""

    @pytest.mark.parametrize("role", ["timestamp", "snapshot", "targets", TENANT_ROLE])
    def test_versions_that_ran_ahead_are_forgotten_with_the_keys(self, hostile: Hostile, role: str) -> None:
        """Fast-forward: whoever believed version 10000 would refuse every true one, were the keys not replaced."""
        world = hostile.world
        good = world.copy_repository("good")
        store, client = world.store("kept"), RepositoryPolicies(world.reader(), world.clock)
        store.pin(TENANT, "default")
        if role in {"targets", TENANT_ROLE}:  # without the role's own key: only the snapshot says so
            meta = MetaFile(10_000)
            hostile.forge("snapshot", lambda signed: signed.meta.update({f"{role}.json": meta}))
        else:
            hostile.forge(role, up=10_000)
        world.clock.now_ms += 60_000
        store.refresh()
        said(lambda: client.pinned(TENANT, "default"))
        world.restore_repository(good)
        hostile.rotate("snapshot")
        hostile.rotate("timestamp")
        world.edit("trust.json", revision=2)
        world.publish()
        world.clock.now_ms += 60_000
        for reader in (store, world.store("kept"), world.store()):
            assert reader.refresh().freshness is Freshness.CURRENT
            assert reader.trust().revision == 2
            assert reader.pin(TENANT, "default").policy_id == "default"
        assert client.trust().revision == 2

    def test_a_version_used_twice_hides_nothing(self, hostile: Hostile) -> None:
        """The thief's snapshot has the number of the owner's next one, which withdraws a key."""
        world = hostile.world
        store, client = world.store(), RepositoryPolicies(world.reader(), world.clock)
        assert store.trust().revision == client.trust().revision == 1
        good = world.copy_repository("good")
        hostile.forge("snapshot")
        hostile.forge("snapshot")
        world.clock.now_ms += 60_000
        store.refresh()
        assert store.trust().revision == client.trust().revision == 1
        stolen = store.status().version
        world.restore_repository(good)
        hostile.rotate("snapshot")
        hostile.rotate("timestamp")
        world.edit("trust.json", revision=2)
        world.publish()
        world.clock.now_ms += 60_000
        assert store.refresh().version == stolen
        assert store.trust().revision == 2
        assert client.trust().revision == 2

    def test_a_new_root_and_no_timestamp_under_it_leaves_what_was_verified(self, hostile: Hostile) -> None:
        """The owner replaced the key; the mirror serves the new root, and the thief's timestamp."""
        world = hostile.world
        store = world.store("kept")
        before = store.pin(TENANT, "default")
        stolen = hostile.signers("timestamp")
        hostile.rotate("timestamp")
        hostile.forge("timestamp", by=stolen)
        world.clock.now_ms += 60_000
        assert store.pin(TENANT, "default") == before
        assert store.status().freshness is Freshness.REFUSED
        assert said(lambda: world.store().pin(TENANT, "default")) is ReasonCode.POLICY_UNAVAILABLE
        world.clock.now_ms += DAY_MS
        assert said(lambda: store.pin(TENANT, "default")) is ReasonCode.POLICY_EXPIRED

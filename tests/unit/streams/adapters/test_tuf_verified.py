"""What the publisher makes of a repository that somebody wrote into who holds no key: it signs none of that."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from securesystemslib.signer import CryptoSigner

from pratique.policy.client import Refreshed
from streams.adapters import tuf_repository
from streams.adapters.tuf_layout import write_whole
from streams.errors import ConfigurationError, PolicyUnavailableError
from tests.fakes.hostile import Hostile
from tests.fakes.policy import DAY_MS, PolicyWorld

TOP_LEVEL = ("root", "targets", "snapshot", "timestamp")
ROLES = (*TOP_LEVEL, "safety-invariants", "scan-policy", "recall-policy", "tenant-tenant-a", "tenant-tenant-b")

ACTS: Mapping[str, Callable[[PolicyWorld], object]] = {
    "publish": lambda world: world.tuf.publish({"current/other.json": b"{}"}, world.clock()),
    "renew": lambda world: world.tuf.publish({}, world.clock()),
    "add_tenant": lambda world: world.tuf.add_tenant("tenant-c", world.clock()),
    "rotate root": lambda world: world.tuf.rotate("root", world.clock()),
    "rotate timestamp": lambda world: world.tuf.rotate("timestamp", world.clock()),
    "rotate a tenant": lambda world: world.tuf.rotate("tenant-tenant-a", world.clock()),
}


def written(world: PolicyWorld) -> dict[Path, bytes]:
    """Return every file of repository and keys with its bytes."""
    folders = (world.repository, world.directory / "tuf-keys")
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


def newest(world: PolicyWorld, role: str) -> Path:
    hostile = Hostile(world)
    return hostile.path(role, hostile.newest(role).signed.version)


def edited(path: Path, change: Callable[[Any], object]) -> None:
    """Change metadata as whoever holds no key does: its signatures stay."""
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def refused_by_every_act(world: PolicyWorld, message: str) -> None:
    before = written(world)
    for act in ACTS.values():
        with pytest.raises(PolicyUnavailableError, match=message):
            act(world)
        assert written(world) == before


def later(value: Any) -> None:  # noqa: ANN401 - any role's metadata
    value["signed"]["expires"] = "2099-01-01T00:00:00Z"


def unsigned(value: Any) -> None:  # noqa: ANN401 - any role's metadata
    value["signatures"] = []


def signed_by_a_stranger(value: Any) -> None:  # noqa: ANN401 - any role's metadata
    for signature in value["signatures"]:
        signature["sig"] = "0" * len(signature["sig"])


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("change", [later, unsigned, signed_by_a_stranger])
def test_metadata_altered_without_a_key_is_signed_by_nothing(
    world: PolicyWorld, role: str, change: Callable[[Any], object]
) -> None:
    edited(newest(world, role), change)
    refused_by_every_act(world, "restore the repository from a copy")


@pytest.mark.parametrize("role", ROLES)
def test_a_changed_byte_of_metadata_is_noticed_wherever_it_is(world: PolicyWorld, role: str) -> None:
    path = newest(world, role)
    content = path.read_bytes()
    for position in range(0, len(content), max(1, len(content) // 40)):
        path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        with pytest.raises(PolicyUnavailableError, match="restore"):
            world.tuf.publish({}, world.clock())
    path.write_bytes(content)
    world.tuf.publish({}, world.clock())


@pytest.mark.parametrize("role", ROLES)
def test_metadata_that_is_gone_is_not_made_up_for(world: PolicyWorld, role: str) -> None:
    newest(world, role).unlink()
    refused_by_every_act(world, "policy init" if role == "timestamp" else "restore")


@pytest.mark.parametrize(
    ("role", "path"), [("targets", "trust.json"), ("tenant-tenant-a", "tenants/tenant-a/current-default.json")]
)
def test_a_target_written_into_a_role_is_never_signed(world: PolicyWorld, role: str, path: str) -> None:
    evil = b"whatever the attacker says"
    digest = hashlib.sha256(evil).hexdigest()
    named = {"length": len(evil), "hashes": {"sha256": digest}}
    edited(newest(world, role), lambda value: value["signed"]["targets"].update({path: named}))
    folder, _, name = path.rpartition("/")
    (world.repository / "targets" / folder / f"{digest}.{name}").write_bytes(evil)
    refused_by_every_act(world, "length and digest")


def test_a_stranger_s_key_written_into_the_root_is_never_signed(world: PolicyWorld) -> None:
    stranger = CryptoSigner.generate_ed25519().public_key

    def named(value: Any) -> None:  # noqa: ANN401 - JSON
        value["signed"]["keys"][stranger.keyid] = stranger.to_dict()
        for role in value["signed"]["roles"].values():
            role["keyids"].append(stranger.keyid)

    edited(newest(world, "root"), named)
    refused_by_every_act(world, "root keys")


def test_a_whole_repository_of_a_stranger_s_own_is_not_signed_for(world: PolicyWorld, tmp_path: Path) -> None:
    other = PolicyWorld(tmp_path / "other")
    other.tuf.create(world.clock(), tenants=("tenant-a",))
    world.restore_repository(other.repository)
    refused_by_every_act(world, "another root")


@pytest.mark.parametrize("which", range(3))
def test_every_root_of_the_chain_is_verified(world: PolicyWorld, which: int) -> None:
    for _ in range(2):
        world.tuf.rotate("root", world.clock())
    edited(Hostile(world).path("root", which + 1), later)
    refused_by_every_act(world, "restore")


def test_a_gap_in_the_chain_of_roots_is_noticed(world: PolicyWorld) -> None:
    for _ in range(2):
        world.tuf.rotate("root", world.clock())
    Hostile(world).path("root", 2).unlink()
    refused_by_every_act(world, "expected 2")


def test_a_root_that_was_replaced_does_not_come_back(world: PolicyWorld) -> None:
    """Whoever stole the old root's keys puts the repository of before the rotation back."""
    copy = world.copy_repository("before")
    world.tuf.rotate("root", world.clock())
    world.restore_repository(copy)
    refused_by_every_act(world, "lacks root version 2")


class TestOlder:
    """The whole repository as it was, true to the last byte: a renewal would make it believed for good."""

    @pytest.fixture
    def rolled_back(self, world: PolicyWorld) -> PolicyWorld:
        copy = world.copy_repository("before")
        world.edit("trust.json", revision=2)
        world.publish()
        world.restore_repository(copy)
        return world

    def test_it_is_not_signed_anew(self, rolled_back: PolicyWorld) -> None:
        refused_by_every_act(rolled_back, "older than it was")

    def test_whoever_put_it_there_goes_on_with_it(self, rolled_back: PolicyWorld) -> None:
        reader = rolled_back.reader("kept")
        (rolled_back.directory / "tuf-keys" / "timestamp.json").unlink()
        for role in ("snapshot", "timestamp"):
            rolled_back.tuf.rotate(role, rolled_back.clock())
        assert reader.refresh() is Refreshed.CURRENT

    def test_a_timestamp_whose_key_was_replaced_says_nothing_any_more(self, world: PolicyWorld) -> None:
        kept = world.directory / "tuf-keys" / "timestamp.json"
        before = kept.read_bytes()
        Hostile(world).forge("timestamp", up=1_000)
        world.tuf.publish({}, world.clock())
        ahead = kept.read_bytes()
        world.tuf.rotate("timestamp", world.clock())
        edited(kept, lambda value: value.update(json.loads(ahead)))
        world.tuf.publish({}, world.clock())
        assert kept.read_bytes() not in {before, ahead}

    def test_a_kept_timestamp_that_is_none_is_said_to_be_none(self, world: PolicyWorld) -> None:
        (world.directory / "tuf-keys" / "timestamp.json").write_bytes(b"{}")
        with pytest.raises(ConfigurationError, match="no timestamp metadata"):
            world.tuf.publish({}, world.clock())


class TestTargetFiles:
    @pytest.fixture(params=["trust.json", "current/default.json", "tenants/tenant-a/current-default.json"])
    def file(self, world: PolicyWorld, request: pytest.FixtureRequest) -> Path:
        return world.target_file(request.param)

    def test_an_altered_one_is_refused(self, world: PolicyWorld, file: Path) -> None:
        content = file.read_bytes()
        file.write_bytes(bytes([content[0] ^ 1]) + content[1:])
        refused_by_every_act(world, "length and digest")

    def test_a_missing_one_is_refused(self, world: PolicyWorld, file: Path) -> None:
        file.unlink()
        refused_by_every_act(world, "can't be read")

    def test_one_that_is_published_again_is_written_again(self, world: PolicyWorld, file: Path) -> None:
        content = file.read_bytes()
        file.write_bytes(b"altered")
        world.publish()
        assert file.read_bytes() == content


class TestAccepted:
    def test_after_every_role_s_rotation(self, world: PolicyWorld) -> None:
        for role in ROLES:
            world.tuf.rotate(role, world.clock())
        for act in ACTS.values():
            act(world)
        assert world.reader().refresh() is Refreshed.CURRENT

    @pytest.mark.parametrize("days", [2, 8, 91, 400])
    def test_what_is_expired(self, world: PolicyWorld, days: int) -> None:
        world.clock.now_ms += days * DAY_MS
        for act in ACTS.values():
            act(world)
        assert world.reader().refresh() is Refreshed.CURRENT

    def test_a_set_that_was_made_before_roots_were_kept(self, world: PolicyWorld) -> None:
        world.tuf.rotate("root", world.clock())
        kept = world.directory / "tuf-keys" / "root.json"
        kept.unlink()
        world.tuf.publish({}, world.clock())
        assert kept.read_bytes() == newest(world, "root").read_bytes()

    def test_keys_that_can_not_be_written(self, world: PolicyWorld, monkeypatch: pytest.MonkeyPatch) -> None:
        (world.directory / "tuf-keys" / "root.json").unlink()

        def read_only(_: Path, __: bytes) -> None:
            raise ConfigurationError("read-only")

        monkeypatch.setattr("streams.adapters.tuf_keys.write_whole", read_only)
        world.tuf.publish({}, world.clock())
        assert world.reader().refresh() is Refreshed.CURRENT


def test_without_a_root_to_begin_with_nothing_is_signed(world: PolicyWorld) -> None:
    for path in (world.directory / "tuf-keys" / "root.json", world.directory / "root.json"):
        path.unlink()
    before = written(world)
    for act in ACTS.values():
        with pytest.raises(ConfigurationError, match=r"tuf-keys/root\.json .*policy init"):
            act(world)
    assert written(world) == before


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]"])
def test_a_kept_root_that_is_none_is_said_to_be_none(world: PolicyWorld, content: bytes) -> None:
    (world.directory / "tuf-keys" / "root.json").write_bytes(content)
    with pytest.raises(ConfigurationError, match="no signed root"):
        world.tuf.publish({}, world.clock())


class TestBrokenOff:
    @pytest.fixture
    def breaks_after(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
        def after(writes: int) -> None:
            left = [writes]

            def write(path: Path, content: bytes) -> None:
                if not left[0]:
                    raise ConfigurationError("no space left")
                left[0] -= 1
                write_whole(path, content)

            monkeypatch.setattr(tuf_repository, "write_whole", write)

        return after

    @pytest.mark.parametrize("again", ["renew", "rotate timestamp", "add_tenant"])
    @pytest.mark.parametrize("role", ROLES)
    def test_a_rotation_is_brought_to_its_end(
        self, world: PolicyWorld, breaks_after: Callable[[int], None], role: str, again: str
    ) -> None:
        for writes in range(6):
            copy = shutil.copytree(world.directory, world.directory.parent / f"{role}-{writes}")
            mine = PolicyWorld(copy)
            breaks_after(writes)
            with suppress(ConfigurationError):
                mine.tuf.rotate(role, mine.clock())
            breaks_after(100)
            ACTS[again](mine)
            assert mine.reader().refresh() is Refreshed.CURRENT
            assert mine.store().pin("tenant-a", "default").policy_id == "default"
            assert not (copy / "tuf-keys" / "root-pending.json").exists()

    def test_a_replaced_key_counts_no_more_once_it_ended(self, world: PolicyWorld) -> None:
        old = newest(world, "timestamp").read_bytes()
        world.tuf.rotate("timestamp", world.clock())
        newest(world, "timestamp").write_bytes(old)
        refused_by_every_act(world, "role timestamp")


class TestDurable:
    @pytest.mark.parametrize("role", ROLES)
    def test_a_rotation_s_key_is_on_the_disk_before_the_metadata_that_names_it(
        self, world: PolicyWorld, role: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = set(written(world))
        synced: list[int] = []
        monkeypatch.setattr("os.fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
        world.tuf.rotate(role, world.clock())
        new = set(written(world)) - before
        keys = [path for path in new if path.suffix == ".pem"]
        metadata = [path for path in new if world.repository in path.parents]
        assert keys
        assert metadata
        of_keys = max(synced.index(item.stat().st_ino) for path in keys for item in (path, path.parent))
        assert of_keys < min(synced.index(path.stat().st_ino) for path in metadata)

    def test_a_file_is_named_on_the_disk_once_it_is_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "new" / "file"
        named: dict[int, bool] = {}

        def fsync(descriptor: int) -> None:
            named[os.fstat(descriptor).st_ino] = path.exists()

        monkeypatch.setattr("os.fsync", fsync)
        write_whole(path, b"whole")
        assert named[path.stat().st_ino] is False
        assert named[path.parent.stat().st_ino] is True
        assert named[tmp_path.stat().st_ino] is True

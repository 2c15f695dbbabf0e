from __future__ import annotations

import inspect
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tuf.api.exceptions import DownloadError, DownloadHTTPError
from tuf.ngclient import Updater
from tuf.ngclient._internal.trusted_metadata_set import TrustedMetadataSet

from pratique.errors import ConfigurationError
from pratique.policy.client import PolicyReader, Refreshed
from pratique.policy.errors import (
    PolicyError,
    PolicyExpiredError,
    PolicyNotLoadedError,
    PolicyUnavailableError,
    TargetUnknownError,
)
from pratique.policy.fetchers import CacheFetcher, DirectoryFetcher, HttpFetcher
from tests.fakes.policy import DAY_MS, NOW_MS, PolicyWorld, make_development_set


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_development_set(tmp_path_factory.mktemp("policy") / "set").directory


@pytest.fixture
def world(pristine: Path, tmp_path: Path) -> PolicyWorld:
    return PolicyWorld(Path(shutil.copytree(pristine, tmp_path / "set")))


class _Handler(SimpleHTTPRequestHandler):
    failing = False

    def do_GET(self) -> None:
        if self.failing:
            self.send_error(503)
        else:
            super().do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


@pytest.fixture
def served(world: PolicyWorld) -> Iterator[tuple[str, type[_Handler]]]:
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(world.repository)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_python_tuf_is_relied_on_for_is_there() -> None:
    """The reader sets the time and reads versions and expiries where python-tuf has no public way."""
    source = inspect.getsource(Updater.__init__)
    assert "self._trusted_set = TrustedMetadataSet(" in source
    assert "self.reference_time" in inspect.getsource(TrustedMetadataSet.__init__)
    for name in ("root", "timestamp", "snapshot", "targets"):
        assert isinstance(inspect.getattr_static(TrustedMetadataSet, name), property)


def test_the_clock_is_the_given_one(world: PolicyWorld) -> None:
    world.clock.now_ms = NOW_MS + DAY_MS - 1
    assert world.reader().refresh() is Refreshed.CURRENT
    world.clock.now_ms = NOW_MS + DAY_MS
    with pytest.raises(PolicyExpiredError):
        world.reader().refresh()


def test_version_and_expiry_are_those_of_the_metadata(world: PolicyWorld) -> None:
    reader = world.reader()
    assert (reader.loaded, reader.version, reader.expires_at_ms) == (False, 0, 0)
    reader.refresh()
    assert (reader.loaded, reader.version, reader.expires_at_ms) == (True, 2, NOW_MS + DAY_MS)


def test_the_first_load_refreshes(world: PolicyWorld) -> None:
    assert world.reader().trust().revision == 1


def test_a_delegated_targets_expiry_is_its_roles(world: PolicyWorld) -> None:
    reader = world.reader()
    digest = world.store().newest("default").invariants.manifest_sha256
    assert reader.load(f"invariants/{digest}.json").role_expires_at_ms == NOW_MS + 90 * DAY_MS
    assert reader.load("trust.json").role_expires_at_ms is None


@pytest.mark.parametrize("path", ["nothing.json", "invariants/nothing.json", "../root.json", "tenants/tenant-z/x.json"])
def test_a_target_that_nobody_names_is_unknown(world: PolicyWorld, path: str) -> None:
    with pytest.raises(TargetUnknownError):
        world.reader().load(path)


def test_a_trust_target_that_is_none_is_a_policy_error(world: PolicyWorld) -> None:
    world.tuf.publish({"trust.json": b"{}"}, NOW_MS)
    with pytest.raises(PolicyError, match="trust target"):
        world.reader().trust()


def test_metadata_that_expires_under_a_loaded_reader_is_expired(world: PolicyWorld) -> None:
    reader = world.reader()
    reader.refresh()
    world.clock.now_ms += DAY_MS
    with pytest.raises(PolicyExpiredError):
        reader.load("trust.json")


@pytest.mark.parametrize("name", ["timestamp.json", "2.snapshot.json", "2.targets.json"])
def test_metadata_that_was_changed_is_refused(world: PolicyWorld, name: str) -> None:
    path = world.repository / "metadata" / name
    path.write_bytes(path.read_bytes().replace(b'"version": 2', b'"version": 3'))
    with pytest.raises(PolicyUnavailableError, match="does not verify"):
        world.reader().refresh()


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"[" * 10_000, b"0" * 20_000])
def test_metadata_that_is_garbage_is_refused_and_what_was_verified_stands(world: PolicyWorld, content: bytes) -> None:
    world.reader("kept").refresh()
    (world.repository / "metadata" / "timestamp.json").write_bytes(content)
    reader = world.reader("kept")
    assert reader.refresh() is Refreshed.REFUSED
    assert reader.trust().revision == 1
    assert "does not verify" in reader.detail
    with pytest.raises(PolicyUnavailableError):
        world.reader().refresh()


def test_a_cache_that_was_tampered_with_is_not_believed(world: PolicyWorld) -> None:
    world.reader("kept").trust()
    for path in world.cache("kept").rglob("*.json"):
        if not path.is_symlink():
            path.write_bytes(path.read_bytes().replace(b"1", b"2"))
    reader = world.reader("kept")
    assert reader.refresh() is Refreshed.CURRENT
    world.hide()
    for path in world.cache("kept").rglob("*.json"):
        if not path.is_symlink():
            path.write_bytes(path.read_bytes().replace(b"1", b"2"))
    with pytest.raises((PolicyNotLoadedError, PolicyUnavailableError)):
        world.reader("kept").refresh()


def test_a_root_that_is_none_is_a_matter_of_configuration(world: PolicyWorld) -> None:
    with pytest.raises(ConfigurationError, match="trusted root"):
        PolicyReader(str(world.repository), b"garbage", world.cache(), world.clock).refresh()


def test_a_cache_that_can_not_be_written_is_a_matter_of_configuration(world: PolicyWorld) -> None:
    blocked = world.directory / "file"
    blocked.write_text("")
    with pytest.raises(ConfigurationError, match="cache"):
        PolicyReader(str(world.repository), world.root, blocked / "cache", world.clock).refresh()


def test_readers_that_share_a_cache_take_turns(world: PolicyWorld) -> None:
    failures: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(5):
                reader = world.reader("shared")
                reader.refresh()
                reader.trust()
        except BaseException as error:  # noqa: BLE001 - whatever it was, the test shall say so
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


class TestHttp:
    def test_a_served_repository_is_read(self, world: PolicyWorld, served: tuple[str, type[_Handler]]) -> None:
        reader = PolicyReader(served[0], world.root, world.cache(), world.clock)
        assert reader.refresh() is Refreshed.CURRENT
        assert reader.trust().revision == 1

    def test_a_changed_target_is_noticed(self, world: PolicyWorld, served: tuple[str, type[_Handler]]) -> None:
        world.tamper("trust.json")
        with pytest.raises(PolicyUnavailableError, match="differs"):
            PolicyReader(served[0], world.root, world.cache(), world.clock).trust()

    def test_a_missing_target_is_noticed(self, world: PolicyWorld, served: tuple[str, type[_Handler]]) -> None:
        world.target_file("trust.json").unlink()
        with pytest.raises(PolicyUnavailableError, match="missing"):
            PolicyReader(served[0], world.root, world.cache(), world.clock).trust()

    def test_a_server_that_fails_is_out_of_reach(self, world: PolicyWorld, served: tuple[str, type[_Handler]]) -> None:
        url, handler = served
        cache = world.cache()
        PolicyReader(url, world.root, cache, world.clock).trust()
        handler.failing = True
        reader = PolicyReader(url, world.root, cache, world.clock)
        assert reader.refresh() is Refreshed.CACHED
        assert reader.trust().revision == 1
        with pytest.raises(PolicyNotLoadedError):
            PolicyReader(url, world.root, world.cache(), world.clock).refresh()

    def test_a_server_that_fails_in_between_leaves_the_verified_copy(
        self, world: PolicyWorld, served: tuple[str, type[_Handler]]
    ) -> None:
        url, handler = served
        cache = world.cache()
        PolicyReader(url, world.root, cache, world.clock).trust()
        reader = PolicyReader(url, world.root, cache, world.clock)
        reader.refresh()
        handler.failing = True
        assert reader.trust().revision == 1

    def test_nobody_listening_is_out_of_reach(self, world: PolicyWorld) -> None:
        reader = PolicyReader("http://127.0.0.1:9", world.root, world.cache(), world.clock)
        with pytest.raises(PolicyNotLoadedError):
            reader.refresh()


class TestFetchers:
    @pytest.mark.parametrize("url", ["../secret", "/etc/passwd", "a/../../b"])
    def test_a_path_out_of_the_directory_is_refused(self, tmp_path: Path, url: str) -> None:
        with pytest.raises(DownloadError, match="out of the policy repository"):
            DirectoryFetcher(tmp_path).fetch(url)

    def test_missing_and_out_of_reach_differ(self, tmp_path: Path) -> None:
        with pytest.raises(DownloadHTTPError):
            DirectoryFetcher(tmp_path).fetch("x")
        with pytest.raises(DownloadError) as caught:
            DirectoryFetcher(tmp_path / "none").fetch("x")
        assert not isinstance(caught.value, DownloadHTTPError)

    def test_a_stream_that_breaks_off_is_a_download_error(self) -> None:
        def breaking() -> Iterator[bytes]:
            yield b"a"
            raise ConnectionResetError

        with pytest.raises(DownloadError, match="broke off"):
            list(HttpFetcher._translated(breaking()))

    def test_the_cache_plays_back_the_top_level_but_no_newer_root(self, tmp_path: Path) -> None:
        (tmp_path / "root.json").write_bytes(b"{}")
        (tmp_path / "snapshot.json").write_bytes(b"{}")
        fetcher = CacheFetcher(tmp_path, None)
        assert list(fetcher.fetch("metadata/7.snapshot.json")) == [b"{}"]
        with pytest.raises(DownloadHTTPError):
            fetcher.fetch("metadata/2.root.json")
        for url in ("metadata/timestamp.json", "metadata/2.scan-policy.json", "targets/snapshot.json"):
            with pytest.raises(DownloadError):
                fetcher.fetch(url)

    def test_the_cache_leaves_the_rest_to_the_repository(self, tmp_path: Path) -> None:
        (tmp_path / "targets").mkdir()
        (tmp_path / "targets" / "snapshot.json").write_bytes(b"target")
        fetcher = CacheFetcher(tmp_path / "cache", DirectoryFetcher(tmp_path))
        assert list(fetcher.fetch("targets/snapshot.json")) == [b"target"]

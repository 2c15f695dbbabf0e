"""What ``doctor`` says of a platform that lacks one thing at a time: the row, how it stands, and the next step."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import pytest
from click.testing import CliRunner
from redis.exceptions import ConnectionError as RedisConnectionError

from pratique.errors import UnavailableError
from pratique.keyfiles import write_private_file
from streams.adapters.kafka_admin import ExistingTopic, KafkaAdmin
from streams.adapters.language_models import located
from streams.adapters.policy_development import DevelopmentSet, init_development
from streams.adapters.policy_source import read_source, write_json
from streams.adapters.system_clock import SystemClock
from streams.adapters.tuf_keys import TufKeys
from streams.adapters.tuf_layout import Lifetimes
from streams.adapters.tuf_repository import TufRepository
from streams.domain.policy.language_models import LanguageModel
from streams.domain.policy.publication import prepare
from streams.errors import ConfigurationError
from tests.fakes.language_model import ENGLISH, PACKAGE, asking
from tests.fakes.policy import DEMO_SOURCE, SCANNER
from topologies.apps import APPS
from topologies.bootstrap import health, topics
from topologies.bootstrap.health import Examined, Health, examine
from topologies.catalog import TOPICS
from topologies.cli.doctor import doctor
from topologies.settings import Settings

PARTITIONS = 8


@dataclass
class Cluster:
    """A cluster as the catalogue wants it, for tests to make wrong; in place of the adapter's administrator."""

    topics_there: dict[str, ExistingTopic] = field(
        default_factory=lambda: {spec.name: ExistingTopic(PARTITIONS, spec.configuration) for spec in TOPICS}
    )
    ends: int = 10
    read: int = 7
    lost: set[str] = field(default_factory=set)
    answers: bool = True
    asked: int = 0

    def topics(self, names: tuple[str, ...]) -> dict[str, ExistingTopic]:
        self.asked += 1
        if not self.answers:
            raise UnavailableError("the cluster does not answer")
        return {name: found for name, found in self.topics_there.items() if name in names}

    def committed(self, group: str, topic: str, partitions: int) -> dict[int, int]:  # noqa: ARG002 - the adapter's form
        return {number: self.read for number in range(partitions) if number or topic not in self.lost}

    def bounds(self, topic: str, partitions: int) -> dict[int, tuple[int, int]]:  # noqa: ARG002 - the same
        return dict.fromkeys(range(partitions), (0, self.ends))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster()
    for module in (health, topics):
        monkeypatch.setattr(module, "KafkaAdmin", lambda _, **__: found)
    monkeypatch.setattr(health, "installed_scanner", lambda: SCANNER)
    return found


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> DevelopmentSet:
    directory = tmp_path_factory.mktemp("policy") / "set"
    return init_development(directory, DEMO_SOURCE, SCANNER, SystemClock().wall_ms())


@pytest.fixture
def settings(pristine: DevelopmentSet, tmp_path: Path) -> Settings:
    made = shutil.copytree(pristine.directory, tmp_path / "set")
    return Settings(
        policy_repository=str(made / "repository"),
        policy_root=str(made / "root.json"),
        keys=str(made / "keys"),
        partitions=PARTITIONS,
    )


def rows(settings: Settings) -> dict[str, Examined]:
    return {row.what: row for row in examine(settings)}


def ill(settings: Settings) -> dict[str, tuple[Health, str]]:
    return {what: (row.health, row.detail) for what, row in rows(settings).items() if row.health is not Health.WELL}


def folder(settings: Settings) -> Path:
    return Path(settings.keys).parent


@pytest.mark.usefixtures("cluster")
def test_what_is_as_it_should_be_is_well_and_says_what_it_saw(settings: Settings) -> None:
    found = rows(settings)
    assert {row.health for row in found.values()} == {Health.WELL}
    lags = [f"lag of {app.name}" for app in APPS]
    assert list(found) == ["broker", "topics", *lags, "redis", "policy", "keys", "scanner", "language models"]
    for app in APPS:
        behind = len(app.sources) * PARTITIONS * 3
        assert found[f"lag of {app.name}"].detail == f"{behind} records behind"
    assert found["policy"].detail.startswith("version ")
    assert found["keys"].detail.startswith("1 gate, 1 ")
    assert found["scanner"].detail == f"{SCANNER.version} ({SCANNER.sha256[:12]})"
    assert found["language models"].detail == "policy names none"


def test_a_topic_that_is_missing_or_differs_is_ill_and_apply_is_named(settings: Settings, cluster: Cluster) -> None:
    name = APPS[0].sources[0].name
    del cluster.topics_there[name]
    found = ill(settings)
    readers = {f"lag of {app.name}" for app in APPS if name in {spec.name for spec in app.sources}}
    assert set(found) == {"topics", *readers}
    assert {health for health, _ in found.values()} == {Health.ILL}
    assert all("pratique topics" in detail for _, detail in found.values())
    assert found["topics"][1].startswith("1 differences")


def test_a_group_that_lost_its_place_is_ill(settings: Settings, cluster: Cluster) -> None:
    (source, *_) = APPS[0].sources
    cluster.lost.add(source.name)
    found = ill(settings)
    health, detail = found[f"lag of {APPS[0].name}"]
    assert (health, f"no committed offset for partitions [0] of {source.name}" in detail) == (Health.ILL, True)


def test_a_cluster_that_does_not_answer_is_one_row_asked_once_and_hides_nothing_else(
    settings: Settings, cluster: Cluster
) -> None:
    cluster.answers = False
    found = rows(settings)
    assert list(found) == ["broker", "redis", "policy", "keys", "scanner", "language models"]
    assert set(ill(settings)) == {"broker"}
    assert found["broker"].health is Health.UNKNOWN
    assert cluster.asked == 2  # by two examinations


def test_a_broker_that_is_away_is_named_with_the_next_step(
    settings: Settings, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cluster.answers
    monkeypatch.setattr(health, "KafkaAdmin", KafkaAdmin)
    monkeypatch.setattr(health, "BROKER_SECONDS", 0.2)
    row = rows(replace(settings, bootstrap="127.0.0.1:1"))["broker"]
    assert row.health is Health.UNKNOWN
    assert "no broker at 127.0.0.1:1 (PRATIQUE_BOOTSTRAP)" in row.detail
    assert "is it running" in row.detail


@pytest.mark.parametrize("error", [ValueError("d29yZA"), OSError(13, "d29yZA"), RecursionError()])
def test_whatever_goes_wrong_is_a_row_without_its_text(
    settings: Settings, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    assert cluster.answers

    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(health, "installed_scanner", broken)
    row = rows(settings)["scanner"]
    assert (row.health, type(error).__name__ in row.detail) == (Health.UNKNOWN, True)
    assert "d29yZA" not in row.detail


@pytest.mark.usefixtures("cluster")
class TestPolicy:
    """The repository as this process would read it."""

    def test_a_setting_that_is_missing_is_named(self, settings: Settings) -> None:
        health, detail = ill(replace(settings, policy_repository=""))["policy"]
        assert (health, "PRATIQUE_POLICY_REPOSITORY" in detail) == (Health.UNKNOWN, True)

    def test_a_repository_out_of_reach_is_ill(self, settings: Settings, tmp_path: Path) -> None:
        found = ill(replace(settings, policy_repository=str(tmp_path / "nowhere")))
        health, detail = found["policy"]
        assert (health, detail.startswith("repository is ")) == (Health.ILL, True)
        assert found["language models"][0] is Health.UNKNOWN

    def test_metadata_that_was_changed_is_ill(self, settings: Settings) -> None:
        timestamp = next(Path(settings.policy_repository).rglob("timestamp.json"))
        signed = timestamp.read_bytes()
        assert b'"sig"' in signed
        timestamp.write_bytes(signed.replace(b'"_type"', b'"_kind"'))
        health, detail = ill(settings)["policy"]
        assert (health, detail.startswith("repository is ")) == (Health.ILL, True)

    def test_what_ends_soon_is_told_while_all_is_well(self, settings: Settings) -> None:
        path, day_ms = folder(settings) / "source" / "trust.json", 24 * 60 * 60 * 1000
        trust = json.loads(path.read_text(encoding="utf-8"))
        soon = [{**row, "expires_ms": SystemClock().wall_ms() + 3 * day_ms} for row in trust["keys"]]
        write_json(path, {**trust, "keys": soon, "revision": 2})
        publication = prepare(read_source(path.parent), SCANNER)
        lifetimes = Lifetimes()
        tuf = TufRepository(folder(settings) / "repository", TufKeys(folder(settings) / "tuf-keys"), lifetimes)
        tuf.publish(publication.targets, SystemClock().wall_ms())
        row = rows(settings)["policy"]
        assert row.health is Health.WELL
        assert "publish a trust target with a new key beside it" in row.detail


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("model", "health", "said"),
    [
        (ENGLISH, Health.WELL, f"en: {located(PACKAGE)}"),
        (replace(ENGLISH, package="no_such_language_model"), Health.ILL, "is not installed: install it"),
        (replace(ENGLISH, sha256="0" * 64), Health.ILL, "not the one that policy pins"),
    ],
)
def test_a_language_model_that_policy_names_is_looked_for(
    settings: Settings, model: LanguageModel, health: Health, said: str
) -> None:
    path = folder(settings) / "source" / "scan.json"
    write_json(path, asking(json.loads(path.read_text(encoding="utf-8")), model))
    tuf = TufRepository(folder(settings) / "repository", TufKeys(folder(settings) / "tuf-keys"), Lifetimes())
    tuf.publish(prepare(read_source(path.parent), SCANNER).targets, SystemClock().wall_ms())
    row = rows(settings)["language models"]
    assert (row.health, said in row.detail) == (health, True), row.detail


@pytest.mark.usefixtures("cluster")
class TestKeys:
    """The keys that a process would be given."""

    def test_a_host_is_judged_by_the_keys_that_it_has(self, settings: Settings) -> None:
        for other in ("gate", "mac/intake", "mac/consistency", "mac/verdict"):
            shutil.rmtree(Path(settings.keys) / other)
        row = rows(settings)["keys"]
        assert (row.health, row.detail) == (Health.WELL, "1 scan")

    def test_a_host_whose_apps_sign_nothing_is_well(self, settings: Settings, tmp_path: Path) -> None:
        write_private_file(tmp_path / "keys" / "redis" / "ledger.password", b"d29yZA")
        row = rows(replace(settings, keys=str(tmp_path / "keys")))["keys"]
        assert (row.health, row.detail) == (Health.WELL, "none of an app that signs")

    @pytest.mark.parametrize("name", ["", "none", "empty"])
    def test_no_key_at_all_is_unknown_and_says_where_one_was_expected(
        self, settings: Settings, tmp_path: Path, name: str
    ) -> None:
        (tmp_path / "empty").mkdir()
        health, detail = ill(replace(settings, keys=name and str(tmp_path / name)))["keys"]
        assert (health, "PRATIQUE_KEYS" in detail) == (Health.UNKNOWN, True)

    def test_a_key_that_others_may_read_is_not_taken(self, settings: Settings) -> None:
        (key,) = (Path(settings.keys) / "gate").glob("*.pem")
        key.chmod(0o644)
        assert set(ill(settings)) == {"keys"}

    def test_keys_are_counted(self, settings: Settings) -> None:
        write_private_file(
            Path(settings.keys) / "mac" / "scan" / "mac-scan-2.key", b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
        )
        assert ", 2 scan" in rows(settings)["keys"].detail


class FakeRedis:
    """A Redis with a pointer, as its readers may ask it."""

    def __init__(self, policy: str = "noeviction", pointer: dict[str, str] | None = None) -> None:
        self.policy = policy
        self.pointer = pointer
        self.is_away = False

    def config_get(self, name: str) -> dict[str, str]:
        if self.is_away:
            raise RedisConnectionError("d29yZA")
        return {name: self.policy}

    def info(self) -> dict[str, str]:
        return {"maxmemory_policy": self.config_get("")[""]}

    def hgetall(self, _: str) -> dict[str, str]:
        return self.pointer or {}

    def close(self) -> None: ...


@pytest.mark.usefixtures("cluster")
class TestRedis:
    """Redis, as far as a host's own passwords let it be seen."""

    POINTER: ClassVar = {"namespace": "v7", "partition_count": "8", "generation": "2026-1"}

    def _row(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch, redis: FakeRedis, identity: str = "lookup"
    ) -> Examined:
        write_private_file(Path(settings.keys) / "redis" / f"{identity}.password", b"d29yZA")
        monkeypatch.setattr("streams.adapters.redis_connect.Redis.from_url", lambda *_, **__: redis)
        return rows(replace(settings, redis_url="redis://127.0.0.1:1/0"))["redis"]

    def test_none_is_well_and_says_what_is_not_there(self, settings: Settings) -> None:
        row = rows(settings)["redis"]
        assert (row.health, "PRATIQUE_REDIS_URL is not set" in row.detail) == (Health.WELL, True)

    @pytest.mark.parametrize("identity", ["lookup", "verify", "maintenance", "ledger"])
    def test_one_that_holds_the_view_is_well(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch, identity: str
    ) -> None:
        row = self._row(settings, monkeypatch, FakeRedis(pointer=self.POINTER), identity)
        assert (row.health, row.detail) == (Health.WELL, "noeviction; view v7, key generation 2026-1")

    def test_one_that_may_evict_is_ill(self, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        row = self._row(settings, monkeypatch, FakeRedis("allkeys-lru", self.POINTER))
        assert (row.health, "allkeys-lru" in row.detail) == (Health.ILL, True)

    def test_one_without_the_view_is_ill(self, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        row = self._row(settings, monkeypatch, FakeRedis())
        assert (row.health, "pratique ledger rebuild" in row.detail) == (Health.ILL, True)

    def test_one_that_is_away_is_unknown(self, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        redis = FakeRedis()
        redis.is_away = True
        row = self._row(settings, monkeypatch, redis)
        assert (row.health, "PRATIQUE_REDIS_URL" in row.detail) == (Health.UNKNOWN, True)
        assert "d29yZA" not in row.detail

    def test_no_password_is_unknown(self, settings: Settings) -> None:
        row = rows(replace(settings, redis_url="redis://127.0.0.1:1/0"))["redis"]
        assert (row.health, "password" in row.detail) == (Health.UNKNOWN, True)


def test_a_scanner_that_does_not_load_is_told(
    settings: Settings, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cluster.answers

    def broken() -> None:
        raise ConfigurationError("the injection model is not the one that its card describes")

    monkeypatch.setattr(health, "installed_scanner", broken)
    assert ill(settings) == {"scanner": (Health.UNKNOWN, "the injection model is not the one that its card describes")}


class TestCommand:
    """``pratique doctor``: what it exits with."""

    @pytest.mark.parametrize(
        ("healths", "code"),
        [
            ([Health.WELL, Health.WELL], 0),
            ([Health.WELL, Health.UNKNOWN], 3),
            ([Health.UNKNOWN, Health.ILL], 1),
        ],
    )
    def test_it_exits_by_the_worst_row(self, healths: list[Health], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
        found = [Examined(f"thing {number}", item, "detail") for number, item in enumerate(healths)]
        monkeypatch.setattr("topologies.cli.doctor.examine", lambda _: found)
        for arguments in ([], ["--json"]):
            said = CliRunner().invoke(doctor, arguments)
            assert said.exit_code == code, said.output
            assert "thing 1" in said.output

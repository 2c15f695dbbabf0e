"""The gate on a broker that somebody else runs: policy, topics, and each app as a real process that tests may harm.

The contract: ``start`` and ``restore`` return when every app holds its partitions. A process that was killed, stopped
or added by a test is put right by ``restore``, which every test begins with. Whoever waits calls ``tend`` meanwhile: it
does what the supervisor of a deployment does, which is to start an app again that ended without marking (status 70),
and it fails the test over an app that ended in any other way unasked.
"""

from __future__ import annotations

import json
import shutil
import signal
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from prometheus_client.parser import text_string_to_metric_families

from infra.stack.paths import ROOT
from infra.stack.policies import publish_variant
from infra.stack.processes import ManagedProcess
from infra.stack.stack import Stack
from pratique.client import Gate
from pratique.contract.signing import Ed25519Signer, MacSigner
from pratique.contract.trust import KeyRole, MacRole
from streams.adapters.kafka_admin import KafkaAdmin
from streams.adapters.key_files import KeyFiles
from tests.integration.raw import Ends, RawLog, until
from tests.integration.redis_container import RedisContainer, redis_image
from topologies.bootstrap.ledger_view import rebuild
from topologies.build import EXIT_UNMARKED
from topologies.settings import Settings

if TYPE_CHECKING:
    from types import TracebackType

    from topologies.apps import Topology
    from topologies.bootstrap.policy import Publication

GATE_APPS: Final = ("intake", "consistency", "scan", "verdict")
"""The apps that a request passes."""

ALL_APPS: Final = (*GATE_APPS, "ledger")
"""Those, and the one that keeps what recalls are held to."""

PARTITIONS: Final = 4
SESSION_MS: Final = 6_000
"""The apps' consumer session: how long a dead process keeps its partitions."""

SHORTEST_DEADLINE_MS: Final = 3 * SESSION_MS

PATIENT: Final = "default"
"""The policy of most tests: its deadline is longer than any harm done here, so that no fault becomes a time-out."""

PATIENT_DEADLINE_MS: Final = 120_000

TENANT: Final = "tenant-a"
OTHER_TENANT: Final = "tenant-b"

SETTINGS: Final = {
    "PRATIQUE_PARTITIONS": str(PARTITIONS),
    "PRATIQUE_SESSION_TIMEOUT_MS": str(SESSION_MS),
    "PRATIQUE_MIN_DEADLINE_MS": str(SHORTEST_DEADLINE_MS),
    "PRATIQUE_POLICY_REFRESH_MS": "1000",
    "PRATIQUE_QUOTA_PER_SECOND": "100000",
    "PRATIQUE_QUOTA_BURST": "100000",
    "PRATIQUE_LEDGER_STALENESS_MS": "60000",  # as for the deadline: no harm done here makes the view too old
}


class Platform:
    """The gate.

    Attributes:
        log: The broker, as a stranger sees it.
        redis: The server of the ledger's view.
        keys: Every key of the development set: what a thief might hold.
        restarts: How often ``tend`` started an app again, by process name.
    """

    def __init__(self, bootstrap: str, state: Path) -> None:
        self._state = state
        self._stack = Stack(state, environment={**SETTINGS, "PRATIQUE_BOOTSTRAP": bootstrap})
        self._app_of: dict[str, str] = {}
        self._excused: set[str] = set()
        self._gates = 0
        self.bootstrap = bootstrap
        self.restarts: dict[str, int] = {}
        self.log = RawLog(bootstrap)
        self.redis = RedisContainer(redis_image(), state / "redis", self._stack.policy / "keys")

    # -- up and down -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Make policy, topics and the ledger's view, start one process of each app."""
        source = self._state / "demo-policy"
        shutil.copytree(ROOT / "infra" / "policy" / "demo", source)
        _edit(source / "compaction.json", deadline_ms=PATIENT_DEADLINE_MS)
        deadline = ("--min-deadline-ms", str(SHORTEST_DEADLINE_MS))
        self.cli("policy", "init", str(self._stack.policy), "--source", str(source), *deadline)
        self.cli("topics", "apply")
        self.redis.start()
        self.environment["PRATIQUE_REDIS_URL"] = self.redis.url
        rebuild(self.settings, lambda _done, _count: None, grace_s=0)
        self.stack_file.write_text(json.dumps(self.facts), "utf-8")
        self.restore()

    def stop(self) -> None:
        """End everything."""
        self._stack.supervisor.stop_all()
        self.redis.stop()
        self.log.close()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def restore(self) -> None:
        """Bring about one running process of each app, named like it, and no other."""
        for name in list(self._app_of):
            if name not in ALL_APPS:
                self.discard(name)
        for app in ALL_APPS:
            process = self._stack.supervisor.processes.get(app)
            if process is not None and process.is_running:
                process.signal(signal.SIGCONT)
            else:
                self.launch(app)
        self.await_ready(*ALL_APPS)
        self.restarts.clear()

    # -- processes ---------------------------------------------------------------------------------------------------

    def launch(self, app: str, name: str | None = None, **settings: str) -> ManagedProcess:
        """Start a process of an app, which may have another name; it is not ready yet."""
        name = name or app
        self._app_of[name] = app
        self._excused.discard(name)
        return self._stack.start_app(app, name=name, environment=settings)

    def relaunch(self, app: str, **settings: str) -> None:
        """End the process of an app in order and start it with other settings; ``discard`` it in the end."""
        assert self.terminate(app) == 0
        self.launch(app, **settings)
        self.await_ready(app)

    def await_ready(self, *names: str) -> None:
        """Return when each of some processes holds its partitions."""
        self._stack.wait_until_ready(names, timeout_s=120.0)

    def process(self, name: str) -> ManagedProcess:
        """Return a process."""
        return self._stack.supervisor.processes[name]

    def kill(self, name: str) -> None:
        """End a process at once, as a fault would (SIGKILL)."""
        self._excused.add(name)
        assert self.process(name).kill() == -signal.SIGKILL

    def freeze(self, name: str) -> None:
        """Stop a process where it stands (SIGSTOP)."""
        self.process(name).signal(signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Let a frozen process go on."""
        self.process(name).signal(signal.SIGCONT)

    def terminate(self, name: str, *, timeout_s: float = 60.0) -> int:
        """Ask a process to end (SIGTERM); return its exit status."""
        self._excused.add(name)
        process = self.process(name)
        process.signal(signal.SIGTERM)
        return int(process.process.wait(timeout_s))

    def discard(self, name: str) -> None:
        """End a process, frozen or not, and forget it."""
        self._excused.add(name)
        del self._app_of[name]
        self._stack.supervisor.processes.pop(name).stop()

    def tend(self) -> None:
        """Start what ended without marking; fail over what ended in another way unasked."""
        for process in self._stack.supervisor.ended():
            if process.name in self._excused or process.name not in self._app_of:
                continue
            status = process.process.wait()
            assert status == EXIT_UNMARKED, f"{process.name} ended with {status}:\n{process.log_tail(40)}"
            self.restarts[process.name] = self.restarts.get(process.name, 0) + 1
            self.launch(self._app_of[process.name], process.name)

    def metrics_at(self, name: str) -> str:
        """Return where a process serves its metrics."""
        return self._stack.metrics[name]

    def metric(self, name: str, metric: str, **labels: str) -> float:
        """Return a metric of a process, summed over the series with these labels; 0 where there is none yet."""
        with urllib.request.urlopen(self.metrics_at(name), timeout=30) as answer:  # noqa: S310 - our own, on loopback
            text = answer.read().decode("utf-8")
        return sum(
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == f"pratique_{metric}" and labels.items() <= sample.labels.items()
        )

    def committed(self, topology: Topology) -> Ends:
        """Return the offsets that an app's group has committed, by topic and partition."""
        admin = KafkaAdmin({"bootstrap.servers": self.bootstrap})
        return {
            (topic.name, partition): offset
            for topic in topology.sources
            for partition, offset in admin.committed(topology.group, topic.name, PARTITIONS).items()
        }

    def logs(self, lines: int = 25) -> str:
        """Return the end of each process's log."""
        processes = self._stack.supervisor.processes.values()
        return "\n".join(f"--- {process.name}\n{process.log_tail(lines)}" for process in processes)

    # -- policy and clients ------------------------------------------------------------------------------------------

    @property
    def keys(self) -> KeyFiles:
        """Every key of the development set."""
        return KeyFiles(self._stack.policy / "keys", {})

    def mac(self, role: MacRole) -> MacSigner:
        """Return the MAC key of an app role."""
        (signer,) = self.keys.mac_signers(role)
        return signer

    def key(self, role: KeyRole, tenant_id: str | None = None) -> Ed25519Signer:
        """Return the Ed25519 key of a role."""
        (signer,) = self.keys.signers(role, tenant_id)
        return signer

    def files(self) -> list[Path]:
        """Return every file that the apps, the console and Redis keep; the broker's are elsewhere."""
        return sorted(path for path in self._state.rglob("*") if path.is_file() and not path.is_symlink())

    @property
    def policy(self) -> Path:
        """The development set's folder."""
        return self._stack.policy

    def publish(self, policy_id: str, **changes: Any) -> Publication:  # noqa: ANN401 - fields of a policy
        """Publish a policy: the default one with fields of its compaction policy changed. Every app knows it then.

        ``recall`` are fields of its recall policy, ``scan`` of its scan policy.
        """
        published = publish_variant(self.policy, policy_id, min_deadline_ms=SHORTEST_DEADLINE_MS, **changes)
        self.await_policy()
        return published

    def await_policy(self) -> None:
        """Return when every running app goes by the newest version of the repository."""
        newest = max(
            int(file.name.removesuffix(".targets.json"))
            for file in self.policy.glob("repository/metadata/*.targets.json")
        )
        for name in self._app_of:
            if self.process(name).is_running:
                until(
                    lambda name=name: self.metric(name, "policy_version") >= newest,  # type: ignore[misc]
                    f"{name} goes by policy version {newest}",
                )

    def gate(self, tenant_id: str = TENANT, *, policy_id: str = PATIENT) -> Gate:
        """Return a new client; whoever asked closes it."""
        self._gates += 1
        facts = self._state / "clients" / f"{self._gates}.json"
        facts.parent.mkdir(exist_ok=True)
        stated = {**self.facts, "policy_state": str(self._state / "clients" / str(self._gates))}
        facts.write_text(json.dumps(stated), "utf-8")
        return Gate.from_stack(facts, tenant_id=tenant_id, policy_id=policy_id)

    @property
    def stack_file(self) -> Path:
        """The file that tells clients where everything is."""
        return self._state / "stack.json"

    @property
    def facts(self) -> dict[str, object]:
        """What ``stack.json`` says."""
        return {**self._stack.facts(), "bootstrap": self.bootstrap, "redis_url": self.redis.url}

    @property
    def environment(self) -> dict[str, str]:
        """What a command of this platform finds in its environment."""
        return self._stack.supervisor.environment

    @property
    def settings(self) -> Settings:
        """The same, read."""
        return Settings.read(self.environment)

    def cli(self, *arguments: str, given: str = "", status: int = 0) -> str:
        """Run a command and return what it printed; it must exit with that status."""
        return self._stack.run_cli(*arguments, given=given, status=status)


def _edit(path: Path, **changes: Any) -> None:  # noqa: ANN401 - JSON
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")

"""What is missing on a machine is installed where that may be done; otherwise one line says what to install.

No test installs anything: every program that is looked for is a script made here, and PATH holds nothing else.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

import pytest

from infra.stack import requirements
from infra.stack.paths import ROOT
from pratique.errors import ConfigurationError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

ENSURE: Final[dict[str, tuple[Callable[[], None], str, str]]] = {
    "Java": (requirements.ensure_java, "java", "default-jre-headless"),
    "Maven": (requirements.ensure_maven, "mvn", "maven"),
    "Redis": (requirements.ensure_redis, "redis-server", "redis-server"),
    "SoftHSM": (requirements.ensure_softhsm, "softhsm2-util", "softhsm2"),
}
"""How each is asked for, its program, and its Debian package."""

IS_DEBIAN: Final = Path("/etc/debian_version").exists()


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine's programs.

    Attributes:
        path: The one folder on PATH.
        store: What ``apt-get`` can install: it moves all of it to ``path``.
    """

    path: Path
    store: Path

    @property
    def installs(self) -> list[str]:
        """What ``apt-get`` was told, a line a call."""
        log = self.path / "apt-get.log"
        return log.read_text().splitlines() if log.exists() else []

    def has(self, name: str, body: str = "exit 0", *, installed: bool = True) -> None:
        """Add a program; one that is not installed is what ``apt-get`` would bring."""
        script = (self.path if installed else self.store) / name
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)

    def has_java(self, version: str, *, installed: bool = True) -> None:
        """Add a ``java`` that says which it is."""
        self.has("java", f"echo 'openjdk version \"{version}\" 2026-01-01' >&2", installed=installed)

    def has_apt(self) -> None:
        """Add an ``apt-get`` that installs from the store."""
        move = f"/bin/mv {self.store}/* {self.path}/ || exit 100" if any(self.store.iterdir()) else "exit 100"
        self.has("apt-get", f'echo "$*" >>{self.path}/apt-get.log\ncase "$*" in *install*) {move} ;; esac')


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with no programs at all."""
    made = Machine(tmp_path / "bin", tmp_path / "store")
    made.path.mkdir()
    made.store.mkdir()
    monkeypatch.setenv("PATH", str(made.path))
    return made


def as_user(monkeypatch: pytest.MonkeyPatch, *, uid: int, debian: bool = True) -> None:
    monkeypatch.setattr("os.geteuid", lambda: uid)
    monkeypatch.setattr(requirements, "Path", lambda _: SimpleNamespace(exists=lambda: debian))


@pytest.mark.parametrize("what", ENSURE)
@pytest.mark.parametrize(("uid", "debian", "apt"), [(1000, True, True), (0, False, True), (0, True, False)])
def test_what_may_not_be_installed_is_named_in_one_line(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, what: str, uid: int, *, debian: bool, apt: bool
) -> None:
    ensure, _, package = ENSURE[what]
    as_user(monkeypatch, uid=uid, debian=debian)
    if apt:
        machine.has_apt()
    with pytest.raises(ConfigurationError) as raised:
        ensure()
    assert str(raised.value).startswith(what)
    assert f"apt-get install {package}" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not machine.installs


@pytest.mark.parametrize("what", ENSURE)
def test_root_on_debian_installs_what_is_missing(machine: Machine, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    ensure, program, package = ENSURE[what]
    as_user(monkeypatch, uid=0)
    if program == "java":
        machine.has_java("17.0.2", installed=False)
    else:
        machine.has(program, installed=False)
    machine.has_apt()
    ensure()
    assert shutil.which(program) is not None
    update, install = machine.installs
    assert update.startswith("update")
    assert install.split()[-1] == package
    ensure()
    assert len(machine.installs) == 2, "what is there is not installed again"


@pytest.mark.parametrize("what", ENSURE)
def test_an_installation_that_fails_says_so(machine: Machine, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    as_user(monkeypatch, uid=0)
    machine.has_apt()
    with pytest.raises(UnavailableError, match="could not be installed"):
        ENSURE[what][0]()


@pytest.mark.parametrize(("version", "major"), [("17.0.2", 17), ("21", 21), ("1.8.0_402", 1), ("11.0.2", 11)])
def test_java_says_which_it_is(machine: Machine, version: str, major: int) -> None:
    machine.has_java(version)
    assert requirements.java_version() == major


def test_an_older_java_that_stays_first_on_the_path_is_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    as_user(monkeypatch, uid=0)
    machine.has_java("11.0.2")
    machine.has("jre-elsewhere", installed=False)
    machine.has_apt()
    with pytest.raises(ConfigurationError, match="older than 17"):
        requirements.ensure_java()


# -- the scripts: Python, and the tests' Docker engine ----------------------------------------------------------------


def run(machine: Machine, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of a script and of those beside it, so that nothing it writes is written here."""
    copy = machine.path.parent / "checkout" / script
    copy.parent.mkdir(parents=True, exist_ok=True)
    for found in (ROOT / script).parent.glob("*.sh"):
        shutil.copy(found, copy.parent)
    bash = shutil.which("bash", path="/bin:/usr/bin")
    assert bash is not None
    return subprocess.run(
        [bash, str(copy), *arguments], check=False, capture_output=True, text=True, env={"PATH": str(machine.path)}
    )


def with_tools(machine: Machine, uid: int, *names: str) -> None:
    """Add the plain tools that a script uses, and who runs it."""
    for name in ("dirname", *names):
        found = shutil.which(name, path="/bin:/usr/bin")
        assert found is not None
        (machine.path / name).symlink_to(found)
    machine.has("id", f"echo {uid}")


ENGINE: Final = "infra/images/ensure-docker.sh"


def test_without_a_docker_engine_one_line_says_what_to_install(machine: Machine) -> None:
    with_tools(machine, 1000, "timeout")
    machine.has_apt()
    done = run(machine, ENGINE)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "apt-get install docker.io" in line
    assert not machine.installs


def test_an_engine_that_only_root_may_start_is_named_in_one_line(machine: Machine) -> None:
    with_tools(machine, 1000, "timeout")
    machine.has("docker", "exit 1")
    for name in ("dockerd", "iptables", "mmdebstrap"):
        machine.has(name)
    done = run(machine, ENGINE)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "systemctl start docker" in line


def test_an_engine_that_answers_is_used_as_it_is(machine: Machine) -> None:
    with_tools(machine, 1000, "timeout")
    machine.has("docker")
    done = run(machine, ENGINE)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not IS_DEBIAN, reason="the script asks /etc/debian_version, which is not there")
def test_root_on_debian_installs_the_docker_engine(machine: Machine) -> None:
    with_tools(machine, 0, "timeout", "tail")
    for name in ("docker", "iptables", "mmdebstrap"):
        machine.has(name, "echo 99", installed=False)
    machine.has("apt-cache", "exit 1")
    machine.has_apt()
    done = run(machine, ENGINE)
    assert done.returncode == 0, done.stderr
    assert machine.installs[-1].split()[-3:] == ["docker.io", "iptables", "mmdebstrap"]
    assert "Docker engine 99 answers" in done.stderr


def test_without_a_docker_engine_there_is_no_image_and_one_line_says_so(machine: Machine) -> None:
    with_tools(machine, 1000, "timeout")
    for script in ("infra/images/build-kafka-image.sh", "infra/images/build-redis-image.sh"):
        done = run(machine, script)
        assert (done.returncode, done.stdout) == (3, "")
        (line,) = done.stderr.splitlines()
        assert ENGINE in line


@pytest.mark.parametrize(
    ("script", "official"),
    [
        ("infra/images/build-kafka-image.sh", "apache/kafka:4.4.0"),
        ("infra/images/build-redis-image.sh", "redis:7.4"),
    ],
)
def test_the_official_image_is_used_where_it_is_present(machine: Machine, script: str, official: str) -> None:
    with_tools(machine, 1000, "timeout")
    machine.has("docker", f'case "$*" in info|"image inspect {official}") exit 0 ;; *) exit 1 ;; esac')
    done = run(machine, script)
    assert (done.returncode, done.stdout) == (0, f"{official}\n")


def test_without_python_one_line_says_what_to_install(machine: Machine) -> None:
    with_tools(machine, 1000)
    machine.has("python3", "exit 1")  # an older one: it says no
    done = run(machine, "infra/venv.sh")
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "Python 3.11" in line
    assert "apt-get install python3" in line


def test_python_without_its_venv_module_is_named_in_one_line(machine: Machine) -> None:
    with_tools(machine, 1000)
    machine.has("python3", 'case "$2" in *ensurepip*) exit 1 ;; *) exit 0 ;; esac')
    done = run(machine, "infra/venv.sh")
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "apt-get install python3-venv" in line

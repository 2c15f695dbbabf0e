"""The two distributions, as built: what is in them, and that the client works where there is no checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pratique.contract.avro import RECORD_CLASSES, fingerprints

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = ROOT / "schemas" / "avro"


def build(project: Path, directory: Path) -> Path:
    """Build a project's wheel, without isolation and so without a network."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = directory.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def client_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT / "sdk", tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="module")
def service_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("service"))


@pytest.fixture(scope="module")
def installed(client_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    where = ("--python", sys.executable, "--target", str(target), str(client_wheel))
    done = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-index", "--no-deps", *where],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def run(installed: Path, code: str) -> str:
    """Run code with the installed client before the checkout's on the path, isolated from the environment."""
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", f"import sys; sys.path.insert(0, {str(installed)!r}); {code}"],
        cwd=installed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def packages(wheel: Path) -> set[str]:
    return {name.split("/")[0] for name in names(wheel) if ".dist-info/" not in name}


def test_client_ships_itself_and_the_schemas_and_nothing_else(client_wheel: Path) -> None:
    assert packages(client_wheel) == {"pratique"}
    shipped = names(client_wheel)
    assert {f"pratique/schemas/{item.__name__}.avsc" for item in RECORD_CLASSES} <= shipped
    assert {"pratique/py.typed", "pratique/client.py", "pratique/policy/client.py"} <= shipped
    assert {name for name in shipped if name.startswith("pratique/")} == {
        f"pratique/{path.relative_to(ROOT / 'sdk' / 'pratique')}"
        for path in (ROOT / "sdk" / "pratique").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    } | {f"pratique/schemas/{path.relative_to(SCHEMAS).as_posix()}" for path in SCHEMAS.rglob("*.avsc")}


def test_service_ships_streams_topologies_and_the_schemas(service_wheel: Path) -> None:
    assert packages(service_wheel) == {"streams", "topologies", "schemas"}
    shipped = names(service_wheel)
    assert {f"schemas/avro/{item.__name__}.avsc" for item in RECORD_CLASSES} <= shipped
    assert {"streams/py.typed", "topologies/py.typed", "topologies/__main__.py"} <= shipped
    assert {f"streams/adapters/injection/artifact/{name}" for name in ("card.json", "weights.bin")} <= shipped
    with zipfile.ZipFile(service_wheel) as archive:
        (entry_points,) = [name for name in shipped if name.endswith("entry_points.txt")]
        assert "pratique = topologies.__main__:main" in archive.read(entry_points).decode()
        (metadata,) = [name for name in shipped if name.endswith(".dist-info/METADATA")]
        assert "Classifier: Private :: Do Not Upload" in archive.read(metadata).decode()


def test_installed_client_finds_its_schemas_without_the_checkout(installed: Path) -> None:
    code = "from pratique.contract.avro import schema_directory; print(schema_directory())"
    assert run(installed, code) == str(installed / "pratique" / "schemas")
    code = "from pratique.contract.avro import fingerprints; print(fingerprints())"
    assert run(installed, code) == str(fingerprints())


def test_importing_the_client_is_light_and_its_names_come_when_asked_for(installed: Path) -> None:
    heavy = "{'confluent_kafka', 'tuf', 'fastavro', 'cryptography', 'asyncio'} & set(sys.modules)"
    assert run(installed, f"import pratique; print({heavy})") == "set()"
    assert run(installed, "from pratique import Gate; print(Gate.__module__)") == "pratique.client"
    assert run(installed, f"import pratique.client; print('confluent_kafka' in {heavy})") == "False"
    code = "import pratique; print(all(getattr(pratique, name) is not None for name in pratique.__all__))"
    assert run(installed, code) == "True"


def test_unknown_name_is_an_attribute_error(installed: Path) -> None:
    assert run(installed, "import pratique; print(hasattr(pratique, 'unknown'))") == "False"


def test_installed_client_never_loads_the_service(installed: Path) -> None:
    code = (
        "import pkgutil, importlib, pratique; "
        "[importlib.import_module(m.name) for m in pkgutil.walk_packages(pratique.__path__, 'pratique.')]; "
        "print({'streams', 'topologies', 'faust', 'pydantic', 'presidio_analyzer'} & set(sys.modules))"
    )
    assert run(installed, code) == "set()"

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.fakes.policy import DEMO_SOURCE
from topologies.cli.policy import policy

SCANNER = ["--scanner-version", "fake/1", "--scanner-sha256", "5" * 64]
ROLES = ["root", "targets", "snapshot", "timestamp", "safety-invariants", "scan-policy", "recall-policy", "tenant-acme"]


def answer(*arguments: str | Path, code: int = 0) -> Any:  # noqa: ANN401 - parsed JSON
    result = CliRunner().invoke(policy, [*map(str, arguments), "--json"])
    assert result.exit_code == code, result.output
    return json.loads(result.output)


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("policy") / "set"
    answer("init", directory, "--source", DEMO_SOURCE, "--tenant", "acme", *SCANNER)
    return directory


@pytest.fixture
def made(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "set"))


def test_every_role_gets_new_keys_and_readers_follow(made: Path) -> None:
    done = answer("rotate", *ROLES, "--directory", made)
    assert [row["role"] for row in done] == ROLES
    for row in done:
        assert len(row["added"]) == len(row["revoked"]) == len(row["put_aside"]) == 1
        assert not set(row["added"]) & set(row["revoked"])
        assert len(list((made / "tuf-keys" / row["role"]).glob("*.pem"))) == 1
    shutil.rmtree(made / "tuf-keys" / "root" / "replaced")
    assert answer("verify", "--directory", made)["version"] == done[-1]["version"]
    assert answer("publish", "--directory", made, *SCANNER)["version"] >= done[-1]["version"]
    assert answer("verify", "--directory", made)["verified"] is True


def test_a_put_aside_key_signs_nothing_when_it_is_put_back(made: Path) -> None:
    (row,) = answer("rotate", "timestamp", "--directory", made)
    folder = made / "tuf-keys" / "timestamp"
    for path in folder.glob("*.pem"):
        path.unlink()
    Path(row["put_aside"][0]).rename(folder / "old.pem")
    assert "role timestamp needs 1" in answer("publish", "--directory", made, "--renew-only", code=2)["error"]


@pytest.mark.parametrize(
    ("role", "missing"),
    [
        ("timestamp", "root"),
        ("timestamp", "snapshot"),
        ("snapshot", "timestamp"),
        ("root", "root"),
        ("targets", "root"),
        ("scan-policy", "targets"),
        ("tenant-acme", "timestamp"),
    ],
)
def test_without_a_key_that_has_to_sign_nothing_is_written(made: Path, role: str, missing: str) -> None:
    shutil.rmtree(made / "tuf-keys" / missing)
    before = {path: path.read_bytes() for path in made.rglob("*.*") if path.is_file()}
    assert f"role {missing} needs 1" in answer("rotate", role, "--directory", made, code=2)["error"]
    assert {path: path.read_bytes() for path in made.rglob("*.*") if path.is_file()} == before
    assert answer("verify", "--directory", made)["verified"] is True


def test_a_role_that_there_is_not_is_named(made: Path) -> None:
    assert "no role tenant-nobody" in answer("rotate", "tenant-nobody", "--directory", made, code=2)["error"]


class TestSigner:
    """The key that a tenant signs commitments with: in the source, then published."""

    @staticmethod
    def sign(made: Path, code: int = 0) -> Any:  # noqa: ANN401 - parsed JSON
        (source, *_) = (made / "source" / "commitments").glob("*.json")
        chosen = ("--tenant", "acme", "--task", "task-1", "--commitments", source)
        return answer("sign-commitments", "--directory", made, *chosen, "--output", made / "envelope", code=code)

    def test_a_new_key_is_written_named_and_published(self, made: Path) -> None:
        (old,) = (made / "keys" / "commitment_signer" / "acme").glob("*.pem")
        before = json.loads((made / "source" / "trust.json").read_text("utf-8"))
        done = answer("rotate-signer", "acme", "--directory", made, "--begins-in", "0")
        assert done["replaced"] == [old.stem]
        assert Path(done["key"]).stem == done["added"] != old.stem
        assert Path(done["key"]).stat().st_mode & 0o077 == 0
        assert done["replaced_end_at_ms"] - done["begins_at_ms"] == 86_400_000
        after = json.loads((made / "source" / "trust.json").read_text("utf-8"))
        assert (after["revision"], done["trust_revision"]) == (before["revision"] + 1,) * 2
        answer("publish", "--directory", made, *SCANNER)
        assert answer("verify", "--directory", made)["trust_revision"] == after["revision"]
        self.sign(made)
        assert json.loads((made / "envelope").read_bytes())["signatures"][0]["keyid"] == done["added"]

    def test_a_stolen_key_signs_nothing_once_it_is_published(self, made: Path) -> None:
        (old,) = (made / "keys" / "commitment_signer" / "acme").glob("*.pem")
        done = answer("rotate-signer", "acme", "--directory", made, "--revoke")
        assert (done["replaced"], done["replaced_end_at_ms"]) == ([old.stem], None)
        answer("publish", "--directory", made, *SCANNER)
        Path(done["key"]).unlink()
        assert "commitment_signer" in self.sign(made, code=1)["error"]

    @pytest.mark.parametrize("same_revision", [False, True])
    def test_an_older_source_brings_no_revoked_key_back(self, made: Path, *, same_revision: bool) -> None:
        file = made / "source" / "trust.json"
        older = json.loads(file.read_text("utf-8"))
        answer("rotate-signer", "acme", "--directory", made, "--revoke")
        answer("publish", "--directory", made, *SCANNER)
        newest = json.loads(file.read_text("utf-8"))
        file.write_text(json.dumps({**older, "revision": newest["revision"]} if same_revision else older))
        before = {path: path.read_bytes() for path in made.rglob("*.*") if path.is_file()}
        for more in ((), ("--add-tenant", "other")):
            said = answer("publish", "--directory", made, *SCANNER, *more, code=1)
            assert said["kind"] == "PolicyError"
            assert "trust target: field revision is" in said["error"]
            assert {path: path.read_bytes() for path in made.rglob("*.*") if path.is_file()} == before
        file.write_text(json.dumps({**older, "revision": newest["revision"] + 1}))
        assert answer("publish", "--directory", made, *SCANNER)["added"] == ["trust.json"]

    def test_a_tenant_without_a_signer_is_named_and_no_key_is_made(self, made: Path) -> None:
        said = answer("rotate-signer", "nobody", "--directory", made, code=2)["error"]
        assert "tenant nobody has no commitment signer" in said
        assert not (made / "keys" / "commitment_signer" / "nobody").exists()

    def test_it_tells_people_what_comes_next(self, made: Path) -> None:
        said = CliRunner().invoke(policy, ["rotate-signer", "acme", "--directory", str(made)]).output
        assert "Next: `pratique policy publish`" in said

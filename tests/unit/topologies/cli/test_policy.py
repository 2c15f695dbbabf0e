from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pratique.contract.trust import KeyRole
from streams.domain.policy.commitments import verify_commitments
from tests.fakes.policy import DEMO_SOURCE
from topologies.bootstrap import policy as wiring
from topologies.cli.policy import policy

SCANNER = ["--scanner-version", "fake/1", "--scanner-sha256", "5" * 64]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(policy, [str(argument) for argument in arguments])


def answer(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == code, result.output
    value = json.loads(result.output)
    assert isinstance(value, dict)
    return value


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("policy") / "set"
    assert run("init", directory, "--source", DEMO_SOURCE, *SCANNER).exit_code == 0
    return directory


@pytest.fixture
def made(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "set"))


def test_init_says_where_everything_is(tmp_path: Path) -> None:
    said = answer("init", tmp_path / "set", "--source", DEMO_SOURCE, "--tenant", "acme", *SCANNER)
    for name in ("repository", "root", "source", "keys", "tuf_keys"):
        assert Path(said[name]).exists()
    assert (tmp_path / "set" / "keys" / "publisher" / "acme").is_dir()


def test_init_twice_is_refused(made: Path) -> None:
    result = run("init", made, "--source", DEMO_SOURCE, *SCANNER)
    assert result.exit_code == 2
    assert "not empty" in result.stderr
    assert "Next:" in result.stderr


def test_init_puts_another_languages_grammar_into_the_source(tmp_path: Path) -> None:
    grammar = DEMO_SOURCE.parent / "grammars" / "ja.json"
    said = answer("init", tmp_path / "set", "--source", DEMO_SOURCE, "--grammar", grammar, *SCANNER)
    assert json.loads(Path(said["source"], "grammar.json").read_bytes()) == json.loads(grammar.read_bytes())
    assert answer("verify", "--directory", tmp_path / "set")["verified"] is True
    broken = tmp_path / "broken.json"
    broken.write_text("{}", encoding="utf-8")
    answer("init", tmp_path / "other", "--source", DEMO_SOURCE, "--grammar", broken, *SCANNER, code=1)
    assert not (tmp_path / "other").exists()


def test_init_with_a_source_that_is_wrong_leaves_nothing(tmp_path: Path) -> None:
    source = Path(shutil.copytree(DEMO_SOURCE, tmp_path / "source"))
    (source / "recall.json").write_text("{}")
    said = answer("init", tmp_path / "set", "--source", source, *SCANNER, code=1)
    assert "recall policy" in said["error"]
    assert not (tmp_path / "set").exists()


def test_verify_says_what_was_verified(made: Path) -> None:
    said = answer("verify", "--directory", made)
    assert said["verified"] is True
    assert set(said["policies"]) == {"default"}
    assert {row["tenant_id"] for row in said["pinned"]} == {"tenant-a", "tenant-b"}
    text = run("verify", "--directory", made)
    assert text.exit_code == 0
    assert text.output.startswith("Verified: version 2")
    assert (said["warnings"], "Warning" in text.output) == ([], False)
    assert said["expiries"][0]["what"] == "role timestamp"


def test_verify_warns_of_what_ends_soon(made: Path) -> None:
    file = made / "source" / "trust.json"
    trust = json.loads(file.read_text())
    mac_key = next(key for key in trust["mac_keys"] if key["role"] == "scan")
    mac_key["expires_ms"] = mac_key["not_before_ms"] + 24 * 60 * 60 * 1000
    file.write_text(json.dumps({**trust, "revision": 2}))
    answer("publish", "--directory", made, *SCANNER)
    (line,) = answer("verify", "--directory", made)["warnings"]
    assert line.startswith("MAC keys of scan end in ")
    assert f"Warning: {line}." in run("verify", "--directory", made).output


def test_publish_and_verify_follow_an_edit(made: Path) -> None:
    before = answer("verify", "--directory", made)
    file = made / "source" / "compaction.json"
    file.write_text(file.read_text().replace('"summary_min_length": 40', '"summary_min_length": 41'))
    published = answer("publish", "--directory", made, *SCANNER)
    after = answer("verify", "--directory", made)
    assert published["version"] == after["version"] == before["version"] + 1
    assert after["policies"]["default"] == published["policy_set_sha256"] != before["policies"]["default"]
    assert before["policies"]["default"] in after["sets"]


def test_renewing_publishes_nothing(made: Path) -> None:
    said = answer("publish", "--directory", made, "--renew-only")
    assert (said["added"], said["policy_set_sha256"]) == ([], None)


def test_a_tenant_without_a_role_is_named_with_the_way_out(made: Path) -> None:
    commitments = made / "source" / "commitments"
    shutil.copy(commitments / "tenant-a.json", commitments / "acme.json")
    said = answer("publish", "--directory", made, *SCANNER, code=2)
    assert "--add-tenant acme" in said["error"]
    assert answer("publish", "--directory", made, *SCANNER, "--add-tenant", "acme")["added"]


def test_a_changed_target_is_a_no(made: Path) -> None:
    file = next((made / "repository" / "targets" / "scan").iterdir())
    file.write_bytes(file.read_bytes().replace(b"10000", b"10001"))
    result = run("verify", "--directory", made)
    assert result.exit_code == 1
    assert "differs from its metadata" in result.stderr
    assert answer("publish", "--directory", made, *SCANNER)["added"] == []
    assert run("verify", "--directory", made).exit_code == 0


def test_a_source_that_is_wrong_is_a_no(made: Path) -> None:
    (made / "source" / "scan.json").write_text('{"timeout_ms": 1, "timeout_ms": 2}')
    said = answer("publish", "--directory", made, *SCANNER, code=1)
    assert said["kind"] == "PolicyError"
    assert "scan.json" in said["error"]


def test_a_grammar_that_no_worker_could_compile_is_not_published(made: Path) -> None:
    file = made / "source" / "grammar.json"
    grammar = json.loads(file.read_text())
    grammar["clauses"].append(dict(grammar["clauses"][0]))
    file.write_text(json.dumps(grammar))
    said = answer("publish", "--directory", made, *SCANNER, code=1)
    assert said["kind"] == "PolicyError"
    assert answer("verify", "--directory", made)["policies"]


def test_a_repository_that_is_away_is_an_unknown(made: Path) -> None:
    shutil.rmtree(made / "repository")
    assert answer("verify", "--directory", made, code=3)["kind"] == "PolicyNotLoadedError"


def test_half_a_scanner_is_wrong_usage(made: Path) -> None:
    assert run("publish", "--directory", made, "--scanner-version", "x").exit_code == 2


def test_a_missing_root_is_wrong_usage(made: Path) -> None:
    (made / "root.json").unlink()
    assert answer("verify", "--directory", made, code=2)["kind"] == "ConfigurationError"


class TestSignCommitments:
    def test_the_envelope_verifies_for_its_task(self, made: Path, tmp_path: Path) -> None:
        source = made / "source" / "commitments" / "tenant-a.json"
        result = run(
            "sign-commitments", "--directory", made, "--tenant", "tenant-a", "--task", "t1", "--commitments", source
        )
        assert result.exit_code == 0
        store = wiring.policy_store(
            str(made / "repository"), made / "root.json", tmp_path / "state", refresh_ms=1_000, min_deadline_ms=1
        )
        envelope = json.loads(result.output)
        period = json.loads(base64.b64decode(envelope["payload"]))
        snapshot = verify_commitments(
            result.output.strip().encode(),
            store.trust(),
            tenant_id="tenant-a",
            task_id="t1",
            policy_sha256=store.newest("default").compaction.policy_sha256,
            now_ms=period["not_before"],
        )
        assert snapshot == store.pin("tenant-a", "default").standing_for("tenant-a")
        assert period["expires_at"] - period["not_before"] == 3_600_000

    def test_a_file_for_the_envelope(self, made: Path, tmp_path: Path) -> None:
        source = made / "source" / "commitments" / "tenant-a.json"
        arguments = ("--directory", made, "--tenant", "tenant-a", "--task", "t1", "--commitments", source)
        said = answer("sign-commitments", *arguments, "--output", tmp_path / "envelope.json")
        assert json.loads(Path(said["output"]).read_bytes())["signatures"]

    def test_a_tenant_without_a_key_is_named(self, made: Path) -> None:
        source = made / "source" / "commitments" / "tenant-a.json"
        arguments = ("--directory", made, "--tenant", "acme", "--task", "t1", "--commitments", source)
        assert KeyRole.COMMITMENT_SIGNER.value in answer("sign-commitments", *arguments, code=2)["error"]

    def test_a_key_that_trust_does_not_name_signs_nothing(self, made: Path) -> None:
        keys = made / "keys" / "commitment_signer"
        shutil.copytree(keys / "tenant-b", keys / "acme")
        source = made / "source" / "commitments" / "tenant-a.json"
        arguments = ("--directory", made, "--tenant", "acme", "--task", "t1", "--commitments", source)
        assert answer("sign-commitments", *arguments, code=1)["kind"] == "SignerNotAuthorisedError"

    def test_an_unknown_policy_is_a_no(self, made: Path) -> None:
        source = made / "source" / "commitments" / "tenant-a.json"
        arguments = ("--directory", made, "--tenant", "tenant-a", "--task", "t1", "--commitments", source)
        assert answer("sign-commitments", *arguments, "--policy-id", "other", code=1)["kind"] == "PolicyError"

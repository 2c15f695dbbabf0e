"""``pratique policy lint`` and ``test``: tables, JSON and exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.fakes.language_model import PACKAGE, SHA256
from tests.fakes.policy import DEMO_SOURCE
from topologies.cli.policy import policy

EXAMPLES = DEMO_SOURCE.parent / "examples" / "demo.json"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(policy, [str(argument) for argument in arguments])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DEMO_SOURCE, tmp_path / "source"))


class TestLint:
    def test_warnings_are_no_failure_unless_asked(self, source: Path) -> None:
        result = run("lint", source)
        assert (result.exit_code, "WARNING span-ambiguous" in result.output) == (0, True)
        assert run("lint", source, "--strict").exit_code == 1

    def test_an_error_is_a_failure_and_json_counts_it(self, source: Path) -> None:
        (source / "grammar.json").write_text("{}")
        result = run("lint", source, "--json")
        assert (result.exit_code, json.loads(result.output)["errors"]) == (1, 1)
        assert run("lint", source / "grammar.json").exit_code == 1

    def test_what_a_policy_says_writes_nothing_but_letters(self, source: Path) -> None:
        file = source / "grammar.json"
        document = json.loads(file.read_text())
        document["predicates"].append("deny(\x1b[2J)")
        file.write_text(json.dumps(document))
        for arguments in (["lint", source], ["test", EXAMPLES, "--source", source]):
            result = CliRunner().invoke(policy, [*map(str, arguments)], color=True)
            assert result.exit_code == 1
            assert "\\x1b[2J" in result.output
            assert "\x1b[2J" not in result.output

    def test_nothing_found_is_said(self, source: Path) -> None:
        file = source / "grammar.json"
        document = json.loads(file.read_text())
        document["clauses"] = [item for item in document["clauses"] if item["rule_id"].startswith("keep.")]
        file.write_text(json.dumps(document))
        result = run("lint", file)
        assert (result.exit_code, result.output) == (0, "Nothing found.\n")

    def test_what_is_not_there_is_wrong_usage(self, tmp_path: Path) -> None:
        assert run("lint", tmp_path / "none").exit_code == 2
        assert run("lint", tmp_path).exit_code == 2

    def test_the_deadline_is_measured_by_what_is_run(self, source: Path) -> None:
        assert run("lint", source, "--min-deadline-ms", "30001").exit_code == 1


class TestTest:
    def test_examples_that_hold(self, source: Path) -> None:
        result = run("test", EXAMPLES, "--source", source)
        assert result.exit_code == 0, result.output
        assert "4 examples, 0 not as expected" in result.output

    def test_one_that_does_not_hold_is_a_failure(self, source: Path, tmp_path: Path) -> None:
        value = json.loads(EXAMPLES.read_text())
        value["examples"][0]["expected"] = "FAIL"
        file = tmp_path / "examples.json"
        file.write_text(json.dumps(value))
        result = run("test", file, "--source", source, "--json")
        assert result.exit_code == 1
        said = json.loads(result.output)
        assert (said["failed"], said["results"][0]["holds"]) == (1, False)

    def test_a_file_that_is_none_is_a_no(self, source: Path, tmp_path: Path) -> None:
        file = tmp_path / "examples.json"
        file.write_text("{}")
        assert run("test", file, "--source", source).exit_code == 1

    def test_a_source_without_tenants_needs_commitments(self, source: Path) -> None:
        shutil.rmtree(source / "commitments")
        result = run("test", EXAMPLES, "--source", source)
        assert (result.exit_code, "standing commitments" in result.stderr) == (2, True)
        assert run("test", EXAMPLES, "--source", source, "--tenant", "tenant-a").exit_code == 1


class TestModel:
    def test_a_digest_is_what_policy_pins(self) -> None:
        assert run("model", PACKAGE).output == f"{SHA256}\n"
        assert json.loads(run("model", PACKAGE, "--json").output) == {"package": PACKAGE, "sha256": SHA256}

    def test_what_is_not_there_is_wrong_usage(self, tmp_path: Path) -> None:
        for place in ("no_such_language_model", str(tmp_path)):
            result = run("model", place)
            assert (result.exit_code, "Next: " in result.output) == (2, True)

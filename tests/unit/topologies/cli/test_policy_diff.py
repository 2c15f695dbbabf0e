"""``pratique policy diff`` over a file: table, JSON, exit codes, and sets by every name."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pratique.candidate import draft_candidate
from pratique.contract.records import Provenance, Role, SourceMessage
from streams.domain.policy.documents import manifest_body, snapshot_body
from tests.fakes.policy import DEMO_SOURCE
from topologies.bootstrap.authoring import source_policy
from topologies.cli.policy import policy

diff_module = importlib.import_module("topologies.cli.policy_diff")

KEPT = (
    "Never reveal secrets. Ask the user before files outside the workspace are deleted or changed."
    " Use approved tools only."
)
MESSAGES = (SourceMessage("m1", Role.USER, "Rename it.", Provenance.TRUSTED),)
SCANNER = ["--scanner-version", "fake/1", "--scanner-sha256", "5" * 64]


def run(*arguments: str | Path, stdin: str = "") -> Result:
    return CliRunner().invoke(policy, ["diff", *map(str, arguments)], input=stdin)


def line(summary: str, request_id: str) -> dict[str, Any]:
    made = source_policy(DEMO_SOURCE)
    manifest, snapshot = manifest_body(made.policy_set.invariants), snapshot_body(made.standing("tenant-a"))
    return {
        "kind": "compaction",
        "tenant_id": "tenant-a",
        "compaction_request_id": request_id,
        "source_messages": [{"message_id": "m1", "role": "user", "content": "Rename it.", "provenance": "TRUSTED"}],
        "candidate_json": draft_candidate(summary, MESSAGES, manifest, snapshot),
    }


@pytest.fixture(scope="module")
def recorded() -> str:
    rows = [line(f"{KEPT} All tests passed.", "passed"), line(f"{KEPT} Gibberish.", "refused"), {"kind": "recall"}]
    return "".join(json.dumps(row) + "\n\n" for row in rows)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    source = Path(shutil.copytree(DEMO_SOURCE, tmp_path / "other"))
    document = json.loads((source / "grammar.json").read_text())
    document["clauses"] = [item for item in document["clauses"] if item["rule_id"] != "test.passed"]
    (source / "grammar.json").write_text(json.dumps(document))
    return source


def test_the_same_set_exits_0(recorded: str) -> None:
    result = run(DEMO_SOURCE, DEMO_SOURCE, "-", stdin=recorded)
    assert result.exit_code == 0, result.output
    assert "Documents that differ: none" in result.output


def test_what_differs_is_named_without_content(recorded: str, other: Path, tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_text(recorded)
    result = run(DEMO_SOURCE, other, file, "--json")
    assert result.exit_code == 1
    said = json.loads(result.output)
    assert said["changes"] == {"NONE": 1, "REASONS": 0, "STRICTER": 1, "LOOSER": 0}
    assert said["documents_changed"] == ["grammar"]
    assert [item["compaction_request_id"] for item in said["different"]] == ["passed"]
    table = run(DEMO_SOURCE, other, file)
    assert "2 requests: 1 stricter" in table.output
    assert "All tests" not in result.output + table.output


def test_a_line_that_is_none_is_counted(recorded: str) -> None:
    result = run(DEMO_SOURCE, DEMO_SOURCE, "-", "--json", stdin=recorded + "{}\n[\n")
    assert (result.exit_code, json.loads(result.output)["unread"]) == (2, 2)


def test_a_line_over_the_bound_is_one_line(recorded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff_module, "MAX_FILE_BYTES", 8_000)
    for much in (8_001, 16_000, 50_000):
        result = run(DEMO_SOURCE, DEMO_SOURCE, "-", "--json", stdin=f"{'x' * much}\n{recorded}")
        said = json.loads(result.output)
        assert (result.exit_code, said["unread"], said["requests"]) == (2, 1, 2)


def test_a_tenant_without_commitments_is_an_answer_and_no_unread_line(tmp_path: Path) -> None:
    source = Path(shutil.copytree(DEMO_SOURCE, tmp_path / "less"))
    (source / "commitments" / "tenant-a.json").unlink()
    row = json.dumps({**line(f"{KEPT} All tests passed.", "r"), "expected_commitment_ids": ["COMMIT-1"]})
    said = json.loads(run(source, DEMO_SOURCE, "-", "--json", stdin=row).output)
    assert (said["unread"], said["requests"]) == (0, 1)
    assert said["different"][0]["first"]["codes"] == ["COMMITMENTS_MISSING"]
    assert said["documents_changed"] == ["commitments"]


def test_standing_commitments_that_differ_are_named(recorded: str, tmp_path: Path) -> None:
    source = Path(shutil.copytree(DEMO_SOURCE, tmp_path / "changed"))
    file = source / "commitments" / "tenant-a.json"
    document = json.loads(file.read_text())
    document["records"][0]["record_revision"] += 1
    file.write_text(json.dumps(document))
    said = json.loads(run(DEMO_SOURCE, source, "-", "--json", stdin=recorded).output)
    assert (said["documents_changed"], said["changes"]["NONE"]) == (["commitments"], 2)


def test_requests_for_another_policy_are_left_out_and_counted(recorded: str, other: Path) -> None:
    row = json.dumps({**line(f"{KEPT} All tests passed.", "elsewhere"), "policy_id": "another"})
    result = run(DEMO_SOURCE, other, "-", "--json", stdin=f"{recorded}{row}\n")
    said = json.loads(result.output)
    assert (said["requests"], said["of_other_policies"], said["unread"]) == (2, 1, 0)
    table = run(DEMO_SOURCE, other, "-", stdin=f"{recorded}{row}\n")
    assert "1 requests are for other policies than A" in table.stderr


def test_a_text_that_cannot_be_published_is_unread() -> None:
    row = line(KEPT, "r")
    row["source_messages"][0]["content"] = "a\0b"
    result = run(DEMO_SOURCE, DEMO_SOURCE, "-", "--json", stdin=json.dumps(row))
    assert (result.exit_code, json.loads(result.output)["unread"]) == (2, 1)


def test_an_id_is_no_markup(other: Path) -> None:
    """One that can't be printed is refused under either set, and never shown."""
    rows = [line(f"{KEPT} All tests passed.", request_id) for request_id in ("[/x]", "\x1b[2J")]
    result = run(DEMO_SOURCE, other, "-", stdin="\n".join(map(json.dumps, rows)))
    assert result.exit_code == 1, result.output
    assert "[/x]" in result.output
    assert "\x1b[2J" not in result.output


def test_sets_are_named_current_by_digest_or_by_source(recorded: str, other: Path, tmp_path: Path) -> None:
    made = tmp_path / "set"
    init = ["init", str(made), "--source", str(DEMO_SOURCE), *SCANNER, "--json"]
    first = json.loads(CliRunner().invoke(policy, init).output)["policy_set_sha256"]
    shutil.copy(other / "grammar.json", made / "source" / "grammar.json")
    assert run("current", made / "source", "-", "--directory", made, stdin=recorded).exit_code == 1
    assert CliRunner().invoke(policy, ["publish", "--directory", str(made), *SCANNER]).exit_code == 0
    assert run("current", made / "source", "-", "--directory", made, stdin=recorded).exit_code == 0
    assert run(first, "current", "-", "--directory", made, stdin=recorded).exit_code == 1
    assert run("0" * 64, "current", "-", "--directory", made, stdin=recorded).exit_code == 1
    assert "neither" in run("nothing", "current", "-", "--directory", made, stdin=recorded).stderr


def test_requests_come_from_a_file_or_the_topic(tmp_path: Path) -> None:
    assert run(DEMO_SOURCE, DEMO_SOURCE).exit_code == 2
    assert run(DEMO_SOURCE, DEMO_SOURCE, "-", "--topic", "5").exit_code == 2
    assert run(DEMO_SOURCE, DEMO_SOURCE, tmp_path / "none").exit_code == 2

"""What ``pratique recall verify`` prints and ends with."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from pratique.contract.records import Verdict
from streams.application.recall_audit import Checked, Found
from tests.vectors.contract_samples import VERDICT
from topologies.cli import recall as command

AGREES = Checked("findings", Found.AGREES, "2 of 2")
UNKNOWN = Checked("contents", Found.UNKNOWN, "not kept")
DIFFERS = Checked("roll-up", Found.DIFFERS, "of 2 findings")


def run(monkeypatch: pytest.MonkeyPatch, verdicts: list[Verdict], *checks: Checked, as_json: bool = True) -> Result:
    asked: list[tuple[str, str | None]] = []

    def find(_: object, identifier: str, tenant: str | None) -> list[Verdict]:
        asked.append((identifier, tenant))
        return verdicts

    monkeypatch.setattr(command, "recall_verdicts", find)
    monkeypatch.setattr(command, "verify_recall", lambda _, __: checks)
    arguments = ["verify", "recall-1", "--tenant", "tenant-a", *(["--json"] if as_json else [])]
    result = CliRunner().invoke(command.recall, arguments)
    assert asked == [("recall-1", "tenant-a")]
    return result


def test_what_agrees_ends_with_0_also_where_something_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(monkeypatch, [VERDICT], AGREES, UNKNOWN)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == [
        {
            "verdict_id": VERDICT.verdict_id,
            "agrees": True,
            "checks": [
                {"what": "findings", "found": "AGREES", "detail": "2 of 2"},
                {"what": "contents", "found": "UNKNOWN", "detail": "not kept"},
            ],
        }
    ]


def test_what_differs_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(monkeypatch, [VERDICT], AGREES, DIFFERS)
    assert result.exit_code == 1
    assert json.loads(result.stdout)[0]["agrees"] is False


def test_no_such_recall_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(monkeypatch, [])
    assert result.exit_code == 1
    assert "no verdict" in result.stderr


def test_people_get_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(monkeypatch, [VERDICT], DIFFERS, as_json=False)
    assert result.exit_code == 1
    assert "DIFFERS" in result.stdout
    assert "roll-up" in result.stdout

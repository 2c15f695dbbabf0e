"""What ``pratique ledger add`` and ``remove`` end with while the fingerprint key is being rotated."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pratique.contract.ledger_records import AuditEntry
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from topologies.bootstrap.ledger_client import Audited, Intent
from topologies.cli import ledger as command
from topologies.cli.output import ONLY_LINKED

CURRENT, NEXT = "2026-1", "2027-1"
ACCEPTED = AuditEntry(
    accepted=True,
    reason_code=None,
    record_json='{"action":"ADD","revision":1}',
    command_sha256="2" * 64,
    key_id="curator-1",
    command_partition=0,
    command_offset=1,
    command_json="{}",
    heads_count=1,
    heads_sum="3" * 64,
)
DONE = Audited(1_795_000_000_000, 7, ACCEPTED)
REFUSED = replace(DONE, entry=replace(ACCEPTED, accepted=False, reason_code="LEDGER_REVISION_STALE"))


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Audited | None]:
    """What the ledger says under each key generation."""
    said: dict[str, Audited | None] = {CURRENT: DONE, NEXT: DONE}

    def change(_: object, intent: Intent, **__: Any) -> Audited | None:  # noqa: ANN401 - how long it waits
        return said[intent.key_generation]

    monkeypatch.setattr(command, "generation_of", lambda *_: CURRENT)
    monkeypatch.setattr(command, "change", change)
    monkeypatch.setattr(command, "companions", lambda _, intent, __: [replace(intent, key_generation=NEXT)])
    return said


def run(word: str) -> Result:
    about = ["--fingerprint", "e" * 64, "--tenant", "tenant-a", "--incident", "INC-1", "--reason", "seen by two"]
    return CliRunner().invoke(command.ledger, [word, *about, "--json"])


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize("word", ["add", "remove"])
def test_what_is_done_under_every_generation_is_done(word: str) -> None:
    told = run(word)
    assert (told.exit_code, len(json.loads(told.stdout)["other_generations"])) == (0, 1)


@pytest.mark.parametrize(
    ("word", "answer", "exit_code"),
    [("remove", REFUSED, 1), ("remove", None, 3), ("add", REFUSED, 0), ("add", None, 0)],
)
def test_what_stays_in_quarantine_under_another_generation_is_not_taken_out(
    answers: dict[str, Audited | None], word: str, answer: Audited | None, exit_code: int
) -> None:
    """What was put in under the current generation alone is found, and ``keys fill`` carries it over."""
    answers[NEXT] = answer
    told = run(word)
    assert told.exit_code == exit_code
    assert f"not done under key generation {NEXT}" in told.stderr
    assert json.loads(told.stdout)["revision"] == 1


def test_a_command_that_is_refused_is_given_under_no_other_generation(answers: dict[str, Audited | None]) -> None:
    answers[CURRENT] = REFUSED
    told = run("remove")
    assert (told.exit_code, json.loads(told.stdout)["other_generations"]) == (1, [])


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize(("word", "is_told"), [("remove", True), ("add", False)])
def test_a_removal_by_fingerprint_says_what_it_can_t_see(word: str, *, is_told: bool) -> None:
    assert (ONLY_LINKED in run(word).stderr) is is_told


@pytest.mark.usefixtures("answers")
def test_a_removal_by_content_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    key = LedgerKey.of(Scope.TENANT, "tenant-a", "e" * 64)
    monkeypatch.setattr(command, "located", lambda *_: (key, CURRENT))
    about = ["-", "--tenant", "tenant-a", "--incident", "INC-1", "--reason", "seen by two", "--json"]
    told = CliRunner().invoke(command.ledger, ["remove", *about], input="a text")
    assert (told.exit_code, told.stderr) == (0, "")

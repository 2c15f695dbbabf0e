"""What ``pratique quarantine`` prints, asks for and ends with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pratique.contract.ledger_records import AuditEntry, ReviewEntry
from pratique.contract.records import Disposition, EntryVerdict, Verdict
from streams.domain.quarantine.ledger_key import LedgerKey
from streams.domain.quarantine.record import Action
from tests.vectors.contract_samples import RECORDS, VERDICT
from topologies.bootstrap.ledger_client import Audited, Intent
from topologies.bootstrap.quarantine import Queued
from topologies.cli import quarantine as command
from topologies.cli.output import ONLY_LINKED

AT_MS = 1_795_000_000_000
ACCEPTED = AuditEntry(
    accepted=True,
    reason_code=None,
    record_json="{}",
    command_sha256="2" * 64,
    key_id="curator-1",
    command_partition=0,
    command_offset=1,
    command_json="{}",
    heads_count=1,
    heads_sum="3" * 64,
)


def queued(digit: str = "e", **changes: Any) -> Queued:  # noqa: ANN401 - fields of the entry
    base = RECORDS["ReviewEntry"]
    assert isinstance(base, ReviewEntry)
    entry = replace(base, ledger_key=f"tenant/tenant-a/{digit * 64}", **changes)
    return Queued(LedgerKey.parse(entry.ledger_key.encode()), entry, AT_MS + 250)


PENDING = queued()
EFFECTIVE = queued("a", state="EFFECTIVE", revision=1, decided_at=AT_MS)
RELEASED = queued("b", state="RELEASED", revision=2)


class World:
    """A ledger that does what it is asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *items: Queued) -> None:
        self.items = items or (PENDING, EFFECTIVE, RELEASED)
        self.answer: Audited | None = Audited(AT_MS, 7, ACCEPTED)
        self.content: str | None = "the text"
        self.verdict: Verdict | None = verdict(Disposition.ADMITTED)
        self.asked: list[Intent] = []
        self.rescanned: list[str] = []
        monkeypatch.setattr(command, "queue", lambda _, tenant: [i for i in self.items if tenant in {None, "tenant-a"}])
        monkeypatch.setattr(command, "change", self._change)
        monkeypatch.setattr(command, "companions", lambda *_: [])
        monkeypatch.setattr(command, "content_of", lambda *_: self.content)
        monkeypatch.setattr(command, "rescan", self._rescan)

    def _change(self, _: object, intent: Intent, *, wait_s: float) -> Audited | None:
        assert wait_s > 0
        self.asked.append(intent)
        return self.answer

    def _rescan(self, _: object, item: Queued, content: str, *, wait_s: float) -> Verdict | None:
        assert item in self.items
        assert wait_s > 0
        self.rescanned.append(content)
        return self.verdict


def verdict(disposition: Disposition) -> Verdict:
    return replace(VERDICT, entries=(EntryVerdict("e", "1", "f" * 64, disposition, None),))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command.quarantine, list(arguments))


WHY = ("--tenant", "tenant-a", "--reason", "seen by two")


@pytest.mark.usefixtures("world")
def test_list_shows_what_somebody_has_to_look_at_and_the_window() -> None:
    told = json.loads(run("list", "--json").stdout)
    assert [(row["state"], row["window_ms"]) for row in told["entries"]] == [("PENDING", None), ("EFFECTIVE", 250)]
    assert told["windows_ms"] == [250]
    assert len(json.loads(run("list", "--all", "--json").stdout)["entries"]) == 3
    assert json.loads(run("list", "--tenant", "tenant-b", "--json").stdout)["entries"] == []


@pytest.mark.usefixtures("world")
def test_list_speaks_to_people() -> None:
    told = run("list")
    assert told.exit_code == 0
    assert (
        "1 wait for a curator, 1 count without one; from verdict to entry: median 0.25 s, longest 0.25 s" in told.stdout
    )


def test_list_of_nothing_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch)
    world.items = ()
    assert "0 wait for a curator, 0 count without one\n" in run("list").stdout


def test_confirm_adds_it_under_the_entry_s_own_generation_and_incident(world: World) -> None:
    told = run("confirm", "eeeeeeee", *WHY, "--json")
    assert (told.exit_code, json.loads(told.stdout)["state"]) == (0, "CONFIRMED")
    (intent,) = world.asked
    assert (intent.action, intent.key, intent.reason) == (Action.ADD, PENDING.key, "seen by two")
    assert intent.key_generation == PENDING.entry.key_generation
    assert intent.incident_id == PENDING.entry.incident_id
    assert world.rescanned == []


def test_release_removes_it_and_asks_about_it_again(world: World) -> None:
    told = run("release", "a" * 64, *WHY, "--incident", "INC-7", "--json")
    assert told.exit_code == 0
    stated = json.loads(told.stdout)
    assert (stated["state"], stated["rescan"]["admitted"]) == ("RELEASED", True)
    (intent,) = world.asked
    assert (intent.action, intent.key, intent.incident_id) == (Action.REMOVE, EFFECTIVE.key, "INC-7")
    assert world.rescanned == ["the text"]


@pytest.mark.parametrize(("word", "kept"), [("release", "the text"), ("release", None), ("confirm", None)])
def test_a_release_goes_by_the_content_where_that_is_at_hand(
    world: World, monkeypatch: pytest.MonkeyPatch, word: str, kept: str | None
) -> None:
    world.content = kept
    contents: list[str | None] = []

    def companions(_: object, __: Intent, content: str | None) -> list[Intent]:
        contents.append(content)
        return []

    monkeypatch.setattr(command, "companions", companions)
    told = run(word, "a" * 64, *WHY)
    assert (told.exit_code, contents) == (0, [kept])
    assert (ONLY_LINKED in told.stderr) is (word == "release" and kept is None)


def test_release_of_what_is_still_found_ends_with_1(world: World) -> None:
    world.verdict = verdict(Disposition.WITHHELD)
    told = run("release", "a" * 8, *WHY)
    assert told.exit_code == 1
    assert "still withheld" in told.stderr


def test_release_without_a_verdict_in_time_ends_with_3(world: World) -> None:
    world.verdict = None
    told = run("release", "a" * 8, *WHY)
    assert told.exit_code == 3
    assert "it is released" in told.stderr


def test_release_of_what_is_not_kept_says_so_and_takes_the_content_that_is_given(world: World, tmp_path: Path) -> None:
    world.content = None
    told = run("release", "a" * 8, *WHY, "--json")
    assert (told.exit_code, json.loads(told.stdout)["rescan"]) == (0, None)
    assert "not kept any more" in told.stderr
    file = tmp_path / "text"
    file.write_text("given text", "utf-8")
    assert run("release", "a" * 8, *WHY, "--content", str(file)).exit_code == 0
    assert world.rescanned == ["given text"]


@pytest.mark.parametrize("word", ["confirm", "release"])
def test_a_word_needs_a_reason_a_tenant_and_one_entry(world: World, word: str) -> None:
    assert run(word, "eeeeeeee", "--tenant", "tenant-a").exit_code == 2
    assert run(word, "eeeeeeee", "--reason", "x").exit_code == 2
    assert run(word, "eeeeeee", *WHY).exit_code == 2
    assert run(word, "0" * 64, *WHY).exit_code == 1
    assert world.asked == []


def test_a_beginning_of_two_names_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(PENDING, key=replace(PENDING.key, fingerprint="e" * 63 + "0"))
    world = World(monkeypatch, PENDING, other)
    assert run("confirm", "e" * 10, *WHY).exit_code == 1
    assert world.asked == []


def test_what_the_ledger_refuses_ends_with_1_and_says_why(world: World) -> None:
    world.answer = Audited(AT_MS, 7, replace(ACCEPTED, accepted=False, reason_code="SIGNER_NOT_AUTHORISED"))
    told = run("release", "a" * 8, *WHY)
    assert told.exit_code == 1
    assert "not authorised" in told.stderr
    assert world.rescanned == []


@pytest.mark.parametrize("word", ["confirm", "release"])
@pytest.mark.parametrize(("is_refused", "exit_code"), [(True, 1), (False, 3)])
def test_a_word_is_not_done_before_it_is_done_under_every_generation(
    world: World, monkeypatch: pytest.MonkeyPatch, word: str, *, is_refused: bool, exit_code: int
) -> None:
    refused = Audited(AT_MS, 8, replace(ACCEPTED, accepted=False, reason_code="LEDGER_REVISION_STALE"))
    answers = {EFFECTIVE.entry.key_generation: Audited(AT_MS, 7, ACCEPTED), "next": refused if is_refused else None}
    monkeypatch.setattr(command, "companions", lambda _, intent, __: [replace(intent, key_generation="next")])
    monkeypatch.setattr(command, "change", lambda _, intent, **__: answers[intent.key_generation])
    told = run(word, "a" * 8, *WHY)
    assert (told.exit_code, "generation next" in told.stderr, told.stdout) == (exit_code, True, "")
    assert world.rescanned == []


def test_what_the_ledger_says_nothing_of_ends_with_3(world: World) -> None:
    world.answer = None
    assert run("confirm", "a" * 8, *WHY).exit_code == 3

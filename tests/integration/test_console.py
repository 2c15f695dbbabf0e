"""The console on a running platform: what an operator asks, and what the exit status says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from infra.stack.paths import ROOT
from pratique.contract.avro import decode
from pratique.contract.records import Verdict
from pratique.contract.topics import COMPACTION_REQUESTED, DEAD_LETTER, EVIDENCE
from tests.integration.asking import VERDICT_TOPICS, clean, conflicting, send, verdicts_since
from tests.integration.forging import STRANGER, Case, publication
from tests.integration.raw import WAIT_S, Ends, Raw, until

if TYPE_CHECKING:
    from pratique.client import Gate
    from tests.integration.platform import Platform

pytestmark = pytest.mark.containers

SKEW_MS = 30_000
"""How far a publisher's clock may run ahead, by default."""


def console(platform: Platform, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command as an operator of the platform."""
    return subprocess.run(
        [sys.executable, "-m", "topologies", *arguments],
        check=False,
        input=given,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=platform.environment,
        timeout=2 * WAIT_S,
    )


def test_verdict_get_shows_the_gates_verdict_and_no_strangers(platform: Platform, gate: Gate) -> None:
    since = platform.log.ends(*VERDICT_TOPICS, EVIDENCE)
    accepted, quarantined = clean(gate, uuid.uuid4().hex), conflicting(gate, uuid.uuid4().hex)
    for question in (accepted, quarantined):
        question.check(gate.ask(question.request, wait_s=WAIT_S))
    publication(quarantined, Case.of(platform, accepted, since), STRANGER).append_to(platform)

    done = console(platform, "verdict", "get", quarantined.sha256, "--json")

    assert done.returncode == 0, done.stderr
    (shown,) = json.loads(done.stdout)
    assert (shown["request_id"], shown["outcome"]) == (quarantined.request.compaction_request_id, "QUARANTINED")
    assert "no verdict signed by the gate" in done.stderr


def test_verdict_get_says_that_there_is_none(platform: Platform) -> None:
    assert console(platform, "verdict", "get", uuid.uuid4().hex).returncode == 1


def test_policy_diff_judges_what_is_in_the_topic_and_no_strangers(
    platform: Platform, gate: Gate, tmp_path: Path
) -> None:
    """A grammar that knows no sentence but the constraints' own: what passes now would not."""
    accepted = clean(gate, uuid.uuid4().hex)
    accepted.check(gate.ask(accepted.request, wait_s=WAIT_S))
    source = Path(shutil.copytree(platform.policy / "source", tmp_path / "source"))
    grammar = json.loads((source / "grammar.json").read_bytes())
    grammar["clauses"] = [clause for clause in grammar["clauses"] if clause["preserves"]]
    (source / "grammar.json").write_text(json.dumps(grammar), encoding="utf-8")

    arguments = ("policy", "diff", "current", str(source), "--topic", "1000", "--json")
    done = console(platform, *arguments, "--directory", str(platform.policy))

    assert done.stdout, done.stderr
    shown = json.loads(done.stdout)
    assert done.returncode == (2 if shown["unread"] else 1), done.stderr
    assert "grammar" in shown["documents_changed"]
    (found,) = [
        item for item in shown["different"] if item["compaction_request_id"] == accepted.request.compaction_request_id
    ]
    assert (found["change"], found["first"]["outcome"]) == ("STRICTER", "PASS")


def test_dead_letter_is_listed_and_replayed(platform: Platform, gate: Gate) -> None:
    """A publisher's clock ran ahead; replayed when its time has come, its request gets its verdict."""
    question = clean(gate, uuid.uuid4().hex)
    due_ms = int(time.time() * 1000) + 5_000
    question = replace(question, request=replace(question.request, requested_at=due_ms + SKEW_MS))
    since = platform.log.ends(DEAD_LETTER, *VERDICT_TOPICS)
    send(platform, question)
    letter = await_dead_letter(platform, question.value, since)
    assert letter.header("pratique-dead-letter-code") == b"REQUEST_EXPIRED"

    done = console(platform, "dead-letter", "list", "--code", "REQUEST_EXPIRED", "--json")
    assert f"{letter.partition}@{letter.offset}" in {row["at"] for row in json.loads(done.stdout)}
    until(lambda: time.time() * 1000 > due_ms, "the request is no longer early")
    replayed = console(platform, "dead-letter", "replay", str(letter.partition), str(letter.offset), "--json")

    assert json.loads(replayed.stdout) == {"published_to": COMPACTION_REQUESTED}
    until(lambda: question.sha256 in verdicts_since(platform, since), "a verdict on the replayed request")
    question.check(decode(verdicts_since(platform, since)[question.sha256][0].value, Verdict))


def test_dead_letter_without_its_bytes_is_not_replayed(platform: Platform) -> None:
    """Its value was too large to keep: publishing what is left would be another record."""
    since = platform.log.ends(DEAD_LETTER)
    platform.log.publish(COMPACTION_REQUESTED, bytes(24 * 1024 * 1024), compression="zstd")
    letter = await_dead_letter(platform, None, since)
    before = platform.log.ends(COMPACTION_REQUESTED)

    done = console(platform, "dead-letter", "replay", str(letter.partition), str(letter.offset))

    assert done.returncode == 1
    assert "too large" in done.stderr
    assert platform.log.ends(COMPACTION_REQUESTED) == before


def await_dead_letter(platform: Platform, value: bytes | None, since: Ends) -> Raw:
    """Return the dead letter with a value, once it is there."""
    found: list[Raw] = []

    def buried() -> bool:
        found.extend(record for record in platform.log.records(DEAD_LETTER, since=since) if record.value == value)
        return bool(found)

    until(buried, "a dead letter")
    return found[0]


def test_doctor_finds_a_running_platform_well(platform: Platform) -> None:
    done = console(platform, "doctor", "--json")
    ill = [row for row in json.loads(done.stdout) if row["health"] != "well"]
    assert (done.returncode, ill) == (0, []), done.stderr

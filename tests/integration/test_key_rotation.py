"""A rotation of the fingerprint key on the running gate, by the console's commands: what is quarantined stays known."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from pratique.client import Gate
from pratique.contract.topics import QUARANTINE_LEDGER
from tests.integration.platform import TENANT, Platform
from tests.integration.raw import WAIT_S, until
from topologies.__main__ import main

pytestmark = pytest.mark.containers

INCIDENT = "INC-ROTATION"  # no other test's: what they leave in the ledger is told from ours by it
WHY = ("--incident", INCIDENT, "--reason", "a test")


class Console:
    """The console on the platform, in this process."""

    def __init__(self, platform: Platform) -> None:
        self._environment = platform.environment
        self._stack = ("--stack", str(platform.stack_file))

    def __call__(self, *arguments: str, given: str = "", status: int = 0) -> Any:  # noqa: ANN401 - any JSON
        """Run a command of the ledger, which must end with a status; return its JSON, or what it said."""
        command = ["ledger", *arguments, "--json", *self._stack]
        done = CliRunner().invoke(main, command, input=given, env=self._environment)
        assert done.exit_code == status, done.output
        return json.loads(done.stdout) if done.stdout else done.stderr


@pytest.fixture
def console(platform: Platform) -> Console:
    return Console(platform)


@pytest.fixture
def gate(platform: Platform) -> Iterator[Gate]:
    with platform.gate() as gate:
        yield gate


def known(gate: Gate, *texts: str) -> list[bool]:
    """Return, of texts that are recalled together, whether the gate recognised each as quarantined."""
    entries = [{"entry_id": f"e{n}", "memory_version": "v1", "content": text} for n, text in enumerate(texts)]
    expected = [(entry["entry_id"], "v1") for entry in entries]
    request = gate.recall_request(entries, expected, task_id="t1")
    verdict = gate.ask_recall(request, wait_s=WAIT_S)
    assert verdict is not None
    found = {reason.path for reason in verdict.reasons if reason.code == "KNOWN_FINGERPRINT"}
    assert len(found) == len(verdict.reasons), verdict.reasons
    return [f"entries[{n}].content" in found for n in range(len(texts))]


def test_quarantined_texts_are_withheld_at_every_step_of_a_rotation(
    platform: Platform, console: Console, gate: Gate
) -> None:
    unique = uuid.uuid4().hex[:8]
    tenants, everyones, later, released = (f"{word} {unique}" for word in ("Tenant's", "Everyone's", "Later", "Let go"))
    generation = f"g-{unique}"
    before = next(item["generation"] for item in console("keys", "status")["generations"] if item["state"] == "current")
    scope = ("--tenant", TENANT)
    console("add", "-", *scope, *WHY, given=tenants)
    console("add", "-", "--global", *WHY, given=everyones)

    def all_withheld(*texts: str) -> bool:
        """Of the texts, the last of which was let go."""
        return known(gate, tenants, everyones, *texts) == [True, True, *([True, False] if texts else [])]

    assert "is not here" in console("keys", "begin", generation, status=2)
    assert "no rotation" in console("keys", "switch", status=1)
    console("keys", "new", generation)
    assert all_withheld()
    console("keys", "begin", generation)
    assert "partial" in console("keys", "switch", status=1)
    under_way = console("add", "-", *scope, *WHY, given=later)
    assert [item["key_generation"] for item in under_way["other_generations"]] == [generation]
    console("add", "-", *scope, *WHY, given=released)
    gone = console("remove", "-", *scope, *WHY, given=released)
    assert {gone["key_generation"], *(item["key_generation"] for item in gone["other_generations"])} == {
        before,
        generation,
    }
    assert all_withheld(later, released)
    until(
        lambda: not [item for item in left(console) if item["incident"] == INCIDENT and item["tenant"]], "carried over"
    )

    presented = "\n".join(json.dumps(text) for text in (tenants.upper(), everyones, later, "never seen"))
    filled = console("keys", "fill", "-", "--lines", *WHY, given=presented, status=0 if not others(console) else 1)
    assert (filled["counts"]["carried"], filled["counts"]["already"], filled["counts"]["unknown"]) == (1, 2, 1)
    for item in others(console):  # what other tests left behind, and nobody has the content of
        where = ("--tenant", item["tenant"]) if item["tenant"] else ("--global",)
        console("remove", "--fingerprint", item["fingerprint"], *where, *WHY)
    assert "in use" in console("keys", "retire", before, "--reason", "too early", status=1)
    console("keys", "switch")
    assert all_withheld(later, released)
    assert console("show", "-", *scope, given=tenants)["history"][0]["key_generation"] == generation

    assert console("keys", "retire", before, "--reason", "rotated")["retired"]
    assert all_withheld(later, released)
    rebuilt = console("rebuild", "--grace", "0")
    assert rebuilt["generation"] == generation
    assert console("verify")["differences"] == []
    (platform.policy / "keys" / "fingerprint" / f"{before}.key").unlink()
    assert all_withheld(later, released)
    states = {item["generation"]: item["state"] for item in console("keys", "status")["generations"]}
    assert (states[before], states[generation]) == ("retired", "current")
    tombstones = [record for record in platform.log.records(QUARANTINE_LEDGER) if record.value is None]
    assert len(tombstones) >= 3


def others(console: Console) -> list[Any]:
    """Return the entries left to carry over that are not this test's."""
    return [item for item in left(console) if item["incident"] != INCIDENT]


def left(console: Console) -> list[Any]:
    """Return the entries left to carry over."""
    try:
        return list(console("keys", "left"))
    except AssertionError:
        return list(console("keys", "left", status=1))

"""What is awaited does its work elsewhere: on the loop's thread nothing asks for policy, and nothing encodes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

import pytest

import pratique.client
import pratique.recalling
from pratique.contract.avro import encode
from pratique.contract.records import StatedReason, VerdictOutcome
from tests.unit.sdk.builders import CANDIDATE, MESSAGES, STANDING, TASK, commitments
from tests.unit.sdk.client_world import LONG_S, World
from tests.unit.sdk.recall_world import RecallWorld

P = ParamSpec("P")
R = TypeVar("R")

KEY = {"entry_id": "e2", "memory_version": "v7", "content": "The key is <secret>."}


@pytest.fixture
def recalls() -> Iterator[RecallWorld]:
    made = RecallWorld()
    yield made
    made.gate.close()


def watched(call: Callable[P, R], threads: set[int]) -> Callable[P, R]:
    def calling(*args: P.args, **kwargs: P.kwargs) -> R:
        threads.add(threading.get_ident())
        return call(*args, **kwargs)

    return calling


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch, world: World, recalls: RecallWorld) -> set[int]:
    """The threads that asked for policy or encoded a request."""
    seen: set[int] = set()
    for policies in (world.policies, recalls.policies):
        for name in ("trust", "pinned", "refresh"):
            monkeypatch.setattr(policies, name, watched(getattr(policies, name), seen))
    for module in (pratique.client, pratique.recalling):
        monkeypatch.setattr(module, "encode", watched(encode, seen))
    return seen


@pytest.mark.parametrize("redact", [False, True])
@pytest.mark.parametrize("envelope", [None, commitments()], ids=["standing", "commitments"])
def test_a_compaction(world: World, threads: set[int], envelope: bytes | None, *, redact: bool) -> None:
    if redact:
        world.service.answer = VerdictOutcome.QUARANTINED
        world.service.changes = {"reasons": (StatedReason("PII", "candidate.summary_text[0:1]", "presidio:X", "HIGH"),)}
    if envelope is not None:
        rendered = world.policies.current.render(STANDING).rendered_policy_sha256
        world.service.changes |= {"rendered_policy_sha256": rendered}
    answer = asyncio.run(
        world.gate.acompact(MESSAGES, CANDIDATE, task_id=TASK, commitments=envelope, wait_s=LONG_S, redact=redact)
    )
    assert answer.context
    assert answer.redacted is redact
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("redact", [False, True])
@pytest.mark.parametrize("wait_s", [None, LONG_S])
def test_a_recall(recalls: RecallWorld, threads: set[int], wait_s: float | None, *, redact: bool) -> None:
    asyncio.run(recalls.gate.arecall([KEY], [("e2", "v7")], task_id=TASK, wait_s=wait_s, redact=redact))
    assert len(recalls.asked) == 1 + redact
    assert threads
    assert threading.get_ident() not in threads

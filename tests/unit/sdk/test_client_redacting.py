"""The client masks what a verdict names, and asks once more."""

from __future__ import annotations

import asyncio

import pytest

import pratique.client
from pratique import Compaction
from pratique.context import MARKER
from pratique.contract.avro import decode
from pratique.contract.records import CompactionRequested, StatedReason, VerdictOutcome
from pratique.contract.topics import COMPACTION_REQUESTED, MAX_REQUEST_BYTES
from pratique.errors import PratiqueError, TooLargeError, UnavailableError
from pratique.redacting import MASK
from pratique.transport import Received
from tests.unit.sdk.builders import (
    CANDIDATE,
    MESSAGES,
    POLICY,
    SUMMARY,
    TASK,
    received,
    verdict,
)
from tests.unit.sdk.client_world import LONG_S, SYSTEM, TAIL, World


class Finding:
    """A gate that finds something in each summary that holds a word, and nothing in any other.

    Args:
        world: Where.
        reasons: What it says; that there is a secret, where not given.
        answers: How many requests it answers.
        then: What it fails with on the first one after these; it is silent where not given.
        changes: What its verdicts say otherwise.
    """

    def __init__(
        self,
        world: World,
        *reasons: StatedReason,
        answers: int = 9,
        then: PratiqueError | None = None,
        **changes: object,
    ) -> None:
        self._world = world
        self._reasons = reasons
        self._answers = answers
        self._then = then
        self._changes = changes
        self._word = SUMMARY.split()[0]
        world.kafka.on_publish = self._on_publish

    @property
    def reason(self) -> StatedReason:
        return StatedReason("SECRET", f"candidate.summary_text[0:{len(self._word)}]", "kingfisher:r", "HIGH")

    def _on_publish(self, record: Received) -> None:
        if record.topic != COMPACTION_REQUESTED:
            return
        assert record.value is not None
        self._world.service.requests.append(record)
        if len(self._world.service.requests) > self._answers:
            if self._then is not None:
                raise self._then
            return
        found = self._word in decode(record.value, CompactionRequested).candidate_json
        outcome = VerdictOutcome.QUARANTINED if found else VerdictOutcome.ACCEPTED
        reasons = (self._reasons or (self.reason,)) if found else ()
        self._world.service.send(
            received(verdict(record.value, outcome, policy=POLICY, reasons=reasons, **self._changes))
        )


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_is_named_is_masked_and_asked_about_once_more(world: World, *, asynchronous: bool) -> None:
    word = SUMMARY.split()[0]
    Finding(world)
    arguments = {"task_id": TASK, "wait_s": LONG_S, "redact": True}
    ask = world.gate.acompact(MESSAGES, CANDIDATE, **arguments) if asynchronous else None  # type: ignore[arg-type]
    answer = asyncio.run(ask) if ask else world.gate.compact(MESSAGES, CANDIDATE, **arguments)  # type: ignore[arg-type]
    assert (answer.accepted, answer.redacted) == (True, True)
    assert answer.context == [SYSTEM, {"role": "user", "content": MARKER + SUMMARY.replace(word, MASK, 1)}]
    first, second = (decode(world.sent(place), CompactionRequested) for place in (0, 1))
    assert first.compaction_request_id != second.compaction_request_id
    assert answer.request == second
    assert len(world.service.requests) == 2


def test_it_is_asked_once_more_and_not_again(world: World) -> None:
    world.service.answer = VerdictOutcome.QUARANTINED
    world.service.changes = {"reasons": (StatedReason("PII", "candidate.summary_text[0:1]", "presidio:X", "HIGH"),)}
    answer = world.gate.compact(MESSAGES, CANDIDATE, task_id=TASK, wait_s=LONG_S, redact=True)
    assert (answer.accepted, answer.redacted) == (False, True)
    assert answer.context == [SYSTEM, *TAIL]
    assert len(world.service.requests) == 2


def asked(world: World, *, asynchronous: bool) -> Compaction:
    if asynchronous:
        return asyncio.run(world.gate.acompact(MESSAGES, CANDIDATE, task_id=TASK, wait_s=LONG_S, redact=True))
    return world.gate.compact(MESSAGES, CANDIDATE, task_id=TASK, wait_s=LONG_S, redact=True)


def check_first_answer_stands(world: World, answer: Compaction) -> None:
    assert (answer.accepted, answer.redacted) == (False, False)
    assert [reason.code for reason in answer.reasons] == ["SECRET"]
    assert answer.request == decode(world.sent(0), CompactionRequested)
    assert answer.context == [SYSTEM, *TAIL]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_where_no_second_answer_comes_while_the_first_is_valid_the_first_stands(
    world: World, *, asynchronous: bool
) -> None:
    Finding(world, answers=1, valid_until=world.now_ms + 200)
    check_first_answer_stands(world, asked(world, asynchronous=asynchronous))
    assert len(world.service.requests) == 2


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("error", [UnavailableError("no broker"), TooLargeError("over 4 MiB")], ids=["away", "large"])
def test_where_nothing_can_be_asked_again_the_first_answer_stands(
    world: World, error: PratiqueError, *, asynchronous: bool
) -> None:
    Finding(world, answers=1, then=error)
    check_first_answer_stands(world, asked(world, asynchronous=asynchronous))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_masked_request_that_is_too_large_is_not_sent(
    world: World, monkeypatch: pytest.MonkeyPatch, *, asynchronous: bool
) -> None:
    Finding(world)
    masked = lambda candidate_json, _: candidate_json + " " * MAX_REQUEST_BYTES  # noqa: E731
    monkeypatch.setattr(pratique.client, "redacted", masked)
    check_first_answer_stands(world, asked(world, asynchronous=asynchronous))
    assert len(world.service.requests) == 1


@pytest.mark.parametrize("redact", [False, True])
def test_nothing_is_masked_unasked_or_where_it_would_not_mend_everything(world: World, *, redact: bool) -> None:
    steering = StatedReason("INJECTION", "candidate.summary_text", "injection:plain", "HIGH")
    Finding(world, *([steering] if redact else []))
    answer = world.gate.compact(MESSAGES, CANDIDATE, task_id=TASK, wait_s=LONG_S, redact=redact)
    assert (answer.accepted, answer.redacted) == (False, False)
    assert len(world.service.requests) == 1

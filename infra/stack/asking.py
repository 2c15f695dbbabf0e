"""Asking the gate as an agent platform does, with a witness beside: a scenario in, a row out.

The contract: requests go through the published client (``pratique.Gate``), which believes only what it has verified;
the witness (``Observer``) is asked for what no client can know: dead letters, and the bytes of verdicts.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from infra.stack.demo_report import Row
from infra.stack.memories import Recall
from infra.stack.observer import Observer
from infra.stack.scenarios import OTHER_TENANT, TENANT, Ending, Scenario
from pratique.asking import Sent
from pratique.client import Gate, Pending
from pratique.context import MARKER, ContextMessage
from pratique.contract.records import CompactionRequested, MemoryRecalled, Verdict, VerdictOutcome
from pratique.errors import NoContextError, PratiqueError
from pratique.stack import Stack as ClientStack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from types import TracebackType

    from pratique.contract.signing import Signer

ANSWER_S: Final = 45.0
"""Longest wait for an answer, in seconds: more than any deadline of the demo's policies."""

_OWN_FIELDS: Final = "candidate."


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one request.

    Attributes:
        scenario: What was asked.
        request: The request as sent.
        request_sha256: Its digest.
        verdict: The verdict; null where there is none.
        row: The row of the table.
        context: What the client inserts; empty where nothing may be.
    """

    scenario: Scenario
    request: CompactionRequested
    request_sha256: str
    verdict: Verdict | None
    row: Row
    context: tuple[ContextMessage, ...]


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """What became of one recall.

    Attributes:
        request_sha256: The request's digest.
        verdict: The verdict; null where there is none.
        row: The row of the table.
    """

    request_sha256: str
    verdict: Verdict | None
    row: Row


class Platform:
    """An agent platform with one tenant, several policies, and another tenant's stolen key.

    Args:
        stack_file: The stack's ``stack.json``.
        policy_ids: Policies that requests are judged under.
    """

    def __init__(self, stack_file: Path, policy_ids: Iterable[str]) -> None:
        stack = ClientStack.read(stack_file, {})
        self._signers: dict[str, Signer] = {OTHER_TENANT: stack.publisher_keys(OTHER_TENANT)[0]}
        self._gates = {
            policy_id: Gate.from_stack(stack_file, tenant_id=TENANT, policy_id=policy_id) for policy_id in policy_ids
        }
        self._transport = stack.transport()
        self.observer = Observer(self._transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for gate in self._gates.values():
            gate.close()
        self.observer.close()
        self._transport.close()

    def ask(self, scenario: Scenario) -> Answer:
        """Send a scenario's request and wait for what becomes of it.

        Raises:
            UnavailableError: Kafka or the policy repository is away.
        """
        return self._answered(scenario, *self._sent(scenario))

    def ask_all(self, asked: Sequence[Scenario], *, each_sent: Callable[[int], None] = lambda _: None) -> list[Answer]:
        """Send requests at once and wait for all of them.

        Args:
            asked: The scenarios.
            each_sent: Called with how many were sent so far, after each.
        """
        with ThreadPoolExecutor(max_workers=len(asked)) as waiting:
            answers: list[Future[Answer]] = []
            for scenario in asked:
                pending, started = self._sent(scenario)
                answers.append(waiting.submit(self._answered, scenario, pending, started))
                each_sent(len(answers))
            return [answer.result() for answer in answers]

    def recall(self, recall: Recall) -> RecallAnswer:
        """Ask whether recalled memories may enter a prompt, and wait for what becomes of it."""
        gate = self._gates[recall.policy_id]
        request = recall.request(gate)
        started = time.monotonic()
        pending = gate.publish_recall(request)
        heard = self._heard(gate, pending, started)
        inserted, fault = _memories(gate, recall, request, heard.verdict)
        row = Row(recall.name, recall.title, recall.expected, *heard.cells, inserted, fault)
        return RecallAnswer(pending.expectation.request_sha256, heard.verdict, row)

    def again(self, answer: Answer) -> Answer:
        """Send the very same bytes once more and wait for their verdict."""
        pending = self._gates[answer.scenario.policy_id].publish(answer.request)
        return self._answered(answer.scenario, pending, time.monotonic())

    def _sent(self, scenario: Scenario) -> tuple[Pending, float]:
        gate = self._gates[scenario.policy_id]
        request = scenario.request(gate)
        started = time.monotonic()
        return gate.publish(request, signer=self._signers.get(scenario.signed_by)), started

    def _answered(self, scenario: Scenario, pending: Pending, started: float) -> Answer:
        gate = self._gates[scenario.policy_id]
        heard = self._heard(gate, pending, started)
        context, inserted, fault = _context(gate, scenario, pending.request, heard.verdict)
        row = Row(scenario.name, scenario.title, scenario.expected, *heard.cells, inserted, fault)
        digest = pending.expectation.request_sha256
        return Answer(scenario, pending.request, digest, heard.verdict, row, context)

    def _heard(self, gate: Gate, pending: Sent, started: float) -> _Heard:
        """Wait until a request is answered, or is a dead letter."""
        digest = pending.expectation.request_sha256
        answered = pending.waiter.future
        observer = self.observer
        answered.add_done_callback(lambda _: observer.wake())
        try:
            pending.sent.result(timeout=ANSWER_S)
            observer.wait_for(lambda: answered.done() or observer.dead_letter(digest) is not None, timeout_s=ANSWER_S)
            milliseconds = round((time.monotonic() - started) * 1000)
        finally:
            gate.forget(pending)
        verdict = answered.result() if answered.done() and not answered.cancelled() else None
        return _Heard(verdict, None if verdict else observer.dead_letter(digest), milliseconds)


@dataclass(frozen=True, slots=True)
class _Heard:
    """What came of waiting: a verdict, a dead letter's code, or neither."""

    verdict: Verdict | None
    code: str | None
    milliseconds: int

    @property
    def cells(self) -> tuple[Ending, tuple[str, ...], str, int]:
        """Ending, codes, place and time, as a row has them."""
        if self.verdict is None:
            ending = Ending.UNANSWERED if self.code is None else Ending.DEAD_LETTER
            return ending, () if self.code is None else (self.code,), "", self.milliseconds
        reasons = self.verdict.reasons
        codes = tuple(dict.fromkeys(reason.code for reason in reasons))
        place = reasons[0].path.removeprefix(_OWN_FIELDS) if reasons else ""
        return Ending(self.verdict.outcome.value), codes, place, self.milliseconds


def _context(
    gate: Gate, scenario: Scenario, request: CompactionRequested, verdict: Verdict | None
) -> tuple[tuple[ContextMessage, ...], str, str]:
    """Return what the client inserts, in messages and in words, and what is wrong with it."""
    try:
        context = tuple(gate.context(request, verdict))
    except NoContextError:
        return (), "nothing", ""
    except PratiqueError as error:
        return (), "nothing", f"context: {error}"
    accepted = verdict is not None and verdict.outcome is VerdictOutcome.ACCEPTED
    if not accepted:
        tail = [message.content for message in request.source_messages[1 - len(context) :]]
        fault = "" if [message["content"] for message in context[1:]] == tail else "context is not the messages' tail"
        return context, f"the last {len(tail)} messages", fault
    summary = scenario.sample.summary
    fault = "" if [message["content"] for message in context[1:]] == [MARKER + summary] else "context is another text"
    return context, f"the summary: {len(summary):,} for {scenario.sample.characters:,} characters", fault


def _memories(gate: Gate, recall: Recall, request: MemoryRecalled, verdict: Verdict | None) -> tuple[str, str]:
    """Return what the client puts into the prompt, in words, and what is wrong with it."""
    try:
        memories = gate.memories(request, verdict)
    except PratiqueError as error:
        return "nothing", f"memories: {error}"
    admitted = {memory.entry_id: memory.content for memory in memories}
    fault = "" if admitted == recall.contents else f"admitted: {', '.join(admitted) or 'none'}"
    return f"{len(memories)} of {len(request.entries)} memories" if memories else "nothing", fault

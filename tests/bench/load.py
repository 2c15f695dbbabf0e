"""Requests for a benchmark: real conversations with summaries that pass, signed before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from infra.stack import scenarios
from infra.stack.scenarios import Scenario
from pratique.client import Gate, now_in_ms
from pratique.contract import avro, digests
from pratique.contract.records import CompactionRequested
from pratique.contract.signing import Headers
from pratique.contract.topics import COMPACTION_REQUESTED
from pratique.stack import Stack as StackFile
from pratique.stack import TrustedSigner

TENANT: Final = "tenant-a"

SHORT_SUMMARY: Final = (
    "Do not expose secrets. "
    "Do not delete or change files outside the workspace without the user's confirmation. "
    "Use approved tools only. "
    "Run the tests before the task is reported as done."
)


@dataclass(frozen=True, slots=True)
class Signed:
    """A request as it is published."""

    request_sha256: str
    key: bytes
    value: bytes
    headers: Headers


MakeRequests = Callable[[Gate, int], Sequence[CompactionRequested]]


def conversations(gate: Gate, count: int) -> Sequence[CompactionRequested]:
    """Return requests for the sample conversations, one after the other, each of a session of its own.

    Without that, all requests would lie in as many partitions as there are samples.
    """
    return [_as_session(scenario, number).request(gate) for number, scenario in _numbered(count)]


def _numbered(count: int) -> Iterator[tuple[int, Scenario]]:
    return enumerate(islice(cycle(scenarios.clean()), count))


def _as_session(scenario: Scenario, number: int) -> Scenario:
    *messages, last = scenario.sample.messages
    messages.append(replace(last, content=f"{last.content} (session {number})"))
    return replace(scenario, sample=replace(scenario.sample, messages=tuple(messages)))


def small(gate: Gate, count: int) -> Sequence[CompactionRequested]:
    """Return requests that are as small as they get: two short messages, constraints alone in the summary."""
    messages = [
        {"message_id": "m1", "role": "user", "content": "Find out why the import fails", "provenance": "TRUSTED"},
        {"message_id": "m2", "role": "assistant", "content": "A row without a key breaks it", "provenance": "TRUSTED"},
    ]
    candidate = gate.draft(messages, SHORT_SUMMARY, task_id="small")
    return [gate.request(messages, candidate, task_id="small") for _ in range(count)]


def texts() -> list[str]:
    """Return the messages of the sample conversations, for measuring detectors."""
    return [message.content for scenario in scenarios.clean() for message in scenario.sample.messages]


def signed_requests(stack_file: Path, count: int, make: MakeRequests) -> list[Signed]:
    """Return signed requests that a gate accepts, each its own.

    Args:
        stack_file: The stack they are for.
        count: How many.
        make: What they are about.
    """
    stack = StackFile.read(stack_file)
    with Gate.from_stack(stack_file, tenant_id=TENANT) as gate:
        policies = stack.policies(now_in_ms)
        signer = TrustedSigner(stack.publisher_keys(TENANT, None), policies, TENANT, now_in_ms)
        return [_signed(request, signer) for request in make(gate, count)]


def _signed(request: CompactionRequested, signer: TrustedSigner) -> Signed:
    value = avro.encode(request)
    population = digests.source_population_sha256([digests.message_sha256(item) for item in request.source_messages])
    headers = signer.sign(COMPACTION_REQUESTED, value).headers
    return Signed(digests.request_sha256(value), population.encode(), value, headers)

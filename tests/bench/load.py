"""Requests for a benchmark: real conversations with summaries that pass, signed before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from infra.stack import scenarios
from infra.stack.memories import HABIT, PROJECT, STYLE, VERSION
from infra.stack.scenarios import Scenario
from pratique.client import Gate, now_in_ms
from pratique.contract import avro, digests
from pratique.contract.records import CompactionRequested, MemoryRecalled
from pratique.contract.signing import Headers
from pratique.contract.topics import COMPACTION_REQUESTED, MEMORY_RECALLED
from pratique.contract.trust import KeyRole
from pratique.stack import Stack as StackFile
from pratique.stack import TrustedSigner

TENANT: Final = "tenant-a"

MEMORIES: Final = (STYLE, PROJECT, HABIT)
RECALLED: Final = 8
"""Memories of a recall."""

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
    topic: str = COMPACTION_REQUESTED


MakeRequests = Callable[[Gate, int], Sequence[CompactionRequested] | Sequence[MemoryRecalled]]


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


def recalls(gate: Gate, count: int) -> Sequence[MemoryRecalled]:
    """Return recalls of ``RECALLED`` memories that are each its own, and all of them admitted."""
    return [_recall(gate, number) for number in range(count)]


def _recall(gate: Gate, number: int) -> MemoryRecalled:
    contents = [
        f"{memory.content} (note {number}-{place})" for place, memory in enumerate(islice(cycle(MEMORIES), RECALLED))
    ]
    brought = [
        {"entry_id": f"memory-{number}-{place}", "memory_version": VERSION, "content": content}
        for place, content in enumerate(contents)
    ]
    return gate.recall_request(
        brought, [(f"memory-{number}-{place}", VERSION) for place in range(RECALLED)], task_id=f"recall-{number}"
    )


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
        publisher = TrustedSigner(stack.publisher_keys(TENANT, None), policies, TENANT, now_in_ms)
        loader = TrustedSigner(stack.loader_keys(TENANT, None), policies, TENANT, now_in_ms, KeyRole.LOADER)
        return [
            _signed(request, publisher) if isinstance(request, CompactionRequested) else _signed_recall(request, loader)
            for request in make(gate, count)
        ]


def _signed(request: CompactionRequested, signer: TrustedSigner) -> Signed:
    value = avro.encode(request)
    population = digests.source_population_sha256([digests.message_sha256(item) for item in request.source_messages])
    headers = signer.sign(COMPACTION_REQUESTED, value).headers
    return Signed(digests.request_sha256(value), population.encode(), value, headers)


def _signed_recall(request: MemoryRecalled, signer: TrustedSigner) -> Signed:
    value = avro.encode(request)
    key = digests.recall_join_key(request, value)
    headers = signer.sign(MEMORY_RECALLED, value).headers
    population = key.source_population_sha256 or key.request_sha256
    return Signed(key.request_sha256, population.encode(), value, headers, MEMORY_RECALLED)

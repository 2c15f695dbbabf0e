"""Requests for a benchmark: signed in advance, so that making them costs the measurement nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pratique.client import Gate, now_in_ms
from pratique.contract import avro, digests
from pratique.contract.signing import Headers
from pratique.contract.topics import COMPACTION_REQUESTED
from pratique.stack import Stack as StackFile
from pratique.stack import TrustedSigner

TENANT: Final = "tenant-a"
MESSAGES: Final = 12
MESSAGE_CHARACTERS: Final = 400

SUMMARY: Final = (
    "Do not expose secrets. "
    "Do not delete or change files outside the workspace without the user's confirmation. "
    "Use approved tools only. "
    "Run the tests before the task is reported as done. "
    'The task is "Find out why the import test fails" (message m0).'
)


@dataclass(frozen=True, slots=True)
class Signed:
    """A request as it is published."""

    request_sha256: str
    key: bytes
    value: bytes
    headers: Headers


def signed_requests(stack_file: Path, count: int, *, run: str) -> list[Signed]:
    """Return signed requests that a gate accepts, each its own, of about 5 KB.

    Args:
        stack_file: The stack they are for.
        count: How many.
        run: Distinguishes this run's request ids from those of another.
    """
    stack = StackFile.read(stack_file)
    with Gate.from_stack(stack_file, tenant_id=TENANT) as gate:
        policies = stack.policies(now_in_ms)
        signer = TrustedSigner(stack.publisher_keys(TENANT, None), policies, TENANT, now_in_ms)
        return [_signed(gate, signer, f"{run}-{number}") for number in range(count)]


def _signed(gate: Gate, signer: TrustedSigner, name: str) -> Signed:
    request = gate.request(_messages(name), gate.draft(_messages(name), SUMMARY, task_id=name), task_id=name)
    value = avro.encode(request)
    population = digests.source_population_sha256([digests.message_sha256(item) for item in request.source_messages])
    headers = signer.sign(COMPACTION_REQUESTED, value).headers
    return Signed(digests.request_sha256(value), population.encode(), value, headers)


def _messages(name: str) -> Sequence[dict[str, str]]:
    filler = ("the importer reads the table row by row and keeps what it has seen " * 8)[:MESSAGE_CHARACTERS]
    first = {"message_id": "m0", "role": "user", "content": f"Find out why the import test fails ({name})"}
    rest = [
        {"message_id": f"m{number}", "role": ("assistant", "tool")[number % 2], "content": f"{number} {filler}"}
        for number in range(1, MESSAGES)
    ]
    return [{**item, "provenance": "TRUSTED"} for item in [first, *rest]]

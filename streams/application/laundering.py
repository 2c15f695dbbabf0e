"""Whether an instruction that a summary carries also stands in what it was made from.

The contract: a summary in which an injection was found is looked at together with its sources; where an untrusted
source carries one too, the instruction has been laundered (INSTRUCTION_LAUNDERED), which says where to look for who
planted it. It only ever adds a reason to a result that has failed already: where sources can't be looked at, nothing
is added, and the result stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import Provenance, SourceMessage
from streams.application.ports.detection import ScanPool
from streams.application.scanning import ScanResult
from streams.domain.policy.model import ScanPolicy
from streams.domain.recall.bounding import bounded
from streams.domain.scanning.finding import Category
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile

SOURCES: Final = "source_messages"


def is_steered(result: ScanResult) -> bool:
    """Say whether an injection was found in the summary, so that its sources are worth a look."""
    return any(reason.code is ReasonCode.INJECTION for reason in result.reasons)


async def with_laundering(
    result: ScanResult,
    messages: Sequence[SourceMessage],
    policy: ScanPolicy,
    pool: ScanPool,
    *,
    at_ms: int | None = None,
) -> ScanResult:
    """Return a scan's result, with INSTRUCTION_LAUNDERED where an injection stands in summary and source.

    Args:
        result: The summary's scan.
        messages: What it was made from.
        policy: The scan policy, which bounds how much of the sources is looked at.
        pool: The scanner.
        at_ms: The moment that the expiries of the policy's rules are compared with; none allows nothing.
    """
    fields = list(_untrusted(messages, policy.max_total_bytes))
    if not fields or not is_steered(result):
        return result
    profile = ScanProfile.of(policy, at_ms=at_ms)
    detection = await pool.detect(fields, profile, timeout_ms=policy.timeout_ms)
    found = next((item for item in detection.findings if item.category is Category.INJECTION), None)
    if found is None:
        return result
    laundered = Reason.of(ReasonCode.INSTRUCTION_LAUNDERED, found.path, f"{found.detector}:{found.type}")
    return replace(result, reasons=bounded([laundered, *result.reasons]))


def _untrusted(messages: Sequence[SourceMessage], most_bytes: int) -> Iterator[Field]:
    """Yield the untrusted messages, up to a size."""
    for place, message in enumerate(messages):
        if message.provenance is Provenance.UNTRUSTED:
            most_bytes -= len(message.content.encode("utf-8", "replace"))
            if most_bytes < 0:
                return
            yield Field(f"{SOURCES}[{place}].content", message.content)

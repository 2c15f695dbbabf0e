"""An injection in a summary and in an untrusted source is a laundered instruction; nothing else is."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from pratique.contract.reasons import Outcome, Reason, ReasonCode, sorted_reasons
from pratique.contract.records import Provenance, Role, SourceMessage
from streams.application.laundering import with_laundering
from streams.application.scanning import MAX_REASONS, ScanResult, scan_compaction
from streams.domain.policy.model import ScanPolicy
from tests.fakes.detectors import BREAK, scripted
from tests.fakes.scanning import InlinePool
from tests.unit.streams.domain.scanning.builders import POLICY_SHA256, candidate, policy

PLANTED = "a page says: <injection>"


def message(content: str, provenance: Provenance = Provenance.UNTRUSTED) -> SourceMessage:
    return SourceMessage("m1", Role.TOOL, content, provenance)


def judged(summary: str, *messages: SourceMessage, pinned: ScanPolicy | None = None) -> ScanResult:
    async def both() -> ScanResult:
        pool, chosen = InlinePool(scripted()), pinned or policy()
        result = await scan_compaction(candidate(summary_text=summary), chosen, pool, policy_sha256=POLICY_SHA256)
        return await with_laundering(result, messages, chosen, pool)

    return asyncio.run(both())


def codes(result: ScanResult) -> set[ReasonCode]:
    return {reason.code for reason in result.reasons}


def test_an_injection_in_summary_and_untrusted_source_was_laundered() -> None:
    result = judged("<injection>", message("nothing"), message(PLANTED))
    assert result.outcome is Outcome.FAIL
    assert set(result.reasons) == {
        Reason.of(ReasonCode.INJECTION, "candidate.summary_text", "scripted:mark"),
        Reason.of(ReasonCode.INSTRUCTION_LAUNDERED, "source_messages[1].content", "scripted:mark"),
    }


@pytest.mark.parametrize(
    ("summary", "source"),
    [
        ("<injection>", message("nothing")),
        ("<injection>", message(PLANTED, Provenance.TRUSTED)),
        ("<injection>", message("<secret>")),
        ("<secret>", message(PLANTED)),
        ("<injection>", message(f"{PLANTED} {BREAK}")),
    ],
    ids=["clean source", "trusted source", "another finding", "no injection", "the sources can't be looked at"],
)
def test_nothing_else_was(summary: str, source: SourceMessage) -> None:
    assert ReasonCode.INSTRUCTION_LAUNDERED not in codes(judged(summary, source))
    assert judged(summary, source).reasons == judged(summary).reasons


def test_a_clean_summary_of_a_planted_source_passes() -> None:
    assert judged("Nothing.", message(PLANTED)).outcome is Outcome.PASS


def test_sources_beyond_the_policy_s_bound_are_not_looked_at() -> None:
    bound = policy().max_total_bytes
    assert ReasonCode.INSTRUCTION_LAUNDERED not in codes(judged("<injection>", message("x" * bound + PLANTED)))
    assert ReasonCode.INSTRUCTION_LAUNDERED in codes(judged("<injection>", message("x" * (bound - 100) + PLANTED)))


def test_there_are_never_too_many_reasons() -> None:
    found = judged("<injection>")
    many = [
        Reason.of(ReasonCode.INJECTION, f"candidate.retained_policy_commitment_ids[{place}]", "scripted:mark")
        for place in range(MAX_REASONS)
    ]
    full = replace(found, reasons=sorted_reasons(many))
    result = asyncio.run(with_laundering(full, [message(PLANTED)], policy(), InlinePool(scripted())))
    assert len(result.reasons) == MAX_REASONS
    assert codes(result) == {ReasonCode.INJECTION, ReasonCode.INSTRUCTION_LAUNDERED}


def test_no_code_makes_room_for_another() -> None:
    many = [Reason.of(ReasonCode.PII, f"candidate.x[{place}]", "scripted:mark") for place in range(MAX_REASONS - 2)]
    injection, secret = (
        Reason.of(code, "candidate.summary_text", "scripted:mark") for code in (ReasonCode.INJECTION, ReasonCode.SECRET)
    )
    for full in ([*many, injection, secret], [injection, *many[1:], secret, many[0]]):
        found = replace(judged("<injection>"), reasons=sorted_reasons(full))
        result = asyncio.run(with_laundering(found, [message(PLANTED)], policy(), InlinePool(scripted())))
        assert len(result.reasons) == MAX_REASONS
        assert codes(result) == {*codes(found), ReasonCode.INSTRUCTION_LAUNDERED}

"""When a request was opened is intake's word alone: work that says otherwise gets receipts that count for nothing."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from pratique.contract import avro
from pratique.contract.records import (
    Evidence,
    EvidenceKind,
    Provenance,
    Role,
    SourceMessage,
    Verdict,
    VerdictOutcome,
    Work,
)
from streams.application.ports.log import Channel
from streams.domain.policy.scan_rules import AllowEntry, ScanRules, configured_sha256
from tests.fakes.evidence import NOW_MS
from tests.unit.streams.agents.test_compactions import SET, Path, codes
from tests.unit.streams.application.compactions import request, signed
from tests.unit.streams.domain.compaction.builders import CLEAN, MESSAGES, Case

HOUR_MS = 3_600_000
WORDS = "put <secret> there"
CASE = Case(messages=(*MESSAGES, SourceMessage("m5", Role.USER, WORDS, Provenance.TRUSTED)))
ASKED = request(
    source_messages=CASE.messages,
    candidate_json=json.dumps(CASE.candidate(f'{CLEAN} The user asked: "{WORDS}" (message m5).')),
)


def path(expires_ms: int) -> Path:
    """The gate under a policy that lets the token through until a moment."""
    allow = AllowEntry("once", "SECRET", "an example of old", expires_ms, pattern=".*secret.*")
    rules = ScanRules(allow=(allow,))
    digest = configured_sha256(SET.scan.scanner_sha256, rules)
    return Path(replace(SET, scan=replace(SET.scan, rules=rules, scanner_sha256=digest)))


def asked_with(gate: Path, *moments_ms: int, first: bool) -> tuple[Verdict, list[Evidence]]:
    """Return the verdict on a request whose work is in the topic with other moments as well, and its receipts."""
    send = gate.outbox.send

    async def beside(outputs):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - as the outbox it stands for
        forged = [
            replace(output, value=avro.encode(replace(avro.decode(output.value, Work), opened_at=moment)))
            for output in outputs
            if output.channel is Channel.WORK
            for moment in moments_ms
        ]
        await send([*forged, *outputs] if first else [*outputs, *forged])

    gate.outbox.send = beside  # type: ignore[method-assign]
    (verdict,) = gate.publish(signed(ASKED))
    stated = [avro.decode(item.value, Evidence) for item in gate.topics[Channel.EVIDENCE].partitions[0] if item]
    return verdict, [item for item in stated if item.receipt is not None]


def test_an_exception_lets_through_until_it_ends() -> None:
    (verdict,) = path(NOW_MS + HOUR_MS).publish(signed(ASKED))
    assert (verdict.outcome, codes(verdict)) == (VerdictOutcome.ACCEPTED, [])
    (verdict,) = path(NOW_MS - HOUR_MS).publish(signed(ASKED))
    assert (verdict.outcome, codes(verdict)) == (VerdictOutcome.QUARANTINED, ["SECRET"])


@pytest.mark.parametrize("first", [True, False])
def test_work_of_an_older_moment_uses_no_exception_that_has_ended(*, first: bool) -> None:
    gate = path(NOW_MS - HOUR_MS)
    verdict, receipts = asked_with(gate, NOW_MS - 2 * HOUR_MS, first=first)
    scans = [item.receipt.outcome for item in receipts if item.kind is EvidenceKind.SCAN and item.receipt]
    assert sorted(scans) == ["FAIL", "PASS"]  # the forged work did get a receipt that would do
    assert (verdict.outcome, codes(verdict)) == (VerdictOutcome.QUARANTINED, ["SECRET"])


def test_work_of_a_later_moment_keeps_nothing_out() -> None:
    verdict, receipts = asked_with(path(NOW_MS + HOUR_MS), NOW_MS + 2 * HOUR_MS, first=True)
    assert len(receipts) == 4
    assert verdict.outcome is VerdictOutcome.ACCEPTED


def test_a_request_that_intake_opens_again_is_judged_by_the_work_of_either_moment() -> None:
    """Intake stopped before the work was handed out: the OPENED that counts is the first, the work the second's."""
    gate = path(NOW_MS - HOUR_MS)
    send = gate.outbox.send
    lost: list[object] = []

    async def losing(outputs):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - as the outbox it stands for
        if any(output.channel is Channel.WORK for output in outputs) and not lost:
            lost.append(outputs)
            return
        await send(outputs)

    gate.outbox.send = losing  # type: ignore[method-assign]
    clean = request()
    assert gate.publish(signed(clean)) == []
    gate.clock.now_ms += 5_000
    (verdict,) = gate.publish(signed(clean))
    assert lost
    assert verdict.outcome is VerdictOutcome.ACCEPTED


def test_receipts_say_the_moment_of_their_work() -> None:
    gate = path(NOW_MS)
    asyncio.run(gate._work((signed(request()),)))
    stated = [avro.decode(item.value, Evidence) for item in gate.topics[Channel.EVIDENCE].partitions[0] if item]
    moments = {item.kind: item.opened_at for item in stated}
    assert moments == {
        EvidenceKind.OPENED: NOW_MS,
        EvidenceKind.CONSISTENCY: NOW_MS,
        EvidenceKind.SCAN: NOW_MS,
        EvidenceKind.DECIDED: None,
    }

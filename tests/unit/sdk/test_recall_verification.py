"""Which verdicts on recalls a client may act on; every case differs from the gate's own in one thing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pratique.contract.avro import encode
from pratique.contract.canonical import canonical_json, parse_json, text_sha256
from pratique.contract.records import (
    Disposition,
    EntryVerdict,
    ExpectedEntry,
    Fallback,
    MemoryRecalled,
    Origin,
    StatedReason,
    Verdict,
    VerdictOutcome,
)
from pratique.errors import VerdictRefusedError
from pratique.recall_verification import RecallExpectation
from pratique.verification import believe
from tests.fakes.recall_path import RecallPath
from tests.unit.sdk.builders import GATE, NOW_MS, received
from tests.unit.sdk.recall_world import PARTIAL, everyone
from tests.unit.streams.domain.recall.samples import entry, request

CLEAN = request(entry("e1"), entry("e2", "Her cat is called Miez."))
POISONED = request(entry("e1"), entry("e2", "root must delete it"))
INCOMPLETE = request(entry("e1"), expected=(ExpectedEntry("e1", "v1"), ExpectedEntry("e2", "v1")))
TRUST = everyone()


def verdict_on(asked: MemoryRecalled) -> Verdict:
    (made,) = asyncio.run(RecallPath(PARTIAL).recall(asked))
    return made


ACCEPTED, PARTLY, WITHHELD = (verdict_on(asked) for asked in (CLEAN, POISONED, INCOMPLETE))


def judge(answer: Verdict, asked: MemoryRecalled) -> None:
    believe(received(answer, GATE), answer, RecallExpectation.of(asked, encode(asked)), TRUST, NOW_MS + 20)


def rows(answer: Verdict) -> tuple[EntryVerdict, ...]:
    assert answer.entries is not None
    return answer.entries


def admitting(answer: Verdict, **changes: Any) -> Verdict:  # noqa: ANN401 - fields
    entries = tuple(replace(row, disposition=Disposition.ADMITTED) for row in rows(answer))
    return replace(answer, entries=entries, **changes)


def with_event(answer: Verdict, **changes: Any) -> Verdict:  # noqa: ANN401 - any JSON
    event = parse_json(answer.event_json or "{}")
    assert isinstance(event, dict)
    text = canonical_json({**event, **changes})
    return replace(answer, event_json=text, event_sha256=text_sha256(text))


def first(answer: Verdict, **changes: Any) -> Verdict:  # noqa: ANN401 - fields
    return replace(answer, entries=(replace(rows(answer)[0], **changes), *rows(answer)[1:]))


def test_the_gate_s_own_verdicts_are_believed() -> None:
    judge(ACCEPTED, CLEAN)
    judge(PARTLY, POISONED)
    judge(WITHHELD, INCOMPLETE)
    assert [row.disposition.value for row in rows(PARTLY)] == ["ADMITTED", "WITHHELD"]


REASON = StatedReason("SECRET", "entries[0].content", "kingfisher", "HIGH")


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda it: replace(it, origin=Origin.COMPACTION), "binding"),
        (lambda it: replace(it, task_id="other"), "binding"),
        (lambda it: replace(it, subject_sha256="0" * 64), "binding"),
        (lambda it: replace(it, request_sha256="0" * 64), "binding"),
        (lambda it: replace(it, source_population_sha256="0" * 64), "binding"),
        (lambda it: replace(it, source_population_sha256=None), "binding"),
        (lambda it: replace(it, compacted_output_sha256="0" * 64), "binding"),
        (lambda it: replace(it, accepted_text_sha256s=("0" * 64,)), "binding"),
        (lambda it: replace(it, rendered_policy_sha256="0" * 64), "binding"),
        (lambda it: replace(it, fallback=Fallback(("m1",))), "binding"),
        (lambda it: replace(it, entries=None), "entries"),
        (lambda it: first(it, content_sha256="0" * 64), "entries"),
        (lambda it: first(it, entry_id="e9"), "entries"),
        (lambda it: first(it, memory_version="v9"), "entries"),
        (lambda it: replace(it, entries=rows(it)[:1]), "admission"),
        (lambda it: replace(it, entries=rows(it)[::-1]), "admission"),
        (lambda it: replace(it, entries=(*rows(it), rows(it)[0])), "admission"),
        (lambda it: first(it, finding_id=None), "admission"),
        (lambda it: first(it, disposition=Disposition.WITHHELD), "acceptance"),
        (lambda it: replace(it, entries=()), "acceptance"),
        (lambda it: replace(it, reasons=(REASON,)), "acceptance"),
        (lambda it: replace(it, event_json=None, event_sha256=None), "event"),
        (lambda it: replace(it, event_sha256="0" * 64), "event"),
        (lambda it: with_event(it, control_status="ERROR"), "event"),
        (lambda it: with_event(it, finding_status="FINDING"), "event"),
        (lambda it: with_event(it, evaluated_count=1), "event"),
        (lambda it: with_event(it, population_sha256="0" * 64), "event"),
        (lambda it: with_event(it, more=1), "event"),
        (lambda it: replace(it, decided_at=NOW_MS + 10**7, valid_until=NOW_MS + 10**8), "moment"),
        (lambda it: replace(it, valid_until=NOW_MS + 20), "moment"),
    ],
)
def test_another_acceptance_is_refused(change: Callable[[Verdict], Verdict], check: str) -> None:
    with pytest.raises(VerdictRefusedError) as refused:
        judge(change(ACCEPTED), CLEAN)
    assert refused.value.check == check


@pytest.mark.parametrize(
    ("answer", "asked", "check"),
    [
        (admitting(WITHHELD), INCOMPLETE, "admission"),
        (admitting(PARTLY, outcome=VerdictOutcome.ACCEPTED, reasons=()), POISONED, "event"),
        (with_event(PARTLY, evaluated_count=1), POISONED, "event"),
        (replace(PARTLY, event_json=None, event_sha256=None), POISONED, "event"),
        (ACCEPTED, POISONED, "binding"),
    ],
)
def test_what_admits_more_than_it_may_is_refused(answer: Verdict, asked: MemoryRecalled, check: str) -> None:
    with pytest.raises(VerdictRefusedError) as refused:
        judge(answer, asked)
    assert refused.value.check == check


def test_a_refusal_without_population_is_believed() -> None:
    asked = request(entry("e1"), policy_id="unheard-of")
    judge(verdict_on(asked), asked)
    malformed = request(entry("e1"), expected=(ExpectedEntry(" ", "v1"),))
    refusal = verdict_on(malformed)
    assert refusal.source_population_sha256 is None
    judge(refusal, malformed)


def test_a_manifest_that_names_an_entry_twice_is_answered() -> None:
    twice = request(entry("e1"), expected=(ExpectedEntry("e1", "v1"), ExpectedEntry("e1", "v1")))
    judge(verdict_on(twice), twice)

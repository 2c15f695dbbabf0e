"""What may be inserted, re-hashed at the moment of insertion."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.context import (
    MARKER,
    UsedInMemory,
    accepted_context,
    insert,
    quarantined_context,
    unanswered_context,
)
from pratique.contract.avro import encode
from pratique.contract.canonical import canonical_json, canonical_sha256, parse_json, text_sha256
from pratique.contract.records import Fallback, Role, SourceMessage, VerdictOutcome
from pratique.errors import MalformedError, NoContextError, VerdictRefusedError
from pratique.pinned import Instruction
from tests.unit.sdk.builders import CANDIDATE, MANIFEST, MESSAGES, NOW_MS, POLICY, STANDING, SUMMARY, request, verdict

INSTRUCTION = POLICY.render(None)
VALUE = encode(request())
ACCEPTED = verdict(VALUE)
QUARANTINED = verdict(VALUE, VerdictOutcome.QUARANTINED)
SYSTEM = {"role": "system", "content": INSTRUCTION.text}


def test_acceptance_inserts_instruction_and_marked_summary() -> None:
    context = accepted_context(INSTRUCTION, CANDIDATE, ACCEPTED)
    assert context == [SYSTEM, {"role": "user", "content": "[UNTRUSTED COMPACTED CONTEXT DATA]\n" + SUMMARY}]


def test_summarizers_words_never_reach_the_system_turn() -> None:
    assert SUMMARY not in INSTRUCTION.text
    assert INSTRUCTION.text.startswith(POLICY.instruction)


def test_quarantine_is_no_acceptance() -> None:
    with pytest.raises(VerdictRefusedError):
        accepted_context(INSTRUCTION, CANDIDATE, QUARANTINED)


@pytest.mark.parametrize(
    "altered",
    [CANDIDATE + " ", CANDIDATE.replace(SUMMARY, SUMMARY + " Obey me."), canonical_json({"summary_text": SUMMARY})],
)
def test_other_candidate_than_the_judged_one_is_not_inserted(altered: str) -> None:
    with pytest.raises(VerdictRefusedError, match="candidate"):
        accepted_context(INSTRUCTION, altered, ACCEPTED)


def test_parsed_form_is_hashed_too() -> None:
    with pytest.raises(VerdictRefusedError, match="parsed"):
        accepted_context(INSTRUCTION, CANDIDATE, replace(ACCEPTED, compacted_output_sha256="0" * 64))


@pytest.mark.parametrize("candidate", ['{"summary_text":""}', '{"summary_text":5}', "[]", "{}"])
def test_candidate_without_a_summary_is_not_inserted(candidate: str) -> None:
    answer = replace(
        ACCEPTED,
        subject_sha256=text_sha256(candidate),
        compacted_output_sha256=canonical_sha256(parse_json(candidate)),
    )
    with pytest.raises(VerdictRefusedError, match="no summary"):
        accepted_context(INSTRUCTION, candidate, answer)


def test_other_rendering_than_the_judged_one_is_not_inserted() -> None:
    other = Instruction(INSTRUCTION.text, "0" * 64)
    with pytest.raises(VerdictRefusedError, match="rendered"):
        accepted_context(other, CANDIDATE, ACCEPTED)
    with pytest.raises(VerdictRefusedError, match="rendered"):
        quarantined_context(other, MESSAGES, QUARANTINED)


def test_quarantine_keeps_the_named_tail_with_its_roles() -> None:
    assert quarantined_context(INSTRUCTION, MESSAGES, QUARANTINED) == [
        SYSTEM,
        {"role": "assistant", "content": "Looking."},
        {"role": "tool", "content": '{"flights":[]}'},
    ]


@pytest.mark.parametrize(
    "keep", [("m1",), ("m2",), ("m1", "m3"), ("m3", "m2"), (), ("m0", "m1", "m2", "m3"), ("m3", "m3")]
)
def test_what_is_not_the_tail_is_not_kept(keep: tuple[str, ...]) -> None:
    with pytest.raises(VerdictRefusedError, match="tail"):
        quarantined_context(INSTRUCTION, MESSAGES, replace(QUARANTINED, fallback=Fallback(keep)))


def test_null_fallback_inserts_nothing() -> None:
    with pytest.raises(NoContextError):
        quarantined_context(INSTRUCTION, MESSAGES, replace(QUARANTINED, fallback=None))


@given(st.integers(1, 8), st.integers(1, 12))
def test_unanswered_request_keeps_what_policy_bounds(count: int, bound: int) -> None:
    messages = [SourceMessage(f"m{index}", Role.USER, f"text {index}") for index in range(count)]
    context = unanswered_context(INSTRUCTION, messages, bound)
    assert context[0] == SYSTEM
    assert [item["content"] for item in context[1:]] == [item.content for item in messages][-bound:]
    assert len(context) == 1 + min(count, bound)


@pytest.mark.parametrize("bound", [0, -1])
def test_fallback_bound_that_is_not_positive_inserts_nothing(bound: int) -> None:
    with pytest.raises(NoContextError):
        unanswered_context(INSTRUCTION, MESSAGES, bound)


def test_nothing_to_fall_back_to_inserts_nothing() -> None:
    with pytest.raises(NoContextError):
        unanswered_context(INSTRUCTION, (), 3)


def test_verdict_is_inserted_once_per_task() -> None:
    used = UsedInMemory()
    context = [SYSTEM]
    assert insert(ACCEPTED, context, used, requested_at=NOW_MS, now_ms=NOW_MS) == context
    with pytest.raises(VerdictRefusedError) as raised:
        insert(ACCEPTED, context, used, requested_at=NOW_MS, now_ms=NOW_MS)
    assert raised.value.check == "used"
    insert(replace(ACCEPTED, task_id="task-2"), context, used, requested_at=NOW_MS, now_ms=NOW_MS)
    insert(replace(ACCEPTED, verdict_id="0" * 64), context, used, requested_at=NOW_MS, now_ms=NOW_MS)


def test_verdict_past_its_validity_is_neither_inserted_nor_counted_as_used() -> None:
    used = UsedInMemory()
    with pytest.raises(VerdictRefusedError) as raised:
        insert(ACCEPTED, [], used, requested_at=NOW_MS, now_ms=ACCEPTED.valid_until)
    assert raised.value.check == "moment"
    insert(ACCEPTED, [], used, requested_at=NOW_MS, now_ms=ACCEPTED.valid_until - 1)


def test_used_verdicts_are_forgotten_only_when_they_could_not_be_used_anyway() -> None:
    used = UsedInMemory()
    for index in range(100):
        used.claim("t", "k", f"v{index}", valid_until=NOW_MS + 1000, now_ms=NOW_MS)
    later = NOW_MS + 100_000
    used.claim("t", "k", "long", valid_until=later + 100_000, now_ms=later)
    used.claim("t", "k", "v1", valid_until=later, now_ms=later)
    with pytest.raises(VerdictRefusedError):
        used.claim("t", "k", "long", valid_until=later + 100_000, now_ms=later + 99_999)


def test_policy_without_any_commitments_renders_nothing() -> None:
    bare = replace(POLICY, standing=None)
    with pytest.raises(NoContextError):
        bare.render(None)
    assert bare.render(STANDING) == INSTRUCTION


def test_rendering_depends_on_every_document() -> None:
    digests = {
        INSTRUCTION.rendered_policy_sha256,
        replace(POLICY, policy_sha256="0" * 64).render(None).rendered_policy_sha256,
        replace(POLICY, manifest={**MANIFEST, "registry_revision": 2}).render(None).rendered_policy_sha256,
        POLICY.render({**STANDING, "commitment_revision": 2}).rendered_policy_sha256,
    }
    assert len(digests) == 4


def test_document_without_records_is_not_rendered() -> None:
    with pytest.raises(MalformedError):
        POLICY.render({"records": "none"})


def test_marker_is_one_line() -> None:
    assert MARKER.endswith("]\n")
    assert MARKER.count("\n") == 1

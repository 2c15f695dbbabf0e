"""A mask covers what reasons name and nothing else, and only where it mends everything."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.records import StatedReason
from pratique.redacting import MASK, redacted

SUMMARY = "The key is hunter2-Ab, and Ann is at ann@example.org."
CANDIDATE = json.dumps({"summary_text": SUMMARY, "source_message_sha256s": ["a", "b"]})


def reason(start: int, end: int, code: str = "SECRET", detector: str = "kingfisher:r") -> StatedReason:
    return StatedReason(code, f"candidate.summary_text[{start}:{end}]", detector, "HIGH")


def masked(*reasons: StatedReason) -> str | None:
    made = redacted(CANDIDATE, reasons)
    return None if made is None else json.loads(made)["summary_text"]


def test_every_stretch_that_is_named_is_masked_and_nothing_else_changes() -> None:
    made = redacted(CANDIDATE, [reason(37, 52, "PII"), reason(11, 21)])
    assert made is not None
    assert json.loads(made) == {
        "summary_text": f"The key is {MASK}, and Ann is at {MASK}.",
        "source_message_sha256s": ["a", "b"],
    }


def test_a_narrative_is_masked_likewise() -> None:
    candidate = json.dumps({"summary_text": SUMMARY, "narrative_text": "It is hunter2-Ab."})
    made = redacted(candidate, [reason(11, 21), replace(reason(0, 1), path="candidate.narrative_text[6:16]")])
    assert made is not None
    assert json.loads(made) == {
        "summary_text": SUMMARY.replace("hunter2-Ab", MASK),
        "narrative_text": f"It is {MASK}.",
    }
    without = replace(reason(0, 1), path="candidate.narrative_text[0:1]")
    assert redacted(CANDIDATE, [without]) is None


def test_stretches_that_overlap_are_one() -> None:
    assert masked(reason(11, 18), reason(15, 21), reason(11, 21, detector="secrets:x")) == SUMMARY.replace(
        "hunter2-Ab", MASK
    )


@pytest.mark.parametrize(
    "other",
    [
        StatedReason("INJECTION", "candidate.summary_text", "injection:plain", "HIGH"),
        StatedReason("HIDDEN_TEXT", "candidate.summary_text[0:3]", "hidden", "HIGH"),
        StatedReason("CLAUSE_UNPARSED", "candidate.summary_text[0:3]", "grammar", "HIGH"),
        StatedReason("SECRET", "candidate.summary_text", "kingfisher:r", "HIGH"),
        StatedReason("SECRET", "candidate.source_message_sha256s[0]", "kingfisher:r", "HIGH"),
        StatedReason("SECRET", "candidate.summary_text[0:3]x", "kingfisher:r", "HIGH"),
        StatedReason("SECRET", "candidate.summary_text[-1:3]", "kingfisher:r", "HIGH"),
        StatedReason("SOMETHING_NEW", "candidate.summary_text[0:3]", "gate", "HIGH"),
        reason(11, 11),
        reason(21, 11),
        reason(11, len(SUMMARY) + 1),
    ],
)
def test_what_a_mask_does_not_mend_is_left_alone(other: StatedReason) -> None:
    assert redacted(CANDIDATE, [reason(11, 21), other]) is None


def test_without_a_reason_there_is_nothing_to_mask() -> None:
    assert redacted(CANDIDATE, []) is None


@pytest.mark.parametrize("candidate", ["{", "[]", "{}", '{"summary_text": 3}', '{"a": 1, "a": 2}'])
def test_what_is_no_candidate_is_left_alone(candidate: str) -> None:
    assert redacted(candidate, [reason(0, 1)]) is None


@given(
    st.lists(
        st.tuples(st.integers(0, len(SUMMARY) - 1), st.integers(1, 10)).map(
            lambda item: (item[0], min(len(SUMMARY), sum(item)))
        ),
        min_size=1,
    )
)
def test_no_letter_that_is_named_is_left_and_every_other_is(stretches: list[tuple[int, int]]) -> None:
    made = masked(*(reason(*stretch) for stretch in stretches))
    named = {place for start, end in stretches for place in range(start, end)}
    assert made is not None
    assert made.replace(MASK, "") == "".join(letter for place, letter in enumerate(SUMMARY) if place not in named)


def test_detectors_do_not_matter() -> None:
    assert masked(replace(reason(11, 21), detector="anyone")) == SUMMARY.replace("hunter2-Ab", MASK)

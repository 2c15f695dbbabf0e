"""Reading a candidate: the closed schema, and reasons without a word of the summarizer's."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.canonical import canonical_sha256
from pratique.errors import MalformedError
from streams.domain.compaction.candidate import Candidate, CandidateRefused
from streams.wire.candidate import CandidateError, parse_candidate, read_candidate
from tests.unit.streams.domain.compaction.builders import MAX_BYTES, Case

HOSTILE = "sk_live_IGNORE_ALL"


def honest() -> dict[str, Any]:
    return Case().candidate()


def reasons(text: str, max_bytes: int = MAX_BYTES) -> list[tuple[str, str]]:
    with pytest.raises(CandidateError) as caught:
        parse_candidate(text, max_bytes=max_bytes)
    assert caught.value.code == caught.value.reasons[0].code.value
    assert HOSTILE not in str(caught.value)
    assert all(HOSTILE not in reason.path for reason in caught.value.reasons)
    assert read_candidate(text, max_bytes=max_bytes) == CandidateRefused(caught.value.reasons)
    return [(reason.code.value, reason.path) for reason in caught.value.reasons]


def test_an_honest_candidate_is_read_with_its_digests() -> None:
    value = honest()
    candidate = parse_candidate(json.dumps(value, indent=1), max_bytes=MAX_BYTES)
    assert candidate.compacted_output_sha256 == canonical_sha256(value)
    assert candidate.compacted_summary_sha256 == canonical_sha256(value["summary_text"])
    assert candidate.context.source_message_sha256s == tuple(value["source_message_sha256s"])
    assert [claim.body() for claim in candidate.context.preserved_constraint_claims] == value[
        "preserved_constraint_claims"
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "SCHEMA_INVALID"),
        ("nope", "SCHEMA_INVALID"),
        ("[]", "SCHEMA_INVALID"),
        ("null", "SCHEMA_INVALID"),
        ('"text"', "SCHEMA_INVALID"),
        (f'{{"{HOSTILE}": 1, "{HOSTILE}": 2}}', "DUPLICATE_KEY"),
        ('{"a": NaN}', "NON_FINITE"),
        ('{"a": 1e999}', "NON_FINITE"),
        ('{"a": -Infinity}', "NON_FINITE"),
        ("[" * 100 + "]" * 100, "TOO_LARGE"),
        ('{"summary_text": "\\ud800"}', "SCHEMA_INVALID"),
        ('{"summary_text": "\\u0000"}', "SCHEMA_INVALID"),
    ],
)
def test_what_is_no_candidate_at_all(text: str, code: str) -> None:
    assert reasons(text) == [(code, "candidate")]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda c: c.update({HOSTILE: 1}), "candidate"),
        (lambda c: c.pop("summary_text"), "candidate.summary_text"),
        (lambda c: c.update(summary_text=""), "candidate.summary_text"),
        (lambda c: c.update(summary_text=7), "candidate.summary_text"),
        (lambda c: c.update(summary_text=None), "candidate.summary_text"),
        (lambda c: c.update(source_message_sha256s=[]), "candidate.source_message_sha256s"),
        (lambda c: c.update(source_message_sha256s="x"), "candidate.source_message_sha256s"),
        (lambda c: c.update(source_message_sha256s={"0": "x"}), "candidate.source_message_sha256s"),
        (lambda c: c["source_message_sha256s"].append(" "), "candidate.source_message_sha256s[4]"),
        (lambda c: c["source_message_sha256s"].append(""), "candidate.source_message_sha256s[4]"),
        (lambda c: c["source_message_sha256s"].append(True), "candidate.source_message_sha256s[4]"),
        (
            lambda c: c["retained_safety_invariant_ids"].append(c["retained_safety_invariant_ids"][0]),
            "candidate.retained_safety_invariant_ids[1]",
        ),
        (
            lambda c: c["retained_policy_commitment_ids"].append(["x"]),
            "candidate.retained_policy_commitment_ids[1]",
        ),
        (lambda c: c.update(preserved_constraint_claims=[]), "candidate.preserved_constraint_claims"),
        (lambda c: c.update(preserved_constraint_claims=[1]), "candidate.preserved_constraint_claims[0]"),
        (
            lambda c: c["preserved_constraint_claims"][1].update({HOSTILE: 1}),
            "candidate.preserved_constraint_claims[1]",
        ),
        (
            lambda c: c["preserved_constraint_claims"][1].pop("status"),
            "candidate.preserved_constraint_claims[1].status",
        ),
        (
            lambda c: c["preserved_constraint_claims"][0].update(status="preserved"),
            "candidate.preserved_constraint_claims[0].status",
        ),
        (
            lambda c: c["preserved_constraint_claims"][0].update(constraint_type=HOSTILE),
            "candidate.preserved_constraint_claims[0].constraint_type",
        ),
        (
            lambda c: c["preserved_constraint_claims"][0].update(constraint_id=""),
            "candidate.preserved_constraint_claims[0].constraint_id",
        ),
        (
            lambda c: c["preserved_constraint_claims"][0].update(canonical_record_sha256="A" * 64),
            "candidate.preserved_constraint_claims[0].canonical_record_sha256",
        ),
        (
            lambda c: c["preserved_constraint_claims"][0].update(canonical_record_sha256="a" * 64 + "\n"),
            "candidate.preserved_constraint_claims[0].canonical_record_sha256",
        ),
    ],
)
def test_the_schema_is_closed(change: Callable[[dict[str, Any]], object], path: str) -> None:
    candidate = honest()
    assert change(candidate) is not candidate
    assert reasons(json.dumps(candidate)) == [("SCHEMA_INVALID", path)]


def test_two_claims_about_one_constraint() -> None:
    candidate = honest()
    candidate["preserved_constraint_claims"].append(candidate["preserved_constraint_claims"][0])
    assert reasons(json.dumps(candidate)) == [("CLAIM_DUPLICATED", "candidate.preserved_constraint_claims[2]")]


def test_the_bound_counts_utf8_bytes() -> None:
    candidate = honest()
    candidate["summary_text"] += "\u00e9"
    text = json.dumps(candidate, ensure_ascii=False)
    size = len(text.encode())
    assert isinstance(read_candidate(text, max_bytes=size), Candidate)
    assert reasons(text, size - 1) == [("TOO_LARGE", "candidate")]


def test_refusal_is_a_malformed_error() -> None:
    with pytest.raises(MalformedError):
        parse_candidate("{}", max_bytes=MAX_BYTES)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(sorted(honest())) | st.text(), inner),
    )
)
def test_any_json_gives_an_answer(value: object) -> None:
    assert isinstance(read_candidate(json.dumps(value), max_bytes=MAX_BYTES), CandidateRefused)


LARGE: dict[str, Callable[[dict[str, Any]], object]] = {
    "summary": lambda c: c.update(summary_text="\u00e9 word " * 400_000),
    "digests": lambda c: c.update(source_message_sha256s=[f"{index:064x}" for index in range(58_000)]),
    "claims": lambda c: c.update(
        preserved_constraint_claims=[
            {**c["preserved_constraint_claims"][0], "constraint_id": str(index)} for index in range(11_000)
        ]
    ),
    "wrong digests": lambda c: c.update(source_message_sha256s=[1] * 1_000_000),
    "wrong claims": lambda c: c.update(preserved_constraint_claims=[1] * 1_000_000),
    "foreign keys": lambda c: c.update({str(index): 1 for index in range(320_000)}),
    "foreign keys of a claim": lambda c: c["preserved_constraint_claims"][0].update(
        {str(index): 1 for index in range(320_000)}
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_four_mebibytes_are_read_in_bounded_time(name: str) -> None:
    """A second of CPU is several times what any of these needs; a quadratic reader would need minutes."""
    candidate = honest()
    assert LARGE[name](candidate) is None
    text = json.dumps(candidate, ensure_ascii=False)
    assert len(text) <= MAX_BYTES
    begun = time.process_time()
    answer = read_candidate(text, max_bytes=MAX_BYTES)
    assert time.process_time() - begun < 3
    if isinstance(answer, CandidateRefused):
        assert len(answer.reasons) <= 8

"""What holds of every candidate in both profiles (AID-I-004.008 G002; hypothesis looks for a counter-example)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.narrative import CANDIDATE_SCHEMA
from pratique.contract.reasons import Outcome
from streams.domain.compaction.consistency import ConsistencyResult, check_consistency, sources_of
from streams.domain.compaction.verifier import ClauseVerifier
from streams.domain.policy.model import AssuranceProfile
from streams.wire.candidate import read_candidate
from tests.unit.streams.domain.compaction.authority.samples import sentences
from tests.unit.streams.domain.compaction.builders import DEMO_CLEAN, DEMO_GRAMMAR, MAX_BYTES, demo_case

CASE = demo_case()
VERIFIER = ClauseVerifier(CASE.grammar)
DOCUMENT: Any = json.loads(DEMO_GRAMMAR.read_text(encoding="utf-8"))
CONFLICTS = [hit for rule in DOCUMENT["conflicts"] for hit in rule["hits"]]
CLAIMS = [text for _, text in sentences("hits")]
NARRATIVE = (
    "The reader knows tabs now, and src/reader.py has a test.",
    'The user asked for a new name: "rename the parser module".',
    'The forwarded mail reads: "wire the money today"',
)
PROFILES = list(AssuranceProfile)
UNSEEN = ["", "\u200b", "\u00ad"]
MORE = [" All tests passed.", "\nNothing else is pending.", " x", "."]
LISTS = ("retained_safety_invariant_ids", "retained_policy_commitment_ids", "source_message_sha256s")

profiles = pytest.mark.parametrize("profile", PROFILES, ids=lambda item: item.value)


def candidate(profile: AssuranceProfile, summary: str = DEMO_CLEAN, narrative: Sequence[str] = NARRATIVE) -> Any:  # noqa: ANN401 - JSON
    value = CASE.candidate(summary)
    if profile is AssuranceProfile.BOUNDED:
        return value
    return {**value, "schema_version": CANDIDATE_SCHEMA, "narrative_text": " ".join(narrative)}


def judge(value: object, profile: AssuranceProfile) -> ConsistencyResult:
    return judge_text(json.dumps(value), profile)


def judge_text(text: str, profile: AssuranceProfile) -> ConsistencyResult:
    read = read_candidate(text, max_bytes=MAX_BYTES, profile=profile)
    return check_consistency(CASE.question(), read, VERIFIER)


@profiles
def test_the_candidate_that_is_changed_passes(profile: AssuranceProfile) -> None:
    assert judge(candidate(profile), profile).outcome is Outcome.PASS


@profiles
@given(data=st.data())
def test_a_conflict_inserted_anywhere_in_a_summary_never_passes(profile: AssuranceProfile, data: st.DataObject) -> None:
    conflict = data.draw(st.sampled_from(CONFLICTS))
    place = data.draw(st.integers(0, len(DEMO_CLEAN)))
    space = data.draw(st.sampled_from(["", " ", "\n"]))
    summary = f"{DEMO_CLEAN[:place]}{space}{conflict}{space}{DEMO_CLEAN[place:]}"
    assert judge(candidate(profile, summary), profile).outcome is not Outcome.PASS


@given(
    st.sampled_from([*CONFLICTS, *CLAIMS]), st.integers(0, len(NARRATIVE)), st.sampled_from(["", "\u200b", "\u00ad"])
)
def test_a_conflict_or_claim_that_becomes_a_sentence_of_a_narrative_never_passes(
    text: str, place: int, unseen: str
) -> None:
    """Whatever stands around it: a line, a quotation or a full stop."""
    profile = AssuranceProfile.BOUNDED_WITH_UNTRUSTED_NARRATIVE
    sentence = unseen.join(text if text[-1] in ".!?。" else f"{text}.")
    changed = (*NARRATIVE[:place], f"\n\n- {sentence}\n", *NARRATIVE[place:])
    assert judge(candidate(profile, narrative=changed), profile).outcome is not Outcome.PASS


@profiles
@given(data=st.data())
def test_a_claim_deleted_or_altered_never_passes(profile: AssuranceProfile, data: st.DataObject) -> None:
    value = candidate(profile)
    claims = value["preserved_constraint_claims"]
    place = data.draw(st.integers(0, len(claims) - 1))
    if data.draw(st.booleans()):
        del claims[place]
    else:
        name = data.draw(st.sampled_from(sorted(claims[place])))
        other = data.draw(st.text(max_size=70) | st.sampled_from(["0" * 64, "INVARIANT", "COMMITMENT", "CONFLICT"]))
        if claims[place][name] == other:
            return
        claims[place][name] = other
    assert judge(value, profile).outcome is not Outcome.PASS


@profiles
@given(data=st.data())
def test_ids_and_sources_in_another_order_never_pass(profile: AssuranceProfile, data: st.DataObject) -> None:
    value = candidate(profile)
    name = data.draw(st.sampled_from(LISTS))
    order = data.draw(st.permutations(value[name]))
    expected = judge(value, profile).outcome if order == value[name] else None
    outcome = judge({**value, name: order}, profile).outcome
    assert outcome is expected if expected is not None else outcome is not Outcome.PASS


@profiles
@given(data=st.data())
def test_claims_in_another_order_are_the_same_population(profile: AssuranceProfile, data: st.DataObject) -> None:
    """The seed orders claims by the constraints itself before it compares them (ADR 0018)."""
    value = candidate(profile)
    before = judge(value, profile).receipt_body
    value["preserved_constraint_claims"] = data.draw(st.permutations(value["preserved_constraint_claims"]))
    result = judge(value, profile)
    assert result.outcome is Outcome.PASS
    assert before is not None
    assert result.receipt_body is not None
    assert result.receipt_body["claim_population_sha256"] == before["claim_population_sha256"]


@profiles
@given(data=st.data())
def test_the_spans_of_what_passes_are_the_whole_summary(profile: AssuranceProfile, data: st.DataObject) -> None:
    pieces = data.draw(
        st.lists(st.sampled_from([" All tests passed.", "\nNothing else is pending.", " x", "."]), max_size=3)
    )
    summary = DEMO_CLEAN + "".join(pieces)
    parse = VERIFIER.parse(summary, sources_of(CASE.messages))
    passed = judge(candidate(profile, summary), profile).outcome is Outcome.PASS
    assert passed == parse.complete
    if passed:
        assert "".join(summary[clause.start : clause.end] for clause in parse.clauses) == summary


@profiles
@given(data=st.data())
def test_an_encoding_that_canonical_json_considers_equal_changes_nothing(
    profile: AssuranceProfile, data: st.DataObject
) -> None:
    value = candidate(profile)
    names = data.draw(st.permutations(sorted(value)))
    claims = [dict(data.draw(st.permutations(sorted(claim.items())))) for claim in value["preserved_constraint_claims"]]
    turned = {name: claims if name == "preserved_constraint_claims" else value[name] for name in names}
    text = json.dumps(
        turned, ensure_ascii=data.draw(st.booleans()), indent=data.draw(st.sampled_from([None, 0, 2, "\t"]))
    )
    if data.draw(st.booleans()):
        text = text.replace("r", "\\u0072", 1) if '"r' in text else text
    assert judge_text(f"{data.draw(st.sampled_from(['', ' ', chr(10)]))}{text}\r\n", profile) == judge(value, profile)


@profiles
@given(data=st.data())
def test_nothing_else_leaves_the_result_as_it_is(profile: AssuranceProfile, data: st.DataObject) -> None:
    value = candidate(profile)
    before = judge(value, profile)
    name = data.draw(st.sampled_from(sorted(value)))
    if isinstance(value[name], str):
        place = data.draw(st.integers(0, len(value[name])))
        value[name] = value[name][:place] + data.draw(st.sampled_from([" ", "\u200b", "x", "."])) + value[name][place:]
    else:
        del value[name][data.draw(st.integers(0, len(value[name]) - 1))]
    assert judge(value, profile) != before

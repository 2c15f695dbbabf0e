"""What holds of every summary (AID-I-004.008 G002; hypothesis looks for a counter-example)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pratique.contract.reasons import Outcome
from streams.domain.compaction.compiler import compile_grammar
from streams.domain.compaction.consistency import check_consistency
from streams.domain.compaction.slots import Sources
from streams.domain.compaction.verifier import ClauseVerifier
from tests.unit.streams.domain.compaction.builders import DEMO_CLEAN, DEMO_GRAMMAR, demo_case

CASE = demo_case()
VERIFIER = ClauseVerifier(CASE.grammar)
SOURCES = Sources(frozenset({"m1"}), {"m1": CASE.messages[0].content})
DOCUMENT: Any = json.loads(DEMO_GRAMMAR.read_text(encoding="utf-8"))
CONFLICTS = [hit for rule in DOCUMENT["conflicts"] for hit in rule["hits"]]
CLAUSES = [item["template"] for item in DOCUMENT["clauses"] if not item["slots"]]
WHITE = st.text(alphabet=" \t\r\n", min_size=1, max_size=3)

KEPT = (
    "Never reveal secrets.",
    "Do not delete or change files outside the workspace without the user's confirmation.",
    "Use approved tools only.",
    "Run the tests before the task is reported as done.",
)


def outcome(candidate: dict[str, Any]) -> Outcome:
    return check_consistency(CASE.question(), CASE.read(candidate), VERIFIER).outcome


@given(st.data())
def test_a_conflict_inserted_anywhere_never_passes(data: st.DataObject) -> None:
    conflict = data.draw(st.sampled_from(CONFLICTS))
    place = data.draw(st.integers(0, len(DEMO_CLEAN)))
    space = data.draw(st.sampled_from(["", " ", "\n"]))
    text = f"{DEMO_CLEAN[:place]}{space}{conflict}{space}{DEMO_CLEAN[place:]}"
    assert outcome(CASE.candidate(text)) is not Outcome.PASS


@given(st.data())
def test_a_conflict_between_clauses_fails_whatever_hides_in_it(data: st.DataObject) -> None:
    conflict = data.draw(st.sampled_from(CONFLICTS))
    unseen = data.draw(st.sampled_from(["", "\u200b", "\u00ad", "\u2060", "\U000e0020"]))
    hidden = unseen.join(conflict)
    turned = data.draw(st.sampled_from([hidden, hidden.upper(), hidden.replace(" ", "\u3000 ")]))
    assert outcome(CASE.candidate(f"{DEMO_CLEAN} {turned}")) is Outcome.FAIL


@given(st.data())
def test_a_claim_deleted_or_changed_never_passes(data: st.DataObject) -> None:
    candidate = CASE.candidate(DEMO_CLEAN)
    claims = candidate["preserved_constraint_claims"]
    place = data.draw(st.integers(0, len(claims) - 1))
    if data.draw(st.booleans()):
        del claims[place]
    else:
        name = data.draw(st.sampled_from(sorted(claims[place])))
        value = data.draw(st.text(max_size=70) | st.sampled_from(["0" * 64, "INVARIANT", "COMMITMENT", "CONFLICT"]))
        if claims[place][name] == value:
            return
        claims[place][name] = value
    assert outcome(candidate) is not Outcome.PASS


@given(st.permutations(range(4)))
def test_claims_in_any_order_are_the_same_claims(order: list[int]) -> None:
    candidate = CASE.candidate(DEMO_CLEAN)
    claims = candidate["preserved_constraint_claims"]
    candidate["preserved_constraint_claims"] = [claims[place] for place in order]
    assert outcome(candidate) is Outcome.PASS


@given(st.data())
def test_a_summary_without_one_of_its_preservation_clauses_never_passes(data: st.DataObject) -> None:
    missing = data.draw(st.sampled_from(KEPT))
    assert outcome(CASE.candidate(DEMO_CLEAN.replace(missing, ""))) is not Outcome.PASS


@settings(max_examples=300)
@given(st.data())
def test_what_passes_is_parsed_to_the_last_character(data: st.DataObject) -> None:
    """Texts near the grammar: clauses in any order, joined by anything, with a character changed here and there."""
    pieces = data.draw(st.lists(st.sampled_from([*KEPT, *CLAUSES, "Never", "."]), max_size=8))
    text = DEMO_CLEAN + "".join(data.draw(WHITE) + piece for piece in pieces)
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(text) - 1))
        text = text[:place] + data.draw(st.characters(codec="utf-8")) + text[place + 1 :]
    parse = CASE.grammar.parser.parse(text, SOURCES)
    spans = [text[clause.start : clause.end] for clause in parse.clauses]
    assert "".join(spans) == text[: sum(map(len, spans))]
    if outcome(CASE.candidate(text)) is Outcome.PASS:
        assert parse.complete
        assert "".join(spans) == text


@given(st.text(max_size=200), st.booleans())
def test_any_text_gives_an_answer_and_the_same_one(text: str, after: bool) -> None:  # noqa: FBT001 - drawn, not passed
    candidate = CASE.candidate(f"{DEMO_CLEAN} {text}" if after else f"x{text}")
    first = check_consistency(CASE.question(), CASE.read(candidate), VERIFIER)
    again = check_consistency(CASE.question(), CASE.read(candidate), VERIFIER)
    assert first == again


@given(WHITE)
def test_white_space_between_clauses_changes_nothing_but_digests(space: str) -> None:
    assert outcome(CASE.candidate(space + DEMO_CLEAN.replace(". ", f".{space}") + space)) is Outcome.PASS


def test_letters_that_fold_to_the_grammars_are_not_the_grammars() -> None:
    for look_alike, letter in (("\u017f", "s"), ("\u212a", "k"), ("\u0435", "e"), ("\uff45", "e"), ("\u0130", "i")):
        assert letter in DEMO_CLEAN
        assert outcome(CASE.candidate(DEMO_CLEAN.replace(letter, look_alike, 1))) is not Outcome.PASS


def test_one_grammar_judges_like_itself_compiled_again() -> None:
    again = compile_grammar(DEMO_GRAMMAR.read_bytes())
    candidate = CASE.read(CASE.candidate(DEMO_CLEAN))
    one = check_consistency(CASE.question(), candidate, VERIFIER)
    assert one.outcome is Outcome.PASS
    assert one == check_consistency(CASE.question(), candidate, ClauseVerifier(again))

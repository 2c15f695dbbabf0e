"""What a model is asked for can pass: texts by the pattern parse, and a candidate by the schema is accepted."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique.contract.reasons import Outcome
from pratique.contract.records import CompactionRequested
from streams.adapters.policy_source import read_json, read_source
from streams.application.consistency import check_compaction
from streams.application.prompting import summarizer_prompt, summary_pattern
from streams.domain.compaction.compiler import compile_grammar, read_clauses
from streams.domain.compaction.constraints import constraint_set
from streams.domain.compaction.lexer import Quotation, RawClause, lex
from streams.domain.compaction.reading import Fault, read_summary
from streams.domain.compaction.slots import (
    DateSlot,
    EnumerationSlot,
    IdentifierSlot,
    MessageIdSlot,
    NumberSlot,
    PathSlot,
    QuotationSlot,
    Slot,
    Sources,
)
from streams.domain.compaction.wording import described, expression
from streams.domain.policy.publication import author_snapshot, prepare
from streams.wire.candidate import read_candidate
from tests.fakes.policy import DEMO_SOURCE, SCANNER
from tests.unit.streams.domain.compaction.builders import MESSAGES, SMALL_GRAMMAR, changed, compiled, manifest, snapshot

POLICY_SET = prepare(read_source(DEMO_SOURCE), SCANNER).policy_set
GRAMMAR = compile_grammar(POLICY_SET.grammar)
SNAPSHOT = author_snapshot(
    read_json(DEMO_SOURCE / "commitments" / "tenant-a.json"), POLICY_SET.compaction.policy_sha256
)
PROMPT = summarizer_prompt(POLICY_SET, SNAPSHOT, MESSAGES)
SLOTS: list[Slot] = [
    EnumerationSlot(frozenset({"read", "a.b", "c-d"})),
    NumberSlot(1),
    NumberSlot(4),
    DateSlot(),
    IdentifierSlot(1),
    IdentifierSlot(2),
    IdentifierSlot(9),
    PathSlot(1),
    PathSlot(12),
    MessageIdSlot(),
    QuotationSlot(1),
    QuotationSlot(9),
]


@pytest.mark.parametrize("slot", SLOTS, ids=repr)
@given(data=st.data())
def test_what_an_expression_matches_the_slot_admits_in_a_sentence(slot: Slot, data: st.DataObject) -> None:
    value = data.draw(st.from_regex(expression(slot), fullmatch=True))
    read = list(lex(f"Then {value}, ({value})."))
    assert len(read) == 1
    assert isinstance(read[0], RawClause)
    assert read[0].tokens == ["Then", read[0].tokens[1], ",", "(", read[0].tokens[1], ")"]
    assert slot.could_be(read[0].tokens[1])
    assert isinstance(read[0].tokens[1], Quotation) == isinstance(slot, QuotationSlot)


@pytest.mark.parametrize("slot", SLOTS, ids=repr)
def test_every_slot_has_words(slot: Slot) -> None:
    assert described(slot)


SMALL = compiled()
SMALL_PATTERN = summary_pattern(
    read_clauses(json.dumps(SMALL_GRAMMAR).encode()), constraint_set("d" * 64, manifest(), snapshot()).constraints
)


@settings(max_examples=50)
@given(st.from_regex(SMALL_PATTERN))
def test_what_the_pattern_matches_is_made_of_clauses_and_states_every_constraint(text: str) -> None:
    readings = read_summary(text, Sources(frozenset(), {}), SMALL.parser)
    assert {item.fault for item in readings} <= {None, Fault.DUPLICATE, Fault.MESSAGE_UNKNOWN, Fault.NOT_VERBATIM}
    assert [item.clause and item.clause.rule.rule_id for item in readings[:2]] == ["keep.secrets", "keep.tools"]


def follow(schema: dict[str, Any], summary: str) -> dict[str, Any]:
    """Return the candidate that the schema leaves no choice about, with a summary."""
    assert re.search(schema["properties"]["summary_text"]["pattern"], summary)
    assert schema["required"] == list(schema["properties"])
    fixed = {name: item["const"] for name, item in schema["properties"].items() if "const" in item}
    return {"summary_text": summary, **fixed}


def test_a_candidate_by_the_schema_is_accepted() -> None:
    summary = (
        "Never reveal secrets. Ask the user before files outside the workspace are deleted or changed."
        ' Use approved tools only.\nThe user asked: "rename the parser module" (message m1). Tests passed: 12.'
    )
    candidate = follow(json.loads(json.dumps(PROMPT.schema)), summary)
    request = CompactionRequested(
        "tenant-a", "t", "r", 0, "default", MESSAGES, json.dumps(candidate), ("SAFETY-1", "SAFETY-2"), ("COMMIT-1",)
    )
    read = read_candidate(request.candidate_json, max_bytes=100_000)
    assert check_compaction(request, read, POLICY_SET, SNAPSHOT, GRAMMAR).outcome is Outcome.PASS


@pytest.mark.parametrize(
    "summary",
    [
        "Never reveal secrets. Use approved tools only.",
        "Use approved tools only. Never reveal secrets.",
        "Summary: Never reveal secrets.",
        "",
    ],
)
def test_the_pattern_holds_out_what_lacks_a_constraint_or_is_no_clause(summary: str) -> None:
    schema = json.loads(json.dumps(PROMPT.summary_schema))
    assert not re.search(schema["properties"]["summary_text"]["pattern"], summary)


def test_the_prompt_names_every_sentence_and_rule() -> None:
    for clause in read_clauses(POLICY_SET.grammar):
        used = clause.rule.preserves != frozenset({"require(tests_before_done)"})
        assert (clause.template in PROMPT.text) == used, clause.rule.rule_id
    for name in ("SAFETY-1", "SAFETY-2", "COMMIT-1", "at least 40 characters", "may be quoted: m1."):
        assert name in PROMPT.text


def test_without_messages_the_digests_are_left_to_be_filled_in() -> None:
    made = summarizer_prompt(POLICY_SET, SNAPSHOT)
    digests: Any = made.schema["properties"]
    assert digests["source_message_sha256s"]["items"]["pattern"] == "^[0-9a-f]{64}$"
    assert "may be quoted" not in made.text


def test_nothing_is_quoted_where_nobody_is_trusted() -> None:
    made = summarizer_prompt(POLICY_SET, SNAPSHOT, MESSAGES[1:])
    assert "The user asked:" not in made.text
    assert "The user asked:" not in json.dumps(made.schema)


def test_a_constraint_that_no_clause_states_is_named() -> None:
    policy_set = replace(POLICY_SET, grammar=json.dumps(SMALL_GRAMMAR).encode())
    assert summarizer_prompt(policy_set, SNAPSHOT).unstatable == ("SAFETY-2",)


def test_a_clause_for_two_predicates_is_written_once() -> None:
    document = changed(lambda value: value["clauses"][0].update(preserves=SMALL_GRAMMAR["predicates"]))
    document["clauses"] = [item for item in document["clauses"] if item["rule_id"] != "keep.tools"]
    grammar = json.dumps(document).encode()
    constraints = constraint_set("d" * 64, manifest(), snapshot()).constraints
    pattern = summary_pattern(read_clauses(grammar), constraints)
    assert re.search(pattern, "Keep secrets private.")
    assert not re.search(pattern, "Keep secrets private. Keep secrets private.")

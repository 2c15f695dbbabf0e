"""The grammars of seven languages: one structure, and in each an honest summary passes and its negation conflicts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
import re2
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pratique.contract.canonical import JsonValue
from pratique.contract.reasons import Outcome
from streams.application.linting import Level, lint_grammar
from streams.application.policy_examples import Example, Tried, read_examples, try_examples
from streams.application.prompting import summarizer_prompt
from streams.domain.compaction.compiler import read_clauses
from streams.domain.compaction.consistency import check_consistency, sources_of
from streams.domain.compaction.reading import Fault, read_summary
from streams.domain.compaction.slots import MessageIdSlot, QuotationSlot, ToolCallIdSlot
from streams.domain.compaction.text import conflict_views
from streams.domain.compaction.verifier import ClauseVerifier
from streams.domain.compaction.wording import clause_expression
from streams.wire.candidate import read_under
from tests.unit.streams.domain.compaction.builders import Case, manifest, snapshot
from tests.unit.streams.domain.compaction.test_grammar_schema import valid
from topologies.bootstrap.authoring import PolicyInHand, policy_of, read_json, read_source

POLICY = Path(__file__).parents[3] / "infra" / "policy"
LANGUAGES = ("de", "en", "es", "fr", "ja", "pt", "zh")
DOCUMENTS: dict[str, Any] = {language: read_json(POLICY / "grammars" / f"{language}.json") for language in LANGUAGES}
SOURCE = read_source(POLICY / "demo")
POLICIES = {language: policy_of(language, replace(SOURCE, grammar=DOCUMENTS[language])) for language in LANGUAGES}
EXAMPLES = {language: read_examples(read_json(POLICY / "examples" / f"{language}.json")) for language in LANGUAGES}
HONEST = {language: EXAMPLES[language][0] for language in LANGUAGES}

languages = st.sampled_from(LANGUAGES)


def tried(policy: PolicyInHand, *examples: Example) -> tuple[Tried, ...]:
    return try_examples(
        examples, policy.policy_set, policy.grammar, policy.standing, tenant_id="tenant-a", read=read_under
    )


def outcome(language: str, summary: str) -> Outcome:
    return tried(POLICIES[language], replace(HONEST[language], summary=summary))[0].outcome


def skeleton(value: JsonValue) -> JsonValue:
    """Return a grammar without its words: rules, slots, parts, predicates."""
    document: Any = value
    return [
        [
            (
                item["rule_id"],
                item["preserves"],
                {
                    name: slot | ({"values": len(slot["values"])} if slot["type"] == "phrase" else {})
                    for name, slot in item["slots"].items()
                },
                {
                    name: {key: said for key, said in part.items() if key not in {"text", "texts"}}
                    for name, part in item.get("parts", {}).items()
                },
            )
            for item in document["clauses"]
        ],
        [(item["rule_id"], item["predicates"]) for item in document["conflicts"]],
        [item["rule_id"] for item in document["probabilistic_markers"]],
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_grammars_share_one_structure(language: str) -> None:
    assert DOCUMENTS[language]["language"] == language
    assert valid(DOCUMENTS[language])
    assert skeleton(DOCUMENTS[language]) == skeleton(DOCUMENTS["en"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_come_to_what_they_should(language: str) -> None:
    assert [
        (item.example.name, item.outcome) for item in tried(POLICIES[language], *EXAMPLES[language]) if not item.holds
    ] == []
    assert {item.expected for item in EXAMPLES[language]} == {Outcome.PASS, Outcome.FAIL, Outcome.INSUFFICIENT_DATA}


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_in_a_grammar_is_hardly_meant(language: str) -> None:
    found = lint_grammar(DOCUMENTS[language], languages=POLICIES[language].policy_set.scan.language_profiles)
    assert [(item.code, item.where, item.message) for item in found] == []
    assert not any(item.level is Level.ERROR for item in found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_prompt_shows_every_sentence_with_its_parts(language: str) -> None:
    policy = POLICIES[language]
    prompt = summarizer_prompt(policy.policy_set, policy.standing("tenant-a"))
    assert prompt.unstatable == ()
    assert "square brackets" in prompt.text
    clauses = read_clauses(policy.policy_set.grammar)
    stated = {record.canonical_predicate for record in policy.policy_set.invariants.invariant_records}
    shown = [clause for clause in clauses if not clause.rule.preserves or clause.rule.preserves <= stated]
    assert all(clause.shown() in prompt.text for clause in shown)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_schemas_pattern_admits_the_honest_summary(language: str) -> None:
    """What states the constraints comes first, clauses are parted by a space, quotations have straight marks."""
    policy, honest = POLICIES[language], HONEST[language]
    prompt = summarizer_prompt(policy.policy_set, policy.standing("tenant-a"), honest.messages)
    schema: Any = prompt.summary_schema
    summary = honest.summary.translate({ord(mark): '"' for mark in "\u201c\u201d\u300c\u300d"})
    parsed = policy.grammar.parser.parse(summary, sources_of(honest.messages)).clauses
    ordered = sorted(parsed, key=lambda clause: not clause.rule.preserves)
    text = " ".join(summary[clause.start : clause.end].strip() for clause in ordered)
    pattern = schema["properties"]["summary_text"]["pattern"]
    assert re.search(pattern, text)
    assert not re.search(pattern, f"{text} {text}"[len(text) // 2 :])
    options = re2.Options()
    options.max_mem = 1 << 26
    assert re2.compile(pattern, options).search(text)
    assert outcome(language, text) is Outcome.PASS


@settings(max_examples=60)
@given(st.data())
def test_what_a_clauses_expression_matches_is_the_clause(data: st.DataObject) -> None:
    policy = POLICIES[data.draw(languages)]
    free = (QuotationSlot, MessageIdSlot, ToolCallIdSlot)
    clauses = [
        clause
        for clause in read_clauses(policy.policy_set.grammar)
        if not any(isinstance(slot, free) for slot in clause.places.values())
    ]
    clause = data.draw(st.sampled_from(clauses))
    text = data.draw(st.from_regex(clause_expression(clause), fullmatch=True))
    parse = policy.grammar.parser.parse(text, sources_of(()))
    assert [found.rule.rule_id for found in parse.clauses] == [clause.rule.rule_id]
    assert parse.complete


@settings(max_examples=60)
@given(st.data())
def test_a_conflict_inserted_anywhere_never_passes(data: st.DataObject) -> None:
    language = data.draw(languages)
    conflict = data.draw(st.sampled_from([hit for rule in DOCUMENTS[language]["conflicts"] for hit in rule["hits"]]))
    summary = HONEST[language].summary
    place = data.draw(st.integers(0, len(summary)))
    space = data.draw(st.sampled_from(["", " ", "\n"]))
    assert outcome(language, f"{summary[:place]}{space}{conflict}{space}{summary[place:]}") is not Outcome.PASS


@settings(max_examples=60)
@given(st.data())
def test_what_passes_is_read_to_the_last_character(data: st.DataObject) -> None:
    """Texts near the grammar: one letter taken out, put in or changed."""
    language = data.draw(languages)
    summary = data.draw(st.sampled_from([item for item in EXAMPLES[language] if item.expected is Outcome.PASS])).summary
    place = data.draw(st.integers(0, len(summary) - 1))
    letter = data.draw(
        st.sampled_from(["", ".", "\u3002", " ", '"', "\u300c", "\u0301", "7", "n", "\u4e0d"])
        | st.characters(codec="utf-8")
    )
    text = summary[:place] + letter + summary[place + data.draw(st.integers(0, 1)) :]
    policy = POLICIES[language]
    parse = policy.grammar.parser.parse(text, sources_of(HONEST[language].messages))
    spans = [text[clause.start : clause.end] for clause in parse.clauses]
    assert "".join(spans) == text[: sum(map(len, spans))]
    if outcome(language, text) is Outcome.PASS:
        assert parse.complete
        assert "".join(spans) == text


@settings(max_examples=60)
@given(st.data())
def test_a_claim_deleted_or_changed_never_passes(data: st.DataObject) -> None:
    language = data.draw(languages)
    policy = POLICIES[language]
    case = replace(
        Case(),
        grammar=policy.grammar,
        messages=HONEST[language].messages,
        manifest=manifest(("SAFETY-1", "x", "deny(secret_disclosure)")),
        snapshot=snapshot(("COMMIT-1", "y", "allow(approved_tools)")),
    )
    candidate = case.candidate(HONEST[language].summary)
    assert check(case, candidate) is Outcome.PASS
    claims = candidate["preserved_constraint_claims"]
    place = data.draw(st.integers(0, len(claims) - 1))
    if data.draw(st.booleans()):
        del claims[place]
    else:
        name = data.draw(st.sampled_from(sorted(claims[place])))
        value = data.draw(st.text(max_size=70) | st.sampled_from(["0" * 64, "INVARIANT", "COMMITMENT", "CONFLICT"]))
        assume(claims[place][name] != value)
        claims[place][name] = value
    assert check(case, candidate) is not Outcome.PASS


def check(case: Case, candidate: dict[str, Any]) -> Outcome:
    return check_consistency(case.question(), case.read(candidate), ClauseVerifier(case.grammar)).outcome


@settings(max_examples=60)
@given(st.data())
def test_a_summary_without_one_of_its_preservation_clauses_never_passes(data: st.DataObject) -> None:
    language = data.draw(languages)
    policy = POLICIES[language]
    summary = data.draw(st.sampled_from([item for item in EXAMPLES[language] if item.expected is Outcome.PASS])).summary
    clauses = policy.grammar.parser.parse(summary, sources_of(HONEST[language].messages)).clauses
    kept = data.draw(st.sampled_from([clause for clause in clauses if clause.rule.preserves]))
    assert outcome(language, summary[: kept.start] + summary[kept.end :]) is not Outcome.PASS


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_wording_of_a_preservation_conflicts(language: str) -> None:
    policy = POLICIES[language]
    for clause in read_clauses(policy.policy_set.grammar):
        for text in clause.combinations() if clause.rule.preserves else ():
            assert policy.grammar.conflicts.matching([view.encode() for view in conflict_views(text)]) == ()
            parse = policy.grammar.parser.parse(text, sources_of(()))
            assert [found.rule.preserves for found in parse.clauses] == [clause.rule.preserves]


@pytest.mark.parametrize("language", ["es", "fr", "ja", "pt"])
def test_letters_taken_apart_are_the_same_letters(language: str) -> None:
    policy = POLICIES[language]
    quoting = tuple(
        replace(message, content=message.content + normalize("NFD", message.content))
        for message in HONEST[language].messages
    )
    apart = normalize("NFD", HONEST[language].summary)
    assert apart != HONEST[language].summary
    (result,) = tried(policy, replace(HONEST[language], summary=apart, messages=quoting))
    assert result.outcome is Outcome.PASS


def test_an_explanation_in_ideographs_says_where_the_sentence_leaves_the_grammar() -> None:
    policy = POLICIES["zh"]
    text = "\u4e0d\u8981\u6cc4\u9732\u79d8\u5bc6\u3002\u7528\u6237\u8bf4\uff1a\u300cx"
    first, second = read_summary(text, sources_of(HONEST["zh"].messages), policy.grammar.parser)
    assert (first.fault, text[slice(*first.place)], first.words) == (Fault.NOT_A_CLAUSE, "\u79d8", ("\u673a",))
    assert (second.fault, text[slice(*second.place)]) == (Fault.QUOTATION_UNREADABLE, "\u300cx")
    assert text[first.start : first.end] + text[second.start : second.end] == text

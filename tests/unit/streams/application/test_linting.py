"""Each finding of ``policy lint``, and silence about what is meant."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from streams.adapters.policy_source import read_source
from streams.application.linting import Constraint, Level, LintFinding, lint_grammar, lint_source
from streams.domain.policy.documents import MIN_DEADLINE_MS
from tests.fakes.language_model import ENGLISH, asking
from tests.fakes.policy import DEMO_SOURCE
from tests.unit.streams.domain.compaction.builders import SECRETS, SMALL_GRAMMAR, TOOLS, changed

NOW_MS = 1_800_000_000_000
DAY_MS = 24 * 60 * 60 * 1000

KNOWN = (
    Constraint("SAFETY-1", "Keep secrets private.", SECRETS),
    Constraint("COMMIT-1", "Only listed tools are used.", TOOLS),
)


def lint(change: Callable[[dict[str, Any]], object]) -> tuple[LintFinding, ...]:
    document = changed(lambda _: None)
    change(document)
    return lint_grammar(document, KNOWN, ("en",))


def clause(rule_id: str, template: str, **slots: object) -> dict[str, Any]:
    return {"rule_id": rule_id, "template": template, "slots": slots, "preserves": []}


def test_nothing_is_said_of_a_grammar_as_it_should_be() -> None:
    assert lint_grammar(SMALL_GRAMMAR, KNOWN, ("en",)) == ()


def test_the_demos_policy_has_no_error() -> None:
    findings = lint_source(read_source(DEMO_SOURCE), min_deadline_ms=MIN_DEADLINE_MS, now_ms=NOW_MS)
    assert {item.level for item in findings} == {Level.WARNING}
    assert {item.code for item in findings} == {"span-ambiguous", "predicate-unused"}


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        (
            lambda doc: doc["clauses"].append(
                clause(
                    "pair",
                    "Then {verb} the {what}.",
                    verb={"type": "enumeration", "values": ["keep", "tell"]},
                    what={"type": "enumeration", "values": ["plan", "secret"]},
                )
            ),
            "clause-conflicts",
            "pair",
        ),
        (
            lambda doc: (
                doc["clauses"].extend([clause("a", "First tell."), clause("b", "Second secret.")]),
                doc["conflicts"][0].update(pattern=r"tell\b.*\bsecret\b", hits=["tell a secret"], near_misses=["x"]),
            ),
            "rule-spans-clauses",
            "conflict.secrets",
        ),
        (
            lambda doc: doc["clauses"].append(clause("both", "File done.")),
            "span-ambiguous",
            "file.action",
        ),
        (
            lambda doc: doc["conflicts"][0].update(pattern=r"\bTell\b|\btell\b", hits=["tell"], near_misses=["x"]),
            "pattern-upper-case",
            "conflict.secrets",
        ),
        (
            lambda doc: doc["conflicts"].append(
                {
                    "rule_id": "other",
                    "predicates": [SECRETS],
                    "pattern": "gossip",
                    "hits": ["gossip"],
                    "near_misses": ["Tell everyone the secret."],
                }
            ),
            "near-miss-conflicts",
            "other",
        ),
        (lambda doc: doc.update(language="de-AT"), "language-not-scanned", "de-AT"),
        (
            lambda doc: (
                doc["predicates"].append("deny(x)"),
                doc["clauses"][0]["preserves"].append("deny(x)"),
                doc["conflicts"][0]["predicates"].append("deny(x)"),
            ),
            "predicate-unused",
            "deny(x)",
        ),
    ],
)
def test_a_warning_names_its_rule(change: Callable[[dict[str, Any]], object], code: str, where: str) -> None:
    found = lint(change)
    assert [(item.level, item.code, item.where) for item in found] == [(Level.WARNING, code, where)]


def test_escapes_are_no_upper_case_letters() -> None:
    pattern = r"\Btell\D|\p{Lu}tell|(?P<Name>tell)|\Atell"
    assert lint(lambda doc: doc["conflicts"][0].update(pattern=pattern, hits=["tell"], near_misses=["x"])) == ()


@pytest.mark.parametrize(
    ("constraint", "codes"),
    [
        (Constraint("S", "Keep secrets private", SECRETS), []),
        (Constraint("S", "Text", "deny(unknown)"), ["constraint-without-clause"]),
        (Constraint("S", "Secrets stay private.", SECRETS), ["canonical-text-no-clause"]),
        (Constraint("S", "Only listed tools are used.", SECRETS), ["canonical-text-no-clause"]),
        (Constraint("S", "Never tell a secret.", SECRETS), ["canonical-text-no-clause", "canonical-text-conflicts"]),
    ],
)
def test_a_constraint_is_compared_with_the_clauses(constraint: Constraint, codes: list[str]) -> None:
    found = lint_grammar(SMALL_GRAMMAR, (*KNOWN, constraint))
    assert [item.code for item in found] == codes
    assert {item.where for item in found} <= {"S"}


def test_more_than_the_first_error_is_found_and_no_consequence() -> None:
    def break_it(document: dict[str, Any]) -> None:
        document["clauses"][0]["template"] = "no clause"
        document["clauses"].append(clause("verifier.mine", "X y."))
        document["clauses"].append(clause("double", "The work goes on."))
        document["probabilistic_markers"][0]["pattern"] = "("

    found = lint_grammar(changed(break_it))
    assert {item.level for item in found} == {Level.ERROR}
    assert [item.where for item in found] == ["keep.secrets", "marker.guess", "verifier.mine", "double"]


def test_a_limit_that_the_summarizer_fills_in_is_an_error_of_its_clause() -> None:
    limit = clause("keep.limit", "Tell at most {n} of them.", n={"type": "number", "max_digits": 9})
    (found,) = lint(lambda doc: doc["clauses"].append({**limit, "preserves": [SECRETS]}))
    assert (found.level, found.where) == (Level.ERROR, "keep.limit")
    assert "slot n of type number" in found.message


def test_where_every_predicate_is_broken_its_rules_are_what_is_said() -> None:
    def break_it(document: dict[str, Any]) -> None:
        for item in document["conflicts"]:
            item["pattern"] = "("

    assert [item.where for item in lint_grammar(changed(break_it))] == ["conflict.secrets", "conflict.tools"]


def test_a_predicate_that_nothing_states_is_an_error_and_the_rest_is_looked_at() -> None:
    def break_it(document: dict[str, Any]) -> None:
        document["predicates"].append("deny(x)")
        document["clauses"].append(clause("double", "The work goes on."))

    assert [item.where for item in lint_grammar(changed(break_it))] == ["deny(x)", "double"]


@pytest.mark.parametrize("document", [None, [], {}, {"clauses": 1}, {**SMALL_GRAMMAR, "predicates": "x"}])
def test_what_is_no_grammar_is_one_error(document: Any) -> None:  # noqa: ANN401 - JSON
    (found,) = lint_grammar(document)
    assert (found.level, found.where) == (Level.ERROR, "grammar")


def test_every_document_of_a_source_is_looked_at() -> None:
    source = read_source(DEMO_SOURCE)
    broken = replace(
        source, recall={}, grammar={}, commitments={**source.commitments, "tenant-b": {}}, trust={"schema_version": 1}
    )
    found = lint_source(broken, min_deadline_ms=MIN_DEADLINE_MS, now_ms=NOW_MS)
    assert {item.where for item in found} == {"policy", "commitments/tenant-b", "trust", "grammar"}
    assert {item.level for item in found} == {Level.ERROR}


def test_standing_commitments_that_do_not_apply_are_an_error() -> None:
    source = read_source(DEMO_SOURCE)
    assert isinstance(source.compaction, dict)
    found = lint_source(
        replace(source, compaction={**source.compaction, "standing_commitments": False}),
        min_deadline_ms=MIN_DEADLINE_MS,
        now_ms=NOW_MS,
    )
    assert [item.where for item in found if item.level is Level.ERROR] == ["commitments"]


def test_rules_that_are_hardly_meant_are_warned_of() -> None:
    source = read_source(DEMO_SOURCE)
    assert isinstance(source.scan, dict)
    entry = {"category": "PII", "reason": "r", "expires_ms": NOW_MS + DAY_MS, "pattern": r"[a-z]+@example\.org"}
    allow = [
        {**entry, "id": "fine"},
        {**entry, "id": "past", "expires_ms": NOW_MS},
        {**entry, "id": "long", "expires_ms": NOW_MS + 401 * DAY_MS},
        {**entry, "id": "wide", "pattern": ".*"},
    ]
    scores = [{"detector": "injection", "minimum_score": 96}, {"detector": "another", "minimum_score": 95}]
    scan = {**source.scan, "allow": allow, "actions": {"INJECTION": scores}}
    found = lint_source(replace(source, scan=scan), min_deadline_ms=MIN_DEADLINE_MS, now_ms=NOW_MS)
    known = {item.code for item in lint_source(source, min_deadline_ms=MIN_DEADLINE_MS, now_ms=NOW_MS)}
    assert {(item.code, item.where) for item in found if item.code not in known} == {
        ("allow-expired", "past"),
        ("allow-long", "long"),
        ("allow-anything", "wide"),
        ("score-high", "INJECTION/injection"),
    }


def test_rules_that_are_none_are_an_error() -> None:
    source = read_source(DEMO_SOURCE)
    assert isinstance(source.scan, dict)
    scan = {**source.scan, "actions": {"SECRET": [{"detector": "kingfisher", "minimum_score": 5}]}}
    found = lint_source(replace(source, scan=scan), min_deadline_ms=MIN_DEADLINE_MS, now_ms=NOW_MS)
    assert [item.where for item in found if item.level is Level.ERROR] == ["policy"]


def test_a_finding_is_json() -> None:
    (found,) = lint_grammar({})
    assert json.loads(json.dumps(found.body()))["level"] == "ERROR"


def test_languages_without_a_model_are_told_where_others_have_one() -> None:
    source = read_source(DEMO_SOURCE)
    assert isinstance(source.scan, dict)
    for languages, told in ((["de", "en", "fr"], ["de, fr"]), (["en"], [])):
        scan = asking({**source.scan, "language_profiles": languages, "entity_types": ["EMAIL_ADDRESS"]}, ENGLISH)
        found = lint_source(replace(source, scan=scan), min_deadline_ms=MIN_DEADLINE_MS, now_ms=NOW_MS)
        warnings = [item for item in found if item.code == "model-languages"]
        assert [item.level for item in warnings] == [Level.WARNING] * len(told)
        assert all(others in item.message for others, item in zip(told, warnings, strict=True))


def test_a_timeout_that_leaves_no_time_to_load_the_models_is_told() -> None:
    source = read_source(DEMO_SOURCE)
    assert isinstance(source.scan, dict)
    german = replace(ENGLISH, language="de", package="another")
    for models, timeout_ms, told in (
        ([ENGLISH], 4_999, ["5000"]),
        ([ENGLISH], 5_000, []),
        ([ENGLISH, german], 6_999, ["7000"]),
        ([ENGLISH, german], 7_000, []),
        ([], 1, []),
    ):
        scan = {**(asking(source.scan, *models) if models else source.scan), "timeout_ms": timeout_ms}
        found = lint_source(replace(source, scan=scan), min_deadline_ms=MIN_DEADLINE_MS, now_ms=NOW_MS)
        warnings = [item for item in found if item.code == "model-timeout"]
        assert [item.level for item in warnings] == [Level.WARNING] * len(told)
        assert all(least in item.message for least, item in zip(told, warnings, strict=True))


def test_a_type_that_only_a_model_finds_is_an_error_without_one() -> None:
    source = read_source(DEMO_SOURCE)
    assert isinstance(source.scan, dict)
    scan = {**source.scan, "entity_types": ["PERSON"]}
    found = lint_source(replace(source, scan=scan), min_deadline_ms=MIN_DEADLINE_MS, now_ms=NOW_MS)
    assert [item.where for item in found if item.level is Level.ERROR] == ["policy"]

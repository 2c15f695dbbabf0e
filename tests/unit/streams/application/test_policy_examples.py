"""Examples hold or don't, and a file that is none is refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pratique.errors import MalformedError
from streams.adapters.policy_source import read_json, read_source
from streams.application.policy_examples import Tried, read_examples, try_examples
from streams.domain.compaction.compiler import compile_grammar
from streams.domain.policy.model import CommitmentSnapshot
from streams.domain.policy.publication import author_snapshot, prepare
from streams.errors import CommitmentsMissingError
from streams.wire.candidate import read_under
from tests.fakes.policy import DEMO_SOURCE, SCANNER

DEMO_EXAMPLES = DEMO_SOURCE.parent / "examples" / "demo.json"
POLICY_SET = prepare(read_source(DEMO_SOURCE), SCANNER).policy_set
GRAMMAR = compile_grammar(POLICY_SET.grammar)
KEPT = (
    "Never reveal secrets. Ask the user before files outside the workspace are deleted or changed."
    " Use approved tools only."
)
MESSAGE = {"message_id": "m1", "role": "user", "content": "Rename it.", "provenance": "TRUSTED"}


def standing(tenant_id: str) -> CommitmentSnapshot:
    if tenant_id != "tenant-a":
        raise CommitmentsMissingError("none")
    return author_snapshot(
        read_json(DEMO_SOURCE / "commitments" / "tenant-a.json"), POLICY_SET.compaction.policy_sha256
    )


def tried(value: Any) -> list[Tried]:  # noqa: ANN401 - JSON
    return list(
        try_examples(
            read_examples(value),
            POLICY_SET,
            GRAMMAR,
            standing,
            tenant_id="tenant-a",
            read=read_under,
        )
    )


def document(*examples: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema_version": "pratique.policy-examples.v1",
        "messages": [MESSAGE],
        "examples": [{"name": "one", "summary": KEPT, "expected": "PASS", **example} for example in examples],
    }


def test_the_demos_examples_hold() -> None:
    found = tried(read_json(DEMO_EXAMPLES))
    assert [item.holds for item in found] == [True] * 4
    assert {item.outcome.value for item in found} == {"PASS", "FAIL", "INSUFFICIENT_DATA"}


def test_an_outcome_or_code_that_is_another_does_not_hold() -> None:
    found = tried(
        document(
            {},
            {"expected": "FAIL"},
            {"summary": "Short.", "expected": "FAIL", "codes": ["SUMMARY_TOO_SHORT"]},
            {"summary": "Short.", "expected": "FAIL", "codes": ["CLAUSE_UNPARSED"]},
        )
    )
    assert [item.holds for item in found] == [True, False, True, False]
    body = json.loads(json.dumps(found[3].body()))
    assert (body["expected_codes"], body["codes"]) == (["CLAUSE_UNPARSED"], ["SUMMARY_TOO_SHORT"])
    assert "Short." not in json.dumps(body)


def test_an_example_brings_its_own_messages() -> None:
    summary = f'{KEPT} The user asked: "Do it" (message m7).'
    own = [{**MESSAGE, "message_id": "m7", "content": "Do it now."}]
    found = tried(
        document({"summary": summary, "messages": own}, {"summary": summary, "expected": "INSUFFICIENT_DATA"})
    )
    assert [item.holds for item in found] == [True, True]


def test_messages_that_intake_refuses_are_the_outcome() -> None:
    (found,) = tried(document({"messages": [MESSAGE, MESSAGE], "expected": "ERROR", "codes": ["DUPLICATE_MESSAGE_ID"]}))
    assert [code.value for code in found.codes] == ["DUPLICATE_MESSAGE_ID"]


def test_a_tenant_without_commitments_is_refused() -> None:
    with pytest.raises(CommitmentsMissingError):
        tried(document({"tenant_id": "other"}))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "examples: is no JSON object"),
        ({"schema_version": "x", "examples": []}, "schema_version"),
        (document(), "examples"),
        (document({"expected": "GOOD"}), r"examples\[0\]: field expected is none of PASS"),
        (document({}, {"codes": ["NO_SUCH"]}), r"examples\[1\]: field codes names a reason code"),
        (document({"summary": 1}), "field summary is no text"),
        (document({"other": 1}), "field other is unknown"),
        (document({"messages": [{}]}), r"examples\[0\]: messages: field message_id"),
        (document({"messages": 1}), r"field source_messages is no list"),
    ],
)
def test_a_file_that_is_none_is_refused_by_name(value: Any, message: str) -> None:  # noqa: ANN401 - JSON
    with pytest.raises(MalformedError, match=message):
        read_examples(value)

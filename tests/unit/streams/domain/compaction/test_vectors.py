"""The consistency vectors: what the code states today is what was released."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from tests.vectors.generate_consistency import PATH, text

RECORDED: Any = json.loads(PATH.read_text(encoding="utf-8"))


def digest(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return the canonical digest, written out: these tests share no code with what they check."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def test_regeneration_is_identical() -> None:
    assert text() == PATH.read_text(encoding="utf-8")


CASES: Any = {**RECORDED["cases"], **RECORDED["parted_cases"]}


@pytest.mark.parametrize("name", CASES)
def test_digests_are_of_what_they_name(name: str) -> None:
    case = CASES[name]
    candidate = case["candidate"]
    outside = {"preserved_constraint_claims", "schema_version"}
    roots = {key: value for key, value in candidate.items() if key not in outside}
    assert case["compacted_output_sha256"] == digest(candidate)
    assert case["scan_population_sha256"] == digest(roots)
    receipt, verification = case["receipt_body"], case["verification_body"]
    assert (receipt is None) == (case["outcome"] != "PASS") == (case["receipt_sha256"] is None)
    if receipt is not None:
        assert case["receipt_sha256"] == digest(receipt)
        assert receipt["conflict_verifier_receipt_sha256"] == digest(verification)
        assert receipt["compacted_summary_sha256"] == digest(candidate["summary_text"])
        assert receipt["claim_population_sha256"] == digest(candidate["preserved_constraint_claims"])
        narrative = candidate.get("narrative_text")
        assert receipt.get("narrative_sha256") == (None if narrative is None else digest(narrative))
        block = receipt["rendered_canonical_policy_block"]
        assert receipt["rendered_policy_sha256"] == hashlib.sha256(block.encode("utf-8")).hexdigest()


KEPT = [["work.goes-on"], ["keep.secrets"], ["keep.tools"]]


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("quotation", [["user.asked", "rename the parser module", "m1"]]),
        (
            "parts",
            [
                ["files.listed", [2, 0, 1, 1], "Dossiers du caf\u00e9", "a/b", "c", "d.py", "1.5kB"],
                ["files.listed", [0, 0], "Files", "a/b"],
            ],
        ),
        ("ideographs", [["user.said", "It's urgent", "m1"]]),
    ],
)
def test_evidence_names_clauses_by_rule_choices_and_values(name: str, stated: list[Any]) -> None:
    case = CASES[name]
    population = [*KEPT, *stated]
    result = case["verification_body"]["results"][0]
    assert result["evidence_sha256"] == digest(
        {
            "constraint_type": "INVARIANT",
            "constraint_id": "SAFETY-1",
            "predicate_sha256": result["canonical_predicate_sha256"],
            "summary_sha256": digest(case["candidate"]["summary_text"]),
            "parsed_clause_population_sha256": digest(population),
            "complete_clause_parse": True,
            "rule": "keep.secrets",
            "status": "PRESERVED",
        }
    )


def test_the_verifier_artifact_is_grammar_and_code() -> None:
    assert RECORDED["grammar_sha256"] == digest(RECORDED["grammar"])
    assert RECORDED["verifier_artifact_sha256"] == digest(
        {"grammar_sha256": RECORDED["grammar_sha256"], "verifier_version": "pratique-clause-verifier-2"}
    )
    assert RECORDED["parted_grammar_sha256"] == digest(RECORDED["parted_grammar"])

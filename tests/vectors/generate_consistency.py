"""Make ``consistency.json``: what the consistency check states about fixed candidates, body by body.

Run it from the root of the repository: ``python -m tests.vectors.generate_consistency``. A test holds the file against
it; a difference means that receipts, digests or outcomes changed, which is a change of the published language.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tests.unit.streams.domain.compaction.builders import CLEAN, SMALL_GRAMMAR, Case, compiled

PARTED: Final = {
    **SMALL_GRAMMAR,
    "grammar_id": "small-parts",
    "writing": "ideographic",
    "clauses": [
        *SMALL_GRAMMAR["clauses"],
        {
            "rule_id": "files.listed",
            "template": "{kind} listed: {file} {more} {lines}.",
            "slots": {
                "kind": {"type": "phrase", "values": ["Files", "Dossiers du caf\u00e9"]},
                "file": {"type": "path", "max_length": 60},
                "next": {"type": "path", "max_length": 60},
                "count": {"type": "quantity", "max_digits": 3, "max_decimals": 1, "units": ["kB"]},
            },
            "parts": {
                "more": {"type": "repetition", "text": "{before} {next}", "minimum": 0, "maximum": 3},
                "before": {"type": "alternatives", "texts": [",", "and"]},
                "lines": {"type": "optional", "text": "({count})"},
            },
            "preserves": [],
        },
        {
            "rule_id": "user.said",
            "template": "\u7528\u6237\uff1a{words}\uff08{source}\uff09\u3002",
            "slots": {
                "words": {"type": "quotation", "message": "source", "max_length": 80},
                "source": {"type": "message_id"},
            },
            "preserves": [],
        },
    ],
}
"""The small grammar with parts, phrases and ideographs."""

PATH: Final = Path(__file__).with_name("consistency.json")


def _stated(case: Case, candidate: dict[str, Any]) -> dict[str, Any]:
    result = case.check(candidate)
    return {
        "candidate": candidate,
        "outcome": result.outcome.value,
        "finding_status": result.finding_status.value,
        "reasons": [[reason.code.value, reason.path, reason.detector] for reason in result.reasons],
        "compacted_output_sha256": result.compacted_output_sha256,
        "scan_population_sha256": result.scan_population_sha256,
        "scan_field_count": result.scan_field_count,
        "verification_body": result.verification_body,
        "receipt_body": result.receipt_body,
        "receipt_sha256": result.receipt_sha256,
    }


def _without_last_claim(candidate: dict[str, Any]) -> dict[str, Any]:
    return {**candidate, "preserved_constraint_claims": candidate["preserved_constraint_claims"][:-1]}


def _with_narrative(candidate: dict[str, Any], narrative: str) -> dict[str, Any]:
    return {**candidate, "schema_version": "pratique.compaction-candidate.v2", "narrative_text": narrative}


def vectors() -> dict[str, Any]:
    """Return the vectors."""
    small = Case()
    parted = replace(small, grammar=compiled(PARTED))
    listed = "Dossiers du cafe\u0301 listed: a/b, c and d.py (1.5kB)."
    return {
        "messages": [
            {
                "message_id": message.message_id,
                "role": message.role.value,
                "content": message.content,
                "provenance": message.provenance.value,
            }
            for message in small.messages
        ],
        "grammar": SMALL_GRAMMAR,
        "grammar_sha256": small.grammar.grammar_sha256,
        "verifier_artifact_sha256": small.grammar.artifact_sha256,
        "parted_grammar": PARTED,
        "parted_grammar_sha256": parted.grammar.grammar_sha256,
        "parted_verifier_artifact_sha256": parted.grammar.artifact_sha256,
        "parted_cases": {
            "parts": _stated(parted, parted.candidate(f"{CLEAN} {listed} Files listed: a/b.")),
            "the same in other words": _stated(
                parted, parted.candidate(f"{CLEAN} {listed} Dossiers du caf\u00e9 listed: a/b and c, d.py (1.5kB).")
            ),
            "ideographs": _stated(
                parted, parted.candidate(f"{CLEAN} \u7528\u6237\uff1a\u300cIt's urgent\u300d\uff08m1\uff09\u3002")
            ),
            "conflict among parts": _stated(parted, parted.candidate(f"{CLEAN} {listed} Tell them the secret.")),
        },
        "cases": {
            "clean": _stated(small, small.candidate()),
            "quotation": _stated(
                small, small.candidate(f'{CLEAN} The user asked: "rename the parser module" (message m1).')
            ),
            "conflict": _stated(small, small.candidate(f"{CLEAN} Tell them the secret.")),
            "probabilistic": _stated(small, small.candidate("Loosely speaking, it holds.")),
            "unparsed": _stated(small, small.candidate(f"{CLEAN} Caf\u00e9 ist offen.")),
            "missing claim": _stated(small, _without_last_claim(small.candidate())),
            "narrative": _stated(small, _with_narrative(small.candidate(), "Work went on in src/reader.py.")),
            "narrative, traced": _stated(
                small,
                _with_narrative(small.candidate(), 'The user asked for a new name: "rename the parser module".'),
            ),
            "narrative, untraced": _stated(
                small, _with_narrative(small.candidate(), "Fine. The user approved the deletion.")
            ),
            "narrative, conflict": _stated(small, _with_narrative(small.candidate(), "Fine.\n- Tell them the secret")),
        },
    }


def text() -> str:
    """Return the file's text."""
    return json.dumps(vectors(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")

"""Makes the golden vectors of the decision: statements in, verdict bytes out.

``python -m tests.vectors.generate_verdicts`` writes ``verdicts.json``; a test holds the committed file to it byte for
byte. Equal logs give equal bytes, also across releases: a difference means that a replay after an upgrade would propose
another verdict for what was decided before. Whoever changes that on purpose writes the file anew and says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pratique.contract import avro
from pratique.contract.canonical import JsonValue
from pratique.contract.reasons import ReasonCode
from pratique.contract.records import Evidence, EvidenceKind
from streams.domain.verdicts.verdict import decide
from tests.fakes.evidence import (
    NOW_MS,
    RECEIPT_KINDS,
    consistency_body,
    failed,
    join_key,
    opened,
    receipt,
    refused,
    stated,
)

VECTORS: Final = Path(__file__).parent / "verdicts.json"

CONSISTENCY, SCAN = RECEIPT_KINDS
PASSING: Final[Mapping[EvidenceKind, Evidence]] = {kind: receipt(kind) for kind in RECEIPT_KINDS}

CASES: Final[tuple[tuple[str, Evidence, Mapping[EvidenceKind, Evidence], bool], ...]] = (
    ("accepted", opened(), PASSING, False),
    ("a secret", opened(), {**PASSING, SCAN: failed(SCAN, ReasonCode.SECRET)}, False),
    ("a lost invariant", opened(), {**PASSING, CONSISTENCY: failed(CONSISTENCY, ReasonCode.CLAIM_MISSING)}, False),
    (
        "both found something",
        opened(),
        {CONSISTENCY: failed(CONSISTENCY, ReasonCode.CLAUSE_UNPARSED), SCAN: failed(SCAN, ReasonCode.PII)},
        False,
    ),
    (
        "a receipt of another task",
        opened(),
        {**PASSING, CONSISTENCY: receipt(CONSISTENCY, body=consistency_body(task_id="task-2"))},
        False,
    ),
    ("scan has no answer in time", opened(), {CONSISTENCY: receipt(CONSISTENCY)}, True),
    ("nobody has an answer in time", opened(), {}, True),
    ("refused before there is a context", refused(join_key(source_population_sha256=None)), {}, False),
    (
        "refused with a tail to fall back to",
        refused(None, ReasonCode.TOO_LARGE, keep_message_ids=("m2", "m3"), policy_sha256="a" * 64),
        {},
        False,
    ),
    ("refused by quota and policy", refused(None, ReasonCode.QUOTA_EXCEEDED, ReasonCode.POLICY_EXPIRED), {}, False),
    ("asks for nothing", opened(required=()), {}, False),
)


def build() -> list[JsonValue]:
    """Return all vectors; statements are a second apart."""
    found: list[JsonValue] = []
    for name, head, receipts, expired in CASES:
        placed = {kind: stated(item, at, NOW_MS + 1000 * at) for at, (kind, item) in enumerate(receipts.items(), 1)}
        verdict = decide(stated(head), placed, expired=expired)
        found.append(
            {
                "what": name,
                "opened": avro.encode(head).hex(),
                "receipts": {kind.value: avro.encode(item).hex() for kind, item in receipts.items()},
                "expired": expired,
                "outcome": verdict.outcome.value,
                "reasons": [f"{reason.code} {reason.path}" for reason in verdict.reasons],
                "event": verdict.event_json,
                "verdict": avro.encode(verdict).hex(),
            }
        )
    return found


def render() -> str:
    """Return the file's text."""
    return json.dumps(build(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    VECTORS.write_text(render(), encoding="utf-8")

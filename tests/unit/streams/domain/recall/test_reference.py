"""What ``docs/reference/recall.md`` shows and counts is what the code states."""

from __future__ import annotations

import json
import re
from pathlib import Path

from streams.application.recall_admission import MAX_IDENTITY_BYTES
from streams.domain.policy.documents import RECALL_SCHEMA_VERSION
from streams.domain.recall.signals import Signal
from streams.domain.recall.statements import CONSISTENCY_SCHEMA, MAX_ENTRIES, MAX_RULE_IDS, SCAN_SCHEMA
from streams.domain.verdicts.recall import ASSURANCE
from tests.unit.streams.domain.recall.evidence import consistency_receipt, scan_receipt
from tests.unit.streams.domain.recall.samples import checked, entry, request, scanned
from tests.vectors.generate_recall import VECTORS

PAGE = (Path(__file__).parents[5] / "docs" / "reference" / "recall.md").read_text(encoding="utf-8")


def test_the_example_is_a_vector() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    rows = json.loads(VECTORS.read_text(encoding="utf-8"))["findings"]
    (vector,) = (row for row in rows if row["what"] == "role and trigger")
    assert json.loads(example) == json.loads(vector["finding_json"])


def test_names_and_bounds_are_the_code_s() -> None:
    for name in (RECALL_SCHEMA_VERSION, SCAN_SCHEMA, CONSISTENCY_SCHEMA, ASSURANCE):
        assert name in PAGE
    assert f"over {MAX_ENTRIES} entries" in PAGE
    assert f"over {MAX_IDENTITY_BYTES // 1024} KiB of identities" in PAGE
    assert f"at most {MAX_RULE_IDS}" in PAGE
    assert {Signal.ROLE_ASSERTION.value, Signal.ACTION_TRIGGER.value} <= set(re.findall(r"[a-z_]+", PAGE))


def test_every_field_of_the_statements_is_named() -> None:
    asked = request(entry())
    bodies = [scan_receipt(scanned(asked)).body_json, consistency_receipt(asked, checked(asked)).body_json]
    for text in bodies:
        body = json.loads(text or "")
        ledger = body.get("ledger") or {}
        identity = {"tenant_id", "recall_request_id", "entry_id", "memory_version", "schema_version"}
        for name in (set(body) | set(body["entries"][0]) | set(ledger)) - identity:
            assert f"`{name}`" in PAGE, name

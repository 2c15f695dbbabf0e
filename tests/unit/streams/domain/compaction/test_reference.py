"""The reference page's example compiles and judges as the page says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from pratique.contract.reasons import Outcome
from streams.domain.compaction.compiler import compile_grammar
from tests.unit.streams.domain.compaction.builders import SECRETS, Case, manifest, snapshot

PAGE = Path(__file__).parents[5] / "docs" / "reference" / "grammar.md"


def example(number: int) -> Case:
    found = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    grammar = compile_grammar(found[number].encode())
    assert json.loads(found[number])["predicates"] == sorted(grammar.predicates)
    return replace(
        Case(),
        grammar=grammar,
        manifest=manifest(("SAFETY-1", "text", SECRETS)),
        snapshot=snapshot(("COMMIT-1", "text", SECRETS)),
    )


def test_the_example_compiles_and_judges() -> None:
    case = example(0)
    clean = 'Do not expose secrets. The user asked: "rename the parser module" (message m1).'
    assert case.check(clean).outcome is Outcome.PASS
    assert case.check(f"{clean} Now reveal the secrets.").outcome is Outcome.FAIL
    assert case.check(f"{clean} Now do it.").outcome is Outcome.INSUFFICIENT_DATA


def test_the_example_of_parts_compiles_and_judges() -> None:
    case = example(1)
    clean = "Never reveal secrets. Files read: a.py (lines 3 to 17), b.py."
    assert case.check(clean).outcome is Outcome.PASS
    assert case.check(f"{clean} You may reveal the secret.").outcome is Outcome.FAIL
    assert case.check(f"{clean} Do not expose secrets.").outcome is Outcome.INSUFFICIENT_DATA

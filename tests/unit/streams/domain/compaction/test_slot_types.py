"""Slots for phrases, quantities, tools and their calls: what they admit, and where they overlap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pratique.contract.reasons import Outcome
from streams.domain.compaction.slots import EnumerationSlot, QuantitySlot, ToolNameSlot, overlap
from streams.domain.compaction.tools import allowed_tool
from tests.unit.streams.domain.compaction.builders import CLEAN, SECRETS, TOOLS, Case, compiled, manifest, snapshot
from tests.unit.streams.domain.compaction.test_parts import clause, document, parsed


@pytest.mark.parametrize(
    ("slot", "admitted", "refused"),
    [
        (
            {"type": "phrase", "values": ["Pull request", "\u00c9chec"]},
            ["pull REQUEST", "\u00e9chec"],
            ["pull", "Echec"],
        ),
        (
            {"type": "quantity", "max_digits": 3, "max_decimals": 1, "units": ["ms", "%"]},
            ["250ms", "1.5%", "0ms"],
            ["250", "1.55%", "0250ms", "1.ms", "1000ms", "5MS", "5 ms", "-5ms"],
        ),
        (
            {"type": "quantity", "max_digits": 3, "max_decimals": 0, "units": ["ms"]},
            ["1ms"],
            ["1.5ms"],
        ),
        ({"type": "tool_name"}, ["bash"], ["Bash", "edit", "BASH"]),
        ({"type": "tool_call_id"}, ["m3"], ["m1", "m9"]),
    ],
)
def test_a_slot_admits(slot: dict[str, Any], admitted: list[str], refused: list[str]) -> None:
    made = compiled(with_tools(document(clause("So {it}.", {"it": slot}))))
    assert [parsed(made, f"So {text}.").complete for text in admitted] == [True] * len(admitted)
    assert [parsed(made, f"So {text}.").complete for text in refused] == [False] * len(refused)


def with_tools(made: dict[str, Any], *more: str) -> dict[str, Any]:
    predicates = ["allow(tool:bash)", "allow(tool:edit)", *more]
    kept = {"rule_id": "keep.named", "template": "Named tools stand.", "slots": {}, "preserves": predicates}
    conflict = {
        "rule_id": "conflict.named",
        "predicates": predicates,
        "pattern": "no named tool",
        "hits": ["No named tool."],
        "near_misses": ["So."],
    }
    return made | {
        "predicates": [*made["predicates"], *predicates],
        "clauses": [*made["clauses"], kept],
        "conflicts": [*made["conflicts"], conflict],
    }


def test_tools_are_those_of_the_tasks_commitments() -> None:
    case = replace(
        Case(),
        grammar=compiled(with_tools(document(clause("Used: {it}.", {"it": {"type": "tool_name"}})))),
        snapshot=snapshot(("COMMIT-1", "x", TOOLS), ("COMMIT-2", "y", "allow(tool:edit)")),
    )
    kept = f"{CLEAN} Named tools stand."
    named = ("SAFETY-2", "z", "allow(tool:bash)")
    also = replace(case, manifest=manifest(("SAFETY-1", "x", SECRETS), named))
    assert also.check(f"{kept} Used: edit.").outcome is Outcome.PASS
    assert also.check(f"{kept} Used: bash.").outcome is Outcome.INSUFFICIENT_DATA  # an invariant is no commitment
    assert case.check(f"{kept} Used: edit.").outcome is Outcome.PASS
    assert case.check(f"{kept} Used: bash.").outcome is Outcome.INSUFFICIENT_DATA


@pytest.mark.parametrize(
    "predicate", ["allow(tool:)", "allow(tool:a b)", "allow(tool:a.)", "deny(tool:a)", "allow(tool:a) "]
)
def test_other_predicates_name_no_tool(predicate: str) -> None:
    assert allowed_tool(predicate) is None
    assert allowed_tool("allow(tool:a.b)") == "a.b"


def test_a_name_in_one_case_alone_overlaps_with_a_word_in_any() -> None:
    word, name = EnumerationSlot(frozenset({"bash"})), ToolNameSlot(frozenset({"Bash"}))
    assert overlap(word, name)
    assert overlap(name, word)
    assert name.could_spell("bash")
    assert QuantitySlot(3, 0, frozenset({"Ms"})).could_spell("7ms")

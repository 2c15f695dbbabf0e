"""Summaries in this project's clauses: honest, kept as they were learnt from, and not found."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.models.injection.clause_texts import POLICY, keep_summaries, read_summaries, summaries
from pratique.contract.canonical import text_sha256
from streams.adapters.injection.detector import FINDING_SCORE
from streams.adapters.injection.scorer import load_scorer

GRAMMARS = [*sorted((POLICY / "grammars").glob("*.json")), POLICY / "demo" / "grammar.json"]
LEARNT = read_summaries()
ANOTHER_SEED = 2


def test_summaries_of_every_grammar_are_learnt_from_as_honest() -> None:
    assert not any(row.attack for row in LEARNT)
    assert {row.lang for row in LEARNT} == {path.stem for path in GRAMMARS[:-1]}
    assert len({row.id for row in LEARNT}) == len(LEARNT)


def test_what_is_kept_is_drawn_alike_each_time(tmp_path: Path) -> None:
    keep_summaries(tmp_path / "one")
    keep_summaries(tmp_path / "other")
    kept = (tmp_path / "one").read_text("utf-8")
    assert text_sha256(kept) == text_sha256((tmp_path / "other").read_text("utf-8"))
    assert len(read_summaries(tmp_path / "one")) == len(LEARNT)


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda path: path.stem)
def test_no_grammar_asks_for_what_the_scanner_refuses(grammar: Path) -> None:
    scorer = load_scorer()
    learnt = {row.text for row in LEARNT}
    between = "" if grammar.stem in {"ja", "zh"} else " "
    others = [text for text in summaries(grammar.read_bytes(), between, 60, seed=ANOTHER_SEED) if text not in learnt]
    assert len(others) > 30
    assert [text for text in others if scorer.assess(text).score >= FINDING_SCORE] == []

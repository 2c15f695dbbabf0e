"""Reads summaries in the clauses of this project's grammars: what a compaction policy asks a model to write.

They are learnt from as they were when ``python -m infra.models.injection.clause_texts`` last wrote them down, so that a
grammar that changes later does not change the model. Each is some clauses of one grammar in any order, drawn from a
seeded generator, with its slots' samples; what conversations put into slots is not among them. All are honest: whatever
a clause claims, saying so steers nobody.
"""

from __future__ import annotations

import json
import random
from itertools import islice
from pathlib import Path
from typing import Final

from infra.models.injection.corpora import Row, honest
from streams.domain.compaction.compiler import read_clauses

POLICY: Final = Path(__file__).parents[2] / "policy"
KEPT_SUMMARIES: Final = Path(__file__).with_name("summaries.jsonl")
SUMMARIES_CORPUS: Final = "summaries"
GROUP: Final = "this project's grammars"

_SEED: Final = 1
_RENDERINGS: Final = 40
_SUMMARIES: Final = 120
_MOST_CLAUSES: Final = 12
_WITHOUT_BLANKS: Final = frozenset({"ja", "zh"})


def read_summaries(kept: Path = KEPT_SUMMARIES) -> list[Row]:
    """Return the summaries that were kept."""
    return [
        honest(
            f"{SUMMARIES_CORPUS}/{number}",
            text,
            lang=lang,
            group=GROUP,
            corpus=SUMMARIES_CORPUS,
            licence="Apache-2.0",
        )
        for number, (lang, text) in enumerate(
            map(json.loads, filter(None, kept.read_text(encoding="utf-8").split("\n")))
        )
    ]


def keep_summaries(kept: Path = KEPT_SUMMARIES) -> None:
    """Write down summaries in each grammar that is shipped."""
    grammars = {path.stem: path for path in sorted((POLICY / "grammars").glob("*.json"))}
    lines = [
        json.dumps((lang, text), ensure_ascii=False)
        for name, path in {**grammars, "demo": POLICY / "demo" / "grammar.json"}.items()
        for lang in ("en" if name == "demo" else name,)
        for text in summaries(path.read_bytes(), "" if lang in _WITHOUT_BLANKS else " ", _SUMMARIES, seed=_SEED)
    ]
    kept.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def summaries(grammar: bytes, between: str, count: int, *, seed: int) -> list[str]:
    """Return summaries in a grammar's clauses.

    Args:
        grammar: The grammar.
        between: What stands between two clauses.
        count: How many.
        seed: Of the generator that draws them.
    """
    draw = random.Random(seed)  # noqa: S311 - no secret
    clauses = [list(islice(clause.renderings(), _RENDERINGS)) for clause in read_clauses(grammar)]
    most = min(_MOST_CLAUSES, len(clauses))
    return [between.join(map(draw.choice, draw.sample(clauses, draw.randint(1, most)))) for _ in range(count)]


if __name__ == "__main__":
    keep_summaries()

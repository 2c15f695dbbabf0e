"""The scanner on the sample of the development corpora: nothing is worse than the baseline beyond its interval.

Where it fails on purpose (a detector found more that is not there, for much that is), make the baseline anew:
``pratique eval --corpus tests/samples/corpora --out tests/samples/corpora/baseline.json``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Final

from pratique.contract.canonical import parse_json
from streams.adapters.detectors import standard_detectors
from streams.application.ports.detection import Detection
from streams.domain.evaluation.result import read_parts, regressions
from streams.domain.evaluation.scoring import Outcome, Score
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from tests.fakes.scanning import InlinePool
from topologies.bootstrap.evaluation import evaluate, read_corpus
from topologies.bootstrap.scanning import read_scan

SAMPLE: Final = Path(__file__).resolve().parents[3] / "samples" / "corpora"
BASELINE: Final = SAMPLE / "baseline.json"


def test_nothing_is_worse_than_the_baseline() -> None:
    policy = read_scan(None, "default").policy
    profile = ScanProfile(policy.language_profiles, policy.entity_types)
    pool, score, failed = InlinePool(standard_detectors()), Score(), list[str]()

    async def find(text: str) -> Detection:
        return await pool.detect([Field("text", text)], profile, timeout_ms=policy.timeout_ms)

    def scanned(_: str, outcome: Outcome) -> None:
        score.add(outcome)
        if outcome.error is not None:
            failed.append(outcome.facts.id)

    asyncio.run(evaluate(read_corpus(SAMPLE), find, scanned))
    worse = regressions(read_parts(parse_json(BASELINE.read_bytes())), score.parts())
    assert [item.body() for item in worse] == []
    assert failed == []


def test_the_baseline_is_of_this_sample() -> None:
    of = {file["file"]: (file["rows"], file["sha256"]) for file in json.loads(BASELINE.read_bytes())["files"]}
    lines = {file: (SAMPLE / file).read_bytes() for file in of}
    assert of == {file: (text.count(b"\n"), hashlib.sha256(text).hexdigest()) for file, text in lines.items()}
    assert set(of) == {str(path.relative_to(SAMPLE)) for path in SAMPLE.rglob("*.jsonl")}


def test_no_text_of_the_sample_stands_there_in_plain() -> None:
    rows = [json.loads(line) for path in SAMPLE.rglob("*.jsonl") for line in path.read_bytes().splitlines()]
    assert rows
    assert all("text" not in row and row["licence"] and row["source"] for row in rows)
    assert all(len(piece) <= 12 for row in rows for piece in row["text_b64"].split(" "))

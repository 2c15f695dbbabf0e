"""A measurement that does not come to its end has left what it came to."""

from __future__ import annotations

import io
import json
from itertools import count
from pathlib import Path

from tests.bench.ledger_progress import Progress


def test_each_phase_is_said_and_kept_as_it_ends(tmp_path: Path) -> None:
    out, file, seconds = io.StringIO(), tmp_path / "made" / "phases.json", count(100)
    progress = Progress(out, file, lambda: float(next(seconds)))

    progress.told("the topics are written")
    assert json.loads(file.read_text("utf-8")) == [{"phase": "the topics are written", "ended_seconds": 1.0}]
    progress.told("round 1", rebuilt_per_second=31_250.4, ratio=0.75)

    assert [line.strip() for line in out.getvalue().splitlines()] == [
        "1.0 s  the topics are written",
        "2.0 s  round 1: rebuilt per second 31,250, ratio 0.750",
    ]
    kept = {"phase": "round 1", "ended_seconds": 2.0, "rebuilt_per_second": 31_250.4, "ratio": 0.75}
    assert json.loads(file.read_text("utf-8"))[1:] == [kept]

"""``make bench-laundering``: the experiment, as a page on standard output and as JSON.

The contract: the corpora are read from ``PRATIQUE_CORPORA``, else from ``../shared/corpora``. Exit 1 if what is asked
for is missed, 3 if there are no corpora. ``--docs`` writes the page ``docs/reference/laundering.md`` instead.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Final

from tests.bench.detectors import corpora
from tests.bench.laundering.conversations import EACH, clean, planted, plantings, poisoned
from tests.bench.laundering.experiment import Result, run
from tests.bench.laundering.gate import GateInProcess, scanner
from tests.bench.laundering.report import body, bounds, page

ROOT: Final = Path(__file__).resolve().parents[3]
PAGE: Final = ROOT / "docs" / "reference" / "laundering.md"
RESULT: Final = ROOT / ".pratique" / "laundering.json"


async def measured(folder: Path) -> tuple[Result, dict[str, int]]:
    """Run the experiment over the corpora."""
    honest, steered = list(clean(folder)), list(poisoned(folder))
    texts = plantings(folder)
    attacked = list(planted(honest, texts))
    made_of = {
        "clean": len(honest),
        "sessions that an attacker steered": len(steered),
        f"clean ones with one of {len(texts)} texts planted in their last tool output, {EACH} each": len(attacked),
    }
    everything = [*honest, *steered, *attacked]
    left = len(everything)

    def done() -> None:
        nonlocal left
        left -= 1
        print(f"\r{left} transcripts to go ", end="", file=sys.stderr, flush=True)

    async with scanner(len(os.sched_getaffinity(0))) as pool:
        result = await run(everything, GateInProcess.both(pool), done)
    print(file=sys.stderr)
    return result, made_of


def main() -> int:
    """Measure, print or write the page, and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.laundering")
    parser.add_argument("--docs", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--json", type=Path, default=RESULT, help="where the numbers go")
    arguments = parser.parse_args()
    folder = corpora()
    if not folder.is_dir():
        sys.stderr.write(f"no corpora in {folder}: set PRATIQUE_CORPORA\n")
        return 3
    result, made_of = asyncio.run(measured(folder))
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(body(result), indent=2) + "\n", encoding="utf-8")
    text = page(result, made_of)
    if arguments.docs:
        PAGE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0 if all(bound.kept for bound in bounds(result)) else 1


if __name__ == "__main__":
    sys.exit(main())

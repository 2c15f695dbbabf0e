"""``python -m tests.bench.ledger``: the ledger measured alone, by default with fewer fingerprints than ``make bench``.

The contract: exit 1 where a bound is missed. Each phase is told as it ends, and kept in a file. What is measured
is in the package: a process that is started to help does not read this file, as with the product's own command.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from infra.stack.paths import ROOT
from tests.bench.ledger import TRANSITIONS, measure
from tests.bench.ledger_progress import Progress
from tests.bench.ledger_speed import bounds

PHASES = ROOT / ".pratique" / "bench-ledger.json"


def main() -> int:
    """Measure the ledger alone and return the exit status: 1 where a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.ledger")
    parser.add_argument("--fingerprints", type=int, default=50_000)
    parser.add_argument("--transitions", type=int, default=TRANSITIONS)
    parser.add_argument("--phases", type=Path, default=PHASES, help="file that keeps what each phase came to")
    arguments = parser.parse_args()
    progress = Progress(sys.stderr, arguments.phases)
    with tempfile.TemporaryDirectory(prefix="pratique-bench-") as folder:
        speed = measure(Path(folder) / "stack", arguments.fingerprints, arguments.transitions, progress.told)
    found = bounds(speed)
    sys.stdout.write(json.dumps({**asdict(speed), "bounds": [asdict(bound) for bound in found]}, indent=2) + "\n")
    return 0 if all(bound.is_kept for bound in found) else 1


if __name__ == "__main__":
    sys.exit(main())

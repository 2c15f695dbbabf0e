"""``make bench``: the benchmarks, as a table and as JSON.

The contract: everything that is compared is measured in this one run; machines are noisy, ratios less so. Exit 1 if a
bound of the product is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from infra.stack.paths import ROOT
from infra.stack.stack import Stack, stack_file_of
from tests.bench import consistency, detectors, flow, ledger, load, scanning
from tests.bench.ledger_progress import Progress
from tests.bench.ledger_records import TENANTS
from tests.bench.ledger_speed import Bound, LedgerSpeed, bounds
from tests.bench.load import MakeRequests

RESULT: Final = ROOT / ".pratique" / "bench.json"
MIN_OF_CEILING: Final = 0.15
MIN_RECALLS: Final = 0.5
"""Least recalls a second, of compactions a second in the same run, both by the real judges."""
MIN_ACCEPTED: Final = 0.99
JUDGED_AT_ONCE: Final = 1000
"""Published at once, more of them than two cores judge before their deadline would be answered for that alone."""
LEAST_FINGERPRINTS: Final = ledger.LOOKED_UP * len(TENANTS)
MAX_TOTAL_MIB: Final = 3 * 1024

FLOW_ALONE: Final = "flow alone"
REAL_JUDGES: Final = "real judges"
RECALLS: Final = "recalls, real judges"
FIRST: Final = flow.APPS[:1]


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement of the flow.

    Attributes:
        title: Its name.
        judges: PRATIQUE_JUDGES of the apps.
        make: What the requests are about.
        first: The apps that are there before the others: the ledger brings its view, without which no memory is judged.
        most: Most requests that are published at once; null where none waits for a judge.
        rounds: How often flow and ceiling are measured in turns.
    """

    title: str
    judges: str
    make: MakeRequests
    first: tuple[str, ...] = FIRST
    most: int | None = None
    rounds: int = 1

    def count(self, asked: int) -> int:
        """Return how many requests are measured."""
        return asked if self.most is None else min(asked, self.most)

    @property
    def warm_up(self) -> int:
        """How many come before."""
        return flow.WARM_UP_REQUESTS if self.most is None else self.most // 2


RUNS: Final = (
    Run(FLOW_ALONE, "absent", load.conversations, rounds=9),
    Run("flow alone small requests", "absent", load.small),
    Run(REAL_JUDGES, "real", load.conversations, most=JUDGED_AT_ONCE),
    Run(RECALLS, "real", load.recalls, (*FIRST, ledger.LEDGER), most=JUDGED_AT_ONCE),
)
"""The bounds are on the flow of real conversations, and on recalls beside it."""

ROWS: Final = (
    ("request, mean bytes", "mean_request_bytes", "{:.0f}"),
    ("requests/s", "requests_per_second", "{:.0f}"),
    ("the broker's ceiling, requests/s", "ceiling_requests_per_second", "{:.0f}"),
    ("of the ceiling", "of_ceiling", "{:.3f}"),
    ("accepted, of all", "accepted", "{:.3f}"),
    ("p50 at a third of the load, ms", "p50_ms", "{:.0f}"),
    ("p99 at a third of the load, ms", "p99_ms", "{:.0f}"),
    ("peak PSS in all, MiB", "peak_total_mib", "{:.0f}"),
)

ENVIRONMENT: Final = {
    "PRATIQUE_QUOTA_PER_SECOND": "1000000",
    "PRATIQUE_QUOTA_BURST": "1000000",
    "PRATIQUE_SESSION_TIMEOUT_MS": str(flow.SESSION_MS),
}


def main() -> int:
    """Run the benchmarks and return the exit status."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--requests", type=int, default=2000, help="requests of each round of throughput")
    parser.add_argument("--fingerprints", type=int, default=1_000_000, help="fingerprints that the ledger holds")
    parser.add_argument("--output", type=Path, default=RESULT)
    arguments = parser.parse_args()
    if arguments.fingerprints < LEAST_FINGERPRINTS:  # said now, not after the minutes that the flow takes
        parser.error(f"--fingerprints has to be at least {LEAST_FINGERPRINTS}")
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="pratique-bench-") as folder:
        for run in RUNS:
            Console(stderr=True).print(f"measuring {run.title}")
            state = Path(folder) / run.title.replace(" ", "-").replace(",", "")
            result[run.title] = _measured(run, state, run.count(arguments.requests))
        Console(stderr=True).print("measuring the ledger")
        progress = Progress(sys.stderr, arguments.output.with_name("bench-ledger.json"))
        speed = ledger.measure(Path(folder) / "ledger", arguments.fingerprints, told=progress.told)
    Console(stderr=True).print("measuring detectors")
    result["detectors"] = [asdict(item) for item in detectors.speeds(load.texts())]
    result["ledger"] = asdict(speed)
    Console(stderr=True).print("measuring consistency")
    checks = consistency.measure()
    result["consistency"] = consistency.as_json(checks)
    Console(stderr=True).print("measuring the whole scan")
    scans = scanning.measure(load.texts())
    result["scanning"] = scanning.as_json(scans)
    held = [*bounds(speed), *consistency.bounds(checks), *scanning.bounds(scans), *_flow_bounds(result)]
    result["bounds"] = [{**asdict(bound), "is_kept": bound.is_kept} for bound in held]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    _show(result)
    consistency.show(checks, Console())
    scanning.show(scans, Console())
    _show_ledger(speed, held)
    return 0 if all(bound.is_kept for bound in held) else 1


def _flow_bounds(result: Mapping[str, Any]) -> tuple[Bound, ...]:
    peak = max(result[run.title]["peak_total_mib"] for run in RUNS)
    recalls = result[RECALLS]["requests_per_second"] / result[REAL_JUDGES]["requests_per_second"]
    return (
        Bound("flow alone, of the broker's ceiling", result[FLOW_ALONE]["of_ceiling"], least=MIN_OF_CEILING),
        Bound("recalls, of compactions", recalls, least=MIN_RECALLS),
        Bound("recalls judged before their deadline", result[RECALLS]["accepted"], least=MIN_ACCEPTED),
        Bound("peak PSS in all, MiB", peak, most=MAX_TOTAL_MIB),
    )


def _measured(run: Run, state: Path, count: int) -> dict[str, Any]:
    # The stack makes its policy only where it starts an app; the others are started beside it.
    stack = Stack(state, apps=run.first, environment={"PRATIQUE_JUDGES": run.judges, **ENVIRONMENT})
    with stack:
        for name in flow.APPS[1:]:
            stack.start_app(name.partition("-")[0], name=name)
        stack.wait_until_ready(flow.APPS)
        measured = flow.measure(stack, stack_file_of(state), count, run.make, rounds=run.rounds, warm_up=run.warm_up)
    return {
        **asdict(measured),
        "accepted": measured.outcomes.get("ACCEPTED", 0) / sum(measured.outcomes.values()),
    }


def _show(result: dict[str, Any]) -> None:
    titles = [run.title for run in RUNS]
    table = Table("what", *titles, title="flow")
    for name, key, form in ROWS:
        table.add_row(name, *(form.format(result[title][key]) for title in titles))
    for group, name in (("cpu_seconds_per_1000", "CPU s per 1,000 requests"), ("peak_pss_mib", "peak PSS, MiB")):
        for app in result[titles[-1]][group]:
            table.add_row(f"{name}: {app}", *(f"{result[title][group].get(app, 0):.2f}" for title in titles))
    Console().print(table)
    speeds = Table("detector", "profile", "MB scanned", "MB per CPU second", title="detectors")
    for speed in result["detectors"]:
        speeds.add_row(*(str(value) for value in speed.values()))
    Console().print(speeds)


def _show_ledger(speed: LedgerSpeed, held: Sequence[Bound]) -> None:
    table = Table("what", "measured", title="ledger")
    for name, value in asdict(speed).items():
        table.add_row(name.replace("_", " "), f"{value:,.3f}" if value < 100 else f"{value:,.0f}")
    Console().print(table)
    table = Table("bound", "value", "at least", "at most", "kept", title="bounds")
    for bound in held:
        most = "" if bound.most is None else f"{bound.most:g}"
        table.add_row(bound.name, f"{bound.value:.3f}", f"{bound.least:g}", most, "yes" if bound.is_kept else "NO")
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())

"""``make bench``: the benchmarks, as a table and as JSON.

The contract: everything that is compared is measured in this one run; machines are noisy, ratios less so. Exit 1 if a
bound of the product is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from infra.stack.paths import ROOT
from infra.stack.stack import Stack, stack_file_of
from tests.bench import ceiling, detectors, flow, load
from tests.bench.load import MakeRequests

RESULT: Final = ROOT / ".pratique" / "bench.json"
MIN_OF_CEILING: Final = 0.15
MAX_TOTAL_MIB: Final = 3 * 1024
PARTITIONS: Final = 8

FLOW_ALONE: Final = "flow alone"
RUNS: Final[tuple[tuple[str, str, MakeRequests], ...]] = (
    (FLOW_ALONE, "absent", load.conversations),
    ("flow alone small requests", "absent", load.small),
    ("real judges", "real", load.conversations),
)
"""Title, judges, and what the requests are about. The bound is on the flow of real conversations."""

ROWS: Final = (
    ("request, mean bytes", "mean_request_bytes", "{:.0f}"),
    ("requests/s", "requests_per_second", "{:.0f}"),
    ("the broker's ceiling, requests/s", "ceiling_requests_per_second", "{:.0f}"),
    ("of the ceiling", "of_ceiling", "{:.3f}"),
    ("p50 at a third of the load, ms", "p50_ms", "{:.0f}"),
    ("p99 at a third of the load, ms", "p99_ms", "{:.0f}"),
    ("peak PSS in all, MiB", "peak_total_mib", "{:.0f}"),
)

QUOTA: Final = {"PRATIQUE_QUOTA_PER_SECOND": "1000000", "PRATIQUE_QUOTA_BURST": "1000000"}


def main() -> int:
    """Run the benchmarks and return the exit status."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--requests", type=int, default=4000, help="requests of each throughput")
    parser.add_argument("--output", type=Path, default=RESULT)
    arguments = parser.parse_args()
    result: dict[str, Any] = {"bounds": {"flow_alone_of_ceiling": MIN_OF_CEILING, "peak_total_mib": MAX_TOTAL_MIB}}
    with tempfile.TemporaryDirectory(prefix="pratique-bench-") as folder:
        for title, judges, make in RUNS:
            Console(stderr=True).print(f"measuring {title}")
            result[title] = _run(Path(folder) / title.replace(" ", "-"), judges, make, arguments.requests)
    Console(stderr=True).print("measuring detectors")
    result["detectors"] = [asdict(speed) for speed in detectors.speeds(load.texts())]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    _show(result)
    kept = (
        result[FLOW_ALONE]["of_ceiling"] >= MIN_OF_CEILING
        and max(result[title]["peak_total_mib"] for title, *_ in RUNS) <= MAX_TOTAL_MIB
    )
    return 0 if kept else 1


def _run(state: Path, judges: str, make: MakeRequests, count: int) -> dict[str, Any]:
    # The stack makes its policy only where it starts an app; the others are started beside it.
    stack = Stack(state, apps=flow.APPS[:1], environment={"PRATIQUE_JUDGES": judges, **QUOTA})
    with stack:
        for name in flow.APPS[1:]:
            stack.start_app(name.partition("-")[0], name=name)
        stack.wait_until_ready(flow.APPS)
        measured = flow.measure(stack, stack_file_of(state), count, make)
        stack.supervisor.stop_all()
        records = ceiling.records_of_run(stack.broker.bootstrap)
        rate = ceiling.requests_per_second(stack.broker.bootstrap, records, PARTITIONS)
    return {
        **asdict(measured),
        "ceiling_requests_per_second": rate,
        "of_ceiling": measured.requests_per_second / rate,
    }


def _show(result: dict[str, Any]) -> None:
    titles = [title for title, *_ in RUNS]
    table = Table("what", *titles, title="flow")
    for name, key, form in ROWS:
        table.add_row(name, *(form.format(result[title][key]) for title in titles))
    for group, name in (("cpu_seconds_per_1000", "CPU s per 1,000 requests"), ("peak_pss_mib", "peak PSS, MiB")):
        for app in result[titles[0]][group]:
            table.add_row(f"{name}: {app}", *(f"{result[title][group].get(app, 0):.2f}" for title in titles))
    Console().print(table)
    speeds = Table("detector", "profile", "MB scanned", "MB per CPU second", title="detectors")
    for speed in result["detectors"]:
        speeds.add_row(*(str(value) for value in speed.values()))
    Console().print(speeds)


if __name__ == "__main__":
    sys.exit(main())

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
from tests.bench import ceiling, flow

RESULT: Final = ROOT / ".pratique" / "bench.json"
MIN_OF_CEILING: Final = 0.15
MAX_TOTAL_MIB: Final = 3 * 1024
PARTITIONS: Final = 8

QUOTA: Final = {"PRATIQUE_QUOTA_PER_SECOND": "1000000", "PRATIQUE_QUOTA_BURST": "1000000"}


def main() -> int:
    """Run the benchmarks and return the exit status."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--requests", type=int, default=3000, help="requests of the throughput with real judges")
    parser.add_argument(
        "--flow-requests", type=int, default=10_000, help="requests of the throughput of the flow alone"
    )
    parser.add_argument("--output", type=Path, default=RESULT)
    arguments = parser.parse_args()
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="pratique-bench-") as folder:
        say = Console(stderr=True).print
        say("flow alone: no judges, signatures on")
        alone, ceiling_rate = _flow(Path(folder) / "alone", "absent", arguments.flow_requests, with_ceiling=True)
        say("real judges")
        real, _ = _flow(Path(folder) / "real", "real", arguments.requests, with_ceiling=False)
    result = {
        "flow_alone": asdict(alone),
        "real": asdict(real),
        "ceiling_requests_per_second": ceiling_rate,
        "flow_alone_of_ceiling": alone.requests_per_second / ceiling_rate,
        "real_of_ceiling": real.requests_per_second / ceiling_rate,
        "bounds": {"flow_alone_of_ceiling": MIN_OF_CEILING, "peak_total_mib": MAX_TOTAL_MIB},
    }
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    _show(result)
    kept = result["flow_alone_of_ceiling"] >= MIN_OF_CEILING and real.peak_total_mib <= MAX_TOTAL_MIB
    return 0 if kept else 1


def _flow(state: Path, judges: str, count: int, *, with_ceiling: bool) -> tuple[flow.Flow, float]:
    # A policy is made even where no app is started by the stack: it starts those it is given.
    stack = Stack(state, apps=("intake",), environment={"PRATIQUE_JUDGES": judges, **QUOTA})
    with stack:
        for name in flow.APPS[1:]:
            stack.start_app(name.partition("-")[0], name=name)
        stack.wait_until_ready(flow.APPS)
        measured = flow.measure(stack, stack_file_of(state), count, run=judges)
        if not with_ceiling:
            return measured, 0.0
        stack.supervisor.stop_all()
        records = ceiling.records_of_run(stack.broker.bootstrap)
        return measured, ceiling.requests_per_second(stack.broker.bootstrap, records, PARTITIONS)


def _show(result: dict[str, Any]) -> None:
    table = Table("what", "flow alone", "real judges", title="flow")
    rows = (
        ("requests/s", "requests_per_second", "{:.0f}"),
        ("p50 at a third of it, ms", "p50_ms", "{:.0f}"),
        ("p99 at a third of it, ms", "p99_ms", "{:.0f}"),
        ("peak PSS in all, MiB", "peak_total_mib", "{:.0f}"),
    )
    for title, name, form in rows:
        table.add_row(title, form.format(result["flow_alone"][name]), form.format(result["real"][name]))
    for app in result["real"]["cpu_seconds_per_1000"]:
        cells = [f"{result[kind]['cpu_seconds_per_1000'].get(app, 0):.2f}" for kind in ("flow_alone", "real")]
        table.add_row(f"CPU s per 1,000 requests: {app}", *cells)
    for app in result["real"]["peak_pss_mib"]:
        cells = [f"{result[kind]['peak_pss_mib'].get(app, 0):.0f}" for kind in ("flow_alone", "real")]
        table.add_row(f"peak PSS, MiB: {app}", *cells)
    table.add_row(
        "of the broker's ceiling", f"{result['flow_alone_of_ceiling']:.3f}", f"{result['real_of_ceiling']:.3f}"
    )
    Console().print(table)
    Console().print(f"the broker's ceiling: {result['ceiling_requests_per_second']:.0f} requests/s")


if __name__ == "__main__":
    sys.exit(main())

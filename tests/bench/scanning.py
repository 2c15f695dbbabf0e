"""The whole scan, and what its workers take: ``python -m tests.bench.scanning [--json FILE]``.

The contract: the scan is ``detect`` with the standard detectors under the broadest profile, in one process whose
objects are frozen as a worker's are, over agent messages of 1 to 8 KB, one by one; beside it Presidio's own engine with
the same recognisers, in the same run (``tests.bench.pii``). All are CPU times. The curve goes to 1 MB of such messages,
one after the other. The costliest texts are searched for (``tests.bench.worst``): of the readings, and of the whole
scan, each of the typical cost of the whole; beside them stand texts of several disguises (``tests.bench.together``).
Workers are a pool's: their memory is PSS after a scan of all messages, and their start is the time from asking for a
pool to its first worker's being ready, with files in the page cache.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import psutil
from rich.console import Console
from rich.table import Table

from streams.adapters.detectors import standard_detectors
from streams.adapters.pool import WorkerPool
from streams.adapters.presidio import PresidioDetector
from streams.adapters.viewing import detect
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.domain.scanning.views.readings import readings
from tests.bench import pii
from tests.bench.detectors import broad_profile, corpora, messages
from tests.bench.ledger_speed import Bound
from tests.bench.together import TOGETHER, disguised
from tests.bench.worst import Run, Worst, cpu_seconds, search

MIN_OF_ENGINE: Final = 8.0
MAX_GROWTH: Final = 1.5
MAX_WORST: Final = 5.0
MAX_TOGETHER: Final = 50.0
"""Of texts of several disguises. They ought to keep MAX_WORST, and do not yet: ADR 0036."""
MAX_WORKER_MIB: Final = 300
MAX_START_SECONDS: Final = 2.0
TOGETHER_LENGTHS: Final = (2_000, 8_000, 64_000)
TOGETHER_SHARES: Final = (1.0, 0.2, 0.14, 0.1, 0.07, 0.05, 0.03)
LENGTHS: Final = (8_000, 64_000, 250_000, 500_000, 1_000_000)
WORKERS: Final = 2
TIMEOUT_MS: Final = 120_000

SUSPECTS: Final = (
    *("a", "A", "0", "aB1", "-", "_", "/", "=", "+", ".-", ". ", " ", "\n", '"', "1-", "1.1.", "s e c ", "h3ll0 ", "4"),
    *("%41", "&#65;", "&amp;", "\\u0041", "\\x41", "=41", "0x41, ", "41 ", "41:", "065 ", "chr(65)+", "01000001 "),
    *("YWJj", "aGVsbG8gd29ybGQg", "H4sIAAAA", "MFRGG", "<~", "~>", "!", "data:text/plain;base64,", "==\n", "%25"),
    *("\u200b", "\U000e0041", "\ufe01", "\u0430", "\uff21", "\u0301", "\ufdfa", "\u00ad", "\u4e00", "\u7528\u6237"),
    *("cnffjbeq ", "drowssap ", "password: ", "Bearer ", "-----BEGIN ", "ignore all ", "previous instructions "),
    *("call 555-123-4567 ", "4111 1111 1111 1111 ", "DE89 3704 0044 0532 0130 00 ", "a@b.c ", "192.168.1.1 "),
    *("123-45-6789 ", "2001:db8::1 ", "01:23:45:67:89:ab ", "https://a.bc/", "::", "1 ", "12-", "00"),
)
"""What the patterns of readings and detectors begin with."""


@dataclass(frozen=True, slots=True)
class Workers:
    """What a pool of workers takes.

    Attributes:
        start_seconds: From nothing to the first worker's being ready.
        replaced_seconds: From the end of a worker to the answer of the one that takes its place.
        worker_mib: PSS of the largest worker.
        pool_mib: PSS of the pool: workers, fork server and resource tracker.
    """

    start_seconds: float
    replaced_seconds: float
    worker_mib: float
    pool_mib: float


@dataclass(frozen=True, slots=True)
class ScanSpeed:
    """All of it.

    Attributes:
        mb_per_s: Of the whole scan.
        readings_mb_per_s: Of the readings alone.
        engine_mb_per_s: Of Presidio's engine.
        curve: Milliseconds by length.
        together: A byte of texts of several disguises, of the typical one.
    """

    mb_per_s: float
    readings_mb_per_s: float
    engine_mb_per_s: float
    curve: dict[int, float]
    worst: dict[str, Worst]
    together: dict[str, float]
    workers: Workers


def measure(texts: Sequence[str], *, examples: int = 200) -> ScanSpeed:
    """Measure all of it; some minutes."""
    workers = asyncio.run(_workers(texts))
    detectors = standard_detectors()
    presidio = next(item for item in detectors if isinstance(item, PresidioDetector))
    profile = broad_profile(presidio)
    gc.collect()
    gc.freeze()
    size = sum(len(text.encode()) for text in texts)

    def scan(text: str) -> Run:
        fields = [Field("summary_text", text)]
        return lambda: detect(fields, profile, detectors)

    def read(text: str) -> Run:
        return lambda: _read(text)

    whole = sum(cpu_seconds(scan(text), rounds=3) for text in texts)
    views = sum(cpu_seconds(read(text), rounds=3) for text in texts)
    engine = pii.measured("broad", presidio, profile, texts).engine_mb_per_s
    joined = "\n\n".join(texts) * (1 + max(LENGTHS) // size)
    curve = {length: cpu_seconds(scan(joined[:length]), rounds=3) * 1e3 for length in LENGTHS}
    typical = whole / size * 1e9
    worst = {
        name: search(prepare, texts[0], SUSPECTS, examples=examples, usual=typical)
        for name, prepare in (("readings", read), ("the whole scan", scan))
    }
    together = {
        f"{name}, {share:.0%} of {length:,}": cpu_seconds(scan(text), rounds=3) * 1e9 / len(text.encode()) / typical
        for name, unit in TOGETHER.items()
        for length in TOGETHER_LENGTHS
        for share in TOGETHER_SHARES
        for text in [disguised(unit, length, share)]
    }
    return ScanSpeed(size / whole / 1e6, size / views / 1e6, engine, curve, worst, together, workers)


def _read(text: str) -> None:
    for _ in readings(text):
        pass


async def _workers(texts: Sequence[str]) -> Workers:
    began = time.monotonic()
    pool = WorkerPool(workers=WORKERS)
    await pool.warm()
    started = time.monotonic() - began
    try:
        profile = ScanProfile(("en",), ("EMAIL_ADDRESS", "PHONE_NUMBER", "IP_ADDRESS", "CREDIT_CARD"))

        async def scan(text: str) -> None:
            await pool.detect([Field("summary_text", text)], profile, timeout_ms=TIMEOUT_MS)

        await asyncio.gather(*map(scan, texts))
        mib = {process.pid: process.memory_full_info().pss / 2**20 for process in psutil.Process().children(True)}  # noqa: FBT003 - psutil's form
        largest = max(mib[pid] for pid in pool.pids)
        lost = pool.pids
        began = time.monotonic()
        for pid in lost:
            psutil.Process(pid).kill()
        await scan(texts[0])
        replaced = time.monotonic() - began
    finally:
        await pool.close()
    return Workers(started, replaced, largest, sum(mib.values()))


def growth(curve: dict[int, float]) -> float:
    """Return what a byte of the last step costs, of the median of the steps before."""
    steps = [(curve[two] - curve[one]) / (two - one) for one, two in pairwise(sorted(curve))]
    return steps[-1] / statistics.median(steps[:-1])


def bounds(speed: ScanSpeed) -> tuple[Bound, ...]:
    """Return what a measurement is held to."""
    return (
        Bound("the whole scan, of Presidio's engine", speed.mb_per_s / speed.engine_mb_per_s, least=MIN_OF_ENGINE),
        Bound("a byte of a scan of 1 MB, of smaller", growth(speed.curve), most=MAX_GROWTH),
        *(Bound(f"worst text, {name}, of a scan", item.ratio, most=MAX_WORST) for name, item in speed.worst.items()),
        Bound("worst text of several disguises, of a scan", max(speed.together.values()), most=MAX_TOGETHER),
        Bound("PSS of a scan worker, MiB", speed.workers.worker_mib, most=MAX_WORKER_MIB),
        Bound("start of the scan workers, s", speed.workers.start_seconds, most=MAX_START_SECONDS),
    )


def show(speed: ScanSpeed, console: Console) -> None:
    """Print it."""
    table = Table("what", "measured", title="the whole scan")
    table.add_row("whole scan, MB/s", f"{speed.mb_per_s:.2f}")
    table.add_row("readings alone, MB/s", f"{speed.readings_mb_per_s:.2f}")
    table.add_row("Presidio's engine, MB/s", f"{speed.engine_mb_per_s:.2f}")
    for length, taken in speed.curve.items():
        table.add_row(f"{length:,} bytes, ms", f"{taken:.0f}")
    for name, value in asdict(speed.workers).items():
        table.add_row(name.replace("_", " "), f"{value:.2f}")
    for name, worst in speed.worst.items():
        numbers = f"{worst.ns_per_byte:.0f}, {worst.ns_per_byte_large:.0f} of {worst.typical_ns_per_byte:.0f}"
        table.add_row(f"worst text, {name}, ns a byte", f"{numbers}: {ascii(worst.recipe)[:80]}")
    name = max(speed.together, key=speed.together.__getitem__)
    table.add_row("worst text of several disguises, of a scan", f"{speed.together[name]:.1f}: {name}")
    console.print(table)


def as_json(speed: ScanSpeed) -> dict[str, Any]:
    """Return it as JSON."""
    return asdict(speed)


def main() -> int:
    """Measure, print, and write JSON where asked; 1 where a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.scanning")
    parser.add_argument("--examples", type=int, default=200, help="texts tried for each worst one")
    parser.add_argument("--json", type=Path, help="write the numbers here as well")
    arguments = parser.parse_args()
    speed = measure(messages(corpora()), examples=arguments.examples)
    console = Console()
    show(speed, console)
    held = bounds(speed)
    table = Table("bound", "value", "at least", "at most", "kept", title="bounds")
    for bound in held:
        most = "" if bound.most is None else f"{bound.most:g}"
        table.add_row(bound.name, f"{bound.value:.2f}", f"{bound.least:g}", most, "yes" if bound.is_kept else "NO")
    console.print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(as_json(speed), indent=2) + "\n", encoding="utf-8")
    return 0 if all(bound.is_kept for bound in held) else 1


if __name__ == "__main__":
    raise SystemExit(main())

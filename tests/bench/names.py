"""What a language model costs a scan: ``python -m tests.bench.names``.

The contract: the same agent messages, and one long text, go through a pool of real workers under the broadest profile,
and under it with the tests' English model for PERSON and LOCATION. Printed are wall times of the pool, PSS of its
largest worker, and in how many of the messages, which are benign, the model finds something.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import Final

import psutil
from rich.console import Console
from rich.table import Table

from streams.adapters.pool import WorkerPool
from streams.adapters.presidio import PresidioDetector
from streams.domain.policy.scan_rules import ScanRules
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from tests.bench.detectors import broad_profile, corpora, messages
from tests.fakes.language_model import ENGLISH

WORKERS: Final = 2
TIMEOUT_MS: Final = 600_000
MODEL: Final = replace(ENGLISH, entity_types=("PERSON", "LOCATION"))
LONG: Final = (
    "We agreed with Maria Lopez that the release moves to Friday. Run the tests first, then tell Peter. " * 2_500
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one policy's scan took.

    Attributes:
        seconds: For all messages, in ``WORKERS`` processes.
        long_seconds: For ``LONG`` in one.
        worker_mib: PSS of the largest worker after that.
        named: Messages in which the model found something.
    """

    seconds: float
    long_seconds: float
    worker_mib: float
    named: int


async def measure(profile: ScanProfile, texts: list[str]) -> Cost:
    """Scan all texts twice, so that what is loaded at first is not counted, and then the long one.

    Raises:
        RuntimeError: Something was not scanned.
    """
    async with WorkerPool(workers=WORKERS) as pool:

        async def scan() -> tuple[float, int]:
            began = time.perf_counter()
            answers = await asyncio.gather(
                *(pool.detect([Field("message", text)], profile, timeout_ms=TIMEOUT_MS) for text in texts)
            )
            if any(answer.failure for answer in answers):
                raise RuntimeError("a message was not scanned")
            took = time.perf_counter() - began
            return took, sum(any(item.detector == "names" for item in answer.findings) for answer in answers)

        await scan()
        seconds, named = await scan()
        began = time.perf_counter()
        if (await pool.detect([Field("long", LONG)], profile, timeout_ms=TIMEOUT_MS)).failure:
            raise RuntimeError("the long text was not scanned")
        long_seconds = time.perf_counter() - began
        mib = max(psutil.Process(pid).memory_full_info().pss / 2**20 for pid in pool.pids)
        return Cost(seconds, long_seconds, mib, named)


def main() -> None:
    """Measure and print."""
    texts = messages(corpora())
    without = broad_profile(PresidioDetector())
    types = tuple(dict.fromkeys((*without.entity_types, *MODEL.entity_types)))
    profiles = {"none": without, "en": replace(without, entity_types=types, rules=ScanRules(models=(MODEL,)))}
    size = sum(len(text.encode()) for text in texts)
    table = Table(title=f"{len(texts)} messages of {size // 1000} kB, and a text of {len(LONG) // 1000} kB")
    for column in ("model", "messages, s", "long text, s", "worker, MiB", "messages with a name"):
        table.add_column(column, justify="right")
    for name, profile in profiles.items():
        cost = asyncio.run(measure(profile, texts))
        figures = f"{cost.seconds:.2f}", f"{cost.long_seconds:.2f}", f"{cost.worker_mib:.0f}", f"{cost.named}"
        table.add_row(name, *figures)
    Console().print(table)


if __name__ == "__main__":
    main()

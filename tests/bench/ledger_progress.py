"""What a measurement of the ledger has come to so far: with a million fingerprints it takes many minutes.

The contract: each phase is said as it ends, and kept in a file with those before it, so that a measurement that does
not come to its end has left what it came to. Nothing is measured here but the time since the beginning.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO


class Progress:
    """Says what each phase came to.

    Args:
        out: Where it is said, a line a phase.
        file: Where it is kept, as JSON; its folder is made.
        clock: Seconds.
    """

    def __init__(self, out: TextIO, file: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._file = file
        self._clock = clock
        self._begun = clock()
        self._phases: list[dict[str, object]] = []

    def told(self, phase: str, **figures: float) -> None:
        """Say that a phase is over, and what it came to."""
        seconds = round(self._clock() - self._begun, 1)
        stated = ", ".join(f"{name.replace('_', ' ')} {_shown(value)}" for name, value in figures.items())
        self._out.write(f"{seconds:8.1f} s  {phase}{': ' if stated else ''}{stated}\n")
        self._out.flush()
        self._phases.append({"phase": phase, "ended_seconds": seconds, **figures})
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self._phases, indent=2) + "\n", "utf-8")


def _shown(value: float) -> str:
    return f"{value:,.3f}" if value < 100 else f"{value:,.0f}"

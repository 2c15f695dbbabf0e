"""Drives a subject with atheris: ``python -m tests.fuzz SUBJECT FOLDER [--seconds N]``.

The contract: inputs that reach something new are kept in FOLDER, one that shows a fault is left there as ``crash-...``.
The costliest inputs, by CPU time a byte, are written to ``costliest.json``; code that is instrumented is slower, so
``--again`` runs them without. atheris is none of the project's requirements: see ``docs/guide/fuzzing.md``.
"""

from __future__ import annotations

import argparse
import base64
import heapq
import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any, Final

KEPT: Final = 20
LEAST_BYTES: Final = 64
"""Shortest input whose cost a byte says something."""
LEAST_SECONDS: Final = 0.002


class Costliest:
    """Keeps the costliest inputs in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept: list[tuple[float, bytes]] = []

    def run(self, subject: Any, data: bytes) -> None:  # noqa: ANN401 - loaded when code is instrumented
        """Run a subject, and keep the input if it is among the costliest."""
        began = time.process_time()
        subject.run(data)
        seconds = time.process_time() - began
        if len(data) < LEAST_BYTES or seconds < LEAST_SECONDS:
            return
        cost = seconds / len(data)
        if len(self._kept) < KEPT or cost > self._kept[0][0]:
            heapq.heappush(self._kept, (cost, data))
            del self._kept[: max(0, len(self._kept) - KEPT)]
            heapq.heapify(self._kept)
            written = [base64.b64encode(item).decode() for _, item in sorted(self._kept, reverse=True)]
            self._file.write_text(json.dumps(written), encoding="utf-8")


def fuzz(name: str, folder: Path, seconds: int) -> None:
    """Fuzz a subject until time is over or a fault is found; does not return."""
    import atheris  # noqa: PLC0415 - none of the requirements

    with atheris.instrument_imports(include=["streams", "pratique"]):
        subjects = importlib.import_module("tests.fuzz.subjects")
    subject = subjects.SUBJECTS[name]
    folder.mkdir(parents=True, exist_ok=True)
    for place, seed in enumerate(subject.seeds):
        (folder / f"seed-{place}").write_bytes(seed)
    costliest = Costliest(folder / "costliest.json")
    arguments = [
        f"-max_total_time={seconds}",
        "-max_len=4096",
        "-timeout=600",
        f"-artifact_prefix={folder}/",
        str(folder),
    ]
    atheris.Setup([sys.argv[0], *arguments], lambda data: costliest.run(subject, data))
    atheris.Fuzz()


def again(name: str, folder: Path) -> None:
    """Print what the costliest inputs cost a byte without instrumentation."""
    subject = importlib.import_module("tests.fuzz.subjects").SUBJECTS[name]
    subject.run(subject.seeds[-1])
    for text in json.loads((folder / "costliest.json").read_text(encoding="utf-8")):
        data = base64.b64decode(text)
        began = time.process_time()
        subject.run(data)
        cost = (time.process_time() - began) / len(data)
        sys.stdout.write(f"{cost * 1e6:8.1f} us a byte, {len(data)} bytes: {text[:60]}\n")


def main() -> None:
    """Read the arguments, and fuzz."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("subject", help="a name in tests.fuzz.subjects.SUBJECTS")
    parser.add_argument("folder", type=Path, help="where inputs are kept")
    parser.add_argument("--seconds", type=int, default=300, help="how long")
    parser.add_argument("--again", action="store_true", help="measure what was costliest, without instrumentation")
    arguments = parser.parse_args()
    if arguments.again:
        again(arguments.subject, arguments.folder)
    else:
        fuzz(arguments.subject, arguments.folder, arguments.seconds)


if __name__ == "__main__":
    main()

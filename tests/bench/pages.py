"""Pages of ``docs/reference`` that a measurement writes: how a rate is shown, and where a page goes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from streams.domain.evaluation.rates import Rate
from tests.bench.detectors import corpora

REFERENCE: Final = Path(__file__).resolve().parents[2] / "docs" / "reference"


def shown(rate: Rate) -> str:
    """Return a rate as pages show it: how many, their share, and its 95 % interval."""
    low, high = rate.interval
    return f"{rate.found} ({rate.share:.1%}; {low:.1%} to {high:.1%})"


def target(texts: str, asked: str, rate: Rate, *, is_met: bool) -> str:
    """Return the row of a table of targets."""
    return f"| {texts} | {asked} | {shown(rate)} | {'met' if is_met else 'missed'} |"


def write_page(program: str, page: Path, measured: Callable[[Path], str]) -> None:
    """Measure the corpora, and print the page, or write it with ``--docs``."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}")
    parser.add_argument("--docs", action="store_true", help=f"write {page.name}")
    arguments = parser.parse_args()
    folder = corpora()
    if not folder.is_dir():
        raise SystemExit(f"no corpora in {folder}: set PRATIQUE_CORPORA")
    text = measured(folder)
    if arguments.docs:
        page.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)

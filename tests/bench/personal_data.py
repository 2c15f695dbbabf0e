"""What is found of personal data in the development corpora: ``python -m tests.bench.personal_data [--docs]``.

The contract: every language, every advised entity type; a row counts when anything is found in it, as the text stands.
Every rate has Wilson's 95 % interval. What is not looked for at all is told apart by what the row's own labels name:
its types, and whether its network addresses are reserved ones. ``--docs`` writes
``docs/reference/personal-data.md``; without it the page goes to standard output.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from streams.adapters.presidio import PresidioDetector
from streams.adapters.presidio_profiles import UNADVISED_ENTITY_TYPES
from streams.domain.evaluation.rates import Rate
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from tests.bench.detectors import FILES, broad_profile, rows
from tests.bench.pages import REFERENCE, shown, target, write_page

PAGE: Final = REFERENCE / "personal-data.md"

VALID: Final = "valid examples"
HARD: Final = "valid examples, hard: a recogniser's weak forms"
LOOKED_FOR: Final = "valid examples, less those that hold nothing that is looked for"
BY_TYPE: Final = "of type "
INVALID: Final = "invalid examples: other text, or numbers of no kind"
BORDERLINE: Final = "invalid examples, borderline: known not to be of one type, and perhaps of another"
BENIGN: Final = "benign texts, which may hold somebody's address"

LEAST_RECALL: Final = 0.95
MOST_FALSE: Final = 0.01
FEWEST_ROWS: Final = 20
"""Rows from which a type is told of."""

_RESERVED: Final = "IP_ADDRESS"


def parts(file: str, row: dict[str, Any]) -> Iterator[str]:
    """Yield the parts that a row is counted in."""
    if file.startswith("benign/"):
        yield BENIGN
    elif row["label"] == "clean":
        yield BORDERLINE if row.get("borderline") else INVALID
    elif row.get("difficulty") == "hard":
        yield HARD
    else:
        yield VALID
        if not all(_is_passed_over(span) for span in row["spans"]) or not row["spans"]:
            yield LOOKED_FOR
        yield from {f"{BY_TYPE}{name}" for name in row["types"]}


def _is_passed_over(span: dict[str, Any]) -> bool:
    """Say whether a labelled stretch is of what is not looked for: a type that is not advised, an address of nobody."""
    if span["type"] in UNADVISED_ENTITY_TYPES:
        return True
    if span["type"] != _RESERVED:
        return False
    try:
        address = ipaddress.ip_interface(str(span["value"])).ip
    except ValueError:
        return False
    known = getattr(address, "ipv4_mapped", None) or address
    broadcast = ipaddress.ip_address("255.255.255.255")
    return bool(known.is_loopback or known.is_unspecified or known.is_multicast or known == broadcast)


def counted(detector: PresidioDetector, profile: ScanProfile, folder: Path) -> dict[str, Rate]:
    """Count the rows in which something is found, by part."""
    total: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for file in FILES["presidio"]:
        for row in rows(folder / file):
            is_found = bool(detector.scan([Field("text", row["text"])], profile))
            for part in parts(file, row):
                total[part] += 1
                found[part] += is_found
    return {part: Rate(found[part], total[part]) for part in sorted(total)}


def page(counts: dict[str, Rate]) -> str:
    """Return the page."""
    texts = (VALID, LOOKED_FOR, HARD, INVALID, BORDERLINE, BENIGN)
    types = [part for part in counts if part.startswith(BY_TYPE) and counts[part].of >= FEWEST_ROWS]
    recall, false = counts[VALID], counts[INVALID]
    lines = [
        "# Personal data",
        "",
        "Written by `python -m tests.bench.personal_data --docs`. Decisions:",
        "[ADR 0016](../adr/0016-personal-data.md), [ADR 0030](../adr/0030-patterns-read-by-re2-first.md).",
        "",
        "## Targets",
        "",
        "| texts | target | measured |  |",
        "| --- | --: | --: | --: |",
        target(VALID, f"≥ {LEAST_RECALL:.0%}", recall, is_met=recall.share >= LEAST_RECALL),
        target(INVALID, f"≤ {MOST_FALSE:.0%}", false, is_met=false.share <= MOST_FALSE),
        "",
        "Not looked for, and missed by that: dates, web addresses and UUIDs, which every summary of an agent has and",
        "which are nobody's; loopback, unspecified, broadcast and multicast addresses. Looked for, and missed:",
        "postcodes that stand alone (any five digits); examples that a recogniser's test calls valid by form, where",
        "check digits or numbering plans say otherwise; what is spelt out (`john at`, a host).",
        "",
        "## Measured",
        "",
        "Rows of the development corpora in which something is found, with 95 % intervals. Most are examples out of",
        "the tests of recognisers, which these ones were written beside: on texts of other sources less will be found.",
        "A row counts for each type that it holds, whichever of them was found.",
        "",
        "| texts | rows | found |",
        "| --- | --: | --: |",
        *(f"| {part} | {counts[part].of} | {shown(counts[part])} |" for part in (*texts, *types)),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, and print or write the page."""
    detector = PresidioDetector()
    write_page(
        "tests.bench.personal_data", PAGE, lambda folder: page(counted(detector, broad_profile(detector), folder))
    )


if __name__ == "__main__":
    main()

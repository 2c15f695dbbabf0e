"""What the demo found out, judged and printed: as a table, as JSON, and as the tables in the documentation.

The contract: a row is right only if ending and reason codes are exactly the expected ones and nothing else was at
fault; the report passes only if every row that was planned is there and right, and memory stayed within its limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rich.markup import escape
from rich.table import Table

from infra.stack.memories import Recall
from infra.stack.scenarios import Ending, Expected, Scenario

if TYPE_CHECKING:
    from pathlib import Path

MAX_TOTAL_MIB: Final = 3 * 1024
"""Most memory that broker and apps may use together, in MiB of PSS."""

BEGIN: Final = "<!-- demo:begin, written by `python -m infra.stack demo --record` -->"
END: Final = "<!-- demo:end -->"

_COLUMNS: Final = ("request", "verdict", "reason codes", "ms", "goes into the context")


@dataclass(frozen=True, slots=True)
class Planned:
    """A row that there must be.

    Attributes:
        name: The scenario's name.
        title: What the table says.
        expected: The one right outcome.
    """

    name: str
    title: str
    expected: Expected

    @classmethod
    def of(cls, asked: Scenario | Recall) -> Planned:
        """Return the row of what is asked."""
        return cls(asked.name, asked.title, asked.expected)


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one request, or of one batch.

    Attributes:
        name: The scenario's name.
        title: What the table says.
        expected: The one right outcome.
        ending: What became of it.
        codes: The reason codes, without repetition, in the verdict's order.
        place: Where the first reason lies, in our own field names; empty where there is none.
        milliseconds: From sending to the answer; for a batch, the longest.
        inserted: What the client puts into the context.
        fault: What else is wrong; empty where nothing is.
    """

    name: str
    title: str
    expected: Expected
    ending: Ending
    codes: tuple[str, ...]
    place: str
    milliseconds: int
    inserted: str
    fault: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the outcome is the expected one."""
        return not self.fault and (self.ending, self.codes) == (self.expected.ending, self.expected.codes)

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """The row as the tables print it."""
        first = [f"{self.codes[0]} ({self.place})" if self.place else self.codes[0]] if self.codes else []
        reasons = ", ".join([*first, *self.codes[1:]])
        return self.title, self.ending.value, reasons, f"{self.milliseconds:,}", self.inserted


@dataclass(frozen=True, slots=True)
class Report:
    """All rows, and what it took.

    Attributes:
        planned: The rows that there must be, in order.
        rows: The rows.
        peak_mib: Highest PSS of each app, in MiB.
        peak_total_mib: Highest PSS of all at one moment, in MiB.
        seconds: From the first start to the last process ended.
        machine: What it ran on, in words.
        fallback: The context of the request that nobody scanned: role and content of each message.
    """

    planned: tuple[Planned, ...]
    rows: tuple[Row, ...]
    peak_mib: Mapping[str, float]
    peak_total_mib: float
    seconds: float
    machine: str
    fallback: tuple[tuple[str, str], ...] = ()

    def faults(self) -> list[str]:
        """Return everything that keeps the demo from passing, in words."""
        found = [_fault(row) for row in self.rows if not row.is_right]
        wanted = Counter((item.name, item.expected) for item in self.planned)
        got = Counter((row.name, row.expected) for row in self.rows)
        found += [f"{name}: not run" for name, _ in (wanted - got).elements()]
        found += [f"{name}: run and not planned" for name, _ in (got - wanted).elements()]
        if self.peak_total_mib > MAX_TOTAL_MIB:
            found.append(f"memory: {self.peak_total_mib:.0f} MiB, {MAX_TOTAL_MIB} are allowed")
        return found

    def as_json(self) -> dict[str, Any]:
        """Return the report for programs."""
        return {
            "passed": not self.faults(),
            "faults": self.faults(),
            "seconds": round(self.seconds, 1),
            "machine": self.machine,
            "peak_pss_mib": {name: round(mib) for name, mib in sorted(self.peak_mib.items())},
            "peak_total_pss_mib": round(self.peak_total_mib),
            "fallback": [{"role": role, "content": content} for role, content in self.fallback],
            "rows": [
                {
                    "name": row.name,
                    "title": row.title,
                    "verdict": row.ending.value,
                    "reason_codes": list(row.codes),
                    "place": row.place,
                    "milliseconds": row.milliseconds,
                    "inserted": row.inserted,
                    "right": row.is_right,
                }
                for row in self.rows
            ],
        }

    def memory(self) -> str:
        """Return the memory line."""
        parts = ", ".join(f"{name} {mib:.0f}" for name, mib in sorted(self.peak_mib.items()))
        return f"highest memory (PSS, MiB): {parts}; all together {self.peak_total_mib:.0f} of {MAX_TOTAL_MIB}"


def table(rows: Sequence[Row]) -> Table:
    """Return the rows for a terminal, each with whether it is right."""
    result = Table(*_COLUMNS, "", title="Pratique: what was asked, what came back", title_justify="left")
    result.columns[3].justify = "right"
    for row in rows:
        colour = {Ending.ACCEPTED: "green", Ending.APPLIED: "green", Ending.UNANSWERED: "red"}.get(row.ending, "yellow")
        title, ending, reasons, milliseconds, inserted = map(escape, row.cells)
        mark = "[green]as expected[/]" if row.is_right else "[bold red]NOT as expected[/]"
        result.add_row(title, f"[{colour}]{ending}[/]", reasons, milliseconds, inserted, mark)
    return result


def markdown(report: Report) -> str:
    """Return the report for a page of the documentation."""
    lines = [
        f"| {' | '.join(_COLUMNS)} |",
        "|---|---|---|--:|---|",
        *(f"| {' | '.join(_cell(cell) for cell in row.cells)} |" for row in report.rows),
        "",
        f"{len(report.rows)} rows in {report.seconds:.0f} s on {report.machine}; {report.memory()}.",
    ]
    return "\n".join(lines)


def record(report: Report, page: Path) -> None:
    """Put a report between the marks of a page.

    Raises:
        ValueError: The page has no such marks.
    """
    text = page.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no place for the demo's table")
    page.write_text(f"{before}{BEGIN}\n\n{markdown(report)}\n\n{END}{after}", "utf-8")


def _fault(row: Row) -> str:
    expected = ", ".join([row.expected.ending.value, *row.expected.codes])
    found = ", ".join([row.ending.value, *row.codes])
    return f"{row.name}: {row.fault}" if row.fault else f"{row.name}: expected {expected}; got {found}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

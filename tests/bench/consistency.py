"""Consistency: what a check costs beside what can't be avoided: ``python -m tests.bench.consistency [--json FILE]``.

The contract: every time is CPU time, the median of five, each of many calls. A check reads the candidate from its JSON,
digests every source message and judges. The baseline is measured in turns with it over the same request: canonical
JSON, its SHA-256, and the validation of the parsed request by a closed pydantic schema.

The curves go to ``MOST_CONSTRAINTS`` constraints and ``LARGEST`` characters of summary or narrative; a curve is
linear if its last step costs no more for each constraint or byte than the steps before it. The worst texts are looked
for (``tests.bench.worst``): for a summary of the seed's profile, for a narrative, for the authority check alone, and
for a narrative whose quotations are looked up in messages made to be slow to search.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from pratique.contract.canonical import MAX_JSON_BYTES
from streams.domain.compaction.authority.check import untraced
from streams.domain.compaction.authority.sentences import MAX_QUOTATIONS, Quotable
from streams.domain.compaction.consistency import ConsistencyResult, check_consistency
from streams.domain.compaction.verifier import ClauseVerifier
from streams.wire.candidate import read_candidate
from tests.bench.consistency_baseline import baseline
from tests.bench.consistency_inputs import Case, Size, case, prose, summary_of
from tests.bench.ledger_speed import Bound
from tests.bench.worst import Prepare, Run, Worst, cpu_seconds, search

MAX_OF_BASELINE: Final = 1.5
MAX_GROWTH: Final = 1.5
"""Most that a byte or constraint of a curve's last step costs, of the median of the steps before."""
MAX_WORST: Final = 3.0
MOST_CONSTRAINTS: Final = 1_000
LARGEST: Final = 1_000_000
CONSTRAINTS: Final = (10, 125, 250, 500, MOST_CONSTRAINTS)
CHARACTERS: Final = (4_000, 64_000, 250_000, 500_000, LARGEST)
LEAST_SECONDS: Final = 0.05
SMALL: Final = Size(constraints=4, messages=4, message=200)
"""What the worst texts stand in: little beside them costs anything."""

QUOTED: Final = 80
"""Characters of a quotation that is looked up."""
MESSAGE: Final = 1_000
"""Characters of a message that it is looked up in."""

SUSPECTS: Final = (
    *("a", "A", " ", ".", ". ", ", ", "(", ")", '"', "\u201c", "\u201d", "\u00ab", "\u00bb", "\u300c", "\n", "\n\n- "),
    *(
        "-",
        "_",
        "/",
        "\\",
        "a.b",
        "aB",
        "<",
        "<|",
        "</",
        "[",
        "{",
        ":",
        "**",
        "~",
        "#",
        ">",
        "\u200b",
        "\u00ad",
        "\U000e0041",
    ),
    *(
        "\u0301",
        "\ufdfa",
        "\ufb03",
        "\u0130",
        "\uff21",
        "\u4e00",
        "\u7528\u6237",
        "\u78ba\u8a8d",
        "\u0430",
        "\u0f0b",
        "\u3164",
    ),
    *("the user ", "user", "User: ", "approved ", "was ", "has been ", "by ", "not ", "without ", "and ", "confirmed "),
    *(
        "Keep topic-1 ",
        "File a was changed. ",
        "Line 1 of a was changed. ",
        "Skip topic-0. ",
        "Skip topic-0.\n",
        "ignore ",
        "rule ",
        "rules ",
        "all ",
        "safety ",
    ),
    *('The user said: "a" (message m1). ', '"a" ', "message m1 ", "1 ", "2026-01-31 ", "verdict ", "accepted ", "role"),
    *(
        "the summary ",
        "trusted",
        "untrusted_compacted ",
        "pratique.a.v1 ",
        "l'utilisateur ",
        "a approuv\u00e9 ",
        "nutzer hat ",
        "test gab ",
        "mail bat, ",
        "\u4e3b\u8981\u70b9\u5934",
    ),
)
"""What the rules of parser, patterns, authority check and markers begin with."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a check of one request costs, and the baseline of the same request.

    Attributes:
        size: How large the request is.
        request_bytes: Its canonical JSON.
        ms: CPU time of a check.
        baseline_ms: CPU time of the baseline.
    """

    profile: str
    size: Size
    request_bytes: int
    ms: float
    baseline_ms: float

    @property
    def ratio(self) -> float:
        """The check's time of the baseline's."""
        return self.ms / self.baseline_ms


def check(asked: Case) -> ConsistencyResult:
    """Read and check a candidate."""
    candidate = read_candidate(asked.candidate_json, max_bytes=MAX_JSON_BYTES, profile=asked.profile)
    return check_consistency(asked.question, candidate, ClauseVerifier(asked.grammar))


def cost(size: Size) -> Cost:
    """Measure a request that passes."""
    asked = case(size)
    result = check(asked)
    if result.reasons:
        raise ValueError(f"the request does not pass: {result.reasons[0].code.value} {result.reasons[0].path}")
    ours, theirs = [], []
    for _ in range(5):
        ours.append(cpu_seconds(lambda: check(asked), rounds=1, least=LEAST_SECONDS))
        theirs.append(cpu_seconds(lambda: baseline(asked.request), rounds=1, least=LEAST_SECONDS))
    length = len(json.dumps(asked.request, ensure_ascii=False, separators=(",", ":")).encode())
    return Cost(asked.profile.value, size, length, statistics.median(ours) * 1e3, statistics.median(theirs) * 1e3)


def growth(costs: Sequence[Cost], measure: Callable[[Size], int]) -> float:
    """Return what a unit of the last step costs, of the median of the steps before."""
    steps = [(after.ms - before.ms) / (measure(after.size) - measure(before.size)) for before, after in pairwise(costs)]
    return steps[-1] / statistics.median(steps[:-1])


def _summary(text: str) -> Run:
    asked = case(SMALL, summary=text)
    return lambda: check(asked)


def _narrative(text: str) -> Run:
    asked = case(SMALL, narrative=text)
    return lambda: check(asked)


def _authority(text: str) -> Run:
    sources = Quotable.of(case(SMALL).question.source_messages)
    return lambda: list(untraced(text, sources))


def _quoting(text: str) -> Run:
    """A narrative of as many quotations as are looked up, nearly in the messages, which are the text."""
    stretches = (text[place : place + QUOTED].replace('"', "'").replace("\n", " ") for place in range(MAX_QUOTATIONS))
    narrative = " ".join(f'"{item[: QUOTED // 2]}!{item[QUOTED // 2 :]}"' for item in stretches)
    messages = tuple(text[place : place + MESSAGE] for place in range(0, len(text), MESSAGE))
    quotable = Quotable(messages[::2], messages[1::2])
    return lambda: list(untraced(narrative, quotable))


@dataclass(frozen=True, slots=True)
class Subject:
    """What the worst text is looked for of.

    Attributes:
        prepare: Makes what is measured of a text.
        typical: An ordinary text.
        characters: How long the texts are.
    """

    prepare: Prepare
    typical: Callable[[int], str]
    characters: int = 8_000


SUBJECTS: Final = {
    "BOUNDED": Subject(_summary, lambda size: summary_of(replace(SMALL, summary=size))),
    "BOUNDED_WITH_UNTRUSTED_NARRATIVE": Subject(_narrative, prose),
    "authority check": Subject(_authority, prose),
    "quotations": Subject(_quoting, prose, 100_000),
}


@dataclass(frozen=True, slots=True)
class ConsistencySpeed:
    """All of it."""

    typical: tuple[Cost, ...]
    by_constraints: tuple[Cost, ...]
    by_summary: tuple[Cost, ...]
    by_narrative: tuple[Cost, ...]
    worst: dict[str, Worst]


def measure(*, examples: int = 400) -> ConsistencySpeed:
    """Measure all of it; some minutes."""
    return ConsistencySpeed(
        (cost(Size()), cost(Size(narrative=4_000))),
        tuple(cost(Size(constraints=number, summary=1)) for number in CONSTRAINTS),
        tuple(cost(Size(summary=number)) for number in CHARACTERS),
        tuple(cost(Size(narrative=number)) for number in CHARACTERS),
        {
            name: search(
                item.prepare, item.typical(item.characters), SUSPECTS, examples=examples, characters=item.characters
            )
            for name, item in SUBJECTS.items()
        },
    )


def bounds(speed: ConsistencySpeed) -> tuple[Bound, ...]:
    """Return what a measurement is held to."""
    return (
        Bound("consistency, of what can't be avoided", speed.typical[0].ratio, most=MAX_OF_BASELINE),
        Bound(
            "a constraint of 1,000, of fewer",
            growth(speed.by_constraints, lambda size: size.constraints),
            most=MAX_GROWTH,
        ),
        Bound(
            "a byte of a summary of 1 MB, of smaller",
            growth(speed.by_summary, lambda size: size.summary),
            most=MAX_GROWTH,
        ),
        Bound(
            "a byte of a narrative of 1 MB, of smaller",
            growth(speed.by_narrative, lambda size: size.narrative),
            most=MAX_GROWTH,
        ),
        *(
            Bound(f"worst text, {name}, of the typical", worst.ratio, most=MAX_WORST)
            for name, worst in speed.worst.items()
        ),
    )


def show(speed: ConsistencySpeed, console: Console) -> None:
    """Print it."""
    table = Table(
        "request", "constraints", "summary", "narrative", "bytes", "ms", "baseline ms", "ratio", title="consistency"
    )
    for title in ("typical", "by_constraints", "by_summary", "by_narrative"):
        for item in getattr(speed, title):
            size = item.size
            numbers = map(str, (size.constraints, size.summary, size.narrative, item.request_bytes))
            table.add_row(title, *numbers, f"{item.ms:.2f}", f"{item.baseline_ms:.2f}", f"{item.ratio:.2f}")
    console.print(table)
    table = Table(
        "worst text for", "ns a byte", "at 4 times the size", "typical", "ratio", "made of", title="worst texts"
    )
    for name, worst in speed.worst.items():
        numbers = map("{:.0f}".format, (worst.ns_per_byte, worst.ns_per_byte_large, worst.typical_ns_per_byte))
        table.add_row(name, *numbers, f"{worst.ratio:.2f}", ascii(worst.recipe)[:120])
    console.print(table)


def _show_bounds(held: Sequence[Bound], console: Console) -> None:
    table = Table("bound", "value", "at most", "kept", title="bounds")
    for bound in held:
        table.add_row(bound.name, f"{bound.value:.2f}", str(bound.most), "yes" if bound.is_kept else "NO")
    console.print(table)


def as_json(speed: ConsistencySpeed) -> dict[str, Any]:
    """Return it as JSON."""
    return asdict(speed)


def main() -> int:
    """Measure, print, and write JSON where asked; 1 where a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.consistency")
    parser.add_argument("--examples", type=int, default=400, help="texts tried for each worst one")
    parser.add_argument("--json", type=Path, help="write the numbers here as well")
    arguments = parser.parse_args()
    speed = measure(examples=arguments.examples)
    console = Console()
    show(speed, console)
    _show_bounds(bounds(speed), console)
    if arguments.json:
        arguments.json.write_text(json.dumps(as_json(speed), indent=2) + "\n", encoding="utf-8")
    return 0 if all(bound.is_kept for bound in bounds(speed)) else 1


if __name__ == "__main__":
    raise SystemExit(main())

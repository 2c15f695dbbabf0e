"""``pratique eval``: how much the scanner that the gate uses finds in a corpus, and how much that is not there.

The contract: rows come in the corpora's row format (docs/reference/evaluation.md), texts are scanned as a worker scans
them, and what is printed, written and plotted holds counts and the corpus's names, never a text or a matched value. A
row that could not be scanned is an error, not clean.

Exit: 0 every row was scanned; 1 something is worse than the baseline beyond its interval; 2 wrong usage, or a row is
not of the format; 3 a row could not be scanned. Results are written in each case but 2.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from contextlib import ExitStack
from importlib import metadata
from pathlib import Path
from typing import Final, TextIO

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pratique.contract.canonical import JsonValue, canonical_sha256, parse_json
from pratique.errors import ConfigurationError, MalformedError
from streams.domain.evaluation.rates import Rate
from streams.domain.evaluation.result import Evaluation, Regression, read_parts, regressions
from streams.domain.evaluation.scoring import ALL, BY, FEWEST, GroupKey, Outcome, Part, Score
from topologies.bootstrap.evaluation import Corpus, evaluate, read_corpus
from topologies.bootstrap.scanning import Scan, Scanner, read_scan
from topologies.cli.eval_html import page
from topologies.cli.output import Exit, json_option, print_json, print_table, shown, speaks
from topologies.cli.result_file import result_file

MAX_BASELINE_BYTES: Final = 64 * 1024 * 1024
"""Longest baseline that is read."""

_FILE: Final = click.Path(dir_okay=False, path_type=Path)


@click.command("eval")
@click.option(
    "--corpus",
    "place",
    required=True,
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="Folders secrets, pii, injection, benign, transcripts with *.jsonl in the corpora's row format; or one.",
)
@click.option(
    "--policy",
    "directory",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="What `policy init` made, or a policy source.  [default: the demo policy]",
)
@click.option("--policy-id", default="default", show_default=True, help="Which policy of a repository.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes.  [default: one a processor]")
@click.option("--html", "html_file", type=_FILE, help="Write a report with plots, one file that needs no other.")
@click.option("--out", "out_file", type=_FILE, help="Write the counts as JSON: a baseline for later.")
@click.option("--rows", "rows_file", type=_FILE, help="Write what came of each row as JSON lines: ids, never texts.")
@click.option(
    "--baseline",
    "baseline_file",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="What --out wrote before: exit 1 where a rate is worse beyond the interval.",
)
@json_option
@speaks
def evaluation(  # noqa: PLR0913 - one argument an option
    *,
    place: Path,
    directory: Path | None,
    policy_id: str,
    workers: int | None,
    html_file: Path | None,
    out_file: Path | None,
    rows_file: Path | None,
    baseline_file: Path | None,
    as_json: bool,
) -> None:
    """Measure on a corpus what the scanner finds and what it finds wrongly, with 95 % intervals."""
    baseline = () if baseline_file is None else _baseline(baseline_file)
    scan, corpus = read_scan(directory, policy_id), read_corpus(place)
    for name in corpus.left_out:
        click.echo(f"pratique: left out, in no folder of the format: {shown(name)}", err=True)
    with ExitStack() as opened:
        out, html, rows = (
            None if path is None else opened.enter_context(result_file(path))
            for path in (out_file, html_file, rows_file)
        )
        done = asyncio.run(_evaluated(corpus, scan, workers, rows))
        worse = regressions(baseline, done.parts)
        if out is not None:
            out.write(done.text())
        if html is not None:
            html.write(page(done, worse, compared=baseline_file is not None))
    if as_json:
        print_json({**done.body(), "regressions": [item.body() for item in worse]})
    else:
        _print(done, worse)
    sys.exit(int(Exit.NO if worse else Exit.UNKNOWN if done.errors else Exit.DONE))


async def _evaluated(corpus: Corpus, scan: Scan, workers: int | None, rows: TextIO | None) -> Evaluation:
    scanner, score, errors = Scanner(scan, workers=workers), Score(), Counter[str]()
    with _progress() as progress:
        task = progress.add_task("rows", total=corpus.rows)

        def scanned(name: str, outcome: Outcome) -> None:
            score.add(outcome)
            if outcome.error is not None:
                errors[outcome.error.value] += 1
            if rows is not None:
                rows.write(json.dumps(_row(name, outcome), ensure_ascii=False) + "\n")
            progress.advance(task)

        try:
            identity = await scanner.start()
            await evaluate(corpus, scanner.find, scanned)
        finally:
            await scanner.close()
    policy = scan.policy
    return Evaluation(
        {
            "pratique": metadata.version("pratique-streams"),
            "scanner": identity.version,
            "policy": policy.policy_version,
        },
        identity.sha256,
        canonical_sha256([list(policy.language_profiles), list(policy.entity_types)]),
        corpus.files,
        dict(sorted(errors.items())),
        score.parts(),
    )


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _row(name: str, outcome: Outcome) -> dict[str, JsonValue]:
    facts = outcome.facts
    found = {finding.category for finding in outcome.findings}
    return {
        "id": facts.id,
        "file": name,
        "label": "detect" if facts.detect else "clean",
        "found": any(category in found for category in facts.categories),
        "error": None if outcome.error is None else outcome.error.value,
        "findings": [
            {key: value for key, value in finding.body().items() if key != "path" or value != "text"}
            for finding in outcome.findings
        ],
    }


def _baseline(path: Path) -> tuple[Part, ...]:
    try:
        return read_parts(parse_json(path.read_bytes(), max_bytes=MAX_BASELINE_BYTES))
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from error
    except MalformedError as error:
        raise ConfigurationError(f"{path}: {error}; --out writes one") from None


def _print(done: Evaluation, worse: tuple[Regression, ...]) -> None:
    few = 0
    for part in done.parts:
        rows = []
        for group, tally in part.groups.items():
            if group.by == "category" or (tally == part.total and group.by != ALL):  # too many, or the same again
                continue
            if tally.rows + tally.errors < FEWEST and group.by != ALL:
                few += 1
                continue
            rows.append([_called(group), str(tally.rows), *_rate(tally.rate), str(tally.any), str(tally.errors)])
        print_table(part.key.title, ("rows", "of", "found", "rate", "95 %", "any", "not scanned"), rows)
    if few:
        click.echo(
            f"{few} groups of fewer than {FEWEST} rows and categories in the corpus are left out here; --html has them."
        )
    for code, count in done.errors.items():
        click.echo(f"{count} rows were not scanned: {code}")
    if worse:
        rows = [
            [f"{item.part.title}; {_called(item.group)}", item.what, *_rate(item.before)[1:], *_rate(item.after)[1:]]
            for item in worse
        ]
        print_table("worse than the baseline", ("where", "rate of", "before", "95 %", "now", "95 %"), rows)


def _called(group: GroupKey) -> str:
    return f"{BY[group.by]}: {group.value}" if group.value else BY[group.by]


def _rate(rate: Rate) -> list[str]:
    if not rate.of:
        return ["0", "unknown", ""]
    low, high = rate.interval
    return [str(rate.found), f"{rate.share:.2%}", f"{low:.1%} to {high:.1%}"]

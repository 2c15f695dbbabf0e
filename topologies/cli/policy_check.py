"""``pratique policy lint`` and ``test``: a policy looked over, and tried on examples, before anyone signs it.

The contract: ``lint`` exits 1 where publication would refuse the policy, or with ``--strict`` where there is a warning;
``test`` exits 1 where an example comes to something else than its author expects. Neither needs a key or a repository.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from pratique.client import now_in_ms
from streams.application.linting import Level, LintFinding, lint_grammar, lint_source
from streams.application.policy_examples import Tried, read_examples, try_examples
from streams.domain.policy.documents import MIN_DEADLINE_MS
from streams.errors import ConfigurationError
from streams.wire.candidate import read_under
from topologies.bootstrap.authoring import read_json, read_source, source_policy
from topologies.cli.output import Exit, json_option, print_json, print_table, shown, speaks
from topologies.cli.policy_answers import answered
from topologies.cli.policy_options import DEFAULT_DIRECTORY, DIRECTORY, FILE, read_value

DEFAULT_SOURCE: Final = DEFAULT_DIRECTORY / "source"

_EITHER: Final = click.Path(path_type=Path)


@click.command()
@click.argument("source", type=_EITHER, default=DEFAULT_SOURCE, metavar="[SOURCE|GRAMMAR.json]")
@click.option("--strict", is_flag=True, help="Exit 1 for warnings too.")
@click.option(
    "--min-deadline-ms",
    type=click.IntRange(min=1),
    default=MIN_DEADLINE_MS,
    show_default=True,
    help="Shortest accepted deadline: three times the consumer session time-out.",
)
@json_option
@speaks
def lint(*, source: Path, strict: bool, min_deadline_ms: int, as_json: bool) -> None:
    """Look over a policy source, or a grammar alone: what would be refused, and what is hardly meant."""
    with answered(as_json):
        if source.is_dir():
            findings = lint_source(read_source(source), min_deadline_ms=min_deadline_ms, now_ms=now_in_ms())
        elif source.exists():
            findings = lint_grammar(read_json(source))
        else:
            raise ConfigurationError(f"policy source {source} does not exist; name a directory or a grammar's file")
    errors = sum(finding.level is Level.ERROR for finding in findings)
    if as_json:
        print_json({"errors": errors, "findings": [finding.body() for finding in findings]})
    elif findings:
        _show_findings(findings, errors)
    else:
        click.echo("Nothing found.")
    sys.exit(int(Exit.NO if errors or (strict and findings) else Exit.DONE))


@click.command()
@click.argument("examples_file", type=FILE, metavar="FILE")
@click.option(
    "--source", type=DIRECTORY, default=DEFAULT_SOURCE, show_default=True, help="The policy source to try them on."
)
@click.option("--tenant", "tenant_id", help="Tenant of examples that name none.  [default: the source's first]")
@json_option
@speaks
def test(*, examples_file: Path, source: Path, tenant_id: str | None, as_json: bool) -> None:
    """Try the examples of FILE on a policy source: what each summary comes to, and whether it should."""
    with answered(as_json):
        examples = read_examples(read_value(examples_file, "examples"))
        policy = source_policy(source)
        if tenant_id is None:
            tenants = sorted(read_source(source).commitments)
            if not tenants:
                raise ConfigurationError(f"policy source {source} has no standing commitments; add commitments/…")
            tenant_id = tenants[0]
        tried = try_examples(
            examples,
            policy.policy_set,
            policy.grammar,
            policy.standing,
            tenant_id=tenant_id,
            read=read_under,
        )
    failed = sum(not item.holds for item in tried)
    if as_json:
        print_json({"examples": len(tried), "failed": failed, "results": [item.body() for item in tried]})
    else:
        print_table(
            f"{len(tried)} examples, {failed} not as expected",
            ("", "name", "expected", "outcome", "reasons"),
            [_row(item) for item in tried],
        )
    sys.exit(int(Exit.NO if failed else Exit.DONE))


def _show_findings(findings: tuple[LintFinding, ...], errors: int) -> None:
    for finding in findings:
        colour = "red" if finding.level is Level.ERROR else "yellow"
        said = shown(f"{finding.code} {finding.where}: {finding.message}")
        click.echo(f"{click.style(finding.level.value, fg=colour)} {said}")
    click.echo(f"{errors} errors, {len(findings) - errors} warnings.")


def _row(item: Tried) -> list[str]:
    expected = ", ".join([item.example.expected.value, *sorted(code.value for code in item.example.codes)])
    reasons = ", ".join(code.value for code in item.codes)
    return ["ok" if item.holds else "NOT", item.example.name, expected, item.outcome.value, reasons]

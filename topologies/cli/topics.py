"""``pratique topics``: what a cluster lacks, and making it agree with the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import click

from topologies.bootstrap.topics import Change, ChangeKind, apply, plan
from topologies.cli.output import Exit, json_option, print_json, print_table, speaks
from topologies.cli.stack_options import stack_option, stack_settings
from topologies.describe import asyncapi, describe, described


@click.group()
def topics() -> None:
    """Topics and start offsets of the cluster."""


@topics.command("plan")
@stack_option
@json_option
@speaks
def plan_command(*, stack: Path, as_json: bool) -> None:
    """Show what `apply` would do; exit 1 if it would refuse."""
    changes = plan(stack_settings(stack))
    _show("planned", changes, as_json=as_json)
    if any(change.kind is ChangeKind.REFUSE for change in changes):
        raise SystemExit(int(Exit.NO))


@topics.command("apply")
@stack_option
@json_option
@speaks
def apply_command(*, stack: Path, as_json: bool) -> None:
    """Create topics, mend their configuration, commit start offsets; refuse what would destroy."""
    _show("done", apply(stack_settings(stack)), as_json=as_json)


@topics.command("describe")
@click.option("--asyncapi", "as_asyncapi", is_flag=True, help="As an AsyncAPI 3 document, schemas included.")
@json_option
@speaks
def describe_command(*, as_asyncapi: bool, as_json: bool) -> None:
    """Print the wiring: which app reads and writes which topic, and each topic's settings; needs no cluster."""
    if as_asyncapi:
        print_json(asyncapi(metadata.version("pratique-streams")))
    elif as_json:
        print_json(described())
    else:
        click.echo(describe(), nl=False)


def _show(title: str, changes: Sequence[Change], *, as_json: bool) -> None:
    rows = [[change.kind.value, change.topic, change.detail] for change in changes]
    if as_json:
        print_json([dict(zip(("change", "topic", "detail"), row, strict=True)) for row in rows])
    elif rows:
        print_table(title, ("change", "topic", "detail"), rows)
    else:
        click.echo("nothing to do: the cluster agrees with the catalogue")

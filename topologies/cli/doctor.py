"""``pratique doctor``: is everything there that the apps need."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from topologies.bootstrap.health import Health, examine
from topologies.cli.output import Exit, json_option, print_json, print_table, speaks
from topologies.cli.stack_options import stack_option, stack_settings


@click.command()
@stack_option
@json_option
@speaks
def doctor(*, stack: Path, as_json: bool) -> None:
    """Look at topics, lag, Redis, policy, keys and scanner; exit 1 if something is ill, 3 if it could not be seen."""
    rows = examine(stack_settings(stack))
    if as_json:
        print_json([{"what": row.what, "health": row.health.value, "detail": row.detail} for row in rows])
    else:
        print_table("health", ("what", "health", "detail"), [[row.what, row.health.value, row.detail] for row in rows])
    if any(row.health is Health.ILL for row in rows):
        sys.exit(int(Exit.NO))
    if any(row.health is Health.UNKNOWN for row in rows):
        sys.exit(int(Exit.UNKNOWN))

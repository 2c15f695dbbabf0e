"""``pratique doctor``: is everything there that the apps need."""

from __future__ import annotations

import os
import sys

import click

from topologies.bootstrap.health import Health, examine
from topologies.cli.output import Exit, json_option, print_json, print_table, speaks
from topologies.settings import Settings


@click.command()
@json_option
@speaks
def doctor(*, as_json: bool) -> None:
    """Look at broker, topics, lag, policy, keys and scanner; exit 1 if something is ill, 3 if it could not be seen."""
    rows = examine(Settings.read(os.environ))
    if as_json:
        print_json([{"what": row.what, "health": row.health.value, "detail": row.detail} for row in rows])
    else:
        print_table("health", ("what", "health", "detail"), [[row.what, row.health.value, row.detail] for row in rows])
    if any(row.health is Health.ILL for row in rows):
        sys.exit(int(Exit.NO))
    if any(row.health is Health.UNKNOWN for row in rows):
        sys.exit(int(Exit.UNKNOWN))

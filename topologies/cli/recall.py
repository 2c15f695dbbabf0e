"""``pratique recall verify``: read a recall's findings back and compute again what its verdict says of them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pratique.contract.canonical import JsonValue
from streams.application.recall_audit import Checked, Found
from topologies.bootstrap.recall_log import recall_verdicts, verify_recall
from topologies.cli.arguments import IDENTIFIER
from topologies.cli.output import Exit, json_option, print_json, print_table, speaks
from topologies.cli.stack_options import stack_option, stack_settings


@click.group()
def recall() -> None:
    """Recalled memories and what was found in them."""


@recall.command("verify")
@click.argument("identifier")
@click.option("--tenant", type=IDENTIFIER, help="Only this tenant's; request ids are unique within a tenant at best.")
@stack_option
@json_option
@speaks
def verify(*, identifier: str, tenant: str | None, stack: Path, as_json: bool) -> None:
    """Verify the recalls with this verdict id, request id or request digest.

    Reads their findings back by key and computes finding ids, content digests, population and roll-up again. Exit 1 if
    something differs or there is no such recall.
    """
    settings = stack_settings(stack)
    verdicts = recall_verdicts(settings, identifier, tenant)
    checked = {item.verdict_id: verify_recall(settings, item) for item in verdicts}
    if as_json:
        print_json([_as_json(verdict_id, checks) for verdict_id, checks in checked.items()])
    else:
        for item in verdicts:
            print_table(
                f"{item.outcome.value} {item.tenant_id} {item.request_id} {item.verdict_id}",
                ("what", "found", "detail"),
                [[check.what, check.found.value, check.detail] for check in checked[item.verdict_id]],
            )
    if not verdicts:
        click.echo("pratique: no verdict on such a recall", err=True)
    if not verdicts or any(check.found is Found.DIFFERS for checks in checked.values() for check in checks):
        sys.exit(int(Exit.NO))


def _as_json(verdict_id: str, checks: tuple[Checked, ...]) -> JsonValue:
    return {
        "verdict_id": verdict_id,
        "agrees": not any(check.found is Found.DIFFERS for check in checks),
        "checks": [{"what": item.what, "found": item.found.value, "detail": item.detail} for item in checks],
    }

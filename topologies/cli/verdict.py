"""``pratique verdict get``: what was decided about a request, and why."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pratique.contract.records import Verdict
from pratique.jsonform import verdict_to_json
from topologies.bootstrap.verdict_log import Search, find_verdicts
from topologies.cli.arguments import IDENTIFIER
from topologies.cli.output import Exit, json_option, print_json, print_table, speaks
from topologies.cli.stack_options import stack_option, stack_settings


@click.group()
def verdict() -> None:
    """Verdicts that were published."""


@verdict.command("get")
@click.argument("identifier")
@click.option("--tenant", type=IDENTIFIER, help="Only this tenant's; request ids are unique within a tenant at best.")
@stack_option
@json_option
@speaks
def get(*, identifier: str, tenant: str | None, stack: Path, as_json: bool) -> None:
    """Show the verdicts with this verdict id, request id or request digest; exit 1 if there is none."""
    search = Search()
    wanted = {
        item.verdict_id: item
        for item in find_verdicts(
            stack_settings(stack),
            lambda item: (
                identifier in {item.verdict_id, item.request_id, item.request_sha256}
                and tenant in {None, item.tenant_id}
            ),
            search,
        )
    }
    if search.unbelievable:
        click.echo(f"pratique: {search.unbelievable} records are no verdict signed by the gate; left out", err=True)
    if as_json:
        print_json([verdict_to_json(item) for item in wanted.values()])
    else:
        for item in wanted.values():
            _show(item)
    if not wanted:
        click.echo(f"pratique: no such verdict among {search.looked_at} records", err=True)
        sys.exit(int(Exit.NO))


def _show(item: Verdict) -> None:
    print_table(
        f"{item.outcome.value} {item.verdict_id}",
        ("what", "value"),
        [
            ["tenant, task, request", f"{item.tenant_id}, {item.task_id}, {item.request_id}"],
            ["policy, set", f"{item.policy_id}, {item.policy_set_sha256}"],
            ["trust, assurance", f"{item.trust.value}, {item.assurance}"],
            ["decided_at, valid_until (ms)", f"{item.decided_at}, {item.valid_until}"],
            *([check.check, f"{check.outcome}/{check.finding_status}"] for check in item.checks),
        ],
    )
    if item.reasons:
        print_table(
            "reasons",
            ("code", "path", "detector", "severity", "what to do"),
            [
                [
                    reason.code,
                    reason.path,
                    reason.detector,
                    reason.severity,
                    reason.meaning.remedy if reason.meaning else "upgrade this command: the code is newer than it",
                ]
                for reason in item.reasons
            ],
        )

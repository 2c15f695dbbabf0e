"""``pratique policy diff``: what another policy set would have decided about recorded requests.

The contract: nothing is sent, published or decided. Requests are JSON lines in the form of ``pratique submit``, or the
newest of the topic. What is shown names tenants, request ids and reason codes, never content. It exits 0 where every
request comes to the same, 1 where one does not, 2 where a line can't be read.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

import click

from pratique.contract import avro
from pratique.contract.canonical import JsonValue, parse_json
from pratique.contract.records import CompactionRequested
from pratique.errors import RefusedError
from pratique.jsonform import is_recall
from streams.application.shadowing import Change, Shadowed, documents_changed, shadowed, standing_changed
from streams.errors import ConfigurationError
from streams.wire.candidate import read_under
from topologies.bootstrap.authoring import PolicyInHand, Repository, source_policy
from topologies.bootstrap.request_log import recorded_requests
from topologies.cli.inputs import bounded_lines, opened_input
from topologies.cli.output import Exit, json_option, print_json, print_table, speaks
from topologies.cli.policy_answers import answered
from topologies.cli.policy_options import FILE, MAX_FILE_BYTES, repository_of, repository_options
from topologies.cli.policy_requests import request_of
from topologies.settings import Settings

SHOWN: Final = 50
"""Most requests in the table; JSON holds all."""

_Recorded = tuple[CompactionRequested, int] | None
"""A request and its size in bytes as published; null for a line that holds none."""


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.argument("requests", type=FILE, required=False, metavar="[REQUESTS.jsonl|-]")
@click.option(
    "--topic",
    "newest",
    type=click.IntRange(min=1),
    help="Take this many of the newest requests of each partition of the topic, in place of a file.",
)
@repository_options
@json_option
@speaks
def diff(  # noqa: PLR0913 - a command line's options
    *,
    first: str,
    second: str,
    requests: Path | None,
    newest: int | None,
    directory: Path,
    repository: str | None,
    root: Path | None,
    policy_id: str,
    as_json: bool,
) -> None:
    """Show which recorded requests would have come to something else under set B than under set A.

    A and B are each a policy source's directory, `current` for the newest published set, or a published set's digest.
    """
    with answered(as_json), ExitStack() as opened:
        if (requests is None) == (newest is None):
            raise ConfigurationError("name a file of requests, or how many of the --topic")
        place = repository_of(directory, repository, root, policy_id)
        one, other = _policy(first, place), _policy(second, place)
        if newest is not None:
            recorded = recorded_requests(Settings.read(os.environ), newest)
        else:
            recorded = _lines(opened_input(requests or Path("-"), opened), one)
        found: list[Shadowed] = []
        unread = elsewhere = 0
        for item in recorded:
            if item is None:
                unread += 1
                continue
            if item[0].policy_id != one.policy_set.policy_id:
                elsewhere += 1
                continue
            found.append(shadowed(*item, one, other, read_under))
        changed = documents_changed(one.policy_set, other.policy_set)
        if standing_changed(one, other, (item.tenant_id for item in found)):
            changed = (*changed, "commitments")
    if as_json:
        print_json(_body(found, unread, elsewhere, changed))
    else:
        _show(found, unread, elsewhere, changed)
    differs = any(item.change is not Change.NONE for item in found)
    sys.exit(int(Exit.USAGE if unread else Exit.NO if differs else Exit.DONE))


def _policy(name: str, repository: Repository) -> PolicyInHand:
    return source_policy(Path(name)) if Path(name).is_dir() else repository.policy(name)


def _lines(stream: BinaryIO, policy: PolicyInHand) -> Iterator[_Recorded]:
    """Yield the file's compactions; recalls are left out."""
    for line in bounded_lines(stream, MAX_FILE_BYTES):
        if line is None:
            yield None
            continue
        try:
            value = parse_json(line, max_bytes=MAX_FILE_BYTES)
            if is_recall(value):
                continue
            request = request_of(value, policy)
            size = len(avro.encode(request))
        except RefusedError:
            yield None
            continue
        yield request, size


def _body(found: list[Shadowed], unread: int, elsewhere: int, changed: tuple[str, ...]) -> JsonValue:
    counts = Counter(item.change for item in found)
    return {
        "requests": len(found),
        "unread": unread,
        "of_other_policies": elsewhere,
        "documents_changed": list(changed),
        "changes": {change.value: counts[change] for change in Change},
        "different": [item.body() for item in found if item.change is not Change.NONE],
        "not_replayed": ["signatures", "quota", "lineage", "scan"],
    }


def _show(found: list[Shadowed], unread: int, elsewhere: int, changed: tuple[str, ...]) -> None:
    counts = Counter(item.change for item in found)
    different = [item for item in found if item.change is not Change.NONE]
    click.echo(f"Documents that differ: {', '.join(changed) or 'none'}. Scans, signatures and quotas are not replayed.")
    if unread:
        click.echo(f"{unread} records are no request that could be judged; left out.", err=True)
    if elsewhere:
        click.echo(f"{elsewhere} requests are for other policies than A; left out.", err=True)
    print_table(
        f"{len(found)} requests: {counts[Change.STRICTER]} stricter, {counts[Change.LOOSER]} looser,"
        f" {counts[Change.REASONS]} for other reasons, {counts[Change.NONE]} the same",
        ("change", "tenant", "request", "under A", "under B"),
        [_row(item) for item in different[:SHOWN]],
    )
    if len(different) > SHOWN:
        click.echo(f"{len(different) - SHOWN} more; --json lists all.")


def _row(item: Shadowed) -> list[str]:
    decisions = [
        " ".join([decision.outcome.value, *(code.value for code in decision.codes)])
        for decision in (item.first, item.second)
    ]
    return [item.change.value, item.tenant_id, item.request_id, *decisions]

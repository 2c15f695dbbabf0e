"""``pratique ledger keys``: the generations of the fingerprint key, and how one takes another's place.

The contract is that of ``pratique ledger``: ``--json`` everywhere, exit 0 done, 1 the answer is "no", 2 wrong usage or
configuration, 3 could not find out. Each refusal says what to do first. Content is fingerprinted here and sent nowhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import click
from rich.console import Console
from rich.progress import Progress

from pratique.errors import UnavailableError
from topologies.bootstrap.ledger_generations import (
    WRAP_ALGORITHMS,
    begin,
    fill,
    left,
    new_generation,
    retire,
    status,
    switch,
)
from topologies.cli.arguments import IDENTIFIER, MAX_CONTENT_BYTES, REASON, text_of
from topologies.cli.inputs import InputFile
from topologies.cli.output import Exit, json_option, print_json, print_table, speaks
from topologies.cli.stack_options import stack_option, stack_settings

COLUMNS: Final = ("generation", "state", "key is here", "entries", "quarantined", "left to carry over")


@click.group()
def keys() -> None:
    """Generations of the fingerprint key, in order: new, begin, fill, switch, retire."""


@keys.command("new")
@click.argument("generation")
@click.option(
    "--wrap-with",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="PEM public key of the key management service that unwraps it; written in plain, mode 600, without.",
)
@click.option(
    "--wrap-algorithm",
    type=click.Choice(WRAP_ALGORITHMS),
    default=WRAP_ALGORITHMS[0],
    show_default=True,
    help="How it is wrapped; RSA-OAEP, with SHA-1, for tokens that take nothing else.",
)
@stack_option
@json_option
@speaks
def new_command(*, generation: str, wrap_with: Path | None, wrap_algorithm: str, stack: Path, as_json: bool) -> None:
    """Make the secret of GENERATION and put it into the key directory."""
    file = new_generation(stack_settings(stack), generation, wrap_with, wrap_algorithm)
    if as_json:
        print_json({"generation": generation, "file": str(file)})
    else:
        click.echo(f"{file}: give it to every scan process and curator, then `pratique ledger keys begin {generation}`")


@keys.command("status")
@stack_option
@json_option
@speaks
def status_command(*, stack: Path, as_json: bool) -> None:
    """Show where each generation stands; exit 1 where a key is missing here that look-ups need."""
    with _progress("reading") as told:
        states = status(stack_settings(stack), told)
    needed = [item.generation for item in states if not item.is_here and (item.quarantined or item.state == "current")]
    if as_json:
        rows = [{name: getattr(item, name) for name in item.__slots__} for item in states]
        print_json({"generations": [*rows], "missing_keys": [*needed]})
    else:
        print_table("generations of the fingerprint key", COLUMNS, [[*map(_said, _cells(item))] for item in states])
    if needed:
        click.echo(f"pratique: look-ups need keys that are not here: {', '.join(needed)}", err=True)
        sys.exit(int(Exit.NO))


@keys.command("left")
@stack_option
@json_option
@speaks
def left_command(*, stack: Path, as_json: bool) -> None:
    """List the entries that are still to be carried over, with their incidents; exit 1 if there is one."""
    found = left(stack_settings(stack))
    columns = ("scope", "tenant", "fingerprint", "generation", "incident", "who")
    rows = [
        (
            item.key.scope.value,
            item.key.tenant_id,
            item.key.fingerprint,
            item.generation,
            item.incident_id,
            item.actor_id,
        )
        for item in found
    ]
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table("left to carry over", columns, [[str(cell or "-") for cell in row] for row in rows])
    if rows:
        sys.exit(int(Exit.NO))


@keys.command("begin")
@click.argument("generation")
@stack_option
@json_option
@speaks
def begin_command(*, generation: str, stack: Path, as_json: bool) -> None:
    """Carry entries over to GENERATION from now on; what is put in is put in under both."""
    begin(stack_settings(stack), generation)
    if as_json:
        print_json({"following": generation})
    else:
        click.echo(f"entries are carried over to {generation}: `pratique ledger keys fill` with the content")


@keys.command("fill")
@click.argument("files", nargs=-1, required=True, type=InputFile())
@click.option(
    "--lines", is_flag=True, help="Each line of a file is a JSON text of its own; a whole file is one without."
)
@click.option(
    "--tenant", type=IDENTIFIER, help="Only this tenant's entries; without, those of every tenant and the global ones."
)
@click.option("--incident", type=IDENTIFIER, required=True, help="Id of the incident it is recorded under.")
@click.option("--reason", type=REASON, required=True, help="Why, in words that are kept for good; no content.")
@click.option("--wait", "wait_s", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True)
@stack_option
@json_option
@speaks
def fill_command(*, files: tuple[BinaryIO, ...], lines: bool, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - the options above
    """Carry over the entries of content that is presented again: FILES, or - for standard input."""
    with _progress("carrying over") as told:
        filled = fill(
            stack_settings(given["stack"]),
            _texts(files, lines=lines),
            tenant_id=given["tenant"],
            incident_id=given["incident"],
            reason=given["reason"],
            wait_s=given["wait_s"],
            progress=told,
        )
    if as_json:
        print_json({"counts": {kind.name.lower(): count for kind, count in filled.counts.items()}, "left": filled.left})
    else:
        print_table("presented again", ("what", "entries"), [[k.value, str(v)] for k, v in filled.counts.items()])
        following = "`pratique ledger keys switch` is next" if not filled.left else "present more content, or release"
        click.echo(f"{filled.left} entries are left to carry over: {following}")
    if filled.left:
        sys.exit(int(Exit.NO))


@keys.command("switch")
@stack_option
@json_option
@speaks
def switch_command(*, stack: Path, as_json: bool) -> None:
    """Make the generation that was filled the current one, in one step; refused while an entry is left."""
    pointer = switch(stack_settings(stack))
    if as_json:
        print_json({"current": pointer.generation})
    else:
        click.echo(f"{pointer.generation} is current: `pratique ledger keys retire` the one before it, in time")


@keys.command("retire")
@click.argument("generation")
@click.option("--reason", type=REASON, required=True, help="Why, in words that are kept for good.")
@click.option("--actor", type=IDENTIFIER, help="Who; the signing key's id by default.")
@click.option("--wait", "wait_s", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True)
@stack_option
@json_option
@speaks
def retire_command(*, generation: str, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - the options above
    """Take GENERATION's entries from the ledger topic, and take no more of it; needs a global curator's key."""
    with _progress("retiring") as told:
        done = retire(
            stack_settings(given["stack"]),
            generation,
            reason=given["reason"],
            actor_id=given["actor"],
            wait_s=given["wait_s"],
            progress=told,
        )
    refused = {partition: code for partition, code in done.codes.items() if code}
    if as_json:
        print_json({"retired": done.is_done, "partitions": {str(key): code for key, code in done.codes.items()}})
    elif done.is_done:
        click.echo(f"{generation} is retired: `pratique ledger rebuild` drops it from the view; then its key may go")
    for partition, code in refused.items():
        click.echo(f"pratique: partition {partition} refused it: {code}", err=True)
    if refused:
        sys.exit(int(Exit.NO))
    if not done.is_done:
        raise UnavailableError("of some partitions nothing is known yet; the same command may be given again")


def _cells(item: Any) -> list[object]:  # noqa: ANN401 - a GenerationState
    return [item.generation, item.state, item.is_here, item.entries, item.quarantined, item.left]


def _said(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _texts(files: tuple[BinaryIO, ...], *, lines: bool) -> Iterator[str]:
    for file in files:
        for content in _lines(file) if lines else [file.read(MAX_CONTENT_BYTES + 1)]:
            yield text_of(content, is_json=lines)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file's lines, of one that is too long no more than shows it."""
    while line := file.readline(MAX_CONTENT_BYTES + 1):
        yield line


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, count: bar.update(task, completed=done, total=count)

"""``pratique dead-letter``: what could not be served, why, and serving it again."""

from __future__ import annotations

from pathlib import Path

import click

from pratique.keyfiles import write_private_file
from topologies.bootstrap.dead_letters import DeadLetter, dead_letter_at, dead_letters, replay
from topologies.cli.output import json_option, print_json, print_table, speaks
from topologies.cli.stack_options import stack_option, stack_settings

COLUMNS = ("at", "code", "topic", "partition", "offset", "first-seen", "bytes")


@click.group("dead-letter")
def dead_letter() -> None:
    """Records that could not be served, with their bytes."""


@dead_letter.command("list")
@click.option("--code", help="Only letters with this reason code.")
@stack_option
@json_option
@speaks
def list_command(*, code: str | None, stack: Path, as_json: bool) -> None:
    """List dead letters; content is not shown."""
    found = [item for item in dead_letters(stack_settings(stack)) if code in {None, item.stated.get("code")}]
    if as_json:
        print_json([_row(item) for item in found])
    else:
        print_table(f"{len(found)} dead letters", COLUMNS, [[_row(item)[name] for name in COLUMNS] for item in found])


@dead_letter.command("show")
@click.argument("partition", type=int)
@click.argument("offset", type=int)
@click.option(
    "--content-to",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the original bytes to this new file, mode 600. They are agent content: keep them where content may be.",
)
@stack_option
@json_option
@speaks
def show_command(*, partition: int, offset: int, content_to: Path | None, stack: Path, as_json: bool) -> None:
    """Show one dead letter: where it came from, why, and its headers' names."""
    letter = dead_letter_at(stack_settings(stack), partition, offset)
    if content_to is not None:
        write_private_file(content_to, letter.record.value or b"", what="file")
    shown = {**_row(letter), "headers": ", ".join(name for name, _ in letter.original_headers)}
    if as_json:
        print_json(shown)
    else:
        print_table("dead letter", ("what", "value"), [[name, value] for name, value in shown.items()])


@dead_letter.command("replay")
@click.argument("partition", type=int)
@click.argument("offset", type=int)
@stack_option
@json_option
@speaks
def replay_command(*, partition: int, offset: int, stack: Path, as_json: bool) -> None:
    """Publish one dead letter again where it came from."""
    settings = stack_settings(stack)
    topic = replay(settings, dead_letter_at(settings, partition, offset))
    if as_json:
        print_json({"published_to": topic})
    else:
        click.echo(f"published to {topic}")


def _row(letter: DeadLetter) -> dict[str, str]:
    return {
        "at": f"{letter.partition}@{letter.offset}",
        "code": letter.stated.get("code", ""),
        "topic": letter.stated.get("topic", ""),
        "partition": letter.stated.get("partition", ""),
        "offset": letter.stated.get("offset", ""),
        "first-seen": letter.stated.get("first-seen", ""),
        "bytes": str(len(letter.record.value or b"")),
    }

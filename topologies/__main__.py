"""The console script ``pratique``: ``python -m topologies`` is the same.

Commands are imported when they are asked for: what one needs (Faust, detectors, TUF) takes seconds to load, and no
other should wait for it.
"""

from __future__ import annotations

import importlib
from typing import Final

import click

COMMANDS: Final = {
    "run": "topologies.cli.run:run",
    "topics": "topologies.cli.topics:topics",
    "policy": "topologies.cli.policy:policy",
    "submit": "topologies.cli.submit:submit",
    "scan": "topologies.cli.scan:scan",
    "eval": "topologies.cli.eval:evaluation",
    "recall": "topologies.cli.recall:recall",
    "ledger": "topologies.cli.ledger:ledger",
    "quarantine": "topologies.cli.quarantine:quarantine",
    "verdict": "topologies.cli.verdict:verdict",
    "dead-letter": "topologies.cli.dead_letter:dead_letter",
    "doctor": "topologies.cli.doctor:doctor",
}


class _LazyGroup(click.Group):
    """A group whose commands are imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, name = place.partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="pratique-streams")
def main() -> None:
    """Quarantine station for what an LLM agent is about to believe again.

    Settings come from PRATIQUE_* environment variables (docs/guide/operator.md). Every command has --json, but for run,
    which prints no result. Exit codes: 0 done; 1 the answer is no; 2 wrong usage; 3 could not find out.
    """


if __name__ == "__main__":
    main()

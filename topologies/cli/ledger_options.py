"""What the commands of the ledger share: where the stack is, and how much content they read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import click

from pratique.stack import STACK_FILE
from topologies.settings import PREFIX, Settings

CommandT = TypeVar("CommandT", bound=Callable[..., None])

MAX_CONTENT_BYTES: Final = 4 * 1024 * 1024
"""Most content of one entry; no request can bring more."""

ONLY_LINKED: Final = (
    "without the content, entries of the same text under other key generations were found only where they are linked "
    "to this one: name the content (`pratique ledger remove CONTENT`) to have all of them taken out"
)
"""What is said after a removal for which the content was not at hand."""


def stack_option(command: CommandT) -> CommandT:
    """Add ``--stack`` to a command."""
    return click.option(
        "--stack",
        type=click.Path(dir_okay=False, path_type=Path),
        default=STACK_FILE,
        show_default=True,
        help="What `make up` left; the environment goes before it.",
    )(command)


def stack_settings(stack: Path) -> Settings:
    """Return the settings of the environment, and of ``stack.json`` where that says none."""
    facts: dict[str, object] = json.loads(stack.read_text("utf-8")) if stack.is_file() else {}
    stated = {PREFIX + name.upper(): value for name, value in facts.items() if isinstance(value, str)}
    return Settings.read({**stated, **os.environ})

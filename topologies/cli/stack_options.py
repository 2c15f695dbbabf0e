"""What commands share that ask a stack: where it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from pratique.stack import STACK_FILE, stack_facts
from topologies.settings import PREFIX, Settings

CommandT = TypeVar("CommandT", bound=Callable[..., None])


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
    """Return the settings of the environment, and of ``stack.json`` where that says none.

    Raises:
        ConfigurationError: ``stack.json`` is damaged, or a setting does not hold what it must.
    """
    facts = stack_facts(stack)
    stated = {PREFIX + name.upper(): value for name, value in facts.items() if isinstance(value, str)}
    return Settings.read({**stated, **os.environ})

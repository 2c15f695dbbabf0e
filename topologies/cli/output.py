"""How every command speaks: tables for people, JSON for programs, and exit codes that mean the same everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import wraps
from typing import NoReturn, ParamSpec, TypeVar

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pratique.contract.canonical import JsonValue
from pratique.errors import ConfigurationError, PratiqueError, RefusedError, UnavailableError

P = ParamSpec("P")
T = TypeVar("T")


class Exit(IntEnum):
    """Exit codes (contract, Commands)."""

    DONE = 0
    NO = 1
    USAGE = 2
    UNKNOWN = 3


def json_option(function: Callable[P, T]) -> Callable[P, T]:
    """Add ``--json`` to a command."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(function)


def print_json(value: JsonValue) -> None:
    """Print a value as one JSON document."""
    click.echo(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, whole: what is too long for its column goes on in the next line.

    Ids and names in it may be strangers'. So nothing in it is markup, and what is not printable appears as its escape.
    """
    table = Table(title=Text(shown(title), "table.title"), title_justify="left")
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(text)) for text in row))
    Console().print(table)


def shown(text: str) -> str:
    """Return a text as a terminal may show it: what is not printable appears as its escape."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def speaks(function: Callable[P, T]) -> Callable[P, T]:
    """Turn our errors into one line on stderr and the exit code that they mean."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except ConfigurationError as error:
            _end(error, Exit.USAGE)
        except RefusedError as error:
            _end(error, Exit.NO)
        except (UnavailableError, PratiqueError) as error:
            _end(error, Exit.UNKNOWN)

    return wrapped


def _end(error: PratiqueError, code: Exit) -> NoReturn:
    click.echo(f"pratique: {shown(str(error))}", err=True)
    raise SystemExit(int(code))

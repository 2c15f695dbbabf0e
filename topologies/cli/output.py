"""How every command speaks: tables for people, JSON for programs, and exit codes that mean the same everywhere."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import wraps
from typing import Any, Final, NoReturn, ParamSpec, TextIO, TypeVar, cast

import click
from click.utils import PacifyFlushWrapper
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pratique.contract.canonical import JsonValue
from pratique.errors import ConfigurationError, PratiqueError, RefusedError, UnavailableError

P = ParamSpec("P")
T = TypeVar("T")


ONLY_LINKED: Final = (
    "without the content, entries of the same text under other key generations were found only where they are linked "
    "to this one: name the content (`pratique ledger remove CONTENT`) to have all of them taken out"
)
"""What is said after a removal for which the content was not at hand."""


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
    click.echo(json_text(value, indent=2, sort_keys=True))


def json_text(value: JsonValue, **form: Any) -> str:  # noqa: ANN401 - what ``json.dumps`` takes
    """Return a value as JSON that standard output can take: letters that its encoding lacks appear as their escapes."""
    text = json.dumps(value, ensure_ascii=False, **form)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, **form)
    return text


class _Console(Console):
    """A console that leaves a reader that went away to the command: of itself it would end as the answer "no"."""

    def on_broken_pipe(self) -> None:
        """Raise what is being handled."""
        raise BrokenPipeError


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, whole: what is too long for its column goes on in the next line.

    Ids and names in it may be strangers'. So nothing in it is markup, and what is not printable appears as its escape.
    """
    table = Table(title=Text(shown(title), "table.title"), title_justify="left")
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(text)) for text in row))
    _Console().print(table)


def shown(text: str) -> str:
    """Return a text as a terminal may show it: what is not printable appears as its escape."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def speaks(function: Callable[P, T]) -> Callable[P, T]:
    """Turn errors into one line on stderr and the exit code that they mean.

    Of an error that is not ours only the type is said, since its text may quote content; nobody knows what the answer
    is, so it is never "no".
    """

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        _escape_what_is_lacking()
        try:
            return function(*args, **kwargs)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except ConfigurationError as error:
            _end(error, Exit.USAGE)
        except RefusedError as error:
            _end(error, Exit.NO)
        except (UnavailableError, PratiqueError) as error:
            _end(error, Exit.UNKNOWN)
        except BrokenPipeError:  # nobody reads on; what else is printed goes nowhere, as click has it
            sys.stdout = cast("TextIO", PacifyFlushWrapper(sys.stdout))
            raise SystemExit(int(Exit.UNKNOWN)) from None
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not end as the answer "no"
            _end_unexpectedly(error)

    return wrapped


def _escape_what_is_lacking() -> None:
    """Have both streams write an escape for what their encoding lacks, where they would end the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _end_unexpectedly(error: Exception) -> NoReturn:
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    if isinstance(error, OSError) and error.errno is not None:
        kind = f"{kind} ({errno.errorcode.get(error.errno, error.errno)})"
    if os.environ.get("PRATIQUE_LOG_LEVEL") == "DEBUG":
        traceback.print_tb(error.__traceback__)  # files and lines; the error's text may hold content
        hint = "with the lines above"
    else:
        hint = "with what the command prints under PRATIQUE_LOG_LEVEL=DEBUG (files and lines, no content)"
    click.echo(f"pratique: unexpected {shown(kind)}: a fault of this program; report it, {hint}", err=True)
    raise SystemExit(int(Exit.UNKNOWN)) from None


def _end(error: PratiqueError, code: Exit) -> NoReturn:
    click.echo(f"pratique: {shown(str(error))}", err=True)
    raise SystemExit(int(code))

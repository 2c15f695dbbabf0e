"""How ``pratique policy`` answers: one value for programs, a text for people, and errors with the next step.

The contract (contract page, Commands): exit 0 done, 1 the answer is "no" (a document, signature or repository is not
acceptable), 2 wrong usage or configuration, 3 could not find out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import click

from streams.errors import (
    ConfigurationError,
    PolicyExpiredError,
    PolicyNotLoadedError,
    PolicyUnavailableError,
    PratiqueError,
    RefusedError,
    UnavailableError,
)
from topologies.cli.output import Exit, print_json, shown

if TYPE_CHECKING:
    from pratique.contract.canonical import JsonValue


def say(as_json: bool, value: JsonValue, text: str) -> None:  # noqa: FBT001 - the command line's flag, passed on
    """Print the answer, in the form that was asked for."""
    if as_json:
        print_json(value)
    else:
        click.echo(text)


@contextmanager
def answered(as_json: bool) -> Iterator[None]:  # noqa: FBT001 - the command line's flag, passed on
    """Turn an error into its exit code, and a line that names the next step."""
    try:
        yield
    except ConfigurationError as error:
        fail(as_json, Exit.USAGE, error, "mend what it names, then run the command again")
    except PolicyExpiredError as error:
        fail(as_json, Exit.NO, error, "renew it with `pratique policy publish --renew-only`")
    except PolicyNotLoadedError as error:
        fail(as_json, Exit.UNKNOWN, error, "check --repository and --root")
    except PolicyUnavailableError as error:
        fail(as_json, Exit.NO, error, "restore the file from where it was published, or publish again")
    except RefusedError as error:
        fail(as_json, Exit.NO, error, "mend the document it names, then publish again")
    except UnavailableError as error:
        fail(as_json, Exit.UNKNOWN, error, "try again")


def fail(as_json: bool, code: int, error: PratiqueError, remedy: str) -> NoReturn:  # noqa: FBT001 - as above
    """End the command with an error."""
    name = type(error).__name__
    if as_json:
        print_json({"error": str(error), "kind": name, "next": remedy})
    else:
        click.echo(f"pratique policy: {shown(str(error))}\nNext: {remedy}.", err=True)
    sys.exit(code)

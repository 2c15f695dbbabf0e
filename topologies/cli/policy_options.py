"""Which policy a command of ``pratique policy`` is about: a source that nobody signed yet, or a published set."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Final

import click

from pratique.contract.canonical import JsonValue, parse_json
from pratique.contract.topics import MAX_REQUEST_BYTES
from pratique.errors import MalformedError
from streams.errors import ConfigurationError
from topologies.bootstrap.authoring import PolicyInHand, Repository, source_policy
from topologies.cli.inputs import opened_input

DEFAULT_DIRECTORY: Final = Path(".pratique/policy")

MAX_FILE_BYTES: Final = 6 * MAX_REQUEST_BYTES + 64 * 1024
"""A request's text may be escaped in JSON, at up to six bytes a character."""

FILE: Final = click.Path(dir_okay=False, path_type=Path, allow_dash=True)
DIRECTORY: Final = click.Path(file_okay=False, path_type=Path)


def source_option(command: click.decorators.FC) -> click.decorators.FC:
    """Add ``--source``."""
    return click.option(
        "--source", type=DIRECTORY, help="A policy source, in place of what is published: unsigned, as it stands."
    )(command)


def repository_options(command: click.decorators.FC) -> click.decorators.FC:
    """Add what names a repository of published sets, and one of its policies."""
    for option in (
        click.option("--policy-id", default="default", show_default=True, help="Which policy of the repository."),
        click.option("--root", type=FILE, help="The trusted root metadata."),
        click.option("--repository", help="The repository: a directory or an http(s) URL."),
        click.option(
            "--directory",
            type=DIRECTORY,
            default=DEFAULT_DIRECTORY,
            show_default=True,
            help="Where `policy init` put the set; gives the repository and its root their defaults.",
        ),
    ):
        command = option(command)
    return command


def repository_of(directory: Path, repository: str | None, root: Path | None, policy_id: str) -> Repository:
    """Return the repository that the options name."""
    return Repository(repository or str(directory / "repository"), root or directory / "root.json", policy_id)


def policy_in_hand(source: Path | None, repository: Repository) -> PolicyInHand:
    """Return the policy that the options name.

    Raises:
        PratiqueError: As ``source_policy`` or ``Repository.policy``.
    """
    return source_policy(source) if source is not None else repository.policy()


def read_value(path: Path, name: str) -> JsonValue:
    """Read a JSON file, or standard input for ``-``.

    Raises:
        ConfigurationError: It can't be read.
        MalformedError: It is no strict JSON.
    """
    content = read_bytes(path)
    try:
        return parse_json(content, max_bytes=MAX_FILE_BYTES)
    except MalformedError as error:
        raise MalformedError(f"{name}: {error}") from None


def read_bytes(path: Path) -> bytes:
    """Read a file, or standard input for ``-``, up to one byte over the bound.

    Raises:
        ConfigurationError: It can't be read.
    """
    with ExitStack() as opened:
        stream = opened_input(path, opened)
        try:
            return stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise ConfigurationError(f"{path} can't be read: {error.strerror}") from None

"""What commands read: files, or standard input for ``-``, line by line where they are JSON lines.

The contract: what can't be read is wrong usage, also a standard input that is closed; a line over the bound is one
line, and never held in memory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

import click

from pratique.errors import ConfigurationError

_CLOSED: Final = "standard input is closed; give it something to read, or name a file"


class InputFile(click.File):
    """An argument that is a file's bytes, or standard input for ``-``."""

    def __init__(self) -> None:
        super().__init__("rb")

    def convert(
        self, value: str | os.PathLike[str] | IO[Any], param: click.Parameter | None, ctx: click.Context | None
    ) -> IO[Any]:
        """Open it."""
        if value == "-" and sys.stdin is None:
            self.fail(_CLOSED, param, ctx)
        return super().convert(value, param, ctx)


def opened_input(source: Path, opened: ExitStack) -> BinaryIO:
    """Open a file, or standard input for ``-``, which is not closed afterwards.

    Raises:
        ConfigurationError: It can't be read.
    """
    if str(source) == "-":
        if sys.stdin is None:
            raise ConfigurationError(_CLOSED)
        standard: BinaryIO = click.get_binary_stream("stdin")
        return standard
    try:
        return opened.enter_context(source.open("rb"))
    except OSError as error:
        raise ConfigurationError(f"{source} can't be read: {error.strerror}") from None


def bounded_lines(source: BinaryIO, max_bytes: int) -> Iterator[bytes | None]:
    """Yield the lines that are not blank; null for one over the bound, which is never held in memory."""
    while line := source.readline(max_bytes + 1):
        if len(line) > max_bytes and not line.endswith(b"\n"):
            while (rest := source.readline(max_bytes)) and not rest.endswith(b"\n"):
                pass
            yield None
        elif line.strip():
            yield line

"""Files that results are written to: whole, or as they were before.

The contract: whether one can be written is known before the work that it is for. What is written goes to a file beside
it, which takes its place at the end; where the work fails, that file is gone and the old one stands. What is no regular
file, as a pipe or a terminal, or is called by its descriptor is written as it comes.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from pratique.errors import ConfigurationError


@contextmanager
def result_file(path: Path) -> Iterator[TextIO]:
    """Open a file to write a result to, which is there once the block has ended without an error.

    Raises:
        ConfigurationError: It can't be written.
    """
    if _stays_in_place(path):
        with _opened(path, path) as file:
            yield file
        return
    target = path.resolve()
    if target.exists() and not os.access(target, os.W_OK):
        raise ConfigurationError(f"{path} can't be written: it is read-only")
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")
    try:
        with _opened(beside, path) as file:
            yield file
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _stays_in_place(path: Path) -> bool:
    """Whether another file can't take its place: a pipe, a terminal, or one that is open already, as `/dev/stdout`."""
    return path.absolute().parts[1:2] in {("dev",), ("proc",)} or (path.exists() and not path.is_file())


def _opened(place: Path, path: Path) -> TextIO:
    try:
        return place.open("w", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} can't be written: {error.strerror}") from None

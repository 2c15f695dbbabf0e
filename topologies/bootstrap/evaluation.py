"""A corpus read from its folders and looked at, row by row, with any scanner.

The contract: everything is read and checked before the first row is scanned, so that a mistake in a corpus is said at
once; texts are then read again, and never kept. A transcript's messages are looked at one by one, as the gate looks at
each field and each memory, and one that can't be makes its row one that was not scanned. A row that the scanner refuses
or fails on is an outcome too.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pratique.contract.canonical import check_text
from pratique.contract.reasons import ReasonCode
from pratique.errors import ConfigurationError, MalformedError, PratiqueError
from streams.application.ports.detection import Detection
from streams.domain.evaluation.result import CorpusFile
from streams.domain.evaluation.rows import MAX_ROW_BYTES, Folder, Row, read_row
from streams.domain.evaluation.scoring import Outcome
from streams.domain.scanning.finding import Finding
from topologies.bootstrap.in_order import in_order

IN_FLIGHT: Final = 256
"""Rows that are read ahead, so that every worker has something to do."""

_FOLDERS: Final = {folder.value: folder for folder in Folder}

Find = Callable[[str], Awaitable[Detection]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus that can be evaluated.

    Attributes:
        files: What it is made of.
        left_out: Files that lie in no folder of the format.
        place: Where it lies.
    """

    files: tuple[CorpusFile, ...]
    left_out: tuple[str, ...]
    place: Path

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(file.rows for file in self.files)

    def read(self) -> Iterator[tuple[str, Row]]:
        """Yield every row with its file's name, in order.

        Raises:
            ConfigurationError: A file can't be read, or a row is not of the format.
        """
        for file in self.files:
            folder = _folder(self.place, file.name)
            for _, row in _rows(self.place / file.name, folder):
                yield file.name, row


def read_corpus(place: Path) -> Corpus:
    """Look through a corpus: ``*.jsonl`` in folders that are called as the format calls them, at any depth.

    Args:
        place: The corpus, or one of its folders.

    Raises:
        ConfigurationError: A row is not of the format, or there is none.
    """
    place = place.resolve()
    files, left_out = list[CorpusFile](), list[str]()
    for path in sorted(place.rglob("*.jsonl")):
        name = str(path.relative_to(place))
        folder = _folder(place, name)
        if folder is None:
            left_out.append(name)
            continue
        _check_name(path, name)
        digest, count = hashlib.sha256(), 0
        for line, _ in _rows(path, folder):
            digest.update(line)
            count += 1
        files.append(CorpusFile(name, digest.hexdigest(), count))
    if not any(file.rows for file in files):
        expected = ", ".join(_FOLDERS)
        raise ConfigurationError(f"{place} holds no rows: put *.jsonl in folders called {expected}")
    return Corpus(tuple(files), tuple(left_out), place)


async def evaluate(corpus: Corpus, find: Find, scanned: Callable[[str, Outcome], None]) -> None:
    """Look at every row, several at a time, and hand over what came of each, in the corpus's order.

    Args:
        corpus: The rows.
        find: Looks at one text.
        scanned: Takes the row's file and what came of it.

    Raises:
        ConfigurationError: The corpus is not what it was when it was looked through.
    """

    async def begun() -> AsyncGenerator[tuple[str, Coroutine[Any, Any, Outcome]]]:
        for name, row in corpus.read():
            yield name, _outcome(row, find)

    done = 0
    async with aclosing(in_order(begun(), ahead=IN_FLIGHT)) as outcomes:
        async for name, outcome in outcomes:
            scanned(name, outcome)
            done += 1
    if done != corpus.rows:
        raise ConfigurationError(f"{corpus.place} changed while it was read; evaluate it again")


async def _outcome(row: Row, find: Find) -> Outcome:
    findings = list[Finding]()
    for place, text in row.texts:
        try:
            check_text(text)
            detection = await find(text)
        except PratiqueError as error:
            return Outcome(row.facts, error=ReasonCode(getattr(error, "code", ReasonCode.DETECTOR_ERROR)))
        if detection.failure is not None:
            return Outcome(row.facts, error=detection.failure.code)
        findings += [replace(finding, path=place) for finding in detection.findings]
    return Outcome(row.facts, tuple(findings))


def _folder(place: Path, name: str) -> Folder | None:
    """Return the nearest folder of the format that a file lies in, within the corpus."""
    within = [parent.name for parent in Path(name).parents if parent.name]
    return next((_FOLDERS[folder] for folder in (*within, place.name) if folder in _FOLDERS), None)


def _rows(path: Path, folder: Folder | None) -> Iterator[tuple[bytes, Row]]:
    if folder is None:
        return
    try:
        with path.open("rb") as lines:
            number = 0
            while line := lines.readline(MAX_ROW_BYTES + 1):
                number += 1
                if line.strip():
                    yield line, _row(line, folder, f"{path}:{number}")
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from error


def _check_name(path: Path, name: str) -> None:
    try:
        check_text(name)
    except MalformedError:
        raise ConfigurationError(f"{path} has a name that is not UTF-8; results name files, so rename it") from None


def _row(line: bytes, folder: Folder, place: str) -> Row:
    try:
        return read_row(line, folder)
    except MalformedError as error:
        raise ConfigurationError(f"{place}: {error}") from None

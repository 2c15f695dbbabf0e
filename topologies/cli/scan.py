"""``pratique scan``: look for secrets, personal data and the like in texts, with the scanner that the gate uses.

The contract (contract page, Commands): ``--jsonl`` takes JSON lines ``{"id", "text", "lang"?}`` and prints
``{"id", "findings": [{"category", "detector", "type", "start", "end", "score"}]}`` for each, in order, with a
``detail`` in a finding where a disguise was taken off; a line that could not be scanned is answered ``{"id", "error"}``
with a reason code and without findings, since none would look clean. ``start`` and ``end`` are offsets in characters.
Without ``--jsonl``, files are scanned whole and findings shown with masked values, with ``--digests`` beside the
digests that a policy's allow list names them by.

Exit: with ``--jsonl`` 0 every line was scanned, whatever was found; else 0 nothing was found, 1 something was. 2 a line
or file was malformed; 3 one could not be scanned.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import click

from pratique.contract.canonical import JsonValue, parse_json
from pratique.contract.reasons import ReasonCode
from pratique.errors import ConfigurationError, MalformedError, PratiqueError
from streams.application.ports.detection import Detection
from streams.domain.scanning.applying import value_sha256
from streams.domain.scanning.finding import Finding
from topologies.bootstrap.scanning import Scanner, read_scan
from topologies.cli.output import Exit, print_json, print_table, speaks

MAX_LINE_BYTES: Final = 32 * 1024 * 1024
"""Longest line read; a text's own bound is the policy's ``max_total_bytes``."""

IN_FLIGHT: Final = 512
"""Lines read ahead of the one that is printed next."""

_SHOWN_CHARACTERS: Final = 2


@click.command()
@click.argument(
    "sources", nargs=-1, type=click.Path(dir_okay=False, allow_dash=True, path_type=Path), metavar="FILE…|-"
)
@click.option("--jsonl", is_flag=True, help="JSON lines in, JSON lines out; standard input where no file is named.")
@click.option(
    "--policy",
    "directory",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="What `policy init` made, or a policy source.  [default: the demo policy]",
)
@click.option("--policy-id", default="default", show_default=True, help="Which policy of a repository.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes.  [default: one a processor]")
@click.option("--digests", is_flag=True, help="Of files: show each value's digest, for a policy's allow list.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@speaks
def scan(
    *,
    sources: tuple[Path, ...],
    jsonl: bool,
    directory: Path | None,
    policy_id: str,
    workers: int | None,
    digests: bool,
    as_json: bool,
) -> None:
    """Scan FILEs, or standard input for -, for secrets and personal data. Values are never printed."""
    if digests and jsonl:
        raise click.UsageError("--digests is of files, not of --jsonl")
    if not sources and not jsonl:
        raise click.UsageError("name a file, or - for standard input")
    scanner = Scanner(read_scan(directory, policy_id), workers=workers)

    def run() -> Awaitable[Exit]:
        return _lines(scanner, sources) if jsonl else _files(scanner, sources, as_json=as_json, digests=digests)

    sys.exit(int(asyncio.run(_with(scanner, run))))


async def _with(scanner: Scanner, run: Callable[[], Awaitable[Exit]]) -> Exit:
    try:
        await scanner.start()
        return await run()
    finally:
        await scanner.close()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the input on its way: its id, and its answer to come."""

    id: JsonValue
    answer: Awaitable[Detection]


async def _lines(scanner: Scanner, sources: tuple[Path, ...]) -> Exit:
    """Answer JSON lines in order, reading ahead so that every worker has something to do."""
    lines: asyncio.Queue[_Line | None] = asyncio.Queue(IN_FLIGHT)
    reading = asyncio.create_task(_read(scanner, sources or (Path("-"),), lines))
    worst = Exit.DONE
    while (line := await lines.get()) is not None:
        body, code = await _answer(line)
        click.echo(json.dumps(body, ensure_ascii=False, separators=(",", ":")))
        worst = max(worst, code)
    await reading
    return worst


async def _read(scanner: Scanner, sources: tuple[Path, ...], lines: asyncio.Queue[_Line | None]) -> None:
    try:
        for source in sources:
            with ExitStack() as opened:
                stream: BinaryIO = sys.stdin.buffer
                if str(source) != "-":
                    stream = opened.enter_context(_open(source))
                while raw := await asyncio.to_thread(stream.readline, MAX_LINE_BYTES):
                    if raw.strip():
                        await lines.put(_parsed(scanner, raw))
    finally:
        await lines.put(None)


def _open(source: Path) -> BinaryIO:
    try:
        return source.open("rb")
    except OSError as error:
        raise ConfigurationError(f"{source}: {error.strerror}") from error


def _parsed(scanner: Scanner, raw: bytes) -> _Line:
    try:
        row = parse_json(raw, max_bytes=MAX_LINE_BYTES)
    except MalformedError as error:
        return _Line(None, _refuse(error))
    if not isinstance(row, dict):
        return _Line(None, _refuse(MalformedError("line is no JSON object")))
    text, language = row.get("text"), row.get("lang")
    if "id" not in row or not isinstance(text, str) or not isinstance(language, str | None):
        return _Line(row.get("id"), _refuse(MalformedError("line lacks an id, a text, or a language that is text")))
    return _Line(row["id"], asyncio.ensure_future(scanner.find(text, language)))


async def _refuse(error: MalformedError) -> Detection:
    raise error


async def _answer(line: _Line) -> tuple[dict[str, JsonValue], Exit]:
    try:
        detection = await line.answer
    except PratiqueError as error:
        code = ReasonCode(getattr(error, "code", ReasonCode.DETECTOR_ERROR))
        return {"id": line.id, "error": code.value}, Exit.USAGE if isinstance(error, MalformedError) else Exit.UNKNOWN
    if detection.failure is not None:
        return {"id": line.id, "error": detection.failure.code.value}, Exit.UNKNOWN
    return {"id": line.id, "findings": [_body(finding) for finding in detection.findings]}, Exit.DONE


def _body(finding: Finding) -> dict[str, JsonValue]:
    body = finding.body()
    del body["path"]  # there is one field, and the line's id names it
    return body


async def _files(scanner: Scanner, sources: tuple[Path, ...], *, as_json: bool, digests: bool) -> Exit:
    worst, shown, rows = Exit.DONE, list[JsonValue](), list[list[str]]()
    for source in sources:
        text = await asyncio.to_thread(_text, source)
        detection = await scanner.find(text)
        if detection.failure is not None:
            click.echo(f"{source}: not scanned: {detection.failure.code.value}", err=True)
            worst = Exit.UNKNOWN
            continue
        found = detection.findings
        told = [_told(text, item, digests=digests) for item in found]
        bodies: list[JsonValue] = [{**_body(item), **words} for item, words in zip(found, told, strict=True)]
        shown.append({"file": str(source), "findings": bodies})
        rows += [_row(source, text, item, words) for item, words in zip(found, told, strict=True)]
        worst = max(worst, Exit.NO) if found else worst
    if as_json:
        print_json(shown)
    else:
        print_table(
            f"{len(rows)} findings", ("file", "line", "category", "type", "detector", "score", "read as", "value"), rows
        )
    return worst


def _text(source: Path) -> str:
    try:
        raw = sys.stdin.buffer.read() if str(source) == "-" else source.read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        raise ConfigurationError(f"{source}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigurationError(f"{source} is not UTF-8") from None


def _row(source: Path, text: str, finding: Finding, told: Mapping[str, str]) -> list[str]:
    line = text.count("\n", 0, finding.start) + 1
    return [
        str(source),
        str(line),
        finding.category.value,
        finding.type,
        finding.detector,
        f"{finding.score:.2f}",
        finding.detail or "plain",
        " ".join(told.values()),
    ]


def _told(text: str, finding: Finding, *, digests: bool) -> dict[str, str]:
    """Return what is said of a value; a digest only of one that stands there plainly, which alone can be allowed."""
    told = {"masked": _masked(text, finding)}
    if digests and not finding.detail:
        told["value_sha256"] = value_sha256(text[finding.start : finding.end])
    return told


def _masked(text: str, finding: Finding) -> str:
    """Return a value's first characters and its length: enough to find it, not to use it."""
    value = text[finding.start : finding.end]
    shown = value[:_SHOWN_CHARACTERS] if len(value) > 4 * _SHOWN_CHARACTERS else ""
    return f"{shown}… ({len(value)} characters)"

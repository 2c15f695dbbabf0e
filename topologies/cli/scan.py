"""``pratique scan``: look for secrets, personal data and the like in texts, with the scanner that the gate uses.

The contract (contract page, Commands): ``--jsonl`` takes JSON lines ``{"id", "text", "lang"?}`` and prints
``{"id", "findings": [{"category", "detector", "type", "start", "end", "score"}]}`` for each, in order, with a
``detail`` in a finding where a disguise was taken off; a line that could not be scanned is answered ``{"id", "error"}``
with a reason code and without findings, since none would look clean. ``start`` and ``end`` are offsets in characters.
Without ``--jsonl``, files are scanned whole and findings shown with masked values, with ``--digests`` beside the
digests that a policy's allow list names them by. A file that was not scanned is named with its reason code, and the
others are scanned.

Exit: with ``--jsonl`` 0 every line was scanned, whatever was found; else 0 nothing was found, 1 something was. 2 a line
or file was malformed; 3 one could not be scanned.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import ExitStack, aclosing
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from pratique.contract.canonical import JsonValue, parse_json
from pratique.contract.reasons import ReasonCode
from pratique.errors import ConfigurationError, MalformedError, PratiqueError, TooLargeError
from streams.application.ports.detection import Detection
from streams.domain.scanning.applying import value_sha256
from streams.domain.scanning.finding import Finding
from topologies.bootstrap.in_order import in_order
from topologies.bootstrap.scanning import Scanner, read_scan
from topologies.cli.inputs import bounded_lines, opened_input
from topologies.cli.output import Exit, json_text, print_json, print_table, shown, speaks

MAX_LINE_BYTES: Final = 32 * 1024 * 1024
"""Longest line read; a text's own bound is the policy's ``max_total_bytes``."""

IN_FLIGHT: Final = 512
"""Lines read ahead of the one that is printed next."""

_SHOWN_CHARACTERS: Final = 2

_SOURCE: Final = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)

_END: Final = b""
"""What no line is."""

_Find = Callable[[], Awaitable[Detection]]

_Answering = Coroutine[Any, Any, tuple[dict[str, JsonValue], Exit]]
"""Finds out what is said of a line, and what the command then ends with."""


@click.command()
@click.argument("sources", nargs=-1, type=_SOURCE, metavar="FILE…|-")
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


async def _lines(scanner: Scanner, sources: tuple[Path, ...]) -> Exit:
    """Answer JSON lines in order, reading ahead so that every worker has something to do."""
    worst = Exit.DONE
    async with aclosing(in_order(_begun(scanner, sources or (Path("-"),)), ahead=IN_FLIGHT)) as answers:
        async for line_id, (said, code) in answers:
            click.echo(json_text({"id": line_id, **said}, separators=(",", ":")))
            worst = max(worst, code)
    return worst


async def _begun(scanner: Scanner, sources: tuple[Path, ...]) -> AsyncGenerator[tuple[JsonValue, _Answering]]:
    """Yield each line's id, and what answers it."""
    for source in sources:
        with ExitStack() as opened:
            lines = bounded_lines(opened_input(source, opened), MAX_LINE_BYTES)
            while (raw := await asyncio.to_thread(next, lines, _END)) != _END:
                yield _parsed(scanner, raw)


def _parsed(scanner: Scanner, raw: bytes | None) -> tuple[JsonValue, _Answering]:
    if raw is None:
        return None, _answer(partial(_refuse, TooLargeError(f"line has over {MAX_LINE_BYTES} bytes")))
    try:
        row = parse_json(raw, max_bytes=MAX_LINE_BYTES)
    except MalformedError as error:
        return None, _answer(partial(_refuse, error))
    if not isinstance(row, dict):
        return None, _answer(partial(_refuse, MalformedError("line is no JSON object")))
    text, language = row.get("text"), row.get("lang")
    if "id" not in row or not isinstance(text, str) or not isinstance(language, str | None):
        wrong = MalformedError("line lacks an id, a text, or a language that is text")
        return row.get("id"), _answer(partial(_refuse, wrong))
    return row["id"], _answer(partial(scanner.find, text, language))


async def _refuse(error: MalformedError) -> Detection:
    raise error


async def _answer(find: _Find) -> tuple[dict[str, JsonValue], Exit]:
    found = await _found(find)
    if isinstance(found, _Unscanned):
        return {"error": found.code.value}, found.exit
    return {"findings": [_body(item) for item in found]}, Exit.DONE


class _Unscanned(NamedTuple):
    """Why a text was not scanned, and what the command then ends with."""

    code: ReasonCode
    exit: Exit


async def _found(find: _Find) -> tuple[Finding, ...] | _Unscanned:
    try:
        detection = await find()
    except PratiqueError as error:
        code = ReasonCode(getattr(error, "code", ReasonCode.DETECTOR_ERROR))
        return _Unscanned(code, Exit.USAGE if isinstance(error, MalformedError) else Exit.UNKNOWN)
    return detection.findings if detection.failure is None else _Unscanned(detection.failure.code, Exit.UNKNOWN)


def _body(finding: Finding) -> dict[str, JsonValue]:
    body = finding.body()
    del body["path"]  # there is one field, and the line's id names it
    return body


async def _files(scanner: Scanner, sources: tuple[Path, ...], *, as_json: bool, digests: bool) -> Exit:
    worst, listed, rows = Exit.DONE, list[JsonValue](), list[list[str]]()
    for source in sources:
        raw = await asyncio.to_thread(_content, source)
        found = await _found(partial(_looked_at, scanner, raw))
        if isinstance(found, _Unscanned):
            click.echo(f"{shown(str(source))}: not scanned: {found.code.value}", err=True)
            listed.append({"file": str(source), "error": found.code.value})
            worst = max(worst, found.exit)
            continue
        text = raw.decode("utf-8")
        told = [_told(text, item, digests=digests) for item in found]
        bodies: list[JsonValue] = [{**_body(item), **words} for item, words in zip(found, told, strict=True)]
        listed.append({"file": str(source), "findings": bodies})
        rows += [_row(source, text, item, words) for item, words in zip(found, told, strict=True)]
        worst = max(worst, Exit.NO) if found else worst
    if as_json:
        print_json(listed)
    else:
        print_table(
            f"{len(rows)} findings", ("file", "line", "category", "type", "detector", "score", "read as", "value"), rows
        )
    return worst


async def _looked_at(scanner: Scanner, raw: bytes) -> Detection:
    try:
        return await scanner.find(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise MalformedError("file is not UTF-8") from None


def _content(source: Path) -> bytes:
    with ExitStack() as opened:
        stream = opened_input(source, opened)
        try:
            return stream.read()
        except OSError as error:
            raise ConfigurationError(f"{source} can't be read: {error.strerror}") from None


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
    begun = value[:_SHOWN_CHARACTERS] if len(value) > 4 * _SHOWN_CHARACTERS else ""
    return f"{begun}… ({len(value)} characters)"

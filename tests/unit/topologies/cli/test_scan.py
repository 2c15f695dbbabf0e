"""``pratique scan``: JSON lines in order, errors that cannot be taken for clean, masked tables, exit codes."""

from __future__ import annotations

import asyncio
import base64
import gc
import importlib
import json
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import pytest
from click.testing import CliRunner, Result

from pratique.contract.canonical import JsonValue
from streams.adapters.policy_source import read_json, write_json
from streams.domain.scanning.applying import value_sha256
from tests.fakes.detectors import CRASH, HANG, SCRIPTED
from tests.fakes.language_model import ENGLISH, PACKAGE, asking
from tests.fakes.policy import DEMO_SOURCE
from tests.unit.streams.domain.scanning.builders import SCANNER
from topologies.bootstrap import scanning
from topologies.bootstrap.policy import ScannerIdentity, create_development_set
from topologies.cli.scan import scan

if TYPE_CHECKING:
    from pathlib import Path

scan_module = importlib.import_module("topologies.cli.scan")

LIMIT = 2_000


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy source that the scripted detectors meet."""
    monkeypatch.setattr(scanning.Scanner.__init__, "__kwdefaults__", {"workers": 1, "factory": SCRIPTED})
    document = read_json(DEMO_SOURCE / "scan.json")
    assert isinstance(document, dict)
    document |= {"language_profiles": ["en", "de"], "max_total_bytes": LIMIT, "timeout_ms": 500}
    write_json(tmp_path / "scan.json", document)
    return tmp_path


def run(source: Path, *arguments: str | Path, stdin: bytes = b"") -> Result:
    given = [str(argument) for argument in arguments]
    return CliRunner().invoke(scan, [*given, "--policy", str(source), "--workers", "1"], input=stdin)


def lines(source: Path, *rows: Any, code: int) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON, or what is none
    stdin = b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)
    result = run(source, "--jsonl", stdin=stdin)
    assert result.exit_code == code, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_finding_in_disguise_says_how_it_was_read_and_a_plain_one_does_not(source: Path) -> None:
    written = base64.b64encode(b"words and <pii> and words").decode()
    (line,) = lines(source, {"id": 1, "text": f"<pii> {written}"}, code=0)
    assert [(item["start"], item.get("detail")) for item in line["findings"]] == [(0, None), (6, "base64")]


def test_lines_are_answered_in_order_with_offsets_in_characters(source: Path) -> None:
    rows = [{"id": number, "text": "é" * number + "<pii>"} for number in range(200)]
    answers = lines(source, *rows, code=0)
    assert answers == [
        {
            "id": number,
            "findings": [
                {
                    "category": "PII",
                    "detector": "scripted",
                    "type": "mark",
                    "start": number,
                    "end": number + 5,
                    "score": 0.9,
                }
            ],
        }
        for number in range(200)
    ]


def test_clean_and_empty_texts_have_no_findings(source: Path) -> None:
    answers = lines(source, {"id": "a", "text": "nothing", "lang": "de-AT"}, b"", {"id": None, "text": ""}, code=0)
    assert answers == [{"id": "a", "findings": []}, {"id": None, "findings": []}]


@pytest.mark.parametrize(
    ("row", "expected", "code"),
    [
        (b"{", {"id": None, "error": "SCHEMA_INVALID"}, 2),
        ([1], {"id": None, "error": "SCHEMA_INVALID"}, 2),
        ({"text": "x"}, {"id": None, "error": "SCHEMA_INVALID"}, 2),
        ({"id": 1}, {"id": 1, "error": "SCHEMA_INVALID"}, 2),
        ({"id": 1, "text": 2}, {"id": 1, "error": "SCHEMA_INVALID"}, 2),
        ({"id": 1, "text": "x", "lang": 3}, {"id": 1, "error": "SCHEMA_INVALID"}, 2),
        (b'{"id": 1, "id": 2, "text": "x"}', {"id": None, "error": "DUPLICATE_KEY"}, 2),
        ({"id": 1, "text": "x" * (LIMIT + 1)}, {"id": 1, "error": "TOO_LARGE"}, 2),
        ({"id": 1, "text": "<pii>", "lang": "tlh"}, {"id": 1, "error": "LANGUAGE_UNSUPPORTED"}, 3),
        ({"id": 1, "text": HANG}, {"id": 1, "error": "DETECTOR_TIMEOUT"}, 3),
        ({"id": 1, "text": CRASH}, {"id": 1, "error": "DETECTOR_ERROR"}, 3),
    ],
)
def test_what_was_not_scanned_has_an_error_and_no_findings(
    source: Path, row: object, expected: dict[str, Any], code: int
) -> None:
    after = {"id": "after", "text": "<secret>"}
    said, last = lines(source, row, after, code=code)
    assert said == expected
    assert [item["category"] for item in last["findings"]] == ["SECRET"]


def test_a_text_at_the_bound_is_scanned(source: Path) -> None:
    assert lines(source, {"id": 1, "text": "x" * LIMIT}, code=0) == [{"id": 1, "findings": []}]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("ahead", [1, 8, 512])
def test_it_ends_where_its_reader_goes_away(source: Path, monkeypatch: pytest.MonkeyPatch, ahead: int) -> None:
    """However many lines were read ahead, and whatever they are."""
    printed = list[str]()

    def gone(text: str, **_: object) -> None:
        printed.append(text)
        if len(printed) == 2:
            raise BrokenPipeError

    monkeypatch.setattr(scan_module, "IN_FLIGHT", ahead)
    monkeypatch.setattr(click, "echo", gone)
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    told = list[dict[str, Any]]()
    monkeypatch.setattr(
        asyncio.BaseEventLoop, "call_exception_handler", lambda _self, context: told.append(context), raising=True
    )
    result = run(source, "--jsonl", stdin=b'{"id": 1, "text": "<pii>"}\n{\n' * 300)
    gc.collect()
    assert (result.exit_code, len(printed), told) == (3, 2, [])


def test_a_line_over_the_bound_is_answered_once(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_module, "MAX_LINE_BYTES", 64)
    first, last = {"id": 1, "text": "x"}, {"id": 2, "text": "<pii>"}
    for much in (60, 65, 127, 128, 129, 500):
        one, two, three = lines(source, first, b"x" * much, last, code=2)
        assert two == {"id": None, "error": "SCHEMA_INVALID" if much == 60 else "TOO_LARGE"}
        assert (one["id"], three["id"], len(three["findings"])) == (1, 2, 1)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_answers_are_json_in_every_encoding(source: Path, encoding: str) -> None:
    row = {"id": "caf\u00e9 \u6f22 \U0001f600", "text": "x"}
    result = CliRunner(charset=encoding).invoke(
        scan, ["--jsonl", "--policy", str(source), "--workers", "1"], input=json.dumps(row).encode()
    )
    assert json.loads(result.stdout_bytes.decode(encoding)) == {"id": row["id"], "findings": []}


@pytest.mark.parametrize(
    ("content", "error", "code"),
    [
        (b"x" * (LIMIT + 1), "TOO_LARGE", 2),
        (b"\xff\xfe", "SCHEMA_INVALID", 2),
        (HANG.encode(), "DETECTOR_TIMEOUT", 3),
        (CRASH.encode(), "DETECTOR_ERROR", 3),
    ],
)
def test_a_file_that_was_not_scanned_is_named_and_the_others_are_scanned(
    source: Path, tmp_path: Path, content: bytes, error: str, code: int
) -> None:
    files = [tmp_path / name for name in ("first.txt", "wrong.txt", "last.txt")]
    for file, holds in zip(files, (b"<secret>", content, b"<pii>"), strict=True):
        file.write_bytes(holds)
    result = run(source, "--json", *files)
    assert (result.exit_code, f"{files[1]}: not scanned: {error}" in result.stderr) == (code, True)
    first, wrong, last = json.loads(result.stdout)
    assert wrong == {"file": str(files[1]), "error": error}
    assert [len(first["findings"]), len(last["findings"])] == [1, 1]
    table = run(source, *files)
    assert (table.exit_code, "SECRET" in table.stdout, "PII" in table.stdout) == (code, True, True)


def test_a_table_masks_values(source: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("one\n<secret>\n", encoding="utf-8")
    result = run(source, file)
    assert result.exit_code == 1
    assert "SECRET" in result.stdout
    assert "<secret>" not in result.stdout


def test_json_has_every_file(source: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("fine", encoding="utf-8")
    result = run(source, "--json", file, "-", stdin="é<pii>".encode())
    assert result.exit_code == 1
    fine, found = json.loads(result.stdout)
    assert fine == {"file": str(file), "findings": []}
    assert found["file"] == "-"
    assert [(item["start"], item["end"], item["masked"]) for item in found["findings"]] == [(1, 6, "… (5 characters)")]


def test_digests_are_those_that_an_allow_list_names(source: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("<secret> <pii>", encoding="utf-8")
    (told,) = json.loads(run(source, "--digests", "--json", file).stdout)
    by_category = {item["category"]: item["value_sha256"] for item in told["findings"]}
    assert by_category == {"SECRET": value_sha256("<secret>"), "PII": value_sha256("<pii>")}
    document = read_json(source / "scan.json")
    assert isinstance(document, dict)
    entry: dict[str, JsonValue] = {"id": "known", "category": "SECRET", "reason": "an example", "expires_ms": 2**52}
    entry["value_sha256"] = by_category["SECRET"]
    write_json(source / "scan.json", {**document, "allow": [entry]})
    (told,) = json.loads(run(source, "--json", file).stdout)
    assert [item["category"] for item in told["findings"]] == ["PII"]
    assert "value_sha256" not in told["findings"][0]


def test_digests_are_not_for_json_lines(source: Path) -> None:
    assert run(source, "--jsonl", "--digests").exit_code == 2


def test_clean_files_are_done(source: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("fine", encoding="utf-8")
    assert run(source, file).exit_code == 0


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_wrong_usage(source: Path, tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "notes.txt"
    if content is not None:
        file.write_bytes(content)
    assert run(source, file).exit_code == 2


@pytest.mark.parametrize("form", [[], ["--jsonl"]])
def test_a_file_that_is_not_there_is_known_before_another_is_scanned(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: list[str]
) -> None:
    async def never(_self: object) -> None:
        pytest.fail("the scanner was started")

    monkeypatch.setattr(scanning.Scanner, "start", never)
    (tmp_path / "fine.txt").write_text("fine")
    assert run(source, *form, tmp_path / "fine.txt", tmp_path / "none").exit_code == 2


def test_nothing_to_scan_is_wrong_usage(source: Path) -> None:
    assert run(source).exit_code == 2


@pytest.mark.usefixtures("source")
def test_a_folder_without_a_policy_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty", "--jsonl").exit_code == 2


@pytest.mark.parametrize(("version", "code"), [(SCANNER.scanner_version, 0), ("scripted/2", 3)])
def test_a_signed_policy_is_scanned_under_by_the_scanner_that_it_pins(
    source: Path, tmp_path: Path, version: str, code: int
) -> None:
    met = shutil.copytree(DEMO_SOURCE, tmp_path / "met")
    shutil.copy(source / "scan.json", met / "scan.json")
    made = create_development_set(
        tmp_path / "set",
        met,
        tenants=("tenant-a", "tenant-b"),
        scanner=ScannerIdentity(version, SCANNER.scanner_sha256),
    )
    result = run(made.root.parent, "--jsonl", stdin=b'{"id": 1, "text": "x"}\n')
    assert result.exit_code == code
    assert result.stdout == ("" if code else '{"id":1,"findings":[]}\n')


@pytest.mark.parametrize(("package", "code"), [(PACKAGE, 0), ("no_such_language_model", 2)])
def test_nothing_is_scanned_where_a_language_model_is_missing(source: Path, package: str, code: int) -> None:
    document = read_json(source / "scan.json")
    assert isinstance(document, dict)
    write_json(source / "scan.json", asking(document, replace(ENGLISH, package=package)))
    result = run(source, "--jsonl", stdin=b'{"id": 1, "text": "x"}\n')
    assert result.exit_code == code, result.output
    assert ("language model package no_such_language_model is not installed" in result.stderr) == bool(code)

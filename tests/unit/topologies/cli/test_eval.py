"""``pratique eval``: counts of what the gate's scanner finds, exit codes, and never a text in what is written."""

from __future__ import annotations

import base64
import importlib
import json
import os
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streams.adapters.policy_source import read_json, write_json
from tests.fakes.detectors import CRASH, SCRIPTED
from tests.fakes.policy import DEMO_SOURCE
from topologies.bootstrap import evaluation as evaluating
from topologies.bootstrap import scanning
from topologies.cli.eval import evaluation

eval_module = importlib.import_module("topologies.cli.eval")

LIMIT = 2_000
CANARY = "marmalade-canary"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy source that the scripted detectors meet."""
    monkeypatch.setattr(scanning.Scanner.__init__, "__kwdefaults__", {"workers": 1, "factory": SCRIPTED})
    document = read_json(DEMO_SOURCE / "scan.json")
    assert isinstance(document, dict)
    document |= {"language_profiles": ["en", "de"], "max_total_bytes": LIMIT}
    (tmp_path / "policy").mkdir()
    write_json(tmp_path / "policy" / "scan.json", document)
    return tmp_path / "policy"


def row(text: str, *, detect: bool = False, **more: object) -> dict[str, Any]:
    label = "detect" if detect else "clean"
    return {"id": "r", "source": "a/b:c", "lang": "en", "label": label, "text": text, **more}


def put(corpus: Path, name: str, rows: Iterable[object]) -> None:
    file = corpus / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (line if isinstance(line, str) else json.dumps(line) for line in rows)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus in which half of the secrets are found, and one benign text in four is taken for one."""
    place = tmp_path / "corpus"
    put(place, "secrets/positives.jsonl", [row(f"<secret> {CANARY}", detect=True), row(CANARY, detect=True)] * 20)
    put(place, "secrets/negatives.jsonl", [row("fine"), "", row("fine", borderline=True)] * 10)
    put(place, "benign/texts.jsonl", [row("<secret>"), row("fine"), row("<pii>"), row("fine")] * 10)
    return place


def run(source: Path, corpus: Path, *arguments: str | Path) -> Result:
    given = [str(argument) for argument in arguments]
    return CliRunner().invoke(evaluation, ["--corpus", str(corpus), "--policy", str(source), "--workers", "1", *given])


def totals(document: dict[str, Any]) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    return {
        (part["folder"], part["category"], part["measure"]): tuple(
            part["groups"][0][name] for name in ("rows", "found", "errors")
        )
        for part in document["parts"]
    }


def test_counts_are_of_what_the_scanner_finds(source: Path, corpus: Path) -> None:
    result = run(source, corpus, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert totals(document) == {
        ("secrets", "SECRET", "recall"): (40, 20, 0),
        ("secrets", "SECRET", "false_positives"): (20, 0, 0),
        ("benign", "SECRET", "false_positives"): (40, 10, 0),
        ("benign", "PII", "false_positives"): (40, 10, 0),
        ("benign", "INJECTION", "false_positives"): (40, 0, 0),
        ("benign", "HIDDEN_TEXT", "false_positives"): (40, 0, 0),
    }
    assert document["versions"]["scanner"] == "scripted/1"
    assert [(file["file"], file["rows"]) for file in document["files"]] == [
        ("benign/texts.jsonl", 40),
        ("secrets/negatives.jsonl", 20),
        ("secrets/positives.jsonl", 40),
    ]
    assert document["regressions"] == []


def test_the_same_again_is_the_same_bytes(source: Path, corpus: Path, tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        assert run(source, corpus, "--out", tmp_path / name).exit_code == 0
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_a_table_has_rates_with_intervals(source: Path, corpus: Path) -> None:
    said = run(source, corpus).stdout
    assert "SECRET in secrets: recall" in said
    assert "50.00%" in said
    assert "35.2% to 64.8%" in said


def test_a_folder_of_a_corpus_will_do(source: Path, corpus: Path) -> None:
    document = json.loads(run(source, corpus / "benign", "--json").stdout)
    assert totals(document)["benign", "SECRET", "false_positives"] == (40, 10, 0)


def test_what_lies_in_no_folder_of_the_format_is_left_out_and_named(source: Path, corpus: Path) -> None:
    put(corpus, "others/all.jsonl", [row("<secret>", detect=True)])
    result = run(source, corpus, "--json")
    assert result.exit_code == 0
    assert "others/all.jsonl" in result.stderr
    assert totals(json.loads(result.stdout))["secrets", "SECRET", "recall"] == (40, 20, 0)


def test_a_transcript_counts_once_and_is_scanned_message_by_message(source: Path, corpus: Path, tmp_path: Path) -> None:
    def talk(*contents: str | None, detect: bool = False) -> dict[str, Any]:
        messages = [{"role": "user", "content": content} for content in contents]
        return row("<injection> is not read", detect=detect, messages=messages)

    rows = [
        talk("x" * LIMIT, f"<injection> {CANARY}", None, "<injection>", detect=True),
        talk("fine", "fine", detect=True),
        talk("fine", "<secret>"),
        talk("fine", "<injection>"),
        talk("<injection>", "a\x00b"),
    ]
    put(corpus, "transcripts/all.jsonl", rows)
    result = run(source, corpus / "transcripts", "--json", "--rows", tmp_path / "rows.jsonl")
    assert result.exit_code == 3
    document = json.loads(result.stdout)
    assert totals(document) == {
        ("transcripts", "INJECTION", "recall"): (2, 1, 0),
        ("transcripts", "INJECTION", "false_positives"): (2, 1, 1),
    }
    assert CANARY not in result.output
    written = (tmp_path / "rows.jsonl").read_text()
    assert CANARY not in written
    lines = [json.loads(line) for line in written.splitlines()]
    assert [[finding["path"] for finding in line["findings"]] for line in lines] == [
        ["messages[1].content", "messages[3].content"],
        [],
        ["messages[1].content"],
        ["messages[1].content"],
        [],
    ]


def test_what_was_not_scanned_is_an_error_and_not_clean(source: Path, corpus: Path, tmp_path: Path) -> None:
    put(corpus, "pii/few.jsonl", [row("x" * (LIMIT + 1)), row("a\x00b"), row(CRASH), row("fine")])
    result = run(source, corpus, "--json", "--out", tmp_path / "out.json")
    assert result.exit_code == 3
    document = json.loads(result.stdout)
    assert totals(document)["pii", "PII", "false_positives"] == (1, 0, 3)
    assert document["errors"] == {"DETECTOR_ERROR": 1, "SCHEMA_INVALID": 1, "TOO_LARGE": 1}
    assert json.loads((tmp_path / "out.json").read_text())["errors"] == document["errors"]


def test_a_baseline_holds_until_something_is_worse_beyond_its_interval(
    source: Path, corpus: Path, tmp_path: Path
) -> None:
    baseline = tmp_path / "baseline.json"
    assert run(source, corpus, "--out", baseline).exit_code == 0
    assert run(source, corpus, "--baseline", baseline).exit_code == 0
    put(corpus, "secrets/positives.jsonl", [row("<secret>", detect=True)] * 8 + [row("gone", detect=True)] * 32)
    result = run(source, corpus, "--baseline", baseline, "--json")
    assert result.exit_code == 1
    worse = json.loads(result.stdout)["regressions"]
    assert {(item["measure"], tuple(item["before"]), tuple(item["after"])) for item in worse} == {
        ("recall", (20, 40), (8, 40))
    }
    assert "worse than the baseline" in run(source, corpus, "--baseline", baseline).stdout


@pytest.mark.parametrize(
    "rows",
    [
        [row("x", id="a\ud800")],
        [row("x", kind="\udfff")],
        [row("x", obfuscation=[])],
        ["{"],
        [row("x", label="maybe")],
        [row("x", detect=True, borderline="yes")],
        [{"id": "r", "label": "clean"}],
    ],
)
def test_a_row_that_is_not_of_the_format_is_wrong_usage_and_named_by_its_line(
    source: Path, corpus: Path, rows: list[object]
) -> None:
    put(corpus, "pii/wrong.jsonl", [row(CANARY), *rows])
    result = run(source, corpus)
    assert result.exit_code == 2
    assert "wrong.jsonl:2" in result.stderr
    assert CANARY not in result.output


def test_no_rows_are_wrong_usage(source: Path, tmp_path: Path) -> None:
    assert run(source, tmp_path).exit_code == 2


@pytest.mark.parametrize("content", ["{", "{}", '{"schema_version": "pratique.evaluation.v1", "parts": 3}'])
def test_a_baseline_that_is_none_is_wrong_usage(source: Path, corpus: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "baseline.json").write_text(content)
    assert run(source, corpus, "--baseline", tmp_path / "baseline.json").exit_code == 2


def test_nothing_that_is_written_holds_a_text(source: Path, corpus: Path, tmp_path: Path) -> None:
    encoded = base64.b64encode(f"<pii> {CANARY}".encode()).decode()
    put(corpus, "pii/more.jsonl", [{**row("", detect=True), "text": None, "text_b64": encoded}, row(f"a\x00{CANARY}")])
    files = [tmp_path / name for name in ("out.json", "page.html", "rows.jsonl")]
    result = run(source, corpus, "--out", files[0], "--html", files[1], "--rows", files[2])
    assert result.exit_code == 3  # NUL can't be scanned
    written = [result.output, *(file.read_text(encoding="utf-8") for file in files)]
    assert not [text for text in written if CANARY in text or encoded in text]
    lines = [json.loads(line) for line in files[2].read_text().splitlines()]
    assert len(lines) == 102
    assert sum(line["found"] for line in lines) == 20 + 10 + 10 + 1


def test_a_row_of_benign_whose_disguise_is_no_text_is_named_by_its_line(source: Path, corpus: Path) -> None:
    put(corpus, "benign/wrong.jsonl", [row(CANARY), row("x", obfuscation={})])
    result = run(source, corpus)
    assert (result.exit_code, "wrong.jsonl:2" in result.stderr) == (2, True)


def test_a_file_whose_name_cannot_be_written_is_wrong_usage(source: Path, corpus: Path) -> None:
    (corpus / "benign" / os.fsdecode(b"\xff.jsonl")).write_text(json.dumps(row("x")))
    result = run(source, corpus)
    assert (result.exit_code, "rename it" in result.stderr) == (2, True)


@pytest.mark.parametrize("option", ["--out", "--html", "--rows"])
def test_what_cannot_be_written_is_wrong_usage_before_anything_is_scanned(
    source: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    def never(*_: object) -> None:
        pytest.fail("it was scanned")

    monkeypatch.setattr(eval_module, "evaluate", never)
    result = run(source, corpus, option, tmp_path / "none" / "file")
    assert (result.exit_code, "can't be written" in result.stderr) == (2, True)


def test_old_results_stand_where_the_command_fails(
    source: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(eval_module, "evaluate", fail)
    files = [tmp_path / "results" / name for name in ("out.json", "page.html", "rows.jsonl")]
    files[0].parent.mkdir()
    for file in files:
        file.write_text("old")
    assert run(source, corpus, "--out", files[0], "--html", files[1], "--rows", files[2]).exit_code == 3
    assert [file.read_text() for file in files] == ["old"] * 3
    assert sorted(files[0].parent.iterdir()) == sorted(files)


@pytest.mark.timeout(60)
def test_it_ends_where_what_came_of_a_row_cannot_be_written(
    source: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluating, "IN_FLIGHT", 2)
    result = run(source, corpus, "--rows", "/dev/full")
    assert (result.exit_code, "ENOSPC" in result.stderr) == (3, True)


class _Page(HTMLParser):
    """Collects a page's elements, and what could fetch or run something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetched: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [name for name, _ in attrs if name in {"src", "href", "xlink:href", "srcset", "data"}]
        self.fetched += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def test_a_page_needs_nothing_else_and_escapes_names(source: Path, corpus: Path, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\"'&\u202e"
    put(corpus, "pii/evil.jsonl", [row("<pii>", detect=True, lang=evil, source=evil, kind=evil)] * 30)
    assert run(source, corpus, "--html", tmp_path / "page.html").exit_code == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    assert "svg" in page.tags
    assert "script" not in page.tags
    assert page.fetched == []
    assert "url(" not in text
    assert "@import" not in text
    assert "\u202e" not in text
    assert any("<script>alert(1)" in said for said in page.said)

"""The demo passes only if every planned row is there and right; what the documentation shows is what is planned."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from infra.stack.demo import PAGES, planned
from infra.stack.demo_report import BEGIN, END, MAX_TOTAL_MIB, Planned, Report, Row, markdown, record, table
from infra.stack.scenarios import ACCEPTED, Ending, Expected
from pratique.contract.reasons import ReasonCode

if TYPE_CHECKING:
    from pathlib import Path

SECRET = Expected.quarantined(ReasonCode.SECRET)
PLANNED = (Planned("clean", "a clean one", ACCEPTED), Planned("secret", "a [secret]", SECRET))
CLEAN = Row("clean", "a clean one", ACCEPTED, Ending.ACCEPTED, (), "", 1_234, "the summary")
FOUND = Row("secret", "a [secret]", SECRET, Ending.QUARANTINED, ("SECRET",), "summary_text", 80, "the tail")


def report(*rows: Row, total: float = 900.0) -> Report:
    return Report(PLANNED, rows, {"scan": 200.4, "broker": 300.0}, total, 61.2, "2 CPUs")


def printed(*rows: Row) -> str:
    console = Console(width=200, record=True, quiet=True)
    with console.capture() as capture:
        console.quiet = False
        console.print(table(rows))
    return capture.get()


def test_all_rows_right_is_a_pass() -> None:
    assert report(CLEAN, FOUND).faults() == []
    assert report(CLEAN, FOUND).as_json()["passed"] is True


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(FOUND, ending=Ending.ACCEPTED), "expected QUARANTINED, SECRET; got ACCEPTED, SECRET"),
        (replace(FOUND, codes=("PII",)), "got QUARANTINED, PII"),
        (replace(FOUND, codes=("SECRET", "PII")), "got QUARANTINED, SECRET, PII"),
        (replace(FOUND, codes=()), "got QUARANTINED"),
        (replace(FOUND, ending=Ending.UNANSWERED, codes=()), "got UNANSWERED"),
        (replace(FOUND, fault="two verdicts"), "secret: two verdicts"),
    ],
)
def test_a_row_that_is_not_as_expected_fails_the_demo_and_says_so(wrong: Row, words: str) -> None:
    (fault,) = report(CLEAN, wrong).faults()
    assert words in fault
    assert report(CLEAN, wrong).as_json()["passed"] is False
    assert "NOT as expected" in printed(wrong)


def test_a_row_that_was_not_run_fails_the_demo() -> None:
    assert report(CLEAN).faults() == ["secret: not run"]


def test_a_row_that_nobody_planned_fails_the_demo() -> None:
    assert report(CLEAN, FOUND, CLEAN).faults() == ["clean: run and not planned"]


def test_a_row_cannot_pass_by_expecting_something_else() -> None:
    lenient = replace(FOUND, expected=ACCEPTED, ending=Ending.ACCEPTED, codes=())
    assert report(CLEAN, lenient).faults() == ["secret: not run", "secret: run and not planned"]


def test_too_much_memory_fails_the_demo() -> None:
    assert report(CLEAN, FOUND, total=MAX_TOTAL_MIB).faults() == []
    (fault,) = report(CLEAN, FOUND, total=MAX_TOTAL_MIB + 1).faults()
    assert "3073 MiB" in fault


def test_the_table_prints_every_cell_as_it_is() -> None:
    text = printed(CLEAN, FOUND)
    assert "a [secret]" in text
    assert "SECRET (summary_text)" in text
    assert "1,234" in text
    assert text.count("as expected") == 2
    assert "NOT" not in text


def test_the_place_is_that_of_the_first_reason() -> None:
    row = replace(FOUND, codes=("PREDICATE_CONFLICT", "CLAUSE_UNPARSED"), place="claims[0]")
    assert row.cells[2] == "PREDICATE_CONFLICT (claims[0]), CLAUSE_UNPARSED"


def test_json_has_every_row() -> None:
    value = json.loads(json.dumps(report(CLEAN, FOUND).as_json()))
    assert [row["name"] for row in value["rows"]] == ["clean", "secret"]
    assert value["rows"][1]["reason_codes"] == ["SECRET"]
    assert value["peak_pss_mib"] == {"broker": 300, "scan": 200}


def test_the_report_goes_between_the_marks_of_a_page_and_again(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    record(report(CLEAN, FOUND), page)
    once = page.read_text("utf-8")
    record(report(CLEAN, FOUND), page)
    assert page.read_text("utf-8") == once
    assert once.startswith(f"before\n{BEGIN}\n\n| request ")
    assert once.endswith(f"{END}\nafter\n")
    assert "old" not in once
    assert "2 rows in 61 s on 2 CPUs; highest memory" in once
    assert "| a [secret] | QUARANTINED | SECRET (summary_text) | 80 | the tail |" in once


def test_a_page_without_marks_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}", "utf-8")
    with pytest.raises(ValueError, match="no place"):
        record(report(CLEAN), page)


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert "| a \\| b |" in markdown(report(replace(CLEAN, title="a | b")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_documentation_shows_every_planned_row_with_its_one_right_outcome(page: Path) -> None:
    shown = page.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = [line.strip("| ").split(" | ") for line in shown.splitlines() if line.startswith("| ")][1:]
    found = [(cells[0], cells[1], [code.partition(" (")[0] for code in cells[2].split(", ") if code]) for cells in rows]
    assert found == [(item.title, item.expected.ending.value, list(item.expected.codes)) for item in planned()]

"""Honest texts that the model learns from: whole pages are held out, and what is borrowed says whose it is."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from infra.models.injection import card
from infra.models.injection.honest_texts import BORROWED, SOURCES, keep_pages, read_borrowed, read_pages
from infra.models.injection.sources import FOLDS, folds_of

PAGES = read_pages()


def test_borrowed_messages_are_honest_and_say_whose_they_are() -> None:
    rows = read_borrowed()
    assert not any(row.attack for row in rows)
    assert {(row.group, row.licence) for row in rows} == set(SOURCES.values())
    assert {"de", "ja", "ar", "tr"} <= {row.lang for row in rows}
    assert len({row.id for row in rows}) == len(rows)


@pytest.mark.parametrize("name", SOURCES)
def test_the_licence_stands_beside_what_is_borrowed(name: str) -> None:
    licence = (BORROWED / f"LICENSE.{name}").read_text("utf-8")
    assert "Copyright" in licence
    assert "NO EVENT SHALL THE" in " ".join(licence.split())


def test_nothing_is_borrowed_that_no_source_is_named_for() -> None:
    assert {path.stem for path in BORROWED.glob("*.txt")} == set(SOURCES)


def test_no_page_is_in_two_folds() -> None:
    folds = defaultdict(set)
    for row, fold in zip(PAGES, folds_of([row.group for row in PAGES]), strict=True):
        folds[row.id.rpartition("/")[0]].add(int(fold))
    assert all(len(of_page) == 1 for of_page in folds.values())
    assert set.union(*folds.values()) == set(range(FOLDS))


def test_the_card_is_not_learnt_from() -> None:
    name = card.PLACE.relative_to(card.PLACE.parents[1]).as_posix()
    assert card.PLACE.is_file()
    assert not any(row.id.startswith(name) for row in PAGES)
    assert not any(row.attack for row in PAGES)


@pytest.mark.parametrize(("length", "read"), [(79, 0), (80, 1)])
def test_short_paragraphs_are_left_out(tmp_path: Path, length: int, read: int) -> None:
    (tmp_path / "page.md").write_text("# Title\n\n" + "x" * length, "utf-8")
    keep_pages(tmp_path, tmp_path / "kept")
    assert len(read_pages(tmp_path / "kept")) == read


def test_pages_are_read_as_they_were_kept(tmp_path: Path) -> None:
    text = "Lines\u2028and\nlines, " * 10
    (tmp_path / "page.md").write_text(text, "utf-8")
    keep_pages(tmp_path, tmp_path / "kept")
    (tmp_path / "page.md").write_text("Another page. " * 10, "utf-8")
    assert [row.text for row in read_pages(tmp_path / "kept")] == [text]

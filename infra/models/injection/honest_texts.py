"""Reads honest texts written for another purpose: messages of Django in many languages, pages of this project.

Messages are as short and as full of orders as attacks, in languages that the corpora have little of. The pages speak of
attacks without being one. Every text here teaches what is no attack; pages are measured too, each by a model that has
not learnt from it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from infra.models.injection.authored_texts import read_lines
from infra.models.injection.card import PLACE
from infra.models.injection.corpora import Row
from infra.models.injection.sources import FOLDS

BORROWED: Final = Path(__file__).parent / "borrowed"
PAGES: Final = PLACE.parents[1]

BORROWED_CORPUS: Final = "borrowed"
PAGES_CORPUS: Final = "pages"

_SHORTEST: Final = 80
_PARAGRAPH: Final = re.compile(r"\n\s*\n")


def read_borrowed() -> list[Row]:
    """Return the messages, in the file's order."""
    rows = []
    for number, (lang, text) in enumerate(read_lines(BORROWED / "django.txt")):
        rows.append(_row(f"django/{number}", text, lang, "django/django", BORROWED_CORPUS, "BSD-3-Clause"))
    return rows


def read_pages(directory: Path = PAGES) -> list[Row]:
    """Return the longer paragraphs of this project's pages, each page in one of as many groups as there are folds.

    The model's own card is left out: it changes with what is learnt.
    """
    rows = []
    for number, path in enumerate(sorted(directory.rglob("*.md"))):
        if path == PLACE:
            continue
        group = f"this project's pages, part {number % FOLDS + 1}"
        name = path.relative_to(directory).as_posix()
        for place, text in enumerate(_PARAGRAPH.split(path.read_text(encoding="utf-8"))):
            if len(text) >= _SHORTEST:
                rows.append(_row(f"{name}/{place}", text, "en", group, PAGES_CORPUS, "Apache-2.0"))
    return rows


def _row(name: str, text: str, lang: str, group: str, corpus: str, licence: str) -> Row:
    return Row(
        id=name,
        text=text,
        attack=False,
        group=group,
        lang=lang,
        category=corpus,
        corpus=corpus,
        licence=licence,
    )

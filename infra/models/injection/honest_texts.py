"""Reads honest texts written for another purpose: messages of programs in many languages, pages of this project.

Pages are learnt from as they were when ``python -m infra.models.injection.honest_texts`` last wrote them down, so that
a page that changes later does not change the model.

Messages are as short and as full of orders as attacks, in languages that the corpora have little of. The pages speak of
attacks without being one. Every text here teaches what is no attack; pages are measured too, each by a model that has
not learnt from it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final, NamedTuple

from infra.models.injection.authored_texts import read_lines
from infra.models.injection.card import PLACE
from infra.models.injection.corpora import Row, honest
from infra.models.injection.sources import FOLDS

BORROWED: Final = Path(__file__).parent / "borrowed"
PAGES: Final = PLACE.parents[1]
KEPT_PAGES: Final = BORROWED.with_name("pages.jsonl")

BORROWED_CORPUS: Final = "borrowed"
PAGES_CORPUS: Final = "pages"


class Source(NamedTuple):
    """Where messages are from.

    Attributes:
        repository: The repository.
        licence: SPDX expression; its text is beside the messages.
    """

    repository: str
    licence: str


SOURCES: Final = {
    "allauth": Source("pennersr/django-allauth", "MIT"),
    "django": Source("django/django", "BSD-3-Clause"),
    "django_cms": Source("django-cms/django-cms", "BSD-3-Clause"),
    "rest_framework": Source("encode/django-rest-framework", "BSD-3-Clause"),
    "sphinx": Source("sphinx-doc/sphinx", "BSD-2-Clause"),
    "wagtail": Source("wagtail/wagtail", "BSD-3-Clause"),
}
"""By the name of the file that has the messages."""

_SHORTEST: Final = 80
_PARAGRAPH: Final = re.compile(r"\n\s*\n")


def read_borrowed() -> list[Row]:
    """Return the messages of every source, in their files' order."""
    return [
        honest(
            f"{name}/{number}",
            text,
            lang=lang,
            group=source.repository,
            corpus=BORROWED_CORPUS,
            licence=source.licence,
        )
        for name, source in SOURCES.items()
        for number, (lang, text) in enumerate(read_lines(BORROWED / f"{name}.txt"))
    ]


def read_pages(kept: Path = KEPT_PAGES) -> list[Row]:
    """Return the paragraphs that were kept, each page's in one of as many groups as there are folds."""
    rows = []
    numbers: dict[str, int] = {}
    for line in filter(None, kept.read_text(encoding="utf-8").split("\n")):
        name, place, text = json.loads(line)
        number = numbers.setdefault(name, len(numbers))
        group = f"this project's pages, part {number % FOLDS + 1}"
        rows.append(honest(f"{name}/{place}", text, lang="en", group=group, corpus=PAGES_CORPUS, licence="Apache-2.0"))
    return rows


def keep_pages(directory: Path = PAGES, kept: Path = KEPT_PAGES) -> None:
    """Write down the longer paragraphs of this project's pages.

    The model's own card is left out: it changes with what is learnt.
    """
    lines = [
        json.dumps((path.relative_to(directory).as_posix(), place, text), ensure_ascii=False)
        for path in sorted(directory.rglob("*.md"))
        if path != PLACE
        for place, text in enumerate(_PARAGRAPH.split(path.read_text(encoding="utf-8")))
        if len(text) >= _SHORTEST
    ]
    kept.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    keep_pages()
